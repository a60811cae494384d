//! How a request that waits learns that its session went on: at once by what its own instance does, and from the head by
//! what others do.

use std::pin::pin;
use std::time::Duration;

use a2a_edge::store::{Bell, HeadSwap};
use a2a_edge::time::Timestamp;
use event_listener::Event;
use futures_util::future::{Either, select};
use spin_sdk::time::sleep;

use crate::store::SpinStore;

/// The first look at the head comes so long after the last event.
const FIRST: Duration = Duration::from_millis(20);

/// Looks are never further apart, so that what another instance commits shows within 250 ms.
const MOST: Duration = Duration::from_millis(200);

/// The bell of an instance.
pub struct PollingBell {
    rung: Event,
    store: HeadSwap<SpinStore>,
}

impl PollingBell {
    pub fn new(store: HeadSwap<SpinStore>) -> Self {
        let rung = Event::new();
        Self { rung, store }
    }
}

impl Bell for PollingBell {
    fn ring(&self, _session: &str, _seq: u64) {
        // Whoever waits for another session looks, and waits on.
        self.rung.notify(usize::MAX);
    }

    async fn wait(&self, session: &str, after: u64, until: Timestamp) {
        let mut pause = FIRST;
        loop {
            let rung = self.rung.listen();
            let left = Duration::from_millis(until.millis_since(crate::now()));
            if left.is_zero() {
                return;
            }
            if let Either::Left(_) = select(rung, pin!(sleep(pause.min(left)))).await {
                return;
            }
            // A store that can't be read is whoever waits's to find out.
            if !self.store.last(session).await.is_ok_and(|last| last <= after) {
                return;
            }
            pause = pause.saturating_mul(2).min(MOST);
        }
    }
}
