//! The core's ports on this machine, and the desk behind the HTTP server.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use a2a_edge::serve::{self, Desk, Host, Sessions};
use a2a_edge::store::{Store as _, StoreError};
use a2a_edge::time::Timestamp;
use futures_util::stream::unfold;
use http::{Request, Response};
use serde_json::json;

use crate::delivery::Schedule;
use crate::failure::Failure;
use crate::server::log::{self, Level, Log};
use crate::server::{Body, Handler, LocalBell};
use crate::store::Embedded;

/// How many draws are had for one call of the system.
const DRAWS: usize = 32;

thread_local! {
    /// What the system gave, and nobody has had yet.
    static GIVEN: RefCell<Vec<[u8; 32]>> = const { RefCell::new(Vec::new()) };
}

/// 32 bytes of the system's randomness, which nobody else gets.
#[allow(
    clippy::expect_used,
    reason = "without randomness no token is safe: the request has to fail"
)]
fn draw() -> [u8; 32] {
    GIVEN.with_borrow_mut(|given| {
        given.pop().unwrap_or_else(|| {
            let mut fresh = [[0; 32]; DRAWS];
            getrandom::fill(fresh.as_flattened_mut()).expect("the system has randomness");
            let [first, others @ ..] = fresh;
            given.extend(others);
            first
        })
    })
}

/// The desk on this machine: one file of sessions, one process that serves them.
pub struct Native {
    desk: Desk,
    store: Embedded,
    bell: LocalBell,
    sessions: Sessions,
    schedule: Schedule,
    log: Log,
}

impl Native {
    /// Opens the store in a file, which is made if it is not there.
    ///
    /// # Errors
    /// A file that another process has, or that is no store.
    pub fn open(file: &Path, desk: Desk, log: Log) -> Result<Self, Failure> {
        let store = Embedded::open(file).map_err(|error| Failure::Local(error.to_string()))?;
        Ok(Self {
            desk,
            store,
            bell: LocalBell::default(),
            sessions: Sessions::new(),
            schedule: Schedule::default(),
            log,
        })
    }
}

impl Native {
    /// Whether the store has a session.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub async fn has_session(&self, session: &str) -> Result<bool, Failure> {
        let first = self.store.history(session, 0, 1).await;
        first
            .map(|commits| !commits.is_empty())
            .map_err(|error| Failure::Local(error.to_string()))
    }

    /// Answers those who wait with what there is: the server is about to end.
    pub fn close(&self) {
        self.bell.close();
        self.schedule.wake();
    }

    /// The desk.
    #[must_use]
    pub const fn desk(&self) -> &Desk {
        &self.desk
    }

    /// When notifications are due.
    #[must_use]
    pub const fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The ids of all sessions.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub async fn stored_sessions(&self) -> Result<Vec<String>, StoreError> {
        self.store.sessions().await
    }
}

impl Host for Native {
    type Store = Embedded;
    type Bell = LocalBell;

    fn store(&self) -> &Embedded {
        &self.store
    }

    fn bell(&self) -> &LocalBell {
        &self.bell
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn now(&self) -> Timestamp {
        log::now()
    }

    fn entropy(&self) -> [u8; 32] {
        draw()
    }

    fn is_closing(&self) -> bool {
        self.bell.is_closed()
    }

    async fn due(&self, session_id: &str, at: Timestamp) {
        self.schedule.put(session_id, at);
    }

    fn report(&self, fault: &StoreError) {
        self.log
            .event(Level::Error, "store", &[("why", json!(fault.to_string()))]);
    }
}

impl Handler for Native {
    async fn handle(self: &Arc<Self>, request: Request<Vec<u8>>) -> Response<Body> {
        let answer = serve::handle(self.as_ref(), &self.desk, request).await;
        answer.map(|body| match body {
            serve::Body::Whole(bytes) => Body::Whole(bytes),
            serve::Body::Stream(stream) => {
                let start = (Arc::clone(self), stream);
                Body::Stream(Box::pin(unfold(start, |(native, mut stream)| async {
                    let piece = stream.next(native.as_ref(), &native.desk).await?;
                    Some((piece, (native, stream)))
                })))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_get_the_same_randomness() {
        let draws = || (0..2 * DRAWS + 1).map(|_| draw()).collect::<Vec<_>>();
        let elsewhere = std::thread::spawn(draws);
        let all: BTreeSet<[u8; 32]> = draws().into_iter().chain(elsewhere.join().unwrap()).collect();
        assert_eq!(all.len(), 2 * (2 * DRAWS + 1));
    }
}
