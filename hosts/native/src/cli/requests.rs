//! `requests`: the work of a session, as its members find, claim and finish it.

use std::path::PathBuf;

use a2a_edge::coordination;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use super::artifacts::Results;
use super::send::Priority;
use super::{Common, Outcome, Report, input, put, put_list, show, word};
use crate::client::Client;
use crate::failure::Failure;

const CREATE_EXAMPLES: &str = "\
Examples:
  a2a-edge requests create 'Review the parser' --priority high
  a2a-edge requests create 'Rotate the keys' --to p_7c1f --acceptance 'Old keys refused' --body - < notes.md";

const LIST_EXAMPLES: &str = "\
Examples:
  a2a-edge requests list --state open
  a2a-edge requests list --assignee me --full
  a2a-edge requests list --workstream ws-91ab
  a2a-edge requests list --created-by p_7c1f --json";

const CLAIM_EXAMPLES: &str = "\
Examples:
  a2a-edge requests claim r_91ab
  a2a-edge requests claim r_91ab --note 'Starting with the tests'";

const UNCLAIM_EXAMPLES: &str = "\
Examples:
  a2a-edge requests unclaim r_91ab --note 'Needs somebody who knows TLS'";

const PROGRESS_EXAMPLES: &str = "\
Examples:
  a2a-edge requests progress r_91ab --note 'Half of the tests pass'
  a2a-edge requests progress r_91ab --stage review --note 'Ready to be read'
  a2a-edge requests progress r_91ab --stage landing";

const COMPLETE_EXAMPLES: &str = "\
Examples:
  a2a-edge requests complete r_91ab --answer 'PostgreSQL 17'
  a2a-edge requests complete r_91ab --answer 'PostgreSQL 17' --as-message
  a2a-edge requests complete r_91ab --pr 'https://example.org/acme/app/pull/12#12' --pr-state merged
  a2a-edge requests complete r_91ab --diffstat - --evidence 'cargo test => 0 in 41s: 212 passed' < numstat.txt
  a2a-edge requests complete r_91ab --artifact report.json

--diffstat reads what `git diff --numstat` prints, or a JSON object {files, insertions, deletions, perFile}.
--evidence is 'COMMAND => EXIT CODE in TIME: SUMMARY', or a JSON object {command, exitCode, durationMs, summary}.";

const CANCEL_EXAMPLES: &str = "\
Examples:
  a2a-edge requests cancel r_91ab --note 'No longer needed'";

const REASSIGN_EXAMPLES: &str = "\
Examples:
  a2a-edge requests reassign r_91ab p_7c1f --note 'Ada knows this code'";

const HOLD_EXAMPLES: &str = "\
The task waits until an owner or admin runs `a2a-edge approve` or `a2a-edge decline`; they alone read the reason.

Examples:
  a2a-edge requests hold req-teidvh6k2xabtn5l --gate tool-approval --reason 'Drop the table sessions_old'
  a2a-edge requests hold req-teidvh6k2xabtn5l --gate scope --reason 'The parser must change, too'";

/// A key that makes a change safe to repeat.
#[derive(Debug, Default, Args)]
pub(super) struct Key {
    /// Do it once, however often it is sent with this key (255 characters)
    #[arg(long = "idempotency-key", value_name = "KEY")]
    key: Option<String>,
}

impl Key {
    /// Adds the key to a request's body.
    pub(super) fn put(&self, body: &mut Map<String, Value>) {
        put(body, "idempotencyKey", self.key.clone());
    }
}

/// The commands under `requests`.
#[derive(Debug, Subcommand)]
pub(super) enum Requests {
    /// Ask the session for something
    #[command(after_long_help = CREATE_EXAMPLES)]
    Create(Create),
    /// List requests
    #[command(after_long_help = LIST_EXAMPLES)]
    List(List),
    /// Take a request
    #[command(after_long_help = CLAIM_EXAMPLES)]
    Claim(Plain),
    /// Give a request back
    #[command(after_long_help = UNCLAIM_EXAMPLES)]
    Unclaim(Plain),
    /// Say how far a request has come
    #[command(after_long_help = PROGRESS_EXAMPLES)]
    Progress(Progress),
    /// Finish a request, with what it yielded
    #[command(after_long_help = COMPLETE_EXAMPLES)]
    Complete(Complete),
    /// Withdraw a request
    #[command(after_long_help = CANCEL_EXAMPLES)]
    Cancel(Plain),
    /// Give a request to somebody else (owner, admin)
    #[command(after_long_help = REASSIGN_EXAMPLES)]
    Reassign(Reassign),
    /// Have an owner or admin approve something before you go on
    #[command(after_long_help = HOLD_EXAMPLES)]
    Hold(Hold),
}

/// Options of `requests create`.
#[derive(Debug, Args)]
pub(super) struct Create {
    /// One line of at most 200 characters
    title: String,
    /// What is asked for, in full; `-` reads standard input
    #[arg(long, value_name = "TEXT")]
    body: Option<String>,
    /// Only this participant may claim it; once for each
    #[arg(long, value_name = "PARTICIPANT")]
    to: Vec<String>,
    /// How many may work on it at once
    #[arg(long, value_name = "PARTICIPANTS")]
    max_assignees: Option<u32>,
    /// When it lapses, from now
    #[arg(long, value_name = "SECONDS")]
    expires_in: Option<u32>,
    /// How soon it is wanted
    #[arg(long)]
    priority: Option<Priority>,
    /// Label; once for each
    #[arg(long = "label", value_name = "LABEL")]
    labels: Vec<String>,
    /// When it counts as done; once for each criterion
    #[arg(long, value_name = "CRITERION")]
    acceptance: Vec<String>,
    /// Id of the workstream that it belongs to
    #[arg(long, value_name = "WORKSTREAM")]
    workstream: Option<String>,
    #[command(flatten)]
    key: Key,
}

/// Options of `requests list`.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only requests in this state
    #[arg(long)]
    state: Option<State>,
    /// Only requests of this participant, or of `me`
    #[arg(long, value_name = "PARTICIPANT")]
    assignee: Option<String>,
    /// Only requests made by this participant, or by `me`
    #[arg(long, value_name = "PARTICIPANT")]
    created_by: Option<String>,
    /// Only requests of this workstream
    #[arg(long, value_name = "WORKSTREAM")]
    workstream: Option<String>,
    /// At most this many, 1 to 100
    #[arg(long, value_name = "REQUESTS")]
    limit: Option<u32>,
    /// Go on where an earlier list ended
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    page: Option<String>,
    /// Show each request whole
    #[arg(long)]
    full: bool,
}

/// The states of a request (session coordination, §4).
#[derive(Clone, Copy, Debug, ValueEnum)]
enum State {
    Open,
    Claimed,
    Completed,
    Cancelled,
    Expired,
}

/// Options of the actions that take no more than a note.
#[derive(Debug, Args)]
pub(super) struct Plain {
    /// Id of the request
    request: String,
    #[command(flatten)]
    said: Said,
}

/// What every action on a request takes.
#[derive(Debug, Args)]
struct Said {
    /// A word about it; `-` reads standard input
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    key: Key,
}

/// Options of `requests progress`.
#[derive(Debug, Args)]
pub(super) struct Progress {
    /// Id of the request
    request: String,
    /// How far it has come; `none` goes back to plain working
    #[arg(long)]
    stage: Option<Stage>,
    /// A file with an A2A artifact or a chunk {artifact, append, lastChunk}, or a list of them; once for each
    #[arg(long = "artifact", value_name = "FILE")]
    artifacts: Vec<PathBuf>,
    #[command(flatten)]
    said: Said,
}

/// How far work has come (work/v1, §8.6).
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Stage {
    /// Somebody reads it
    Review,
    /// It is being merged
    Landing,
    /// Neither
    None,
}

impl Stage {
    fn value(self) -> Value {
        match self {
            Self::Review => json!("review"),
            Self::Landing => json!("landing"),
            Self::None => Value::Null,
        }
    }
}

/// Options of `requests complete`.
#[derive(Debug, Args)]
pub(super) struct Complete {
    /// Id of the request
    request: String,
    #[command(flatten)]
    results: Results,
    /// Answer the send that still waits with a message, in place of its task
    #[arg(long)]
    as_message: bool,
    #[command(flatten)]
    said: Said,
}

/// Options of `requests reassign`.
#[derive(Debug, Args)]
pub(super) struct Reassign {
    /// Id of the request
    request: String,
    /// Id of the participant who takes it over
    assignee: String,
    #[command(flatten)]
    said: Said,
}

/// Options of `requests hold`.
#[derive(Debug, Args)]
pub(super) struct Hold {
    /// Id of the request
    request: String,
    /// What is to be approved
    #[arg(long)]
    gate: Gate,
    /// What exactly, for those who decide; `-` reads standard input
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    said: Said,
}

/// What work under way can wait for (gate/v1).
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Gate {
    /// A call of a tool
    ToolApproval,
    /// Doing more, or something else, than was asked for
    Scope,
}

impl Requests {
    pub(super) fn run(self, common: &Common) -> Outcome {
        let client = common.client().activating(vec![coordination::URI.to_owned()]);
        match self {
            Self::Create(create) => create.run(&client),
            Self::List(list) => list.run(&client),
            Self::Claim(plain) => plain.run(&client, "claim"),
            Self::Unclaim(plain) => plain.run(&client, "unclaim"),
            Self::Progress(progress) => progress.run(&client),
            Self::Complete(complete) => complete.run(&client),
            Self::Cancel(plain) => plain.run(&client, "cancel"),
            Self::Reassign(reassign) => reassign.run(&client),
            Self::Hold(hold) => hold.run(&client),
        }
    }
}

impl Create {
    fn run(self, client: &Client) -> Outcome {
        let mut body = Map::new();
        body.insert("title".to_owned(), json!(self.title));
        put(
            &mut body,
            "body",
            self.body.as_deref().map(input::text).transpose()?,
        );
        put_list(&mut body, "to", &self.to);
        put(&mut body, "maxAssignees", self.max_assignees);
        put(&mut body, "expiresInSeconds", self.expires_in);
        put(&mut body, "priority", self.priority.map(word));
        put_list(&mut body, "labels", &self.labels);
        put_list(&mut body, "acceptance", &self.acceptance);
        put(&mut body, "workstreamId", self.workstream);
        self.key.put(&mut body);
        let answer = call(client, "create", body)?;
        let id = show::word(&answer, "/request/requestId", "REQUEST");
        let then = show::next("a member takes it", &format!("a2a-edge requests claim {id}"));
        Ok(report(answer, &then))
    }
}

impl List {
    fn run(self, client: &Client) -> Outcome {
        let mut body = Map::new();
        put(&mut body, "state", self.state.map(word));
        put(&mut body, "assignee", self.assignee);
        put(&mut body, "createdBy", self.created_by);
        put(&mut body, "workstreamId", self.workstream);
        put(&mut body, "pageSize", self.limit);
        put(&mut body, "pageToken", self.page);
        let answer = call(client, "list", body)?;
        let requests: Vec<&Value> = show::list(&answer, "requests").collect();
        let mut text = match self.full {
            true => requests
                .iter()
                .map(|request| show::request(request))
                .collect::<Vec<_>>()
                .join("\n---\n\n"),
            false => listing(&requests),
        };
        text.push_str(&show::more(&answer));
        let is_open = |request: &Value| request.get("state").and_then(Value::as_str) == Some("open");
        if let Some(open) = requests.iter().find(|request| is_open(request)) {
            let id = show::word(open, "/requestId", "REQUEST");
            text.push_str(&show::next("take one", &format!("a2a-edge requests claim {id}")));
        }
        Ok(Report::done(text, answer))
    }
}

fn listing(requests: &[&Value]) -> String {
    let rows = requests.iter().map(|request| {
        [
            show::cell(request, "/requestId"),
            show::cell(request, "/state"),
            show::cell(request, "/stage"),
            show::cell(request, "/priority"),
            show::title(request),
        ]
    });
    let header = ["REQUEST", "STATE", "STAGE", "PRIORITY", "TITLE (their words)"];
    show::table(header, rows.collect(), "No such requests.")
}

impl Plain {
    fn run(self, client: &Client, action: &str) -> Outcome {
        let body = self.said.body(&self.request, action)?;
        let answer = call(client, "update", body)?;
        let id = show::word(&answer, "/request/requestId", "REQUEST");
        let then = match action {
            "claim" => show::next(
                "say how it goes, and finish it",
                &format!(
                    "a2a-edge requests progress {id} --stage review\n  a2a-edge requests complete {id} --answer TEXT"
                ),
            ),
            _ => String::new(),
        };
        Ok(report(answer, &then))
    }
}

impl Progress {
    fn run(self, client: &Client) -> Outcome {
        let mut body = self.said.body(&self.request, "progress")?;
        put(&mut body, "stage", self.stage.map(Stage::value));
        let artifacts = super::artifacts::from_files(&self.artifacts)?;
        put_list(&mut body, "artifacts", &artifacts);
        let answer = call(client, "update", body)?;
        let id = show::word(&answer, "/request/requestId", "REQUEST");
        let then = show::next(
            "finish it",
            &format!("a2a-edge requests complete {id} --answer TEXT"),
        );
        Ok(report(answer, &then))
    }
}

impl Complete {
    fn run(self, client: &Client) -> Outcome {
        let mut body = self.said.body(&self.request, "complete")?;
        let artifacts = self.results.artifacts()?;
        put_list(&mut body, "artifacts", &artifacts);
        put(&mut body, "asMessage", self.as_message.then_some(true));
        let answer = call(client, "update", body)?;
        let then = match show::word(&answer, "/request/taskId", "") {
            id if id.is_empty() => String::new(),
            id => show::next("the client reads it", &format!("a2a-edge task get {id}")),
        };
        Ok(report(answer, &then))
    }
}

impl Reassign {
    fn run(self, client: &Client) -> Outcome {
        let mut body = self.said.body(&self.request, "reassign")?;
        body.insert("assignee".to_owned(), json!(self.assignee));
        Ok(report(call(client, "update", body)?, ""))
    }
}

impl Hold {
    fn run(self, client: &Client) -> Outcome {
        let mut body = self.said.body(&self.request, "hold")?;
        body.insert("gate".to_owned(), json!(word(self.gate)));
        body.insert("reason".to_owned(), json!(input::text(&self.reason)?));
        let answer = call(client, "update", body)?;
        let id = show::word(&answer, "/request/taskId", "TASK");
        let then = show::next("an owner decides", &format!("a2a-edge approve {id}"));
        Ok(report(answer, &then))
    }
}

impl Said {
    /// The parameters that every action has.
    fn body(&self, request: &str, action: &str) -> Result<Map<String, Value>, Failure> {
        let mut body = Map::new();
        body.insert("requestId".to_owned(), json!(request));
        body.insert("action".to_owned(), json!(action));
        put(
            &mut body,
            "note",
            self.note.as_deref().map(input::text).transpose()?,
        );
        self.key.put(&mut body);
        Ok(body)
    }
}

/// Calls an operation on requests (session coordination, §1).
fn call(client: &Client, verb: &str, body: Map<String, Value>) -> Result<Value, Failure> {
    let path = format!("/extensions/session-coordination/v1/requests:{verb}");
    client.post(&path, &Value::Object(body))
}

fn report(answer: Value, then: &str) -> Report {
    let request = answer.get("request").unwrap_or(&Value::Null);
    Report::done(format!("{}{then}", show::request(request)), answer)
}
