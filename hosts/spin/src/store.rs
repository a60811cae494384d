//! A key-value store of Spin's as the core's driver needs it: with compare-and-swap of one existing key.
//!
//! Reads and writes go by `spin:key-value`, which lets the instance's other requests go on; the swap is that of
//! `wasi:keyvalue`, which every back end has, and which some report wrongly. The driver believes no report and reads
//! back; what has to hold is that a swap never overwrites what it was not compared with.

use std::fmt::Display;
use std::rc::Rc;

use a2a_edge::store::{KeyValue, StoreError};
use spin_sdk::experimental::wasi::keyvalue::atomics::{self, Cas, CasError};
use spin_sdk::experimental::wasi::keyvalue::store::{self as bucket, Bucket};
use spin_sdk::key_value::Store;

use crate::room;

/// The store's label in `spin.toml`.
const LABEL: &str = "default";

/// Set once a store has been seen to keep the guarantee. No session has a key like it.
const SEEN: &str = "a2a.guarantee";

/// Why an instance can't serve yet.
#[derive(Debug)]
pub enum Unready {
    /// What of the deployment is at fault, by its name.
    Misconfigured(String),
    /// The store can't be reached.
    Unavailable(String),
}

/// The store, open as long as the instance lives.
#[derive(Clone)]
pub struct SpinStore(Rc<Open>);

struct Open {
    store: Store,
    bucket: Bucket,
}

impl SpinStore {
    /// Opens the store and, if that was never done before, sees to it that it keeps the guarantee.
    ///
    /// # Errors
    /// It can't be opened, or does not keep it.
    pub async fn open() -> Result<Self, Unready> {
        let denied = |why: &dyn Display| {
            let fault = format!("expected the store {LABEL:?} with compare-and-swap: {why}");
            Unready::Misconfigured(format!("key_value_stores: {fault}"))
        };
        let store = Store::open(LABEL).await.map_err(|why| denied(&why))?;
        let bucket = bucket::open(LABEL).map_err(|why| denied(&shown(why)))?;
        let open = Self(Rc::new(Open { store, bucket }));
        match open.keeps_the_guarantee().await {
            Ok(Ok(())) => Ok(open),
            Ok(Err(why)) => Err(denied(&why)),
            // It may keep it, for all that is known.
            Err(why) => Err(Unready::Unavailable(why.to_string())),
        }
    }

    /// Tries a swap that must not take place, and one that must.
    async fn keeps_the_guarantee(&self) -> Result<Result<(), String>, StoreError> {
        if self.get(SEEN).await?.is_some() {
            return Ok(Ok(()));
        }
        let key = format!("{SEEN}.{}", crate::hex(&crate::random::<8>()));
        let outcome = self.try_swaps(&key).await;
        self.delete(&key).await?;
        let outcome = outcome?;
        if outcome.is_ok() {
            self.put(SEEN, b"1").await?;
        }
        Ok(outcome)
    }

    async fn try_swaps(&self, key: &str) -> Result<Result<(), String>, StoreError> {
        self.put(key, b"first").await?;
        let stale = self.compare(key, b"first")?;
        self.put(key, b"second").await?;
        if let Some(stale) = stale {
            // What it reports is not to be relied on.
            let _unreliable = swapped(stale, b"third");
        }
        if self.get(key).await?.as_deref() != Some(b"second") {
            let why = "it overwrites a value that has changed, or shows writes late";
            return Ok(Err(why.to_owned()));
        }
        let _unreliable = self.swap(key, b"second", b"fourth").await;
        if self.get(key).await?.as_deref() != Some(b"fourth") {
            return Ok(Err("it does not swap a value that is there".to_owned()));
        }
        Ok(Ok(()))
    }

    /// A swap that is bound to the key's present value, if that is `current`. Without asking for the present value it
    /// would be bound to none, and so to any.
    fn compare(&self, key: &str, current: &[u8]) -> Result<Option<Cas>, StoreError> {
        let cas = Cas::new(&self.0.bucket, key).map_err(|why| unavailable(&shown(why)))?;
        let present = cas.current().map_err(|why| unavailable(&shown(why)))?;
        Ok((present.as_deref() == Some(current)).then_some(cas))
    }
}

impl KeyValue for SpinStore {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.store.get(key).await.map_err(|why| unavailable(&why))
    }

    async fn put(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.0
            .store
            .set(key, value)
            .await
            .map_err(|why| unavailable(&why))
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.0.store.delete(key).await.map_err(|why| unavailable(&why))
    }

    /// Never writes to an absent key: two such swaps would both succeed on some back ends.
    async fn swap(&self, key: &str, current: &[u8], new: &[u8]) -> Result<bool, StoreError> {
        let Some(cas) = self.compare(key, current)? else {
            return Ok(false);
        };
        match swapped(cas, new) {
            Ok(()) => Ok(true),
            Err(CasError::CasFailed(_)) => Ok(false),
            Err(CasError::StoreError(why)) => Err(unavailable(&shown(why))),
        }
    }
}

fn swapped(cas: Cas, new: &[u8]) -> Result<(), CasError> {
    room::swapped();
    atomics::swap(cas, new)
}

fn shown(error: bucket::Error) -> String {
    match error {
        bucket::Error::NoSuchStore => "there is no such store".to_owned(),
        bucket::Error::AccessDenied => "the component may not use it".to_owned(),
        bucket::Error::Other(why) => why,
    }
}

fn unavailable(why: &dyn Display) -> StoreError {
    StoreError::Unavailable(why.to_string())
}
