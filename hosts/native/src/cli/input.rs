//! Where a command's input comes from: an argument, a file, or standard input.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use serde_json::Value;

use crate::failure::Failure;

/// More than any request may hold, so that a wrong file is refused and not swallowed.
const LIMIT: u64 = 4 * 1024 * 1024;

/// All of a file, or of standard input for none or `-`.
///
/// # Errors
/// What cannot be read, is no UTF-8, or is over 4 MiB.
pub(super) fn read(file: Option<&Path>) -> Result<String, Failure> {
    let file = file.filter(|path| path.as_os_str() != "-");
    let name = file.map_or_else(|| "standard input".to_owned(), |path| path.display().to_string());
    let fail = |why: &str| Failure::Usage(format!("{name}: {why}"));
    let mut text = String::new();
    let outcome = match file {
        Some(path) => std::fs::File::open(path)
            .and_then(|file| file.take(LIMIT.saturating_add(1)).read_to_string(&mut text)),
        None => std::io::stdin()
            .lock()
            .take(LIMIT.saturating_add(1))
            .read_to_string(&mut text),
    };
    match outcome {
        Ok(read) if u64::try_from(read).is_ok_and(|read| read <= LIMIT) => Ok(text),
        Ok(_) => Err(fail("longer than 4 MiB")),
        Err(error) => Err(fail(&error.to_string())),
    }
}

/// The JSON of a file, or of standard input for none or `-`.
///
/// # Errors
/// As for [`read`], and what is no JSON as the server would take it.
pub(super) fn read_json(file: Option<&Path>) -> Result<Value, Failure> {
    parse_json(&read(file)?)
}

/// The JSON that `text` is.
///
/// # Errors
/// What is no JSON as the server would take it.
pub(super) fn parse_json(text: &str) -> Result<Value, Failure> {
    a2a_edge::json::parse_text(text).map_err(|error| Failure::Usage(format!("not JSON: {error}")))
}

/// Text given as an argument; `-` stands for standard input.
///
/// # Errors
/// As for [`read`].
pub(super) fn text(argument: &str) -> Result<String, Failure> {
    if argument == "-" {
        return read(None).map(without_last_break);
    }
    Ok(argument.to_owned())
}

/// What is piped in, or `None` at a terminal.
///
/// # Errors
/// As for [`read`].
pub(super) fn piped() -> Result<Option<String>, Failure> {
    if std::io::stdin().is_terminal() {
        return Ok(None);
    }
    read(None).map(without_last_break).map(Some)
}

/// The line break that ends a file is none of its text.
fn without_last_break(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    text
}
