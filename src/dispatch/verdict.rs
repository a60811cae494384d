//! What is wrong with a request, as data: a code, the field and the rule (work/v1, §8.3 and §8.6).

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::{DOMAIN, ENVELOPE_URI, WORK_URI};
use crate::json;
use crate::refusal::{Code, Refusal};

/// What kind of wrong it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultCode {
    /// The field breaks a rule.
    Invalid,
    /// The field asks for what a client may not do.
    Forbidden,
    /// The field names what is not there, or what the client may not see.
    NotFound,
    /// A part of a content type that is not taken.
    Unsupported,
}

/// The first thing wrong with a request.
///
/// As JSON it is `{"code":"invalid","field":"work.title","message":"expected one line …"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// What kind of wrong it is.
    pub code: FaultCode,
    /// The field's short path, such as `work.writes[1]` or `to[0]`.
    pub field: String,
    /// The rule, as a fragment that says what was expected.
    pub message: String,
}

impl Fault {
    /// A field that breaks a rule.
    #[must_use]
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(FaultCode::Invalid, field, message)
    }

    /// A field that asks for what a client may not do.
    #[must_use]
    pub fn forbidden(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(FaultCode::Forbidden, field, message)
    }

    /// A field that names what is not there, or what the client may not see.
    #[must_use]
    pub fn not_found(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(FaultCode::NotFound, field, message)
    }

    pub(super) fn new(code: FaultCode, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code,
            field: field.into(),
            message: message.into(),
        }
    }

    /// The field as a path into the A2A request: `work.title` is `message.metadata[<work/v1 URI>].title`, the
    /// members of an envelope likewise, `body` is `message.parts` (work/v1, §8.3).
    #[must_use]
    pub fn a2a_path(&self) -> String {
        let field = self.field.as_str();
        let head = field.split(['.', '[']).next().unwrap_or_default();
        let rest = field.strip_prefix(head).unwrap_or_default();
        match head {
            "work" => format!("message.metadata[{WORK_URI}]{rest}"),
            "envelope" => format!("message.metadata[{ENVELOPE_URI}]{rest}"),
            "to" | "urgent" | "wake" | "kind" | "replyTo" | "blocking" | "choices" | "choice" | "refs" => {
                format!("message.metadata[{ENVELOPE_URI}].{field}")
            }
            "body" => "message.parts".to_owned(),
            "parts" => format!("message.{field}"),
            _ => field.to_owned(),
        }
    }

    /// The fault as the answer to an A2A request (work/v1, §8.3).
    #[must_use]
    pub fn to_refusal(&self) -> Refusal {
        let path = self.a2a_path();
        let message = format!("{path}: {}", self.message);
        let dispatch = |code, reason| {
            Refusal::new(code, message.as_str())
                .with_reason(DOMAIN, reason)
                .with_fact("field", path.as_str())
        };
        match self.code {
            FaultCode::Invalid => Refusal::invalid(path, self.message.as_str()),
            FaultCode::Forbidden => dispatch(Code::PermissionDenied, self.forbidden_reason()),
            FaultCode::NotFound => dispatch(Code::NotFound, "REFERENCE_NOT_FOUND"),
            FaultCode::Unsupported => Refusal::content_type_not_supported(path, self.message.as_str()),
        }
    }

    fn forbidden_reason(&self) -> &'static str {
        match self.field.as_str() {
            "urgent" => "URGENT_NOT_ALLOWED",
            "wake" => "WAKE_NOT_ALLOWED",
            "kind" => "KIND_NOT_ALLOWED",
            _ => "FORBIDDEN_ADDRESS",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.field, self.message)
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        fault.to_refusal()
    }
}

/// A verdict as JSON; its members stand in this order.
#[derive(Serialize)]
struct Verdict<'a, T> {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Fault>,
}

fn write<T: Serialize>(ok: bool, result: Option<T>, error: Option<&Fault>) -> String {
    serde_json::to_string(&Verdict { ok, result, error }).unwrap_or_else(|failure| {
        // Only a map with keys that are no strings fails, and no result here holds one.
        write::<()>(false, None, Some(&Fault::invalid("result", failure.to_string())))
    })
}

/// `{"ok":true}`, or the fault.
pub(crate) fn verdict<T>(outcome: Result<T, Fault>) -> String {
    fault(outcome).unwrap_or_else(ok)
}

/// The verdict that nothing is wrong, without a result.
pub(crate) fn ok() -> String {
    r#"{"ok":true}"#.to_owned()
}

/// The verdict that something is, or none.
pub(crate) fn fault<T>(outcome: Result<T, Fault>) -> Option<String> {
    let fault = outcome.err()?;
    Some(write::<()>(false, None, Some(&fault)))
}

/// `{"ok":true,"result":…}`, or the fault.
pub(crate) fn answer<T: Serialize>(outcome: Result<T, Fault>) -> String {
    match outcome {
        Ok(result) => write(true, Some(result), None),
        Err(fault) => write::<()>(false, None, Some(&fault)),
    }
}

/// The JSON of a text door's input; a text that is none is a fault on the whole.
pub(crate) fn read(text: &str, whole: &str) -> Result<Value, Fault> {
    json::parse_text(text).map_err(|error| Fault::invalid(whole, format!("expected JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_paths_become_paths_of_the_a2a_request() {
        for (short, long) in [
            ("work", "message.metadata[https://dispatch.foo/a2a/ext/work/v1]"),
            (
                "work.title",
                "message.metadata[https://dispatch.foo/a2a/ext/work/v1].title",
            ),
            (
                "work.writes[1]",
                "message.metadata[https://dispatch.foo/a2a/ext/work/v1].writes[1]",
            ),
            (
                "envelope",
                "message.metadata[https://dispatch.foo/a2a/ext/envelope/v1]",
            ),
            (
                "to[0]",
                "message.metadata[https://dispatch.foo/a2a/ext/envelope/v1].to[0]",
            ),
            (
                "refs[2].type",
                "message.metadata[https://dispatch.foo/a2a/ext/envelope/v1].refs[2].type",
            ),
            ("body", "message.parts"),
            ("parts[3].url", "message.parts[3].url"),
            ("message.metadata", "message.metadata"),
            ("artifacts[0].url", "artifacts[0].url"),
        ] {
            assert_eq!(Fault::invalid(short, "").a2a_path(), long);
        }
    }

    #[test]
    fn forbidden_fields_have_reasons_of_their_own() {
        for (field, reason) in [
            ("to[3]", "FORBIDDEN_ADDRESS"),
            ("urgent", "URGENT_NOT_ALLOWED"),
            ("wake", "WAKE_NOT_ALLOWED"),
            ("kind", "KIND_NOT_ALLOWED"),
        ] {
            let refusal = Fault::forbidden(field, "not a client's to ask").to_refusal();
            assert_eq!(
                (refusal.status(), refusal.code, refusal.reason()),
                (403, Code::PermissionDenied, Some(reason))
            );
            assert_eq!(refusal.info.unwrap().domain, "dispatch.foo");
        }
    }

    #[test]
    fn other_codes_are_those_of_a2a() {
        let invalid = Fault::invalid("body", "expected text or data").to_refusal();
        assert_eq!(
            invalid,
            Refusal::invalid("message.parts", "expected text or data")
        );
        assert_eq!(
            Fault::not_found("refs[0]", "no such message")
                .to_refusal()
                .status(),
            404
        );
        let raw = Fault::new(FaultCode::Unsupported, "parts[0]", "expected no raw part").to_refusal();
        assert_eq!((raw.status(), raw.json_rpc_code()), (400, -32005));
    }

    #[test]
    fn a_verdict_is_data() {
        assert_eq!(verdict(Ok(())), r#"{"ok":true}"#);
        assert_eq!(answer(Ok(1)), r#"{"ok":true,"result":1}"#);
        assert_eq!(
            verdict::<()>(Err(Fault::not_found("refs[0]", "no such message"))),
            r#"{"ok":false,"error":{"code":"not-found","field":"refs[0]","message":"no such message"}}"#
        );
    }
}
