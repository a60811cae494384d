//! How a request that waits in an object learns that its session went on.

use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;

use a2a_edge::store::Bell;
use a2a_edge::time::Timestamp;
use event_listener::Event;
use futures_util::future::select;
use worker::Delay;

/// The bell of one object, and so of one session: all who wait for it are in the same place.
#[derive(Debug, Default)]
pub struct ObjectBell {
    rung: Event,
    /// The last commit it was rung for: a ring between a caller's look at the session and its wait is not lost.
    reached: Cell<u64>,
}

impl Bell for ObjectBell {
    fn ring(&self, _session: &str, seq: u64) {
        self.reached.set(self.reached.get().max(seq));
        self.rung.notify(usize::MAX);
    }

    async fn wait(&self, _session: &str, after: u64, until: Timestamp) {
        let rung = self.rung.listen();
        if self.reached.get() > after {
            return;
        }
        let left = Duration::from_millis(until.millis_since(crate::now()));
        select(rung, pin!(Delay::from(left))).await;
    }
}
