//! What the desk answers instead of doing what it was asked: a code, a stable reason and the fields at fault.
//!
//! A [`Refusal`] is the caller's to mend. It carries what `google.rpc.Status` carries, and the HTTP layer writes
//! it in the form of the path that was called (A2A 1.0, §11.6; session coordination, §11).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Domain of the reasons that A2A itself defines.
pub const A2A_DOMAIN: &str = "a2a-protocol.org";

/// Domain of the reasons of session coordination (§11.1).
pub const COORDINATION_DOMAIN: &str = "j5a2a.com/extensions/session-coordination/v1";

/// A canonical status code, `google.rpc.Code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are google.rpc.Code's own")]
pub enum Code {
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    Unauthenticated,
}

impl Code {
    const fn facts(self) -> (u16, &'static str, u16) {
        match self {
            Self::InvalidArgument => (3, "INVALID_ARGUMENT", 400),
            Self::DeadlineExceeded => (4, "DEADLINE_EXCEEDED", 408),
            Self::NotFound => (5, "NOT_FOUND", 404),
            Self::AlreadyExists => (6, "ALREADY_EXISTS", 409),
            Self::PermissionDenied => (7, "PERMISSION_DENIED", 403),
            Self::ResourceExhausted => (8, "RESOURCE_EXHAUSTED", 429),
            Self::FailedPrecondition => (9, "FAILED_PRECONDITION", 400),
            Self::Aborted => (10, "ABORTED", 409),
            Self::OutOfRange => (11, "OUT_OF_RANGE", 400),
            Self::Unimplemented => (12, "UNIMPLEMENTED", 501),
            Self::Internal => (13, "INTERNAL", 500),
            Self::Unavailable => (14, "UNAVAILABLE", 503),
            Self::Unauthenticated => (16, "UNAUTHENTICATED", 401),
        }
    }

    /// The number of `google.rpc.Code`.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.facts().0
    }

    /// The name of `google.rpc.Code`, such as `INVALID_ARGUMENT`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.facts().1
    }

    /// The HTTP status that stands for the code.
    #[must_use]
    pub const fn http(self) -> u16 {
        self.facts().2
    }
}

/// A field at fault and the rule it breaks: `google.rpc.BadRequest.FieldViolation`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// Path of the field in the request, such as `message.parts[0].url`.
    pub field: String,
    /// The rule, as a fragment that says what was expected.
    pub description: String,
}

/// Why, for machines: `google.rpc.ErrorInfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorInfo {
    /// Stable, upper snake case.
    pub reason: &'static str,
    /// Whose reason it is.
    pub domain: &'static str,
    /// Facts as text.
    pub metadata: BTreeMap<&'static str, String>,
}

/// An answer that refuses. Messages are lower case, without a final period, and say what was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The canonical code.
    pub code: Code,
    /// One line for a person.
    pub message: String,
    /// The stable reason, where one is defined.
    pub info: Option<Box<ErrorInfo>>,
    /// Every field at fault that was found, in the order of the checks.
    pub violations: Vec<Violation>,
    /// Further details, each an object with its own `@type`.
    pub details: Vec<Value>,
    /// An HTTP status other than the code's own, for refusals that HTTP defines (405, 413, 415).
    pub http: Option<u16>,
}

impl Refusal {
    /// A refusal of this code with nothing but a message.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            info: None,
            violations: Vec::new(),
            details: Vec::new(),
            http: None,
        }
    }

    /// INTERNAL: what should not happen, which is no caller's to mend and nobody's to be told.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(Code::Internal, "the desk met an internal error")
    }

    /// UNAUTHENTICATED: one answer to a credential that is missing, malformed, unknown or revoked.
    #[must_use]
    pub fn unauthenticated() -> Self {
        Self::new(
            Code::Unauthenticated,
            "expected a valid bearer token in the Authorization header",
        )
        .with_reason(A2A_DOMAIN, "UNAUTHENTICATED")
    }

    /// INVALID_ARGUMENT on one field.
    #[must_use]
    pub fn invalid(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::violations(vec![Violation {
            field: field.into(),
            description: description.into(),
        }])
    }

    /// INVALID_ARGUMENT on each of these fields; the first gives the message.
    #[must_use]
    pub fn violations(violations: Vec<Violation>) -> Self {
        let message = match violations.first() {
            Some(first) => format!("{}: {}", first.field, first.description),
            None => "the request is not valid".to_owned(),
        };
        Self {
            violations,
            ..Self::new(Code::InvalidArgument, message)
        }
    }

    /// The same refusal with a stable reason.
    #[must_use]
    pub fn with_reason(mut self, domain: &'static str, reason: &'static str) -> Self {
        self.info = Some(Box::new(ErrorInfo {
            reason,
            domain,
            metadata: BTreeMap::new(),
        }));
        self
    }

    /// The same refusal with one more fact beside its reason; without a reason there is no place for it.
    #[must_use]
    pub fn with_fact(mut self, key: &'static str, value: impl Into<String>) -> Self {
        if let Some(info) = &mut self.info {
            info.metadata.insert(key, value.into());
        }
        self
    }

    /// The same refusal with one more detail.
    #[must_use]
    pub fn with_detail(mut self, detail: Value) -> Self {
        self.details.push(detail);
        self
    }

    /// The same refusal under another HTTP status.
    #[must_use]
    pub fn with_http(mut self, status: u16) -> Self {
        self.http = Some(status);
        self
    }

    /// A refusal with one of A2A's own reasons (A2A 1.0, §5.4).
    #[must_use]
    pub fn a2a(code: Code, reason: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, message).with_reason(A2A_DOMAIN, reason)
    }

    /// TaskNotFoundError: the same for a task that does not exist and for one the caller may not see.
    #[must_use]
    pub fn task_not_found(task_id: &str) -> Self {
        Self::a2a(Code::NotFound, "TASK_NOT_FOUND", "no such task").with_fact("taskId", task_id)
    }

    /// ContentTypeNotSupportedError on one field (A2A 1.0, §3.3.2).
    #[must_use]
    pub fn content_type_not_supported(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::invalid(field, description).with_reason(A2A_DOMAIN, "CONTENT_TYPE_NOT_SUPPORTED")
    }

    /// A refusal with a reason of session coordination.
    #[must_use]
    pub fn coordination(code: Code, reason: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, message).with_reason(COORDINATION_DOMAIN, reason)
    }

    /// UnsupportedOperationError.
    #[must_use]
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::a2a(Code::FailedPrecondition, "UNSUPPORTED_OPERATION", message)
    }

    /// ExtensionSupportRequiredError, naming every extension that the request must activate and did not.
    #[must_use]
    pub fn extensions_required(missing: &[String]) -> Self {
        let uris = missing.join(", ");
        Self::a2a(
            Code::FailedPrecondition,
            "EXTENSION_SUPPORT_REQUIRED",
            format!("name these extensions in the A2A-Extensions header: {uris}"),
        )
        .with_fact("extensions", uris)
    }

    /// The stable reason, if there is one.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        self.info.as_ref().map(|info| info.reason)
    }

    /// The HTTP status of the answer.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.http.unwrap_or_else(|| self.code.http())
    }

    /// The JSON-RPC error code (A2A 1.0, §5.4 and §9.5): A2A's own by the reason, else JSON-RPC's.
    #[must_use]
    pub fn json_rpc_code(&self) -> i32 {
        let by_reason = match self.reason() {
            Some("INVALID_JSON") => Some(-32700),
            Some("INVALID_REQUEST") => Some(-32600),
            Some("METHOD_NOT_FOUND") => Some(-32601),
            Some("TASK_NOT_FOUND") => Some(-32001),
            Some("TASK_NOT_CANCELABLE") => Some(-32002),
            Some("PUSH_NOTIFICATION_NOT_SUPPORTED") => Some(-32003),
            Some("UNSUPPORTED_OPERATION") => Some(-32004),
            Some("CONTENT_TYPE_NOT_SUPPORTED") => Some(-32005),
            Some("INVALID_AGENT_RESPONSE") => Some(-32006),
            Some("EXTENDED_AGENT_CARD_NOT_CONFIGURED") => Some(-32007),
            Some("EXTENSION_SUPPORT_REQUIRED") => Some(-32008),
            Some("VERSION_NOT_SUPPORTED") => Some(-32009),
            _ => None,
        };
        by_reason.unwrap_or(match self.code {
            Code::Internal | Code::Unavailable | Code::ResourceExhausted => -32603,
            Code::Unauthenticated | Code::PermissionDenied => -32600,
            _ if self.http.is_some() => -32600,
            _ => -32602,
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errors_that_a2a_defines_have_its_codes() {
        for (reason, code) in [
            ("TASK_NOT_FOUND", -32001),
            ("TASK_NOT_CANCELABLE", -32002),
            ("PUSH_NOTIFICATION_NOT_SUPPORTED", -32003),
            ("UNSUPPORTED_OPERATION", -32004),
            ("CONTENT_TYPE_NOT_SUPPORTED", -32005),
            ("INVALID_AGENT_RESPONSE", -32006),
            ("EXTENDED_AGENT_CARD_NOT_CONFIGURED", -32007),
            ("EXTENSION_SUPPORT_REQUIRED", -32008),
            ("VERSION_NOT_SUPPORTED", -32009),
            ("INVALID_JSON", -32700),
            ("INVALID_REQUEST", -32600),
            ("METHOD_NOT_FOUND", -32601),
            ("ANY_OTHER", -32602),
        ] {
            let refusal = Refusal::a2a(Code::FailedPrecondition, reason, "no");
            assert_eq!(refusal.json_rpc_code(), code, "{reason}");
        }
    }
}
