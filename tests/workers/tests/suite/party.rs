//! A deployment with a session, and those who call it.

use std::sync::LazyLock;

pub(crate) use a2a_edge_workers_tests::PATIENCE;
use a2a_edge_workers_tests::{Deployment, Platform, Running};
use tempfile::TempDir;

pub(crate) use crate::callers::{Caller, Reply, Session, scratch, text};

/// Built and installed by the first test that asks.
pub(crate) static PLATFORM: LazyLock<Platform> = LazyLock::new(|| Platform::prepare().unwrap());

/// A deployment that runs, with a session.
pub(crate) struct Party {
    pub(crate) running: Running,
    pub(crate) caller: Caller,
    pub(crate) session: Session,
    pub(crate) place: TempDir,
}

impl Party {
    pub(crate) fn new(deployment: &Deployment) -> Self {
        let place = scratch();
        let running = PLATFORM.start(deployment, place.path()).unwrap();
        let caller = Caller::of(&running);
        Self {
            session: Session::create(&caller),
            running,
            caller,
            place,
        }
    }
}
