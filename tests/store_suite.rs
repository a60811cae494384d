//! The suite of every store, on the compare-and-swap store in memory.

#[path = "support/store_suite.rs"]
mod store_suite;

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
