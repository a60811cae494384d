//! What tests of limits share.

use a2a_edge::dispatch::verdict::{Fault, FaultCode};

/// A text of exactly so many bytes, most of them of characters of two, three and four bytes.
pub(crate) fn text_of(bytes: usize) -> String {
    let mut text = String::new();
    for c in ['€', '𝄞', 'é'].into_iter().cycle() {
        if text.len() + c.len_utf8() > bytes {
            break;
        }
        text.push(c);
    }
    let rest = "x".repeat(bytes - text.len());
    text + &rest
}

/// The fault of an outcome as `code field`, or `ok`.
pub(crate) fn said<T>(outcome: Result<T, Fault>) -> String {
    match outcome {
        Ok(_) => "ok".to_owned(),
        Err(fault) => {
            let code = match fault.code {
                FaultCode::Invalid => "invalid",
                FaultCode::Forbidden => "forbidden",
                FaultCode::NotFound => "not-found",
                FaultCode::Unsupported => "unsupported",
            };
            format!("{code} {}", fault.field)
        }
    }
}
