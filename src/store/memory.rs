//! A key-value store in memory, for tests and for trying things out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{KeyValue, StoreError};

/// A [`KeyValue`] in memory. Clones share their content, as the clients of one server do.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    entries: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl Memory {
    /// Everything that is kept, to be looked at.
    #[must_use]
    pub fn entries(&self) -> BTreeMap<String, Vec<u8>> {
        self.lock().clone()
    }

    // Every operation leaves the map whole, so one that panicked did no harm.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyValue for Memory {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.lock().get(key).cloned())
    }

    async fn put(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.lock().insert(key.to_owned(), value.to_vec());
        Ok(())
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.lock().remove(key);
        Ok(())
    }

    async fn swap(&self, key: &str, current: &[u8], new: &[u8]) -> Result<bool, StoreError> {
        match self.lock().get_mut(key) {
            Some(value) if value == current => {
                new.clone_into(value);
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}
