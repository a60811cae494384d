//! `validate`: the extensions' own verdict on a request, without a server.

use std::path::PathBuf;

use a2a_edge::dispatch::work::Handoffs;
use a2a_edge::dispatch::{envelope, work};
use clap::{Args, ValueEnum};
use serde_json::Value;

use super::{Outcome, Report, input, pointer, word};
use crate::failure::{Failure, exit};
use crate::text::visible;

const EXAMPLES: &str = "\
The input is what stands in a message's metadata under the extension's URI.
The exit code is 0 for a valid request and 1 for any other.

Examples:
  a2a-edge validate work handoff.json
  a2a-edge validate envelope --json < envelope.json";

/// Options of `validate`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Validate {
    /// Whose rules
    extension: Extension,
    /// File with the request as JSON; `-` or none reads standard input
    file: Option<PathBuf>,
}

/// An extension that has requests.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Extension {
    /// work/v1: handoffs and status requests
    Work,
    /// envelope/v1: recipients, kinds, choices and references
    Envelope,
}

impl Extension {
    /// The core's verdict, as JSON.
    fn verdict(self, request: &str) -> String {
        match self {
            Self::Work => work::validate_json(request, Handoffs::Taken),
            Self::Envelope => envelope::validate_json(request),
        }
    }
}

impl Validate {
    pub(super) fn run(self) -> Outcome {
        let request = input::read(self.file.as_deref())?;
        let verdict = input::parse_json(&self.extension.verdict(&request))?;
        judge(&word(self.extension), &request, verdict)
    }
}

/// The report on a verdict: what is at fault, and where in the request it stands.
fn judge(name: &str, request: &str, verdict: Value) -> Outcome {
    let Some(ok) = verdict.get("ok").and_then(Value::as_bool) else {
        return Err(Failure::Local("the verdict cannot be read".to_owned()));
    };
    if ok {
        return Ok(Report::done(format!("valid: {name}/v1 takes it\n"), verdict));
    }
    let text = |member: &str| {
        verdict
            .pointer(&format!("/error/{member}"))
            .and_then(Value::as_str)
    };
    let (code, field) = (text("code").unwrap_or("invalid"), text("field").unwrap_or(name));
    let rule = visible(text("message").unwrap_or_default());
    let mut shown = format!("{}: {}: {rule}\n", visible(code), visible(field));
    // What is no JSON has no place to point at but the one that the message names.
    if let Ok(value) = input::parse_json(request) {
        shown.push('\n');
        shown.push_str(&pointer::point(&value, name, field));
    }
    Ok(Report {
        text: shown,
        json: verdict,
        code: exit::REFUSED,
    })
}
