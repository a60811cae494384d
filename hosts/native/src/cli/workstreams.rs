//! `workstreams`: what the work of a session is about, whose it is, and how far it has come.

use a2a_edge::coordination;
use a2a_edge::coordination::workstreams::{LIFECYCLES, LINK_KINDS};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::requests::Key;
use super::{Common, Outcome, Report, input, put, put_list, show};
use crate::client::Client;
use crate::failure::Failure;
use crate::text::facts;

const LIST_EXAMPLES: &str = "\
Examples:
  a2a-edge workstreams list
  a2a-edge workstreams list --lifecycle active --json
  a2a-edge workstreams list --archived";

const CREATE_EXAMPLES: &str = "\
You are its owner. It begins as proposed.

Examples:
  a2a-edge workstreams create 'Rate limits' --intent 'No client slows the others down'
  a2a-edge workstreams create 'Rate limits' --participant p-7c1f --intent - < intent.md";

const GET_EXAMPLES: &str = "\
Examples:
  a2a-edge workstreams get ws-91ab
  a2a-edge workstreams get ws-91ab --history";

const UPDATE_EXAMPLES: &str = "\
Name the version that you have seen, so that you undo nothing that others did since. Participants may add evidence
and set the checkpoint; the rest is its owner's, and that of the session's owner and admins. What is archived never
changes again.

Examples:
  a2a-edge workstreams update ws-91ab --expect 3 --lifecycle active
  a2a-edge workstreams update ws-91ab --expect 4 --checkpoint 'Limiter done' --next 'Load test'
  a2a-edge workstreams update ws-91ab --expect 5 --evidence 'test: 212 passed' --participant p-7c1f

--evidence is 'KIND: SUMMARY', or a JSON object {kind, summary, url}.";

const LINK_EXAMPLES: &str = "\
A resource is in one workstream at most; --from moves it.

Examples:
  a2a-edge workstreams link ws-91ab request req-4b1d --expect 3
  a2a-edge workstreams link ws-91ab external 'https://example.org/acme/app/pull/12' --expect 4
  a2a-edge workstreams link ws-91ab request req-4b1d --expect 3 --from ws-7c1f --from-expect 8";

const UNLINK_EXAMPLES: &str = "\
Examples:
  a2a-edge workstreams unlink ws-91ab request req-4b1d --expect 5";

/// The commands under `workstreams`.
#[derive(Debug, Subcommand)]
pub(super) enum Workstreams {
    /// List workstreams
    #[command(after_long_help = LIST_EXAMPLES)]
    List(List),
    /// Begin a workstream
    #[command(after_long_help = CREATE_EXAMPLES)]
    Create(Create),
    /// Show a workstream, and what happened to it
    #[command(after_long_help = GET_EXAMPLES)]
    Get(Get),
    /// Change a workstream, or say how far it is
    #[command(after_long_help = UPDATE_EXAMPLES)]
    Update(Box<Update>),
    /// Put something into a workstream
    #[command(after_long_help = LINK_EXAMPLES)]
    Link(Link),
    /// Take something out of a workstream
    #[command(after_long_help = UNLINK_EXAMPLES)]
    Unlink(Unlink),
}

/// Which page of a listing.
#[derive(Debug, Args)]
pub(super) struct Paging {
    /// At most this many, 1 to 100
    #[arg(long, value_name = "ENTRIES")]
    limit: Option<u32>,
    /// Go on where an earlier list ended
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    page: Option<String>,
}

impl Paging {
    pub(super) fn put(self, body: &mut Map<String, Value>) {
        put(body, "pageSize", self.limit);
        put(body, "pageToken", self.page);
    }
}

/// Options of `workstreams list`.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only those that are so far
    #[arg(long, value_parser = PossibleValuesParser::new(LIFECYCLES))]
    lifecycle: Option<String>,
    /// Those that are archived, too
    #[arg(long)]
    archived: bool,
    #[command(flatten)]
    paging: Paging,
}

/// Options of `workstreams create`.
#[derive(Debug, Args)]
pub(super) struct Create {
    /// One line of at most 200 characters
    title: String,
    /// What it is to come to; `-` reads standard input
    #[arg(long, value_name = "TEXT")]
    intent: String,
    /// Somebody who works on it; once for each
    #[arg(long = "participant", value_name = "PARTICIPANT")]
    participants: Vec<String>,
    #[command(flatten)]
    key: Key,
}

/// Options of `workstreams get`.
#[derive(Debug, Args)]
pub(super) struct Get {
    /// Id of the workstream
    workstream: String,
    /// What happened to it, too
    #[arg(long)]
    history: bool,
    #[command(flatten)]
    paging: Paging,
}

/// What names a workstream that is to change.
#[derive(Debug, Args)]
struct Which {
    /// Id of the workstream
    workstream: String,
    /// The version of it that you have seen
    #[arg(long, value_name = "VERSION")]
    expect: u32,
    #[command(flatten)]
    key: Key,
}

/// What stands in a workstream.
#[derive(Debug, Args)]
struct Resource {
    /// What it is
    #[arg(value_parser = PossibleValuesParser::new(LINK_KINDS))]
    kind: String,
    /// Its id; an address or any other name of what is external
    id: String,
}

/// Options of `workstreams update`.
#[derive(Debug, Args)]
pub(super) struct Update {
    #[command(flatten)]
    which: Which,
    /// A new title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// A new intent; `-` reads standard input
    #[arg(long, value_name = "TEXT")]
    intent: Option<String>,
    /// Who answers for it from now on
    #[arg(long, value_name = "PARTICIPANT")]
    owner: Option<String>,
    /// Who works on it from now on, in place of those before; once for each
    #[arg(long = "participant", value_name = "PARTICIPANT")]
    participants: Vec<String>,
    /// Nobody but its owner works on it from now on
    #[arg(long, conflicts_with = "participants")]
    no_participants: bool,
    /// How far it is
    #[arg(long, value_parser = PossibleValuesParser::new(LIFECYCLES))]
    lifecycle: Option<String>,
    /// What shows how it stands; once for each
    #[arg(long = "evidence", value_name = "EVIDENCE")]
    evidence: Vec<String>,
    /// Where it stands; `-` reads standard input
    #[arg(long, value_name = "TEXT")]
    checkpoint: Option<String>,
    /// How it goes on from the checkpoint
    #[arg(long, value_name = "TEXT", requires = "checkpoint")]
    next: Option<String>,
}

/// Options of `workstreams link`.
#[derive(Debug, Args)]
pub(super) struct Link {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    resource: Resource,
    /// Id of the workstream that it is moved from
    #[arg(long, value_name = "WORKSTREAM", requires = "from_expect")]
    from: Option<String>,
    /// The version of that workstream that you have seen
    #[arg(long, value_name = "VERSION", requires = "from")]
    from_expect: Option<u32>,
}

/// Options of `workstreams unlink`.
#[derive(Debug, Args)]
pub(super) struct Unlink {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    resource: Resource,
}

impl Workstreams {
    pub(super) fn run(self, common: &Common) -> Outcome {
        let client = common.client().activating(vec![coordination::URI.to_owned()]);
        match self {
            Self::List(list) => list.run(&client),
            Self::Create(create) => create.run(&client),
            Self::Get(get) => get.run(&client),
            Self::Update(update) => update.run(&client),
            Self::Link(link) => link.run(&client),
            Self::Unlink(unlink) => unlink.run(&client),
        }
    }
}

fn call(client: &Client, verb: &str, body: Map<String, Value>) -> Result<Value, Failure> {
    let path = format!("/extensions/session-coordination/v1/workstreams:{verb}");
    client.post(&path, &Value::Object(body))
}

impl List {
    fn run(self, client: &Client) -> Outcome {
        let mut body = Map::new();
        put(&mut body, "lifecycle", self.lifecycle);
        put(&mut body, "includeArchived", self.archived.then_some(true));
        self.paging.put(&mut body);
        let answer = call(client, "list", body)?;
        let rows = show::list(&answer, "workstreams").map(|workstream| {
            [
                show::cell(workstream, "/workstreamId"),
                show::cell(workstream, "/version"),
                show::cell(workstream, "/lifecycle"),
                show::cell(workstream, "/owner"),
                show::title(workstream),
            ]
        });
        let header = [
            "WORKSTREAM",
            "VERSION",
            "LIFECYCLE",
            "OWNER",
            "TITLE (their words)",
        ];
        let mut text = show::table(header, rows.collect(), "No such workstreams.");
        text.push_str(&show::more(&answer));
        Ok(Report::done(text, answer))
    }
}

impl Create {
    fn run(self, client: &Client) -> Outcome {
        let mut body = Map::new();
        body.insert("title".to_owned(), json!(self.title));
        body.insert("intent".to_owned(), json!(input::text(&self.intent)?));
        put_list(&mut body, "participants", &self.participants);
        self.key.put(&mut body);
        let answer = call(client, "create", body)?;
        let id = show::word(&answer, "/workstream/workstreamId", "WORKSTREAM");
        let then = show::next(
            "put its work into it",
            &format!(
                "a2a-edge workstreams link {id} request REQUEST --expect 1\n  \
                 a2a-edge requests create TITLE --workstream {id}"
            ),
        );
        Ok(report(answer, &then))
    }
}

impl Get {
    fn run(self, client: &Client) -> Outcome {
        let mut body = Map::new();
        body.insert("workstreamId".to_owned(), json!(self.workstream));
        put(&mut body, "includeHistory", self.history.then_some(true));
        self.paging.put(&mut body);
        let answer = call(client, "get", body)?;
        let rows: Vec<_> = show::list(&answer, "history")
            .map(|event| ["/data/version", "/at", "/actor", "/type"].map(|member| show::cell(event, member)))
            .collect();
        let mut then = String::new();
        if self.history {
            let header = ["VERSION", "AT", "BY", "WHAT"];
            then = format!(
                "\n{}{}",
                show::table(header, rows, "Nothing more."),
                show::more(&answer)
            );
        }
        Ok(report(answer, &then))
    }
}

impl Which {
    fn body(&self) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("workstreamId".to_owned(), json!(self.workstream));
        body.insert("expectedVersion".to_owned(), json!(self.expect));
        self.key.put(&mut body);
        body
    }
}

impl Update {
    fn run(self, client: &Client) -> Outcome {
        let mut body = self.which.body();
        put(&mut body, "title", self.title);
        put(
            &mut body,
            "intent",
            self.intent.as_deref().map(input::text).transpose()?,
        );
        put(&mut body, "owner", self.owner);
        put_list(&mut body, "participants", &self.participants);
        put(&mut body, "participants", self.no_participants.then(|| json!([])));
        put(&mut body, "lifecycle", self.lifecycle);
        let evidence: Result<Vec<Value>, Failure> = self.evidence.iter().map(|it| evidence(it)).collect();
        put_list(&mut body, "addEvidence", &evidence?);
        if let Some(summary) = &self.checkpoint {
            let mut checkpoint = Map::new();
            checkpoint.insert("summary".to_owned(), json!(input::text(summary)?));
            put(&mut checkpoint, "next", self.next);
            body.insert("checkpoint".to_owned(), Value::Object(checkpoint));
        }
        Ok(report(call(client, "update", body)?, ""))
    }
}

/// Evidence as the command line has it: `KIND: SUMMARY`, or a JSON object.
fn evidence(argument: &str) -> Result<Value, Failure> {
    if argument.trim_start().starts_with('{') {
        return input::parse_json(argument);
    }
    match argument.split_once(':') {
        Some((kind, summary)) => Ok(json!({"kind": kind.trim(), "summary": summary.trim()})),
        None => Err(Failure::Usage(format!(
            "--evidence {}: expected 'KIND: SUMMARY' or a JSON object",
            argument.escape_debug()
        ))),
    }
}

impl Resource {
    fn put(self, body: &mut Map<String, Value>) {
        let resource = json!({"kind": self.kind, "id": self.id});
        body.insert("resource".to_owned(), resource);
    }
}

impl Link {
    fn run(self, client: &Client) -> Outcome {
        let mut body = self.which.body();
        self.resource.put(&mut body);
        if let (Some(from), Some(expected)) = (self.from, self.from_expect) {
            let from = json!({"workstreamId": from, "expectedVersion": expected});
            body.insert("from".to_owned(), from);
        }
        Ok(report(call(client, "link", body)?, ""))
    }
}

impl Unlink {
    fn run(self, client: &Client) -> Outcome {
        let mut body = self.which.body();
        self.resource.put(&mut body);
        Ok(report(call(client, "unlink", body)?, ""))
    }
}

fn report(answer: Value, then: &str) -> Report {
    let workstream = answer.get("workstream").unwrap_or(&Value::Null);
    Report::done(format!("{}{then}", shown(workstream)), answer)
}

/// A workstream; its texts are others' words.
fn shown(workstream: &Value) -> String {
    let text = facts(&[
        ("workstream", show::cell(workstream, "/workstreamId")),
        ("version", show::cell(workstream, "/version")),
        ("lifecycle", show::cell(workstream, "/lifecycle")),
        ("owner", show::cell(workstream, "/owner")),
        ("participants", show::words(workstream, "participants")),
        ("created", show::cell(workstream, "/createdAt")),
        ("updated", show::cell(workstream, "/updatedAt")),
    ]);
    let string = |pointer| {
        workstream
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let evidence = show::list(workstream, "evidence").map(|it| {
        let (kind, from) = (show::brief(it, "/kind"), show::brief(it, "/from"));
        let said = ["/summary", "/url"].map(|member| it.pointer(member).and_then(Value::as_str));
        let said: Vec<&str> = said.into_iter().flatten().collect();
        show::block(&format!("evidence {kind} by {from}"), &said.join("\n"))
    });
    let links = show::list(workstream, "links").map(|link| {
        format!(
            "{} {}",
            show::cell(link, "/resource/kind"),
            show::cell(link, "/resource/id")
        )
    });
    let pieces = [
        text,
        show::block("title", string("/title")),
        show::block("intent", string("/intent")),
        show::block("checkpoint", string("/checkpoint/summary")),
        show::block("next", string("/checkpoint/next")),
        evidence.collect(),
        show::block("links", &links.collect::<Vec<_>>().join("\n")),
    ];
    pieces.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_a_kind_and_a_summary_or_an_object() {
        assert_eq!(
            evidence("test: 212: passed").unwrap(),
            json!({"kind": "test", "summary": "212: passed"})
        );
        let whole = r#"{"kind": "test", "summary": "s", "url": "https://ci.example/7"}"#;
        assert_eq!(evidence(whole).unwrap()["url"], "https://ci.example/7");
        assert!(evidence("212 passed").is_err());
        assert!(evidence("{").is_err());
    }
}
