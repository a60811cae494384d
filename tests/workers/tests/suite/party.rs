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

    /// Everything that was written about the calls so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.caller.lines(&self.running)
    }
}

/// What notifies webhooks on this machine, too.
pub(crate) fn with_webhooks() -> Party {
    Party::new(&Deployment::default().with("A2A_EDGE_PUSH", "local"))
}

/// What notifies as it does unless it is told otherwise.
pub(crate) fn as_it_is() -> Party {
    Party::new(&Deployment::default())
}

/// What notifies nobody.
pub(crate) fn without_push() -> Party {
    Party::new(&Deployment::default().with("A2A_EDGE_PUSH", "off"))
}
