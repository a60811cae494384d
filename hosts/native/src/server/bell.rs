//! How a request that waits learns, inside one process, that its session went on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use a2a_edge::store::Bell;
use a2a_edge::time::Timestamp;
use tokio::sync::watch;
use tokio::time::timeout;

use super::log::now;

/// Remembers, for each session that was ever waited for or rung, the last commit it was rung for.
///
/// The number stays when nobody listens, so a ring between a caller's look at the session and its wait is not
/// lost. That is a few dozen bytes a session, and only the operator makes sessions.
#[derive(Debug, Default)]
pub struct LocalBell {
    reached: Mutex<HashMap<String, watch::Sender<u64>>>,
    closed: AtomicBool,
}

impl LocalBell {
    /// Wakes everybody, and lets nobody wait any more.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        for sender in reached.values() {
            sender.send_replace(u64::MAX);
        }
    }

    /// Whether [`close`](Self::close) was called.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    fn with<T>(&self, session: &str, act: impl FnOnce(&watch::Sender<u64>) -> T) -> T {
        // The map is whole after any panic: each step on it is one insert or one look.
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = reached.get(session) {
            return act(sender);
        }
        act(reached
            .entry(session.to_owned())
            .or_insert_with(|| watch::Sender::new(0)))
    }
}

impl Bell for LocalBell {
    fn ring(&self, session: &str, seq: u64) {
        self.with(session, |sender| {
            sender.send_if_modified(|reached| {
                let news = seq > *reached;
                *reached = seq.max(*reached);
                news
            })
        });
    }

    async fn wait(&self, session: &str, after: u64, until: Timestamp) {
        // Subscribed first: who closes after this look wakes the listener.
        let mut listener = self.with(session, watch::Sender::subscribe);
        if self.is_closed() {
            return;
        }
        let left = Duration::from_millis(until.millis_since(now()));
        // Elapsed and rung are the same news to the caller: look again.
        let _ = timeout(left, listener.wait_for(|reached| *reached > after)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Instant;

    fn run<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(async { timeout(Duration::from_secs(10), future).await.unwrap() })
    }

    #[test]
    fn a_ring_before_the_wait_is_not_lost() {
        run(async {
            let bell = LocalBell::default();
            bell.ring("s", 5);
            bell.ring("s", 3);
            bell.wait("s", 4, now().plus_seconds(3600)).await;
        });
    }

    #[test]
    fn a_ring_wakes_every_waiter_of_its_session_and_no_other() {
        run(async {
            let bell = Arc::new(LocalBell::default());
            let wait = |session: &'static str| {
                let bell = Arc::clone(&bell);
                tokio::spawn(async move { bell.wait(session, 1, now().plus_seconds(3600)).await })
            };
            let (one, two, other) = (wait("s"), wait("s"), wait("t"));
            tokio::task::yield_now().await;
            bell.ring("s", 1);
            tokio::task::yield_now().await;
            assert!(!one.is_finished());
            bell.ring("s", 2);
            one.await.unwrap();
            two.await.unwrap();
            assert!(!other.is_finished());
            other.abort();
        });
    }

    #[test]
    fn closing_wakes_everybody_and_nobody_waits_after_it() {
        run(async {
            let bell = Arc::new(LocalBell::default());
            let waiting = Arc::clone(&bell);
            let waiter = tokio::spawn(async move { waiting.wait("s", 9, now().plus_seconds(3600)).await });
            tokio::task::yield_now().await;
            bell.close();
            waiter.await.unwrap();
            bell.wait("s", 9, now().plus_seconds(3600)).await;
            bell.wait("t", 0, now().plus_seconds(3600)).await;
        });
    }

    #[test]
    fn a_wait_ends_at_its_deadline() {
        run(async {
            let bell = LocalBell::default();
            let start = Instant::now();
            bell.wait("s", 0, now().plus_millis(30)).await;
            assert!(start.elapsed() >= Duration::from_millis(25));
            bell.wait("s", 0, Timestamp::EPOCH).await;
        });
    }
}
