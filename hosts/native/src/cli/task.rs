//! `task`: A2A tasks, as their client sees them, and the owner's view of what is open.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use super::send::Activation;
use super::{Common, Outcome, Report, put, show, word};
use crate::client::segment;
use crate::text::short;

const GET_EXAMPLES: &str = "\
Examples:
  a2a-edge task get t_4b1d
  a2a-edge task get t_4b1d --history 10
  a2a-edge task get t_4b1d --plain --json";

const LIST_EXAMPLES: &str = "\
Lists the caller's own tasks, the newest change first.

Examples:
  a2a-edge task list
  a2a-edge task list --state working --artifacts
  a2a-edge task list --since 2026-07-17T00:00:00Z --limit 10 --json";

const CANCEL_EXAMPLES: &str = "\
Examples:
  a2a-edge task cancel t_4b1d";

const OPEN_EXAMPLES: &str = "\
What the desk has open, whoever sent it, and what waits for a decision. In the list long texts are cut; with the id
of a task it is shown whole.

Examples:
  a2a-edge task open
  a2a-edge task open t_4b1d
  a2a-edge task open --state all --limit 100 --json";

/// The commands under `task`.
#[derive(Debug, Subcommand)]
pub(super) enum Task {
    /// Show one task (client)
    #[command(after_long_help = GET_EXAMPLES)]
    Get(Get),
    /// List one's own tasks (client)
    #[command(after_long_help = LIST_EXAMPLES)]
    List(List),
    /// Cancel a task (client)
    #[command(after_long_help = CANCEL_EXAMPLES)]
    Cancel(Cancel),
    /// List the desk's tasks (owner, admin)
    #[command(after_long_help = OPEN_EXAMPLES)]
    Open(Open),
}

/// Options of `task get`.
#[derive(Debug, Args)]
pub(super) struct Get {
    /// Id of the task
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    task: String,
    /// Show the last MESSAGES of its history
    #[arg(long, value_name = "MESSAGES", default_value_t = 0)]
    history: u32,
    #[command(flatten)]
    activation: Activation,
}

/// Options of `task list`.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only tasks in this state
    #[arg(long)]
    state: Option<State>,
    /// Only tasks of this context
    #[arg(long, value_name = "CONTEXT")]
    context: Option<String>,
    /// Only tasks whose state changed at this time or later (RFC 3339)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// At most this many, 1 to 100
    #[arg(long, value_name = "TASKS")]
    limit: Option<u32>,
    /// Go on where an earlier list ended
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    page: Option<String>,
    /// With what the tasks have yielded (for --json)
    #[arg(long)]
    artifacts: bool,
    #[command(flatten)]
    activation: Activation,
}

/// Options of `task cancel`.
#[derive(Debug, Args)]
pub(super) struct Cancel {
    /// Id of the task
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    task: String,
    #[command(flatten)]
    activation: Activation,
}

/// Options of `task open`.
#[derive(Debug, Args)]
pub(super) struct Open {
    /// Id of a task, to show it whole
    #[arg(value_parser = NonEmptyStringValueParser::new(), conflicts_with_all = ["state", "limit", "page"])]
    task: Option<String>,
    /// Which tasks
    #[arg(long, default_value = "open")]
    state: Openness,
    /// At most this many, 1 to 100
    #[arg(long, value_name = "TASKS")]
    limit: Option<u32>,
    /// Go on where an earlier list ended
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    page: Option<String>,
}

/// The states of a task (A2A 1.0, §4.1.3).
#[derive(Clone, Copy, Debug, ValueEnum)]
enum State {
    Submitted,
    Working,
    InputRequired,
    AuthRequired,
    Completed,
    Failed,
    Canceled,
    Rejected,
}

/// Which of the desk's tasks to list.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Openness {
    Open,
    Closed,
    All,
}

impl Task {
    pub(super) fn run(self, common: &Common) -> Outcome {
        match self {
            Self::Get(get) => get.run(common),
            Self::List(list) => list.run(common),
            Self::Cancel(cancel) => cancel.run(common),
            Self::Open(open) => open.run(common),
        }
    }
}

impl Get {
    fn run(self, common: &Common) -> Outcome {
        let client = common.client().activating(self.activation.extensions());
        let query = [("historyLength", self.history.to_string())];
        let task = client.get(&format!("/tasks/{}", segment(&self.task)), &query)?;
        let text = format!("{}{}", show::history(&task), show::task(&task));
        Ok(Report::done(text.trim_start_matches('\n').to_owned(), task))
    }
}

impl List {
    fn run(self, common: &Common) -> Outcome {
        let asked = [
            (
                "status",
                self.state
                    .map(|state| format!("TASK_STATE_{}", word(state).to_uppercase().replace('-', "_"))),
            ),
            ("contextId", self.context),
            ("statusTimestampAfter", self.since),
            ("pageSize", self.limit.map(|limit| limit.to_string())),
            ("pageToken", self.page),
            ("includeArtifacts", self.artifacts.then(|| "true".to_owned())),
            ("historyLength", Some("0".to_owned())),
        ];
        let query: Vec<(&str, String)> = asked
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect();
        let client = common.client().activating(self.activation.extensions());
        let answer = client.get("/tasks", &query)?;
        let rows = show::list(&answer, "tasks").map(|task| {
            let says = show::parts(task.pointer("/status/message").unwrap_or(&Value::Null));
            [
                show::cell(task, "/id"),
                show::state(task, "/status/state"),
                show::cell(task, "/status/timestamp"),
                short(&says, show::BRIEF),
            ]
        });
        let header = ["TASK", "STATE", "SINCE", "SAYS"];
        let mut text = show::table(
            header,
            rows.collect(),
            "No tasks. Send something: a2a-edge send TEXT",
        );
        text.push_str(&show::more(&answer));
        Ok(Report::done(text, answer))
    }
}

impl Cancel {
    fn run(self, common: &Common) -> Outcome {
        let client = common.client().activating(self.activation.extensions());
        let task = client.post(&format!("/tasks/{}:cancel", segment(&self.task)), &json!({}))?;
        Ok(Report::done(show::task(&task), task))
    }
}

impl Open {
    fn run(self, common: &Common) -> Outcome {
        let client = common.deciding()?;
        if let Some(task) = self.task {
            let answer = client.operate("tasks:get", &json!({ "taskId": task }))?;
            let task = answer.get("task").unwrap_or(&Value::Null);
            return Ok(Report::done(show::desk_task(task), answer));
        }
        let mut body = Map::new();
        put(&mut body, "state", Some(word(self.state)));
        put(&mut body, "pageSize", self.limit);
        put(&mut body, "pageToken", self.page);
        let answer = client.operate("tasks:list", &Value::Object(body))?;
        let waits = |task: &Value| task.pointer("/gate/type").is_some();
        let rows = show::list(&answer, "tasks").map(|task| {
            [
                show::cell(task, "/taskId"),
                show::cell(task, "/skill"),
                show::state(task, "/state"),
                if waits(task) { "you" } else { "" }.to_owned(),
                show::cell(task, "/client"),
                show::title(task),
            ]
        });
        let header = [
            "TASK",
            "SKILL",
            "STATE",
            "WAITS FOR",
            "CLIENT",
            "TITLE (the client's words)",
        ];
        let mut text = show::table(header, rows.collect(), "No such tasks.");
        for task in show::list(&answer, "tasks") {
            if let Some(reason) = task.pointer("/gate/reason").and_then(Value::as_str) {
                let (id, gate) = (show::cell(task, "/taskId"), show::cell(task, "/gate/type"));
                text.push_str(&show::block(&format!("{id} waits at {gate}"), reason));
            }
        }
        if let Some(task) = show::list(&answer, "tasks").find(|task| waits(task)) {
            let id = show::word(task, "/taskId", "TASK");
            let commands = format!("a2a-edge approve {id}\n  a2a-edge decline {id}");
            text.push_str(&show::next("decide", &commands));
        }
        text.push_str(&show::more(&answer));
        Ok(Report::done(text, answer))
    }
}
