//! Extensions that come as components of the world `extension` of `wit/`, run in wasmtime.
//!
//! Each call has an instance of its own, made from code that was compiled at the start. It is given nothing of this machine,
//! neither files nor network, clock or randomness, so it can do no more than answer; and it may take so much memory, so many
//! instructions and so long. What goes wrong in it is the answer to that one request.

#[allow(
    missing_docs,
    reason = "the bindings are documented where they come from, in wit/"
)]
mod bindings {
    wasmtime::component::bindgen!({ path: "../../wit", world: "extension" });
}
mod room;

use std::path::Path;
use std::thread;
use std::time::Duration;

use a2a_edge::extension::RequestContext;
use a2a_edge::extension::text::{
    self, Called, Entry, HandledRequest, HandledResponse, Hooks, TextExtension, Trouble,
};
use serde_json::{Value, json};
use tokio::runtime::{Handle, RuntimeFlavor};
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Store, Trap};

use crate::server::log::{Level, Log};
use bindings::ExtensionPre;
use bindings::exports::a2a_edge::core::hooks::{self, Guest};
use room::Room;

a2a_edge::translate_hooks!(hooks);

/// How often the clock by which calls are ended moves on, in milliseconds.
const TICK_MS: u64 = 5;

/// What one call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Memory, in MiB.
    pub memory: u32,
    /// Instructions, in millions.
    pub instructions: u32,
    /// Time, in milliseconds.
    pub millis: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 64,
            instructions: 1000,
            millis: 1000,
        }
    }
}

/// Compiles extensions.
pub struct Loader {
    engine: Engine,
    limits: Limits,
    log: Log,
}

impl Loader {
    /// Makes ready; the clock runs for as long as anything that was loaded is there.
    ///
    /// # Errors
    /// This machine is none that code can be compiled for, or has no thread for the clock.
    pub fn new(limits: Limits, log: Log) -> wasmtime::Result<Self> {
        let mut config = Config::new();
        config
            .concurrency_support(false)
            .consume_fuel(true)
            .epoch_interruption(true);
        let engine = Engine::new(&config)?;
        let clock = engine.weak();
        let tick = move || {
            while let Some(engine) = clock.upgrade() {
                engine.increment_epoch();
                drop(engine);
                thread::sleep(Duration::from_millis(TICK_MS));
            }
        };
        thread::Builder::new().name("extensions".to_owned()).spawn(tick)?;
        Ok(Self { engine, limits, log })
    }

    /// Compiles the component in a file, and asks it for its declaration with these options.
    ///
    /// # Errors
    /// The file is no component of the world `extension`, imports anything, or does not declare an extension.
    pub fn load(&self, file: &Path, options: Option<&Value>) -> Result<Loaded, String> {
        let fault =
            |error: wasmtime::Error| format!("expected a component of the world extension: {error:#}");
        let component = Component::from_file(&self.engine, file).map_err(fault)?;
        let instances = Linker::new(&self.engine)
            .instantiate_pre(&component)
            .and_then(ExtensionPre::new)
            .map_err(fault)?;
        let hooks = Instances {
            instances,
            limits: self.limits,
            log: self.log,
        };
        TextExtension::new(hooks, &file.display().to_string(), options)
    }
}

/// An extension that is ready.
pub type Loaded = TextExtension<Instances>;

/// Makes an instance for each call.
pub struct Instances {
    instances: ExtensionPre<Room>,
    limits: Limits,
    log: Log,
}

impl Instances {
    /// Runs one function in an instance of its own.
    fn call<T>(&self, run: impl FnOnce(&Guest, &mut Store<Room>) -> wasmtime::Result<T>) -> Called<T> {
        let Limits {
            memory,
            instructions,
            millis,
        } = self.limits;
        let mut store = Store::new(self.instances.engine(), Room::of_mib(memory));
        store.limiter(|room| room);
        // One tick more: the first may come at once.
        store.set_epoch_deadline(u64::from(millis).div_ceil(TICK_MS).saturating_add(1));
        let outcome = elsewhere(|| {
            store.set_fuel(u64::from(instructions).saturating_mul(1_000_000))?;
            let instance = self.instances.instantiate(&mut store)?;
            run(instance.a2a_edge_core_hooks(), &mut store)
        });
        outcome.map_err(|error| Trouble::Broken {
            expected: match error.downcast_ref::<Trap>() {
                Some(Trap::Interrupt) => format!("end within {millis} ms"),
                Some(Trap::OutOfFuel) => format!("end within {instructions} million instructions"),
                _ if store.data().is_exceeded() => format!("keep to {memory} MiB of memory"),
                _ => "end without a trap".to_owned(),
            },
            why: error.root_cause().to_string(),
        })
    }
}

impl Hooks for Instances {
    fn declaration(&self, options: Option<&str>) -> Called<Result<Entry, (String, String)>> {
        let options = options.map(str::to_owned);
        let declared = self.call(|hooks, store| hooks.call_declaration(store, options.as_ref()))?;
        Ok(declared.map(Into::into).map_err(|fault| (fault.name, fault.rule)))
    }

    fn activate(
        &self,
        options: Option<&str>,
        requested: &[String],
        context: &RequestContext,
    ) -> Called<Option<String>> {
        let (options, context) = (options.map(str::to_owned), context.into());
        let called =
            self.call(|hooks, store| hooks.call_activate(store, options.as_ref(), requested, &context))?;
        Ok(called?.into())
    }

    fn handle_request(&self, request: &text::Request, activation: &str) -> Called<HandledRequest> {
        let (request, activation) = (request.into(), activation.to_owned());
        let handled = self.call(|hooks, store| hooks.call_handle_request(store, &request, &activation))?;
        Ok(handled?.into())
    }

    fn handle_response(&self, response: &text::Response, activation: &str) -> Called<HandledResponse> {
        let (response, activation) = (response.into(), activation.to_owned());
        let handled = self.call(|hooks, store| hooks.call_handle_response(store, &response, &activation))?;
        Ok(handled.into())
    }

    fn tell(&self, uri: &str, hook: &str, why: &str) {
        let facts = [("uri", json!(uri)), ("hook", json!(hook)), ("why", json!(why))];
        self.log.event(Level::Error, "extension", &facts);
    }
}

/// Runs what may take long where it keeps no other request waiting.
fn elsewhere<T>(run: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(run)
        }
        _ => run(),
    }
}
