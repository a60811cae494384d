//! Key-value stores that do what they must not, or all that they may.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use a2a_edge::store::{KeyValue, Memory, StoreError};

/// The session that all is tried on.
pub(crate) const SESSION: &str = "s";

/// A reproducible stream of numbers (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// Before every operation, some swap that was ever tried comes again; and some come only then.
#[derive(Clone)]
pub(crate) struct Haunted(Memory, Rc<RefCell<Tried>>);

struct Tried {
    random: Random,
    /// The current and the new value of every swap so far.
    swaps: Vec<[Vec<u8>; 2]>,
}

impl Haunted {
    const HEAD: &str = "a2a.s.head";

    pub(crate) fn new(memory: Memory, seed: u64) -> Self {
        Self(
            memory,
            Rc::new(RefCell::new(Tried {
                random: Random(seed),
                swaps: Vec::new(),
            })),
        )
    }

    async fn haunt(&self) {
        let again = {
            let Tried { random, swaps } = &mut *self.1.borrow_mut();
            let bound = swaps.len().max(1);
            swaps.get(random.below(bound)).cloned()
        };
        if let Some([current, new]) = again {
            self.0.swap(Self::HEAD, &current, &new).await.unwrap();
        }
    }
}

impl KeyValue for Haunted {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.haunt().await;
        self.0.get(key).await
    }

    async fn put(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.haunt().await;
        self.0.put(key, value).await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.haunt().await;
        self.0.delete(key).await
    }

    async fn swap(&self, key: &str, current: &[u8], new: &[u8]) -> Result<bool, StoreError> {
        assert_eq!(key, Self::HEAD);
        let vanishes = {
            let Tried { random, swaps } = &mut *self.1.borrow_mut();
            swaps.push([current.to_vec(), new.to_vec()]);
            random.below(4) == 0
        };
        if vanishes {
            Ok(false)
        } else {
            self.0.swap(key, current, new).await
        }
    }
}

/// Reports the opposite of what a swap did.
#[derive(Clone)]
pub(crate) struct Opposite(pub(crate) Memory);

/// Swaps without comparing.
#[derive(Clone)]
pub(crate) struct Careless(pub(crate) Memory);

/// Forgets one write in ten.
#[derive(Clone)]
pub(crate) struct Forgetful(pub(crate) Memory, pub(crate) Rc<Cell<usize>>);

macro_rules! key_value {
    ($name:ident, put: $put:expr, swap: $swap:expr) => {
        impl KeyValue for $name {
            async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
                self.0.get(key).await
            }

            async fn put(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
                if $put(self) {
                    self.0.put(key, value).await
                } else {
                    Ok(())
                }
            }

            async fn delete(&self, key: &str) -> Result<(), StoreError> {
                self.0.delete(key).await
            }

            async fn swap(&self, key: &str, current: &[u8], new: &[u8]) -> Result<bool, StoreError> {
                $swap(self, key, current, new).await
            }
        }
    };
}

key_value!(Opposite, put: |_: &Self| true, swap: async |it: &Self, key, current, new| {
    it.0.swap(key, current, new).await.map(|swapped| !swapped)
});
key_value!(Careless, put: |_: &Self| true, swap: async |it: &Self, key, _, new| {
    it.0.put(key, new).await.map(|()| true)
});
key_value!(Forgetful,
    put: |it: &Self| !it.1.replace(it.1.get() + 1).is_multiple_of(10),
    swap: async |it: &Self, key, current, new| it.0.swap(key, current, new).await
);
