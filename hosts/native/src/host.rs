//! The ports of the core on this machine.

use a2a_edge::store::{Clock, Entropy};
use a2a_edge::time::Timestamp;
use http::{Request, Response};

use crate::server::{Handler, LocalBell, log};

/// The desk on this machine.
pub struct Native {
    bell: LocalBell,
}

impl Native {
    pub fn stand_in() -> Self {
        Self {
            bell: LocalBell::default(),
        }
    }
}

impl Clock for Native {
    fn now(&self) -> Timestamp {
        log::now()
    }
}

impl Entropy for Native {
    #[allow(
        clippy::expect_used,
        reason = "without randomness no token is safe: the request must fail"
    )]
    fn draw(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the system has randomness");
        bytes
    }
}

impl Handler for Native {
    async fn handle(&self, _: Request<Vec<u8>>) -> Response<Vec<u8>> {
        let _ = &self.bell;
        Response::new(Vec::new())
    }
}
