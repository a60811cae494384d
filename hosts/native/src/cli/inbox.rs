//! `inbox`: what waits for whoever asks, and waiting for it.

use std::time::{Duration, Instant};

use a2a_edge::coordination;
use a2a_edge::session::inbox::Kind;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use super::requests::Key;
use super::{Common, Outcome, Report, put, show, word};
use crate::client::Client;
use crate::failure::{Failure, exit};

/// How often a watch asks.
const EVERY: Duration = Duration::from_secs(1);

const LIST_EXAMPLES: &str = "\
With --watch the command ends with 0 as soon as something waits, at once if something does already: acknowledge or
resolve what you have read before you watch again. With --timeout it ends with 6 when nothing came in time.

Examples:
  a2a-edge inbox list
  a2a-edge inbox list --kind question --kind request --json
  a2a-edge inbox list --state all --limit 100
  a2a-edge inbox list --watch --kind answer --timeout 600";

const UPDATE_EXAMPLES: &str = "\
Examples:
  a2a-edge inbox update item-17 item-18 --state acknowledged
  a2a-edge inbox update lapsed-k7wq2m4xvb3n6zp5 --state resolved";

/// The commands under `inbox`.
#[derive(Debug, Subcommand)]
pub(super) enum Inbox {
    /// See what waits for you, or wait for it
    #[command(after_long_help = LIST_EXAMPLES)]
    List(List),
    /// Acknowledge, resolve or reopen items: all of them, or none
    #[command(after_long_help = UPDATE_EXAMPLES)]
    Update(Update),
}

/// Which items are listed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Listed {
    Pending,
    Acknowledged,
    Resolved,
    All,
}

/// What is made of an item.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum State {
    /// Seen
    Acknowledged,
    /// Nothing is left to be done
    Resolved,
    /// It waits again
    Pending,
}

/// Options of `inbox list`.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only items in this state; pending if left out
    #[arg(long, conflicts_with = "watch")]
    state: Option<Listed>,
    /// Only items of this kind; once for each
    #[arg(long = "kind", value_parser = PossibleValuesParser::new(Kind::NAMES))]
    kinds: Vec<String>,
    /// At most this many, 1 to 100
    #[arg(long, value_name = "ITEMS")]
    limit: Option<u32>,
    /// Go on where an earlier list ended
    #[arg(
        long,
        value_name = "TOKEN",
        allow_hyphen_values = true,
        conflicts_with = "watch"
    )]
    page: Option<String>,
    /// Wait until something does
    #[arg(long)]
    watch: bool,
    /// Wait no longer than this
    #[arg(long, value_name = "SECONDS", requires = "watch")]
    timeout: Option<u32>,
}

/// Options of `inbox update`.
#[derive(Debug, Args)]
pub(super) struct Update {
    /// Ids of the items
    #[arg(required = true, value_name = "ITEM")]
    items: Vec<String>,
    /// What you make of them
    #[arg(long)]
    state: State,
    #[command(flatten)]
    key: Key,
}

impl Inbox {
    pub(super) fn run(self, common: &Common) -> Outcome {
        let client = common.client().activating(vec![coordination::URI.to_owned()]);
        match self {
            Self::List(list) => list.run(&client),
            Self::Update(update) => update.run(&client),
        }
    }
}

fn call(client: &Client, verb: &str, body: &Value) -> Result<Value, Failure> {
    client.post(&format!("/extensions/session-coordination/v1/inbox:{verb}"), body)
}

impl List {
    fn run(self, client: &Client) -> Outcome {
        let began = Instant::now();
        let timeout = self
            .timeout
            .map(|seconds| Duration::from_secs(u64::from(seconds)));
        let mut body = Map::new();
        put(&mut body, "state", self.state.map(word));
        super::put_list(&mut body, "kinds", &self.kinds);
        put(&mut body, "pageSize", self.limit);
        put(&mut body, "pageToken", self.page);
        let body = Value::Object(body);
        loop {
            let answer = call(client, "list", &body)?;
            if !self.watch || show::list(&answer, "items").next().is_some() {
                return Ok(report(answer, "Nothing waits."));
            }
            let left = timeout.map(|timeout| timeout.saturating_sub(began.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Report {
                    code: exit::NOTHING,
                    ..report(answer, "Nothing came in time.")
                });
            }
            std::thread::sleep(left.unwrap_or(EVERY).min(EVERY));
        }
    }
}

impl Update {
    fn run(self, client: &Client) -> Outcome {
        let mut body = Map::new();
        body.insert("itemIds".to_owned(), json!(self.items));
        body.insert("state".to_owned(), json!(word(self.state)));
        self.key.put(&mut body);
        Ok(report(call(client, "update", &Value::Object(body))?, ""))
    }
}

/// A listing of items; a preview is somebody else's words.
fn report(answer: Value, none: &str) -> Report {
    let rows = show::list(&answer, "items").map(|item| {
        [
            show::cell(item, "/itemId"),
            show::cell(item, "/kind"),
            show::cell(item, "/state"),
            show::cell(item, "/subjectId"),
            show::cell(item, "/from"),
            format!("> {}", show::brief(item, "/preview")),
        ]
    });
    let header = ["ITEM", "KIND", "STATE", "OF", "FROM", "PREVIEW (their words)"];
    let text = show::table(header, rows.collect(), none) + &show::more(&answer);
    Report::done(text, answer)
}
