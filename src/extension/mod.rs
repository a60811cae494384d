//! The A2A extension framework: what an extension declares, when it is active, and where it hooks in
//! (A2A 1.0, §4.6).
//!
//! A [`Registry`] is compiled once from the configured extensions. For each request the host
//!
//! 1. reads what is [`requested`](header::requested) from the `A2A-Extensions` header and `message.extensions`,
//! 2. [`negotiate`](Registry::negotiate)s: every required extension must be requested, then each requested one
//!    is activated in declaration order, and yields a value of its own, steps aside, or aborts the request,
//! 3. runs the request hooks on the decoded request ([`Activations::run_request`]),
//! 4. lets the agent do its work, with the activation values in its context,
//! 5. runs the response hooks on every task, message or event that leaves ([`Activations::run_response`]),
//! 6. echoes the active URIs in the answer's own `A2A-Extensions` header ([`Activations::echo`]).
//!
//! An extension that is not active changes nothing. URIs are compared exactly, so another version of an
//! extension is another extension.
//!
//! # The smallest extension
//!
//! ```
//! use a2a_edge::a2a::card::AgentExtension;
//! use a2a_edge::a2a::{Message, Role};
//! use a2a_edge::extension::{
//!     Extension, HasMetadata, HookResponse, Method, Registry, RequestContext, header,
//! };
//! use a2a_edge::refusal::Refusal;
//! use a2a_edge::time::Timestamp;
//! use serde_json::{Value, json};
//!
//! struct Motto(AgentExtension);
//!
//! impl Extension for Motto {
//!     fn declaration(&self) -> &AgentExtension {
//!         &self.0
//!     }
//!
//!     fn handle_response(&self, response: &mut HookResponse<'_>, _: &mut Value) -> Result<(), Refusal> {
//!         response.payload.put_metadata(&self.0.uri, json!("measure twice, cut once"));
//!         Ok(())
//!     }
//! }
//!
//! let motto = Motto(AgentExtension {
//!     uri: "https://example.com/ext/motto/v1".into(),
//!     description: None,
//!     required: false,
//!     params: None,
//! });
//! let registry = Registry::builder().with(motto).build()?;
//!
//! let requested = header::requested(["https://example.com/ext/motto/v1, urn:other"], &[]);
//! let context = RequestContext { method: Some(Method::SendMessage), now: Timestamp::EPOCH, tenant: None };
//! let mut active = registry.negotiate(&requested, &context)?;
//!
//! let mut answer = Message::agent("m-1", "done");
//! active.run_response(&mut HookResponse {
//!     method: Method::SendMessage,
//!     now: Timestamp::EPOCH,
//!     params: &json!({}),
//!     payload: (&mut answer).into(),
//! })?;
//! assert_eq!(answer.metadata["https://example.com/ext/motto/v1"], "measure twice, cut once");
//! assert_eq!(answer.extensions, ["https://example.com/ext/motto/v1"]);
//! assert_eq!(active.echo().as_deref(), Some("https://example.com/ext/motto/v1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod activations;
mod builder;
pub mod client;
pub mod header;
mod hook;
mod metadata;
mod method;
mod operation;
mod registry;
pub mod stateless;
pub mod text;
pub mod timestamp;

pub use activations::Activations;
pub use builder::{Builder, RegistryError};
pub use hook::{HookRequest, HookResponse, Payload};
pub use metadata::{HasMetadata, Slots};
pub use method::Method;
pub use operation::{Operation, Operations};
pub use registry::Registry;

use std::fmt;

use serde_json::Value;

use crate::a2a::card::AgentExtension;
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// An extension of the protocol: data on the card, hooks around the core operations, operations of its own.
///
/// Only the declaration must be given; an extension that is nothing more is its [`AgentExtension`]. Hooks see
/// only requests that activated the extension. One value serves every request, so whatever belongs to a single
/// request lives in its activation value.
pub trait Extension: Send + Sync {
    /// What the card says of it. The URI, which must stay the same, is also what requests are matched against.
    fn declaration(&self) -> &AgentExtension;

    /// Decides whether to take part in a request that asks for this extension; called once for each.
    ///
    /// `requested` is everything the client asked for, in its order. By default the extension takes part, with
    /// null for a value.
    ///
    /// # Errors
    /// A refusal aborts the request before anything else is done for it.
    fn activate(&self, requested: &[String], context: &RequestContext) -> Result<Activation, Refusal> {
        let _ = (requested, context);
        Ok(Activation::Active(Value::Null))
    }

    /// Reads or changes a decoded request before the agent sees it. By default nothing happens.
    ///
    /// # Errors
    /// A refusal aborts the request: later hooks and the agent never see it.
    fn handle_request(&self, request: &mut HookRequest<'_>, activation: &mut Value) -> Result<(), Refusal> {
        let _ = (request, activation);
        Ok(())
    }

    /// Changes one task, message or event before it is encoded. By default nothing happens.
    ///
    /// A request may have many: every task of a page and every event of a stream comes by, in order.
    ///
    /// # Errors
    /// A refusal takes the place of the answer, and ends a stream. What the agent did is done all the same, so this is for
    /// an extension that cannot go on, never for what a client could mend.
    fn handle_response(
        &self,
        response: &mut HookResponse<'_>,
        activation: &mut Value,
    ) -> Result<(), Refusal> {
        let _ = (response, activation);
        Ok(())
    }

    /// The operations that it adds to those of the protocol; none by default.
    fn operations(&self) -> Option<&Operations> {
        None
    }
}

/// An extension of data alone needs nothing beyond its declaration.
impl Extension for AgentExtension {
    fn declaration(&self) -> &AgentExtension {
        self
    }
}

/// What an extension answers to a request that asks for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Activation {
    /// It takes part. The value is handed to its hooks, which may change it, and to the agent, which may read it.
    Active(Value),
    /// It stays out of this request, which goes on without it and does not echo it.
    Skip,
}

/// What an extension may look at when it decides whether to take part. Nothing here is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestContext {
    /// The core operation that was called; none when it is one that an extension registered.
    pub method: Option<Method>,
    /// When the request arrived.
    pub now: Timestamp,
    /// The tenant that the request names.
    pub tenant: Option<String>,
}

/// An extension that is configured with options.
pub trait FromOptions: Extension + Sized {
    /// Checks the options, a JSON object or null for none, and makes the extension.
    ///
    /// # Errors
    /// The option at fault and its rule.
    fn init(options: &Value) -> Result<Self, InitError>;
}

/// An option that an extension cannot be made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitError {
    /// URI of the extension.
    pub uri: String,
    /// The option at fault; empty when it is the options as a whole.
    pub option: String,
    /// The rule, as a fragment that says what was expected.
    pub rule: String,
}

impl InitError {
    /// The error of one option.
    #[must_use]
    pub fn new(uri: impl Into<String>, option: impl Into<String>, rule: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            option: option.into(),
            rule: rule.into(),
        }
    }
}

impl fmt::Display for InitError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { uri, option, rule } = self;
        if option.is_empty() {
            write!(out, "options of extension {uri}: {rule}")
        } else {
            write!(out, "option {option} of extension {uri}: {rule}")
        }
    }
}

impl std::error::Error for InitError {}

/// Declarations and extensions that the tests of this room share.
#[cfg(test)]
mod fixtures {
    use super::{Extension, Operation, Operations};
    use crate::a2a::card::AgentExtension;

    /// An optional extension of nothing but this URI.
    pub(super) fn declared(uri: &str) -> AgentExtension {
        AgentExtension {
            uri: uri.into(),
            description: None,
            required: false,
            params: None,
        }
    }

    /// A required one.
    pub(super) fn required(uri: &str) -> AgentExtension {
        AgentExtension {
            required: true,
            ..declared(uri)
        }
    }

    /// Registers operations and is otherwise data.
    pub(super) struct Desk(AgentExtension, Operations);

    impl Desk {
        pub(super) fn new(uri: &str, path: &str, names: &[&str]) -> Self {
            let list = names.iter().map(|name| Operation::write(*name)).collect();
            let path = path.into();
            Self(declared(uri), Operations { path, list })
        }
    }

    impl Extension for Desk {
        fn declaration(&self) -> &AgentExtension {
            &self.0
        }

        fn operations(&self) -> Option<&Operations> {
            Some(&self.1)
        }
    }
}
