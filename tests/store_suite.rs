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

/// A big state is not written, nor even asked for, again and again for the sake of a few commits.
#[test]
fn a_snapshot_is_asked_for_once_as_much_was_committed_as_the_last_is_long() {
    use a2a_edge::store::{CommitOutcome, HeadSwap, Memory, Snapshot, Store};

    store_suite::block_on(async {
        let store = HeadSwap::new(Memory::default());
        let record = |seq| a2a_edge::store::Record {
            bytes: vec![b'x'; 1_000],
            ..store_suite::record(seq, "w")
        };
        assert_eq!(store.create("s", &record(1)).await, Ok(true));
        let mut asked = Vec::new();
        for seq in 2..=1_000 {
            let outcome = store.commit("s", &record(seq)).await.unwrap();
            if outcome == (CommitOutcome::Committed { compact: true }) {
                asked.push(seq);
                // As long as all that was committed: as states do, it grows.
                let bytes = vec![b'y'; seq as usize * 1_000];
                store.compact("s", &Snapshot { seq, bytes }).await.unwrap();
            }
        }
        // Each time twice as far as before, or a little more.
        assert!((3..=6).contains(&asked.len()), "{asked:?}");
        assert!(asked.windows(2).all(|pair| pair[1] >= 2 * pair[0]), "{asked:?}");
        // The head stays small all the same.
        let head = store
            .keys("s")
            .await
            .unwrap()
            .into_iter()
            .find(|key| key.ends_with(".head"));
        assert_eq!(head.as_deref(), Some("a2a.s.head"));
        assert_eq!(store.history("s", 0, 2_000).await.unwrap().len(), 1_000);
    });
}
