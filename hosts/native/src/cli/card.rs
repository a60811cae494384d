//! `card`: what an agent says of itself.

use clap::Args;
use serde_json::Value;

use super::{Common, Outcome, Report, show};
use crate::client::Client;
use crate::text::{columns, facts, quoted, short};

const EXAMPLES: &str = "\
Examples:
  a2a-edge card
  a2a-edge card https://agent.example.org
  a2a-edge card https://agent.example.org/.well-known/agent-card.json --json";

/// Where cards stand (A2A 1.0, §8.2).
const WELL_KNOWN: &str = "/.well-known/agent-card.json";

/// How much of a text of the card a line shows, in characters.
const WIDE: usize = 100;

/// Options of `card`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Card {
    /// Address of an agent or of its card; --url if left out
    address: Option<String>,
}

impl Card {
    pub(super) fn run(self, common: &Common) -> Outcome {
        // Cards are public: no token leaves for an address that is only looked at.
        let client = match &self.address {
            Some(address) => Client::new(address.strip_suffix(WELL_KNOWN).unwrap_or(address), None, None),
            None => common.client_with(None),
        };
        let card = client.get(WELL_KNOWN, &[])?;
        Ok(Report::done(text(&card), card))
    }
}

fn text(card: &Value) -> String {
    let mut text = facts(&[
        ("name", show::cell(card, "/name")),
        ("version", show::cell(card, "/version")),
        ("provider", show::cell(card, "/provider/organization")),
        ("streaming", show::cell(card, "/capabilities/streaming")),
        ("push", show::cell(card, "/capabilities/pushNotifications")),
    ]);
    let description = card
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    text.push_str(&format!("\ndescription\n{}\n", quoted(description)));
    let none = Value::Null;
    let capabilities = card.get("capabilities").unwrap_or(&none);
    text.push_str(&section(
        "interfaces",
        card,
        "supportedInterfaces",
        &["/protocolBinding", "/protocolVersion", "/url"],
    ));
    text.push_str(&section(
        "extensions",
        capabilities,
        "extensions",
        &["/uri", "/description"],
    ));
    text.push_str(&section(
        "skills",
        card,
        "skills",
        &["/id", "/name", "/description"],
    ));
    text
}

/// A list of the card, an entry a line.
fn section(name: &str, holder: &Value, member: &str, cells: &[&str]) -> String {
    let rows: Vec<Vec<String>> = show::list(holder, member)
        .map(|entry| {
            let mut row = vec![String::new()];
            row.extend(
                cells
                    .iter()
                    .map(|pointer| short(&show::cell(entry, pointer), WIDE)),
            );
            if entry.get("required") == Some(&Value::Bool(true)) {
                row.push("(required)".to_owned());
            }
            row
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n{name}\n{}", columns(&rows))
}
