//! Text doors to the pure functions that have none of their own: what a host in another language calls, one string in
//! and one out (see [`dispatch`](crate::dispatch), whose doors stand beside what they open).
//!
//! Each gives a verdict: `{"ok":true}`, `{"ok":true,"result":…}` where there is something to give, or
//! `{"ok":false,"error":{"code","field","message"}}`. None panics, and a text that is no JSON is one more fault.

pub mod activation;
pub mod coordination;

use serde_json::Value;

use crate::dispatch::verdict::Fault;
use crate::refusal::Violation;

/// The texts in a JSON list, which is called `whole`.
fn texts(value: Value, whole: &str) -> Result<Vec<String>, Fault> {
    let entry = |(index, value): (usize, Value)| match value {
        Value::String(text) => Ok(text),
        _ => Err(Fault::invalid(format!("{whole}[{index}]"), "expected a string")),
    };
    match value {
        Value::Array(items) => items.into_iter().enumerate().map(entry).collect(),
        _ => Err(Fault::invalid(whole, "expected a list of strings")),
    }
}

/// What a field breaks, as the fault of a verdict.
fn fault(violation: Violation) -> Fault {
    Fault::invalid(violation.field, violation.description)
}
