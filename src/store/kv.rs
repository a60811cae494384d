//! The least a host's storage must offer for [`HeadSwap`](super::HeadSwap).

use std::future::Future;

use super::StoreError;

/// A key-value store that can compare and swap one existing key.
///
/// Keys are at most 256 bytes of ASCII letters, digits, `-`, `_`, `.` and `~`; values stay below
/// [`Limits`](super::Limits). An operation that returned is visible to every later one from anywhere. After an
/// error it may have taken effect or not. Listing keys is not needed.
pub trait KeyValue {
    /// The value of a key, or `None` if it has none.
    fn get(&self, key: &str) -> impl Future<Output = Result<Option<Vec<u8>>, StoreError>>;

    /// Sets a key, whether or not it had a value.
    fn put(&self, key: &str, value: &[u8]) -> impl Future<Output = Result<(), StoreError>>;

    /// Removes a key; without effect if there is none.
    fn delete(&self, key: &str) -> impl Future<Output = Result<(), StoreError>>;

    /// Sets a key to `new` if its value is `current`, as one step that no other writer can come between.
    ///
    /// Whether it did is what the result should say, but nobody relies on that: some back ends report a failure
    /// when they wrote. It must never write over another value than `current`. Only ever called for a key that
    /// exists, because on some back ends two swaps from nothing both succeed.
    fn swap(&self, key: &str, current: &[u8], new: &[u8]) -> impl Future<Output = Result<bool, StoreError>>;
}

impl<K: KeyValue> KeyValue for &K {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        K::get(self, key).await
    }

    async fn put(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        K::put(self, key, value).await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        K::delete(self, key).await
    }

    async fn swap(&self, key: &str, current: &[u8], new: &[u8]) -> Result<bool, StoreError> {
        K::swap(self, key, current, new).await
    }
}
