//! `project`: the state that a task's facts amount to, without a server.

use std::path::PathBuf;

use a2a_edge::dispatch::projection::project_json;
use clap::Args;
use serde_json::Value;

use super::{Outcome, Report, input, show};
use crate::failure::exit;
use crate::text::{facts, visible};

const EXAMPLES: &str = "\
Facts are a JSON object, all members optional: id, contextId, skill, client, createdAt, canceledAt, declinedAt,
root, scope, rootDeliveries, answer, openQuestions, openGates, task, dropped, recipientTaskDropped, work.
The first row of the projection's table that fits them decides.

Examples:
  a2a-edge project facts.json
  a2a-edge project --json < facts.json";

/// Options of `project`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Project {
    /// File with the facts as JSON; `-` or none reads standard input
    file: Option<PathBuf>,
    /// Address that speaks for the host itself
    #[arg(long, value_name = "ADDRESS", default_value = a2a_edge::dispatch::SYSTEM_ADDRESS)]
    system: String,
}

impl Project {
    pub(super) fn run(self) -> Outcome {
        let given = input::read(self.file.as_deref())?;
        let verdict = input::parse_json(&project_json(&given, &self.system))?;
        let Some(result) = verdict.get("result") else {
            let text = |member: &str| show::cell(&verdict, &format!("/error/{member}"));
            let shown = format!("{}: {}: {}\n", text("code"), text("field"), text("message"));
            return Ok(Report {
                text: shown,
                json: verdict,
                code: exit::REFUSED,
            });
        };
        Ok(Report::done(text(result), verdict))
    }
}

/// The state, the row that decided it, and what the client is told.
fn text(result: &Value) -> String {
    let gates = show::list(result, "gates").map(|gate| {
        let told = |member: &str| {
            gate.get(member)
                .and_then(Value::as_str)
                .map(visible)
                .unwrap_or_default()
        };
        format!("{} ({})", told("id"), told("type"))
    });
    let mut text = facts(&[
        ("state", show::cell(result, "/state")),
        ("row", show::cell(result, "/row")),
        ("stage", show::cell(result, "/stage")),
        ("message", show::cell(result, "/messageId")),
        ("gates", gates.collect::<Vec<_>>().join(" ")),
        ("work", show::cell(result, "/work/status")),
    ]);
    let said = result.get("text").and_then(Value::as_str).unwrap_or_default();
    text.push_str(&show::block("text", said));
    text
}
