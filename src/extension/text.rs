//! Extensions whose hooks take and give JSON as text: the components of the world `extension` of `wit/`.
//!
//! A host calls them, each in its own way ([`Hooks`]). What is made of what they give is the same on every host: a
//! [`TextExtension`] is an [`Extension`] like any other.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Activation, Extension, HookRequest, HookResponse, Payload, RequestContext};
use crate::a2a::card::AgentExtension;
use crate::json;
use crate::refusal::{Code, Refusal, Violation};

/// What the card is to say of an extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Identifies the extension and its version.
    pub uri: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether every request must ask for it.
    pub required: bool,
    /// What else a client should know: an object, as text.
    pub params: Option<String>,
}

/// A decoded request on its way to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The operation, by A2A's name.
    pub method: String,
    /// When it arrived, in milliseconds since 1970-01-01T00:00:00Z.
    pub now: i64,
    /// The message of a send.
    pub message: Option<String>,
    /// The other members of A2A's request object.
    pub params: String,
}

/// A request as the extension leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandledRequest {
    /// The message: one where there was one.
    pub message: Option<String>,
    /// The parameters.
    pub params: String,
    /// The activation value, for the next call.
    pub activation: String,
}

/// What kind of object an answer is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "see `Payload`")]
pub enum Kind {
    Task,
    Message,
    StatusUpdate,
    ArtifactUpdate,
}

/// One object of an answer on its way to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The operation that is answered, by A2A's name.
    pub method: String,
    /// When the object leaves, in milliseconds since 1970-01-01T00:00:00Z.
    pub now: i64,
    /// The parameters of the request as its hooks left them.
    pub params: String,
    /// What kind of object it is.
    pub kind: Kind,
    /// The object.
    pub payload: String,
}

/// An object as the extension leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandledResponse {
    /// The object, of the same kind.
    pub payload: String,
    /// The activation value, for the next call.
    pub activation: String,
}

/// Why a call gave no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// The extension refuses the request.
    Refused(Box<Refusal>),
    /// The call came to nothing.
    Broken {
        /// What the hook should have done, as a fragment: `end within 1000 ms`.
        expected: String,
        /// What happened, for the log alone.
        why: String,
    },
}

impl Trouble {
    /// A refusal that the extension decided on. `code` is its number among the cases of `refusal-code` in `wit/`; the
    /// violations are fields at fault, each with its rule.
    pub fn refused(
        code: u8,
        message: String,
        violations: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        const CODES: [Code; 7] = [
            Code::InvalidArgument,
            Code::NotFound,
            Code::PermissionDenied,
            Code::ResourceExhausted,
            Code::FailedPrecondition,
            Code::Unimplemented,
            Code::Unavailable,
        ];
        let code = CODES.get(usize::from(code)).copied().unwrap_or(Code::Internal);
        let violations = violations
            .into_iter()
            .map(|(field, description)| Violation { field, description });
        Self::Refused(Box::new(Refusal {
            violations: violations.collect(),
            ..Refusal::new(code, message)
        }))
    }

    fn broken(expected: impl Into<String>, why: impl ToString) -> Self {
        Self::Broken {
            expected: expected.into(),
            why: why.to_string(),
        }
    }
}

/// Translates between the types here and those of a host's bindings to the interface `hooks`, whose module is named.
#[macro_export]
macro_rules! translate_hooks {
    ($($hooks:ident)::+) => {
        impl From<$($hooks)::+::Entry> for $crate::extension::text::Entry {
            fn from(entry: $($hooks)::+::Entry) -> Self {
                Self {
                    uri: entry.uri,
                    description: entry.description,
                    required: entry.required,
                    params: entry.params,
                }
            }
        }

        impl From<&$crate::extension::RequestContext> for $($hooks)::+::Context {
            fn from(context: &$crate::extension::RequestContext) -> Self {
                Self {
                    method: context.method.map(|method| method.name().to_owned()),
                    now: context.now.as_millis(),
                    tenant: context.tenant.clone(),
                }
            }
        }

        impl From<$($hooks)::+::Activation> for Option<String> {
            fn from(activation: $($hooks)::+::Activation) -> Self {
                match activation {
                    $($hooks)::+::Activation::Active(value) => Some(value),
                    $($hooks)::+::Activation::Skip => None,
                }
            }
        }

        impl From<&$crate::extension::text::Request> for $($hooks)::+::Request {
            fn from(request: &$crate::extension::text::Request) -> Self {
                Self {
                    method: request.method.clone(),
                    now: request.now,
                    message: request.message.clone(),
                    params: request.params.clone(),
                }
            }
        }

        impl From<$($hooks)::+::HandledRequest> for $crate::extension::text::HandledRequest {
            fn from(handled: $($hooks)::+::HandledRequest) -> Self {
                Self {
                    message: handled.message,
                    params: handled.params,
                    activation: handled.activation,
                }
            }
        }

        impl From<&$crate::extension::text::Response> for $($hooks)::+::Response {
            fn from(response: &$crate::extension::text::Response) -> Self {
                use $crate::extension::text::Kind;
                use $($hooks)::+::PayloadKind;
                Self {
                    method: response.method.clone(),
                    now: response.now,
                    params: response.params.clone(),
                    kind: match response.kind {
                        Kind::Task => PayloadKind::Task,
                        Kind::Message => PayloadKind::Message,
                        Kind::StatusUpdate => PayloadKind::StatusUpdate,
                        Kind::ArtifactUpdate => PayloadKind::ArtifactUpdate,
                    },
                    payload: response.payload.clone(),
                }
            }
        }

        impl From<$($hooks)::+::HandledResponse> for $crate::extension::text::HandledResponse {
            fn from(handled: $($hooks)::+::HandledResponse) -> Self {
                Self {
                    payload: handled.payload,
                    activation: handled.activation,
                }
            }
        }

        impl From<$($hooks)::+::Refusal> for $crate::extension::text::Trouble {
            fn from(refusal: $($hooks)::+::Refusal) -> Self {
                let violations = refusal.violations.into_iter();
                let violations = violations.map(|violation| (violation.field, violation.description));
                Self::refused(refusal.code as u8, refusal.message, violations)
            }
        }
    };
}

/// What a call gives.
pub type Called<T> = Result<T, Trouble>;

/// The interface `hooks` of `wit/`, as a host calls it.
pub trait Hooks: Send + Sync {
    /// What the card is to say, with these options; or the name and the rule of an option that cannot be worked with.
    ///
    /// # Errors
    /// See [`Trouble`].
    fn declaration(&self, options: Option<&str>) -> Called<Result<Entry, (String, String)>>;

    /// Whether the extension takes part, and with which activation value.
    ///
    /// # Errors
    /// See [`Trouble`].
    fn activate(
        &self,
        options: Option<&str>,
        requested: &[String],
        context: &RequestContext,
    ) -> Called<Option<String>>;

    /// Reads or changes a request.
    ///
    /// # Errors
    /// See [`Trouble`].
    fn handle_request(&self, request: &Request, activation: &str) -> Called<HandledRequest>;

    /// Changes one object of the answer.
    ///
    /// # Errors
    /// See [`Trouble`].
    fn handle_response(&self, response: &Response, activation: &str) -> Called<HandledResponse>;

    /// Hears why a call came to nothing, for the log. By default nobody does.
    fn tell(&self, uri: &str, hook: &str, why: &str) {
        let _ = (uri, hook, why);
    }
}

/// An extension behind such hooks.
#[derive(Debug)]
pub struct TextExtension<H> {
    hooks: H,
    options: Option<String>,
    declaration: AgentExtension,
}

impl<H: Hooks> TextExtension<H> {
    /// Asks the hooks what they declare with these options; until they have, the extension is called `name`.
    ///
    /// # Errors
    /// They declare none; which option is at fault, and the rule it breaks.
    pub fn new(hooks: H, name: &str, options: Option<&Value>) -> Result<Self, String> {
        let options = options.map(json::to_string);
        let mut extension = Self {
            hooks,
            options,
            declaration: AgentExtension {
                uri: name.to_owned(),
                description: None,
                required: false,
                params: None,
            },
        };
        extension.declaration = extension.declare()?;
        Ok(extension)
    }

    fn declare(&self) -> Result<AgentExtension, String> {
        let called = self.hooks.declaration(self.options.as_deref());
        let entry = self
            .judge("declaration", called)
            .map_err(|refusal| refusal.message)?;
        let entry = entry.map_err(|(option, rule)| match option.as_str() {
            "" => format!("options: {rule}"),
            option => format!("option {option}: {rule}"),
        })?;
        let params = entry.params.as_deref().map(json::parse_text).transpose();
        Ok(AgentExtension {
            uri: entry.uri,
            description: entry.description,
            required: entry.required,
            params: params.map_err(|error| format!("params: expected JSON: {error}"))?,
        })
    }

    /// What a client is told of a call that gave no value; the host hears why.
    fn judge<T>(&self, hook: &str, called: Called<T>) -> Result<T, Refusal> {
        called.map_err(|trouble| match trouble {
            Trouble::Refused(refusal) => *refusal,
            Trouble::Broken { expected, why } => {
                let uri = &self.declaration.uri;
                self.hooks.tell(uri, hook, &why);
                let message = format!("expected {hook} of extension {uri} to {expected}");
                Refusal::new(Code::Internal, message)
            }
        })
    }

    fn handled_request(&self, request: &mut HookRequest<'_>, activation: &mut Value) -> Called<()> {
        let given = Request {
            method: request.method.name().to_owned(),
            now: request.now.as_millis(),
            message: request.message.as_deref().map(json::to_string),
            params: json::to_string(request.params),
        };
        let handled = self.hooks.handle_request(&given, &json::to_string(activation))?;
        let params = parsed("the parameters", &handled.params)?;
        if !params.is_object() {
            return Err(Trouble::broken("give an object as the parameters", "no object"));
        }
        *activation = parsed("the activation value", &handled.activation)?;
        *request.params = params;
        match (&mut request.message, handled.message) {
            (Some(message), Some(text)) if Some(&text) != given.message.as_ref() => {
                let value = parsed("the message", &text)?;
                **message = read(value).map_err(|why| Trouble::broken("give an A2A message", why))?;
                Ok(())
            }
            (Some(_), Some(_)) | (None, None) => Ok(()),
            _ => Err(Trouble::broken("give a message where there was one", "another")),
        }
    }

    fn handled_response(&self, response: &mut HookResponse<'_>, activation: &mut Value) -> Called<()> {
        let (kind, payload) = shown(&response.payload);
        let given = Response {
            method: response.method.name().to_owned(),
            now: response.now.as_millis(),
            params: json::to_string(response.params),
            kind,
            payload,
        };
        let handled = self.hooks.handle_response(&given, &json::to_string(activation))?;
        *activation = parsed("the activation value", &handled.activation)?;
        if handled.payload == given.payload {
            return Ok(());
        }
        let value = parsed("the payload", &handled.payload)?;
        replace(&mut response.payload, value)
            .map_err(|why| Trouble::broken("give an A2A object of the same kind", why))
    }
}

impl<H: Hooks> Extension for TextExtension<H> {
    fn declaration(&self) -> &AgentExtension {
        &self.declaration
    }

    fn activate(&self, requested: &[String], context: &RequestContext) -> Result<Activation, Refusal> {
        let called = self.hooks.activate(self.options.as_deref(), requested, context);
        let value = called.and_then(|value| {
            value
                .map(|value| parsed("the activation value", &value))
                .transpose()
        });
        let value = self.judge("activate", value)?;
        Ok(value.map_or(Activation::Skip, Activation::Active))
    }

    fn handle_request(&self, request: &mut HookRequest<'_>, activation: &mut Value) -> Result<(), Refusal> {
        let called = self.handled_request(request, activation);
        self.judge("handle-request", called)
    }

    fn handle_response(
        &self,
        response: &mut HookResponse<'_>,
        activation: &mut Value,
    ) -> Result<(), Refusal> {
        let called = self.handled_response(response, activation);
        self.judge("handle-response", called)
    }
}

/// A value that the extension gave.
fn parsed(what: &str, text: &str) -> Called<Value> {
    json::parse_text(text).map_err(|error| Trouble::broken(format!("give JSON as {what}"), error))
}

fn shown(payload: &Payload<'_>) -> (Kind, String) {
    match payload {
        Payload::Task(task) => (Kind::Task, json::to_string(task)),
        Payload::Message(message) => (Kind::Message, json::to_string(message)),
        Payload::StatusUpdate(event) => (Kind::StatusUpdate, json::to_string(event)),
        Payload::ArtifactUpdate(event) => (Kind::ArtifactUpdate, json::to_string(event)),
    }
}

/// Puts an object of the same kind in a payload's place.
fn replace(payload: &mut Payload<'_>, value: Value) -> serde_json::Result<()> {
    match payload {
        Payload::Task(task) => **task = read(value)?,
        Payload::Message(message) => **message = read(value)?,
        Payload::StatusUpdate(event) => **event = read(value)?,
        Payload::ArtifactUpdate(event) => **event = read(value)?,
    }
    Ok(())
}

fn read<T: DeserializeOwned>(value: Value) -> serde_json::Result<T> {
    serde_json::from_value(value)
}
