//! `approve`, `decline`, `close` and `drop`: what only an owner or an admin does.

use clap::Args;
use serde_json::{Map, Value, json};

use super::requests::Key;
use super::{Common, Outcome, Report, put, show};

const APPROVE_EXAMPLES: &str = "\
Examples:
  a2a-edge task open
  a2a-edge approve t_4b1d
  a2a-edge approve t_4b1d --note 'Only the parser, please'";

const DECLINE_EXAMPLES: &str = "\
The client reads the reason.

Examples:
  a2a-edge decline t_4b1d --reason 'Out of scope this month'";

const CLOSE_EXAMPLES: &str = "\
For a question that nobody will answer: the client sees that it failed, and reads the reason.

Examples:
  a2a-edge close t_4b1d --reason 'Nobody here knows this any more'";

const DROP_EXAMPLES: &str = "\
The task ends for good, whatever its members are doing; the client sees it rejected.

Examples:
  a2a-edge drop t_4b1d --reason 'Superseded'";

/// Options of `approve`.
#[derive(Debug, Args)]
#[command(after_long_help = APPROVE_EXAMPLES)]
pub(super) struct Approve {
    /// Id of the task
    task: String,
    /// A word to whoever does the work
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    key: Key,
}

/// Options of `decline`.
#[derive(Debug, Args)]
#[command(after_long_help = DECLINE_EXAMPLES)]
pub(super) struct Decline {
    /// Id of the task
    task: String,
    /// Why; the client reads it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    key: Key,
}

/// Options of `close`.
#[derive(Debug, Args)]
#[command(after_long_help = CLOSE_EXAMPLES)]
pub(super) struct Close {
    /// Id of the task
    task: String,
    /// Why; the client reads it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    key: Key,
}

/// Options of `drop`.
#[derive(Debug, Args)]
#[command(after_long_help = DROP_EXAMPLES)]
pub(super) struct Drop {
    /// Id of the task
    task: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    key: Key,
}

impl Approve {
    pub(super) fn run(self, common: &Common) -> Outcome {
        decide(common, "approve", &self.task, ("note", self.note), &self.key)
    }
}

impl Decline {
    pub(super) fn run(self, common: &Common) -> Outcome {
        decide(common, "decline", &self.task, ("reason", self.reason), &self.key)
    }
}

impl Close {
    pub(super) fn run(self, common: &Common) -> Outcome {
        decide(common, "close", &self.task, ("reason", self.reason), &self.key)
    }
}

impl Drop {
    pub(super) fn run(self, common: &Common) -> Outcome {
        decide(common, "drop", &self.task, ("reason", self.reason), &self.key)
    }
}

/// Says one word about a task.
fn decide(common: &Common, verb: &str, task: &str, said: (&str, Option<String>), key: &Key) -> Outcome {
    let mut body = Map::new();
    body.insert("taskId".to_owned(), json!(task));
    put(&mut body, said.0, said.1);
    key.put(&mut body);
    let answer = common
        .deciding()?
        .operate(&format!("tasks:{verb}"), &Value::Object(body))?;
    let text = show::desk_task(answer.get("task").unwrap_or(&Value::Null));
    Ok(Report::done(text, answer))
}
