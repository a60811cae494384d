//! Faults and verdicts, from the core's form to the component's.

use a2a_edge::dispatch::verdict::{self, FaultCode as CoreCode};
use a2a_edge::json;
use serde_json::Value;

use crate::bindings::exports::a2a_edge::core::types::{Fault, FaultCode};

impl From<verdict::Fault> for Fault {
    fn from(fault: verdict::Fault) -> Self {
        let code = match fault.code {
            CoreCode::Invalid => FaultCode::Invalid,
            CoreCode::Forbidden => FaultCode::Forbidden,
            CoreCode::NotFound => FaultCode::NotFound,
            CoreCode::Unsupported => FaultCode::Unsupported,
        };
        Self {
            code,
            field: fault.field,
            message: fault.message,
        }
    }
}

/// A field that breaks a rule.
pub(crate) fn invalid(field: impl Into<String>, message: impl Into<String>) -> Fault {
    verdict::Fault::invalid(field, message).into()
}

/// JSON that came in; a text that is none is invalid on `field`.
pub(crate) fn parse(field: &str, text: &str) -> Result<Value, Fault> {
    json::parse_text(text).map_err(|error| invalid(field, format!("expected JSON: {error}")))
}

/// The result of a verdict, for what the core reads from text alone; null where there is none.
pub(crate) fn result_of(verdict: &str) -> Result<Value, Fault> {
    let mut verdict = parse("verdict", verdict)?;
    match verdict.get("error") {
        None => Ok(verdict.get_mut("result").map(Value::take).unwrap_or_default()),
        Some(error) => Err(Fault {
            code: match error.get("code").and_then(Value::as_str) {
                Some("forbidden") => FaultCode::Forbidden,
                Some("not-found") => FaultCode::NotFound,
                Some("unsupported") => FaultCode::Unsupported,
                _ => FaultCode::Invalid,
            },
            field: text_of(error, "field"),
            message: text_of(error, "message"),
        }),
    }
}

/// A member that is a text.
pub(crate) fn text_of(object: &Value, member: &str) -> String {
    object
        .get(member)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}
