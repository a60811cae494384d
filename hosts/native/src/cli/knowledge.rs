//! `knowledge`: what the session holds to be so, and what is proposed for it.

use a2a_edge::coordination;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use super::requests::Key;
use super::workstreams::Paging;
use super::{Common, Outcome, Report, input, put, put_list, show, word};
use crate::failure::Failure;
use crate::text::facts;

const LIST_EXAMPLES: &str = "\
Examples:
  a2a-edge knowledge list
  a2a-edge knowledge list --tag ops --query deploy";

const READ_EXAMPLES: &str = "\
Examples:
  a2a-edge knowledge read know-91ab
  a2a-edge knowledge read know-91ab --at 2";

const PROPOSE_EXAMPLES: &str = "\
An owner or admin decides about it; until then nothing changes.

Examples:
  a2a-edge knowledge propose 'How to deploy' --tag ops --body - < deploy.md
  a2a-edge knowledge propose 'How to deploy' --entry know-91ab --base 2 --body 'Push the button.' --rationale 'New button'";

const PROPOSALS_EXAMPLES: &str = "\
Examples:
  a2a-edge knowledge proposals
  a2a-edge knowledge proposals --state rejected";

const REVIEW_EXAMPLES: &str = "\
Examples:
  a2a-edge knowledge review prop-4b1d";

const ACCEPT_EXAMPLES: &str = "\
When the entry has moved on since the version that the proposal goes out from, look at both and confirm.

Examples:
  a2a-edge knowledge accept prop-4b1d
  a2a-edge knowledge accept prop-4b1d --confirm";

const REJECT_EXAMPLES: &str = "\
Examples:
  a2a-edge knowledge reject prop-4b1d --reason 'The button is gone'";

/// The commands under `knowledge`.
#[derive(Debug, Subcommand)]
pub(super) enum Knowledge {
    /// List entries
    #[command(after_long_help = LIST_EXAMPLES)]
    List(List),
    /// Read an entry
    #[command(after_long_help = READ_EXAMPLES)]
    Read(Read),
    /// Propose an entry, or a change of one
    #[command(after_long_help = PROPOSE_EXAMPLES)]
    Propose(Propose),
    /// List what was proposed (owner, admin)
    #[command(after_long_help = PROPOSALS_EXAMPLES)]
    Proposals(Proposals),
    /// Show a proposal whole, beside its entry (owner, admin)
    #[command(after_long_help = REVIEW_EXAMPLES)]
    Review(Review),
    /// Let a proposal in (owner, admin)
    #[command(after_long_help = ACCEPT_EXAMPLES)]
    Accept(Accept),
    /// Turn a proposal down (owner, admin)
    #[command(after_long_help = REJECT_EXAMPLES)]
    Reject(Reject),
}

/// Options of `knowledge list`.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only entries with this tag, as it is written
    #[arg(long)]
    tag: Option<String>,
    /// Only entries with this in their title or a tag, in any case
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    #[command(flatten)]
    paging: Paging,
}

/// Options of `knowledge read`.
#[derive(Debug, Args)]
pub(super) struct Read {
    /// Id of the entry
    entry: String,
    /// In which version; the latest if left out
    #[arg(long, value_name = "VERSION")]
    at: Option<u32>,
}

/// Options of `knowledge propose`.
#[derive(Debug, Args)]
pub(super) struct Propose {
    /// One line of at most 200 characters
    title: String,
    /// What is so, at most 65536 characters; `-` reads standard input
    #[arg(long, value_name = "TEXT")]
    body: String,
    /// Id of the entry to change; a new one if left out
    #[arg(long, value_name = "ENTRY")]
    entry: Option<String>,
    /// The version of the entry that you have read; the latest if left out
    #[arg(long, value_name = "VERSION", requires = "entry")]
    base: Option<u32>,
    /// Keyword; once for each
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Why, for whoever decides
    #[arg(long, value_name = "TEXT")]
    rationale: Option<String>,
    #[command(flatten)]
    key: Key,
}

/// What has become of a proposal.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum State {
    Pending,
    Accepted,
    Rejected,
    All,
}

/// Options of `knowledge proposals`.
#[derive(Debug, Args)]
pub(super) struct Proposals {
    /// Which; pending if left out
    #[arg(long)]
    state: Option<State>,
    #[command(flatten)]
    paging: Paging,
}

/// Options of `knowledge review`.
#[derive(Debug, Args)]
pub(super) struct Review {
    /// Id of the proposal
    proposal: String,
}

/// Options of `knowledge accept`.
#[derive(Debug, Args)]
pub(super) struct Accept {
    /// Id of the proposal
    proposal: String,
    /// Although the entry has moved on since
    #[arg(long)]
    confirm: bool,
    #[command(flatten)]
    key: Key,
}

/// Options of `knowledge reject`.
#[derive(Debug, Args)]
pub(super) struct Reject {
    /// Id of the proposal
    proposal: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    key: Key,
}

impl Knowledge {
    pub(super) fn run(self, common: &Common) -> Outcome {
        match self {
            Self::List(list) => list.run(common),
            Self::Read(read) => read.run(common),
            Self::Propose(propose) => propose.run(common),
            Self::Proposals(proposals) => proposals.run(common),
            Self::Review(review) => review.run(common),
            Self::Accept(accept) => accept.run(common),
            Self::Reject(reject) => reject.run(common),
        }
    }
}

fn call(common: &Common, verb: &str, body: Map<String, Value>) -> Result<Value, Failure> {
    let client = common.client().activating(vec![coordination::URI.to_owned()]);
    let path = format!("/extensions/session-coordination/v1/knowledge:{verb}");
    client.post(&path, &Value::Object(body))
}

fn operate(common: &Common, verb: &str, body: Map<String, Value>) -> Result<Value, Failure> {
    let client = common.deciding()?;
    client.operate(&format!("knowledge:{verb}"), &Value::Object(body))
}

fn about(proposal: String) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("proposalId".to_owned(), json!(proposal));
    body
}

impl List {
    fn run(self, common: &Common) -> Outcome {
        let mut body = Map::new();
        put(&mut body, "tag", self.tag);
        put(&mut body, "query", self.query);
        self.paging.put(&mut body);
        let answer = call(common, "list", body)?;
        let rows = show::list(&answer, "entries").map(|entry| {
            [
                show::cell(entry, "/knowledgeId"),
                show::cell(entry, "/version"),
                show::cell(entry, "/updatedAt"),
                show::words(entry, "tags"),
                show::title(entry),
            ]
        });
        let header = ["ENTRY", "VERSION", "UPDATED", "TAGS", "TITLE (their words)"];
        let mut text = show::table(header, rows.collect(), "No such entries.");
        text.push_str(&show::more(&answer));
        Ok(Report::done(text, answer))
    }
}

impl Read {
    fn run(self, common: &Common) -> Outcome {
        let mut body = Map::new();
        body.insert("knowledgeId".to_owned(), json!(self.entry));
        put(&mut body, "version", self.at);
        let answer = call(common, "read", body)?;
        let text = entry(answer.get("entry").unwrap_or(&Value::Null));
        Ok(Report::done(text, answer))
    }
}

impl Propose {
    fn run(self, common: &Common) -> Outcome {
        let mut body = Map::new();
        put(&mut body, "knowledgeId", self.entry);
        body.insert("title".to_owned(), json!(self.title));
        body.insert("body".to_owned(), json!(input::text(&self.body)?));
        put_list(&mut body, "tags", &self.tags);
        put(&mut body, "rationale", self.rationale);
        put(&mut body, "baseVersion", self.base);
        self.key.put(&mut body);
        let answer = call(common, "propose", body)?;
        let id = show::word(&answer, "/proposal/proposalId", "PROPOSAL");
        let then = show::next(
            "an owner or admin reads it",
            &format!("a2a-edge knowledge review {id}"),
        );
        Ok(report(answer, &then))
    }
}

impl Proposals {
    fn run(self, common: &Common) -> Outcome {
        let mut body = Map::new();
        put(&mut body, "state", self.state.map(word));
        self.paging.put(&mut body);
        let answer = operate(common, "proposals", body)?;
        let rows = show::list(&answer, "proposals").map(|proposal| {
            [
                show::cell(proposal, "/proposalId"),
                show::cell(proposal, "/state"),
                show::cell(proposal, "/knowledgeId"),
                show::cell(proposal, "/proposedBy"),
                show::title(proposal),
            ]
        });
        let header = ["PROPOSAL", "STATE", "ENTRY", "BY", "TITLE (their words)"];
        let mut text = show::table(header, rows.collect(), "No such proposals.");
        text.push_str(&show::more(&answer));
        Ok(Report::done(text, answer))
    }
}

impl Review {
    fn run(self, common: &Common) -> Outcome {
        let answer = operate(common, "review", about(self.proposal))?;
        let of_entry = answer
            .get("entry")
            .map(|it| format!("\nThe entry as it is:\n\n{}", entry(it)));
        let then = match answer.pointer("/proposal/state").and_then(Value::as_str) {
            Some("pending") => {
                let id = show::word(&answer, "/proposal/proposalId", "PROPOSAL");
                let commands =
                    format!("a2a-edge knowledge accept {id}\n  a2a-edge knowledge reject {id} --reason TEXT");
                show::next("decide", &commands)
            }
            _ => String::new(),
        };
        Ok(report(answer, &format!("{}{then}", of_entry.unwrap_or_default())))
    }
}

impl Accept {
    fn run(self, common: &Common) -> Outcome {
        let mut body = about(self.proposal);
        put(&mut body, "confirm", self.confirm.then_some(true));
        self.key.put(&mut body);
        Ok(report(operate(common, "accept", body)?, ""))
    }
}

impl Reject {
    fn run(self, common: &Common) -> Outcome {
        let mut body = about(self.proposal);
        put(&mut body, "reason", self.reason);
        self.key.put(&mut body);
        Ok(report(operate(common, "reject", body)?, ""))
    }
}

fn report(answer: Value, then: &str) -> Report {
    let text = proposal(answer.get("proposal").unwrap_or(&Value::Null));
    Report::done(format!("{text}{then}"), answer)
}

fn string<'a>(value: &'a Value, member: &str) -> &'a str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// An entry; what it says is others' words.
fn entry(entry: &Value) -> String {
    let text = facts(&[
        ("entry", show::cell(entry, "/knowledgeId")),
        ("version", show::cell(entry, "/version")),
        ("tags", show::words(entry, "tags")),
        ("by", show::cell(entry, "/proposedBy")),
        ("accepted", show::cell(entry, "/acceptedBy")),
        ("created", show::cell(entry, "/createdAt")),
        ("updated", show::cell(entry, "/updatedAt")),
    ]);
    let (title, body) = (string(entry, "title"), string(entry, "body"));
    format!(
        "{text}{}{}",
        show::block("title", title),
        show::block("body", body)
    )
}

/// A proposal; what it says is others' words.
fn proposal(proposal: &Value) -> String {
    let text = facts(&[
        ("proposal", show::cell(proposal, "/proposalId")),
        ("state", show::cell(proposal, "/state")),
        ("entry", show::cell(proposal, "/knowledgeId")),
        ("base", show::cell(proposal, "/baseVersion")),
        ("version", show::cell(proposal, "/version")),
        ("tags", show::words(proposal, "tags")),
        ("by", show::cell(proposal, "/proposedBy")),
        ("at", show::cell(proposal, "/at")),
        ("decided", show::cell(proposal, "/decidedBy")),
    ]);
    let said = ["title", "rationale", "body", "reason"];
    let said = said.map(|member| show::block(member, string(proposal, member)));
    format!("{text}{}", said.concat())
}
