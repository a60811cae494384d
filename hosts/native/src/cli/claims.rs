//! `claims`: leases on paths, globs and ids, so that two do not work on the same thing.

use a2a_edge::coordination;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::requests::Key;
use super::{Common, Outcome, Report, put, show};
use crate::client::Client;
use crate::failure::Failure;

const CHECK_EXAMPLES: &str = "\
Examples:
  a2a-edge claims check 'src/parser/**' pr:12
  a2a-edge claims check docs --shared --json";

const ACQUIRE_EXAMPLES: &str = "\
A claim lapses by itself. Acquiring it again renews it, and so does `a2a-edge presence announce`.

Examples:
  a2a-edge claims acquire 'src/parser/**' --reason 'Rewriting it'
  a2a-edge claims acquire docs --shared --lease 3600 --request req-91ab";

const RELEASE_EXAMPLES: &str = "\
Examples:
  a2a-edge claims release claim-91ab";

/// The commands under `claims`.
#[derive(Debug, Subcommand)]
pub(super) enum Claims {
    /// See whose claims would be in the way
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(Check),
    /// Claim something for a while, or renew your claim on it
    #[command(after_long_help = ACQUIRE_EXAMPLES)]
    Acquire(Acquire),
    /// Give a claim up
    #[command(after_long_help = RELEASE_EXAMPLES)]
    Release(Release),
}

/// Options of `claims check`.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// Paths, globs or ids such as pr:12
    #[arg(required = true, value_name = "RESOURCE")]
    resources: Vec<String>,
    /// As shared claims, which stand beside others that share
    #[arg(long)]
    shared: bool,
}

/// Options of `claims acquire`.
#[derive(Debug, Args)]
pub(super) struct Acquire {
    /// A path, a glob or an id such as pr:12
    resource: String,
    /// Let others share it
    #[arg(long)]
    shared: bool,
    /// How long it holds, 30 to 86400; 900 if left out
    #[arg(long, value_name = "SECONDS")]
    lease: Option<u32>,
    /// What for
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Id of the request that it is for
    #[arg(long, value_name = "REQUEST")]
    request: Option<String>,
    /// Id of the workstream that it belongs to
    #[arg(long, value_name = "WORKSTREAM")]
    workstream: Option<String>,
    #[command(flatten)]
    key: Key,
}

/// Options of `claims release`.
#[derive(Debug, Args)]
pub(super) struct Release {
    /// Id of the claim
    claim: String,
    #[command(flatten)]
    key: Key,
}

impl Claims {
    pub(super) fn run(self, common: &Common) -> Outcome {
        let client = common.client().activating(vec![coordination::URI.to_owned()]);
        match self {
            Self::Check(check) => check.run(&client),
            Self::Acquire(acquire) => acquire.run(&client),
            Self::Release(release) => release.run(&client),
        }
    }
}

fn call(client: &Client, verb: &str, body: Map<String, Value>) -> Result<Value, Failure> {
    let path = format!("/extensions/session-coordination/v1/claims:{verb}");
    client.post(&path, &Value::Object(body))
}

fn wanted(resource: &str, shared: bool) -> Map<String, Value> {
    let mut wanted = Map::new();
    wanted.insert("resourceId".to_owned(), json!(resource));
    put(&mut wanted, "claimType", shared.then_some("shared"));
    wanted
}

impl Check {
    fn run(self, client: &Client) -> Outcome {
        let resources: Vec<_> = self.resources.iter().map(|it| wanted(it, self.shared)).collect();
        let mut body = Map::new();
        body.insert("resources".to_owned(), json!(resources));
        let answer = call(client, "check", body)?;
        let results = show::list(&answer, "results");
        let in_the_way = results.flat_map(|result| show::list(result, "conflicts"));
        let rows = in_the_way.map(|claim| {
            [
                "/claimId",
                "/participantId",
                "/claimType",
                "/expiresAt",
                "/resourceId",
            ]
            .map(|member| show::cell(claim, member))
        });
        let header = ["CLAIM", "PARTICIPANT", "TYPE", "EXPIRES", "RESOURCE"];
        let text = show::table(header, rows.collect(), "Nothing is in the way.");
        Ok(Report::done(text, answer))
    }
}

impl Acquire {
    fn run(self, client: &Client) -> Outcome {
        let mut body = wanted(&self.resource, self.shared);
        put(&mut body, "leaseSeconds", self.lease);
        put(&mut body, "reason", self.reason);
        put(&mut body, "workstreamId", self.workstream);
        put(&mut body, "requestId", self.request);
        self.key.put(&mut body);
        let answer = call(client, "acquire", body)?;
        let id = show::word(&answer, "/claim/claimId", "CLAIM");
        let then = show::next(
            "keep it, or give it up",
            &format!("a2a-edge presence announce\n  a2a-edge claims release {id}"),
        );
        Ok(report(answer, &then))
    }
}

impl Release {
    fn run(self, client: &Client) -> Outcome {
        let mut body = Map::new();
        body.insert("claimId".to_owned(), json!(self.claim));
        self.key.put(&mut body);
        Ok(report(call(client, "release", body)?, ""))
    }
}

fn report(answer: Value, then: &str) -> Report {
    let claim = answer.get("claim").unwrap_or(&Value::Null);
    Report::done(format!("{}{then}", show::claim(claim)), answer)
}
