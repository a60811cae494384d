//! session-coordination/v1: what the participants of a session do together.
//!
//! The catalogue drives everything about an operation: its route, its scope, its limits and its place on the card.

pub mod catalogue;
pub mod claims;
pub mod decisions;
pub mod digest;
pub mod events;
pub mod inbox;
pub mod journal;
pub mod knowledge;
mod operation;
pub(crate) mod page;
pub mod participants;
pub mod presence;
pub mod projection;
pub mod questions;
pub mod reference;
pub mod requests;
pub mod resource;
pub mod workstreams;

pub use operation::{Description, Handler, LogHandler, Operation, Read, Reply};
use serde_json::Value;

use crate::params::{Param, Rule};
use crate::refusal::{Refusal, Violation};
use crate::session::{Caller, Command, Context, Decided, Idempotency, Scope, Session, SessionLimits};
use crate::time::Timestamp;

/// Identifies the extension.
pub const URI: &str = "https://j5a2a.com/extensions/session-coordination/v1";
/// Key of the extension's data in `metadata` (session coordination, §7: no scheme).
pub const METADATA_KEY: &str = "j5a2a.com/extensions/session-coordination/v1";
/// Where the operations are, relative to the interface's URL.
pub const PATH: &str = "extensions/session-coordination/v1";

/// A call of an operation, authenticated and decoded.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// Who calls.
    pub caller: Caller,
    /// Now.
    pub now: Timestamp,
    /// 32 random bytes, fresh for this call.
    pub entropy: [u8; 32],
    /// How much the session may hold.
    pub limits: SessionLimits,
    /// The parameters.
    pub body: &'a serde_json::Map<String, Value>,
    /// The last event that a client of a stream has already.
    pub last_event_id: Option<&'a str>,
}

impl Call<'_> {
    /// Decides the command that the call asks for.
    fn decide(
        &self,
        session: &Session,
        idempotency: Option<Idempotency>,
        command: &Command,
    ) -> Result<Decided, Refusal> {
        let context = Context {
            now: self.now,
            entropy: self.entropy,
            caller: self.caller.clone(),
            limits: self.limits,
            idempotency,
        };
        session.decide(command, &context)
    }
}

/// Whether the caller's credential has the operation's scope: session coordination, §10.
///
/// # Errors
/// PERMISSION_DENIED SCOPE_REQUIRED.
pub fn allow(operation: &Operation, caller: &Caller) -> Result<(), Refusal> {
    if caller.may(operation.scope) {
        Ok(())
    } else {
        Err(scope_required(operation.scope))
    }
}

/// Checks a call's fields and decides it: from the fields on to the state (session coordination, §9.2).
///
/// # Errors
/// The first check that fails.
pub fn invoke(session: &Session, operation: &Operation, call: &Call<'_>) -> Result<Reply, Refusal> {
    let (key, found) = checked(operation.params, operation.rules, operation.read_only, call.body);
    if !found.is_empty() {
        return Err(Refusal::violations(found));
    }
    match operation.handler {
        Handler::Session(handler) => {
            let idempotency = key.map(|key| Idempotency::of_body(key, operation.name, call.body));
            handler(session, call, idempotency).map(|decided| Reply::Decided(Box::new(decided)))
        }
        Handler::Log(handler) => Ok(match handler(session, call, None)? {
            Read::Answer(answer) => Reply::Decided(Box::new(Decided::read(answer))),
            Read::Log(span) => Reply::Log(handler, span),
        }),
        Handler::Stream(handler) => handler(session, call).map(Reply::Stream),
    }
}

/// The idempotency key of a call, if it is no read and has one, and every field of it that breaks a rule.
pub(crate) fn checked<'a>(
    params: &[Param],
    rules: &[Rule],
    read_only: bool,
    body: &'a serde_json::Map<String, Value>,
) -> (Option<&'a str>, Vec<Violation>) {
    let mut found = crate::params::violations(params, rules, body);
    let key = if read_only {
        None
    } else {
        idempotency_key(body, &mut found)
    };
    (key, found)
}

/// PERMISSION_DENIED SCOPE_REQUIRED.
#[must_use]
pub fn scope_required(scope: Scope) -> Refusal {
    let message = format!("the credential needs the scope {}", scope.as_str());
    Refusal::coordination(crate::refusal::Code::PermissionDenied, "SCOPE_REQUIRED", message)
        .with_fact("scope", scope.as_str())
}

/// The caller's idempotency key: 1 to 255 characters, none of them a control character.
pub fn idempotency_key<'a>(
    body: &'a serde_json::Map<String, Value>,
    found: &mut Vec<Violation>,
) -> Option<&'a str> {
    let value = body.get("idempotencyKey")?;
    let key = value
        .as_str()
        .filter(|key| !key.is_empty() && key.chars().count() <= 255)
        .filter(|key| !key.chars().any(|c| c.is_ascii_control()));
    if key.is_none() {
        found.push(Violation {
            field: "idempotencyKey".to_owned(),
            description: "expected a string of 1 to 255 characters, without control characters".to_owned(),
        });
    }
    key
}
