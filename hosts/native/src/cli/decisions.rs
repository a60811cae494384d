//! `decisions`: what was agreed on, and why.

use a2a_edge::coordination;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::requests::Key;
use super::{Common, Outcome, Report, input, put, put_list, show};

const RECORD_EXAMPLES: &str = "\
Examples:
  a2a-edge decisions record 'Where sessions live' 'One SQLite file for each' --rationale 'No server to run'
  a2a-edge decisions record 'Where sessions live' PostgreSQL --alternative 'SQLite: one writer only' \
--supersedes decision-m4xvb3n6zp5k7wq2";

/// The commands under `decisions`.
#[derive(Debug, Subcommand)]
pub(super) enum Decisions {
    /// Record a decision, for everyone in the session
    #[command(after_long_help = RECORD_EXAMPLES)]
    Record(Record),
}

/// Options of `decisions record`.
#[derive(Debug, Args)]
pub(super) struct Record {
    /// What it is about: one line of at most 200 characters
    title: String,
    /// What was decided; `-` reads standard input
    decision: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    rationale: Option<String>,
    /// What was not chosen; once for each
    #[arg(long = "alternative", value_name = "TEXT")]
    alternatives: Vec<String>,
    /// Id of the decision whose place it takes
    #[arg(long, value_name = "DECISION")]
    supersedes: Option<String>,
    /// Id of the workstream that it belongs to
    #[arg(long, value_name = "WORKSTREAM")]
    workstream: Option<String>,
    #[command(flatten)]
    key: Key,
}

impl Decisions {
    pub(super) fn run(self, common: &Common) -> Outcome {
        let Self::Record(record) = self;
        let mut body = Map::new();
        body.insert("title".to_owned(), json!(record.title));
        body.insert("decision".to_owned(), json!(input::text(&record.decision)?));
        put(&mut body, "rationale", record.rationale);
        put_list(&mut body, "alternatives", &record.alternatives);
        put(&mut body, "supersedes", record.supersedes);
        put(&mut body, "workstreamId", record.workstream);
        record.key.put(&mut body);
        let client = common.client().activating(vec![coordination::URI.to_owned()]);
        let path = "/extensions/session-coordination/v1/decisions:record";
        let answer = client.post(path, &Value::Object(body))?;
        let decision = answer.get("decision").unwrap_or(&Value::Null);
        Ok(Report::done(show::decision(decision), answer))
    }
}
