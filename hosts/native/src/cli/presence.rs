//! `presence` and `status`: that one is there, and how one is getting on.

use a2a_edge::coordination;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use super::requests::Key;
use super::{Common, Outcome, Report, input, put, put_list, show, word};

const ANNOUNCE_EXAMPLES: &str = "\
It renews the leases of your live claims, too. Announce again before it runs out.

Examples:
  a2a-edge presence announce
  a2a-edge presence announce --activity 'Reading the parser' --ttl 600 --capability review
  a2a-edge presence announce --state away --keep-leases";

const STATUS_EXAMPLES: &str = "\
Examples:
  a2a-edge status announce 'Half of the tests pass'
  a2a-edge status announce 'Stuck' --blocked-on 'Review of pr:12' --resource 'src/parser/**'";

/// The commands under `presence`.
#[derive(Debug, Subcommand)]
pub(super) enum Presence {
    /// Say that you are there
    #[command(after_long_help = ANNOUNCE_EXAMPLES)]
    Announce(Announce),
}

/// The commands under `status`.
#[derive(Debug, Subcommand)]
pub(super) enum Status {
    /// Say how you are getting on, for the session's log
    #[command(after_long_help = STATUS_EXAMPLES)]
    Announce(Said),
}

/// How somebody is there (session coordination, §4).
#[derive(Clone, Copy, Debug, ValueEnum)]
enum State {
    /// At work
    Active,
    /// Waiting for work
    Idle,
    /// Not looking
    Away,
}

/// Options of `presence announce`.
#[derive(Debug, Args)]
pub(super) struct Announce {
    /// How you are there; active if left out
    #[arg(long)]
    state: Option<State>,
    /// What you are at: one line of at most 280 characters
    #[arg(long, value_name = "TEXT")]
    activity: Option<String>,
    /// How long it counts, 15 to 3600; 120 if left out
    #[arg(long, value_name = "SECONDS")]
    ttl: Option<u32>,
    /// What you can do; once for each
    #[arg(long = "capability", value_name = "CAPABILITY")]
    capabilities: Vec<String>,
    /// Leave the leases of your claims as they are
    #[arg(long)]
    keep_leases: bool,
    #[command(flatten)]
    key: Key,
}

/// Options of `status announce`.
#[derive(Debug, Args)]
pub(super) struct Said {
    /// At most 1000 characters; `-` reads standard input
    status: String,
    /// What you wait for
    #[arg(long, value_name = "TEXT")]
    blocked_on: Option<String>,
    /// A path, a glob or an id such as pr:12; once for each
    #[arg(long = "resource", value_name = "RESOURCE")]
    resources: Vec<String>,
    /// Id of the workstream that it belongs to
    #[arg(long, value_name = "WORKSTREAM")]
    workstream: Option<String>,
    #[command(flatten)]
    key: Key,
}

fn call(
    common: &Common,
    operation: &str,
    body: Map<String, Value>,
) -> Result<Value, crate::failure::Failure> {
    let client = common.client().activating(vec![coordination::URI.to_owned()]);
    let path = format!("/extensions/session-coordination/v1/{operation}");
    client.post(&path, &Value::Object(body))
}

impl Presence {
    pub(super) fn run(self, common: &Common) -> Outcome {
        let Self::Announce(announce) = self;
        let mut body = Map::new();
        put(&mut body, "state", announce.state.map(word));
        put(&mut body, "activity", announce.activity);
        put(&mut body, "ttlSeconds", announce.ttl);
        put_list(&mut body, "capabilities", &announce.capabilities);
        put(&mut body, "renewClaims", announce.keep_leases.then_some(false));
        announce.key.put(&mut body);
        let answer = call(common, "presence:announce", body)?;
        Ok(Report::done(show::presence(&answer), answer))
    }
}

impl Status {
    pub(super) fn run(self, common: &Common) -> Outcome {
        let Self::Announce(said) = self;
        let mut body = Map::new();
        body.insert("status".to_owned(), json!(input::text(&said.status)?));
        put(&mut body, "blockedOn", said.blocked_on);
        put_list(&mut body, "resources", &said.resources);
        put(&mut body, "workstreamId", said.workstream);
        said.key.put(&mut body);
        let answer = call(common, "status:announce", body)?;
        let text = format!("Said, as event {}.\n", show::cell(&answer, "/event/eventId"));
        Ok(Report::done(text, answer))
    }
}
