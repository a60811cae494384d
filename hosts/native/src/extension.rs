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
mod objects;
mod room;

use std::path::Path;
use std::thread;
use std::time::Duration;

use a2a_edge::a2a::card::AgentExtension;
use a2a_edge::extension::{Activation, Extension, HookRequest, HookResponse, RequestContext};
use a2a_edge::json;
use a2a_edge::refusal::{Code, Refusal, Violation};
use serde_json::{Value, json};
use tokio::runtime::{Handle, RuntimeFlavor};
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Store, Trap};

use crate::server::log::{Level, Log};
use bindings::ExtensionPre;
use bindings::exports::a2a_edge::core::hooks::{self, Guest, RefusalCode};
use room::Room;

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
        let mut loaded = Loaded {
            instances,
            options: options.map(json::to_string),
            declaration: AgentExtension {
                uri: file.display().to_string(),
                description: None,
                required: false,
                params: None,
            },
            limits: self.limits,
            log: self.log,
        };
        loaded.declaration = loaded.declare()?;
        Ok(loaded)
    }
}

/// An extension that is ready.
pub struct Loaded {
    instances: ExtensionPre<Room>,
    options: Option<String>,
    declaration: AgentExtension,
    limits: Limits,
    log: Log,
}

impl Loaded {
    fn declare(&self) -> Result<AgentExtension, String> {
        let called = self.call("declaration", |hooks, store| {
            hooks.call_declaration(store, self.options.as_ref())
        });
        let entry =
            called
                .map_err(|refusal| refusal.message)?
                .map_err(|fault| match fault.name.as_str() {
                    "" => format!("options: {}", fault.rule),
                    name => format!("option {name}: {}", fault.rule),
                })?;
        let params = entry.params.map(|text| json::parse(text.as_bytes())).transpose();
        Ok(AgentExtension {
            uri: entry.uri,
            description: entry.description,
            required: entry.required,
            params: params.map_err(|error| format!("params: expected JSON: {error}"))?,
        })
    }

    /// Runs one function in an instance of its own, and tells the log of what goes wrong.
    fn call<T>(
        &self,
        hook: &str,
        run: impl FnOnce(&Guest, &mut Store<Room>) -> wasmtime::Result<T>,
    ) -> Result<T, Refusal> {
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
        outcome.map_err(|error| {
            let expected = match error.downcast_ref::<Trap>() {
                Some(Trap::Interrupt) => format!("end within {millis} ms"),
                Some(Trap::OutOfFuel) => format!("end within {instructions} million instructions"),
                _ if store.data().is_exceeded() => format!("keep to {memory} MiB of memory"),
                _ => "end without a trap".to_owned(),
            };
            self.broken(hook, &expected, &error.root_cause().to_string())
        })
    }

    /// What a client is told of a call that came to nothing; the log hears why.
    fn broken(&self, hook: &str, expected: &str, why: &str) -> Refusal {
        let uri = &self.declaration.uri;
        let facts = [("uri", json!(uri)), ("hook", json!(hook)), ("why", json!(why))];
        self.log.event(Level::Error, "extension", &facts);
        let message = format!("expected {hook} of extension {uri} to {expected}");
        Refusal::new(Code::Internal, message)
    }

    /// Reads a value that the extension gave.
    fn read(&self, hook: &str, what: &str, text: &str) -> Result<Value, Refusal> {
        json::parse(text.as_bytes())
            .map_err(|error| self.broken(hook, &format!("give JSON as {what}"), &error.to_string()))
    }
}

impl Extension for Loaded {
    fn declaration(&self) -> &AgentExtension {
        &self.declaration
    }

    fn activate(&self, requested: &[String], context: &RequestContext) -> Result<Activation, Refusal> {
        const HOOK: &str = "activate";
        let context = hooks::Context {
            method: context.method.map(|method| method.name().to_owned()),
            now: context.now.as_millis(),
            tenant: context.tenant.clone(),
        };
        let called = self.call(HOOK, |hooks, store| {
            hooks.call_activate(store, self.options.as_ref(), requested, &context)
        });
        Ok(match called?.map_err(refused)? {
            hooks::Activation::Active(value) => {
                Activation::Active(self.read(HOOK, "the activation value", &value)?)
            }
            hooks::Activation::Skip => Activation::Skip,
        })
    }

    fn handle_request(&self, request: &mut HookRequest<'_>, activation: &mut Value) -> Result<(), Refusal> {
        const HOOK: &str = "handle-request";
        let given = hooks::Request {
            method: request.method.name().to_owned(),
            now: request.now.as_millis(),
            message: request.message.as_deref().map(objects::text),
            params: json::to_string(request.params),
        };
        let value = json::to_string(activation);
        let called = self.call(HOOK, |hooks, store| {
            hooks.call_handle_request(store, &given, &value)
        });
        let handled = called?.map_err(refused)?;
        let params = self.read(HOOK, "the parameters", &handled.params)?;
        if !params.is_object() {
            return Err(self.broken(HOOK, "give an object as the parameters", "no object"));
        }
        *activation = self.read(HOOK, "the activation value", &handled.activation)?;
        *request.params = params;
        match (&mut request.message, handled.message) {
            (Some(message), Some(text)) if Some(&text) != given.message.as_ref() => {
                let value = self.read(HOOK, "the message", &text)?;
                **message = objects::message(value)
                    .map_err(|error| self.broken(HOOK, "give an A2A message", &error))?;
                Ok(())
            }
            (Some(_), Some(_)) | (None, None) => Ok(()),
            _ => Err(self.broken(HOOK, "give a message where there was one", "another")),
        }
    }

    fn handle_response(
        &self,
        response: &mut HookResponse<'_>,
        activation: &mut Value,
    ) -> Result<(), Refusal> {
        const HOOK: &str = "handle-response";
        let (kind, payload) = objects::payload(&response.payload);
        let given = hooks::Response {
            method: response.method.name().to_owned(),
            now: response.now.as_millis(),
            params: json::to_string(response.params),
            kind,
            payload,
        };
        let value = json::to_string(activation);
        let handled = self.call(HOOK, |hooks, store| {
            hooks.call_handle_response(store, &given, &value)
        })?;
        *activation = self.read(HOOK, "the activation value", &handled.activation)?;
        if handled.payload == given.payload {
            return Ok(());
        }
        let value = self.read(HOOK, "the payload", &handled.payload)?;
        objects::replace(&mut response.payload, value)
            .map_err(|error| self.broken(HOOK, "give an A2A object of the same kind", &error))
    }
}

/// A refusal that an extension decided on.
fn refused(refusal: hooks::Refusal) -> Refusal {
    let code = match refusal.code {
        RefusalCode::InvalidArgument => Code::InvalidArgument,
        RefusalCode::NotFound => Code::NotFound,
        RefusalCode::PermissionDenied => Code::PermissionDenied,
        RefusalCode::ResourceExhausted => Code::ResourceExhausted,
        RefusalCode::FailedPrecondition => Code::FailedPrecondition,
        RefusalCode::Unimplemented => Code::Unimplemented,
        RefusalCode::Unavailable => Code::Unavailable,
    };
    let violations = refusal.violations.into_iter().map(|violation| Violation {
        field: violation.field,
        description: violation.description,
    });
    Refusal {
        violations: violations.collect(),
        ..Refusal::new(code, refusal.message)
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
