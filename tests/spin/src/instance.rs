//! An instance of the application, and what Spin lends it: WASI, key-value stores, variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use wasmtime::component::{Accessor, HasSelf, Linker, Resource, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use crate::backend::{Backend, Swap};
use crate::outbound::Outbound;

#[allow(missing_docs, reason = "they are Spin's, and documented there")]
mod bindings {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "offered",
        with: {
            "spin:key-value/key-value.store": super::Opened,
            "wasi:keyvalue/store.bucket": super::Opened,
            "wasi:keyvalue/atomics.cas": super::Comparison,
        },
    });
}

use bindings::spin::key_value::key_value as spin;
use bindings::spin::variables::variables;
use bindings::wasi::keyvalue::{atomics, store as bucket};

/// How many swaps Spin lets an instance begin: it keeps each until the instance ends, unless it was dropped unused.
const SWAPS: usize = 256;

/// The label of the only store there is.
const LABEL: &str = "default";

/// Spin's documented limits, in bytes: a host may hold an application to them.
const KEY: usize = 256;
const VALUE: usize = 1_000_000;

/// Refuses what is beyond the documented limits.
fn within(key: &str, value: &[u8]) -> Result<(), String> {
    if key.len() > KEY || value.len() > VALUE {
        let why = format!(
            "{} bytes under a key of {}: more than Spin documents",
            value.len(),
            key.len()
        );
        eprintln!("{why}");
        return Err(why);
    }
    Ok(())
}

/// What all instances share.
pub struct Shared {
    /// Where values are kept.
    pub backend: Arc<dyn Backend>,
    /// The application's variables.
    pub variables: BTreeMap<String, String>,
    /// What they may call.
    pub outbound: Outbound,
}

/// An open store.
pub struct Opened;

/// A swap on its way.
pub struct Comparison {
    key: String,
    swap: Box<dyn Swap>,
}

/// What an instance has of its host.
pub struct Lent {
    shared: Arc<Shared>,
    table: ResourceTable,
    wasi: WasiCtx,
    http: WasiHttpCtx,
    outbound: Outbound,
    /// Swaps that were begun and not dropped.
    swaps: usize,
}

impl Lent {
    /// For a fresh instance.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            outbound: shared.outbound.clone(),
            shared,
            table: ResourceTable::new(),
            wasi: WasiCtx::builder().inherit_stderr().build(),
            http: WasiHttpCtx::new(),
            swaps: 0,
        }
    }

    /// Puts all of it into a linker.
    ///
    /// # Errors
    /// Something of it is there already.
    pub fn link(linker: &mut Linker<Self>) -> wasmtime::Result<()> {
        wasmtime_wasi::p2::add_to_linker_async(linker)?;
        wasmtime_wasi::p3::add_to_linker(linker)?;
        wasmtime_wasi_http::p3::add_to_linker(linker)?;
        bindings::Offered::add_to_linker::<_, HasSelf<Self>>(linker, |lent| lent)
    }
}

impl WasiView for Lent {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl WasiHttpView for Lent {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView {
            ctx: &mut self.http,
            table: &mut self.table,
            hooks: &mut self.outbound,
        }
    }
}

/// Does what may take a while where nobody waits for it.
async fn apart<T, F>(accessor: &Accessor<impl Send, HasSelf<Lent>>, work: F) -> Result<T, spin::Error>
where
    T: Send + 'static,
    F: FnOnce(&dyn Backend) -> Result<T, String> + Send + 'static,
{
    let shared = accessor.with(|mut access| Arc::clone(&access.get().shared));
    let done = tokio::task::spawn_blocking(move || work(shared.backend.as_ref()));
    match done.await {
        Ok(outcome) => outcome.map_err(spin::Error::Other),
        Err(error) => Err(spin::Error::Other(error.to_string())),
    }
}

impl spin::Host for Lent {}

impl spin::HostStore for Lent {
    fn drop(&mut self, store: Resource<Opened>) -> wasmtime::Result<()> {
        self.table.delete(store)?;
        Ok(())
    }
}

impl<T: Send> spin::HostStoreWithStore<T> for HasSelf<Lent> {
    async fn open(accessor: &Accessor<T, Self>, label: String) -> Result<Resource<Opened>, spin::Error> {
        if label != LABEL {
            return Err(spin::Error::AccessDenied);
        }
        let opened = accessor.with(|mut access| access.get().table.push(Opened));
        opened.map_err(|_| spin::Error::StoreTableFull)
    }

    async fn get(
        accessor: &Accessor<T, Self>,
        _: Resource<Opened>,
        key: String,
    ) -> Result<Option<Vec<u8>>, spin::Error> {
        apart(accessor, move |backend| backend.get(&key)).await
    }

    async fn set(
        accessor: &Accessor<T, Self>,
        _: Resource<Opened>,
        key: String,
        value: Vec<u8>,
    ) -> Result<(), spin::Error> {
        apart(accessor, move |backend| {
            within(&key, &value).and_then(|()| backend.set(&key, &value))
        })
        .await
    }

    async fn delete(
        accessor: &Accessor<T, Self>,
        _: Resource<Opened>,
        key: String,
    ) -> Result<(), spin::Error> {
        apart(accessor, move |backend| backend.delete(&key)).await
    }

    async fn exists(
        accessor: &Accessor<T, Self>,
        _: Resource<Opened>,
        key: String,
    ) -> Result<bool, spin::Error> {
        apart(accessor, move |backend| {
            backend.get(&key).map(|value| value.is_some())
        })
        .await
    }
}

impl variables::Host for Lent {}

impl<T: Send> variables::HostWithStore<T> for HasSelf<Lent> {
    async fn get(accessor: &Accessor<T, Self>, name: String) -> Result<String, variables::Error> {
        let text = accessor.with(|mut access| access.get().shared.variables.get(&name).cloned());
        text.ok_or(variables::Error::Undefined(name))
    }
}

impl bucket::Host for Lent {
    fn open(&mut self, identifier: String) -> Result<Resource<Opened>, bucket::Error> {
        if identifier != LABEL {
            return Err(bucket::Error::NoSuchStore);
        }
        self.table
            .push(Opened)
            .map_err(|error| bucket::Error::Other(error.to_string()))
    }
}

impl bucket::HostBucket for Lent {
    fn get(&mut self, _: Resource<Opened>, key: String) -> Result<Option<Vec<u8>>, bucket::Error> {
        self.shared.backend.get(&key).map_err(bucket::Error::Other)
    }

    fn set(&mut self, _: Resource<Opened>, key: String, value: Vec<u8>) -> Result<(), bucket::Error> {
        let set = within(&key, &value).and_then(|()| self.shared.backend.set(&key, &value));
        set.map_err(bucket::Error::Other)
    }

    fn delete(&mut self, _: Resource<Opened>, key: String) -> Result<(), bucket::Error> {
        self.shared.backend.delete(&key).map_err(bucket::Error::Other)
    }

    fn exists(&mut self, _: Resource<Opened>, key: String) -> Result<bool, bucket::Error> {
        let value = self.shared.backend.get(&key).map_err(bucket::Error::Other)?;
        Ok(value.is_some())
    }

    fn drop(&mut self, bucket: Resource<Opened>) -> wasmtime::Result<()> {
        self.table.delete(bucket)?;
        Ok(())
    }
}

impl Lent {
    fn begin(&mut self, key: String) -> Result<Resource<Comparison>, bucket::Error> {
        if self.swaps >= SWAPS {
            let why = "too many compare_and_swaps opened".to_owned();
            return Err(bucket::Error::Other(why));
        }
        let swap = self.shared.backend.compare(&key).map_err(bucket::Error::Other)?;
        let begun = self.table.push(Comparison { key, swap });
        self.swaps = self.swaps.saturating_add(1);
        begun.map_err(|error| bucket::Error::Other(error.to_string()))
    }
}

impl atomics::HostCas for Lent {
    fn new(&mut self, _: Resource<Opened>, key: String) -> Result<Resource<Comparison>, bucket::Error> {
        self.begin(key)
    }

    fn current(&mut self, cas: Resource<Comparison>) -> Result<Option<Vec<u8>>, bucket::Error> {
        let comparison = self.table.get_mut(&cas);
        let comparison = comparison.map_err(|error| bucket::Error::Other(error.to_string()))?;
        comparison.swap.current().map_err(bucket::Error::Other)
    }

    fn drop(&mut self, cas: Resource<Comparison>) -> wasmtime::Result<()> {
        self.table.delete(cas)?;
        self.swaps = self.swaps.saturating_sub(1);
        Ok(())
    }
}

impl atomics::Host for Lent {
    /// What was swapped stays counted, as in Spin. Where a swap is reported to have failed a fresh one comes back.
    fn swap(&mut self, cas: Resource<Comparison>, value: Vec<u8>) -> Result<(), atomics::CasError> {
        let other = |why: String| atomics::CasError::StoreError(bucket::Error::Other(why));
        let mut comparison = self.table.delete(cas).map_err(|error| other(error.to_string()))?;
        within(&comparison.key, &value).map_err(other)?;
        if comparison.swap.swap(&value).map_err(other)? {
            return Ok(());
        }
        let again = self
            .begin(comparison.key)
            .map_err(atomics::CasError::StoreError)?;
        let comparison = self
            .table
            .get_mut(&again)
            .map_err(|error| other(error.to_string()))?;
        comparison.swap.current().map_err(other)?;
        Err(atomics::CasError::CasFailed(again))
    }
}
