//! The suite of every store, on the compare-and-swap store in memory.

#[path = "support/store_suite.rs"]
mod store_suite;

/// A server on several threads needs this of every future.
#[test]
fn what_the_store_returns_can_be_sent_between_threads() {
    use a2a_edge::store::{HeadSwap, Memory, Store};

    fn sendable<T: Send>(value: T) -> T {
        value
    }
    let store = HeadSwap::new(Memory::default());
    let (record, snapshot) = (store_suite::record(1, "w"), store_suite::snapshot(1));
    store_suite::block_on(async {
        assert_eq!(sendable(store.create("s", &record)).await, Ok(true));
        assert!(sendable(store.commit("s", &record)).await.is_ok());
        assert!(sendable(store.compact("s", &snapshot)).await.is_ok());
        assert!(
            sendable(store.load("s", 0))
                .await
                .is_ok_and(|loaded| loaded.is_some())
        );
        assert_eq!(sendable(store.history("s", 0, 2)).await, Ok(vec![record.clone()]));
        assert_eq!(sendable(store.sweep("s")).await, Ok(()));
    });
}

/// With the sizes of a real host.
mod as_shipped {
    use a2a_edge::store::{HeadSwap, Memory};

    super::store_suite::store_suite!(Box::new(HeadSwap::new(Memory::default())));
}

/// With sizes so small that everything is split, merged and indexed all the time.
mod with_small_limits {
    use a2a_edge::store::{HeadSwap, Limits, Memory};

    const LIMITS: Limits = Limits {
        value: 4000,
        inline: 200,
        tail_bytes: 600,
        tail_commits: 4,
        segment: 500,
        segments: 3,
    };

    super::store_suite::store_suite!(Box::new(HeadSwap::with_limits(Memory::default(), LIMITS)));
}

/// With others' operations between any two of one's own.
mod interleaved {
    use a2a_edge::store::{Faulty, HeadSwap, Memory};

    super::store_suite::store_suite!(Box::new(HeadSwap::new(Faulty::new(Memory::default(), |_| None))));
}
