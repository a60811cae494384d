//! The component in wasmtime, as a host loads it: compiled once, instantiated as often as one likes.

#[allow(
    missing_docs,
    reason = "the bindings are documented where they come from, in wit/"
)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "core",
        additional_derives: [PartialEq],
    });
}

use std::error::Error;

pub use bindings::*;
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, ResourceLimiter, Store};

/// The component, compiled and ready to be instantiated.
pub struct Compiled {
    engine: Engine,
    instances: CorePre<Memory>,
}

impl Compiled {
    /// Builds the component as `cargo xtask component` does and compiles it. The linker is empty, so this also holds
    /// the component to its promise to import nothing.
    ///
    /// # Errors
    /// It does not build, or needs anything of its host.
    pub fn build() -> Result<Self, Box<dyn Error>> {
        let path = xtask::component::build(xtask::component::CORE).map_err(|failure| {
            format!("`cargo xtask component` must work before its tests can: {failure}")
        })?;
        let engine = Engine::new(Config::new().concurrency_support(false))?;
        let component = Component::from_file(&engine, path)?;
        let instances = CorePre::new(Linker::new(&engine).instantiate_pre(&component)?)?;
        Ok(Self { engine, instances })
    }

    /// How many imports the component declares.
    #[must_use]
    pub fn imports(&self) -> usize {
        self.instances
            .instance_pre()
            .component()
            .component_type()
            .imports(&self.engine)
            .len()
    }

    /// A fresh instance.
    ///
    /// # Errors
    /// There is no memory left for one.
    pub fn instantiate(&self) -> wasmtime::Result<Instance> {
        let mut store = Store::new(&self.engine, Memory::default());
        store.limiter(|memory| memory);
        let core = self.instances.instantiate(&mut store)?;
        Ok(Instance { core, store })
    }
}

/// An instance, with the store to call it in: `instance.core.a2a_edge_core_work().call_validate_json(&mut instance.store, …)`.
pub struct Instance {
    /// The exports.
    pub core: Core,
    /// What every call needs.
    pub store: Store<Memory>,
}

/// How much linear memory an instance has grown to.
#[derive(Default)]
pub struct Memory {
    /// In bytes.
    pub bytes: usize,
}

impl ResourceLimiter for Memory {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.bytes = desired;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        _desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(true)
    }
}
