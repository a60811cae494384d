//! `digest`: how the session stands and what happened last, in one look.

use a2a_edge::coordination::{PATH, URI};
use clap::Args;
use serde_json::{Map, Value};

use super::{Common, Outcome, Report, put, show};
use crate::text::{columns, facts};

const EXAMPLES: &str = "\
What whoever joins reads first: who is there, what is claimed, open and decided, and what happened last. The next
look, with --since and the cursor that this one ends with, tells only what has happened in between.

Examples:
  a2a-edge digest
  a2a-edge digest --since 41 --limit 20
  a2a-edge digest --json";

/// Options of `digest`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Digest {
    /// Only events behind this cursor, which an earlier digest ended with
    #[arg(long, value_name = "CURSOR")]
    since: Option<String>,
    /// At most this many of each kind, 1 to 200; 50 if left out
    #[arg(long, value_name = "ITEMS")]
    limit: Option<u32>,
}

impl Digest {
    pub(super) fn run(self, common: &Common) -> Outcome {
        let client = common.client().activating(vec![URI.to_owned()]);
        let mut body = Map::new();
        put(&mut body, "since", self.since);
        put(&mut body, "maxItems", self.limit);
        let answer = client.post(&format!("/{PATH}/digest:get"), &Value::Object(body))?;
        Ok(Report::done(text(&answer), answer))
    }
}

/// A section: its member, what it is called, what stands in a row of it, and what of that is somebody's words.
const SECTIONS: [(&str, &str, &[&str], Option<&str>); 7] = [
    (
        "claims",
        "claims",
        &["/claimId", "/claimType", "/participantId", "/resourceId"],
        None,
    ),
    (
        "conflicts",
        "shared with another",
        &[
            "/claims/0/claimId",
            "/claims/0/resourceId",
            "/claims/1/claimId",
            "/claims/1/resourceId",
        ],
        None,
    ),
    (
        "openRequests",
        "requests",
        &["/requestId", "/state", "/priority"],
        Some("/title"),
    ),
    (
        "openQuestions",
        "questions",
        &["/questionId", "/from"],
        Some("/body"),
    ),
    (
        "decisions",
        "decisions",
        &["/decisionId", "/recordedBy"],
        Some("/title"),
    ),
    (
        "knowledge",
        "knowledge",
        &["/knowledgeId", "/version"],
        Some("/title"),
    ),
    (
        "workstreams",
        "workstreams",
        &["/workstreamId", "/lifecycle", "/owner"],
        Some("/title"),
    ),
];

/// The digest for people.
fn text(answer: &Value) -> String {
    let cursor = show::word(answer, "/cursor", "CURSOR");
    standing(answer, usize::MAX) + &show::next("later", &format!("a2a-edge digest --since {cursor}"))
}

/// How the session stands, with at most so much of each section, the newest; one that has nothing in it is left out.
pub(super) fn standing(answer: &Value, most: usize) -> String {
    let digest = answer.get("digest").unwrap_or(&Value::Null);
    let there = |member: &str| show::cell(digest, &format!("/participants/{member}"));
    let mut text = facts(&[
        ("at", show::cell(digest, "/generatedAt")),
        ("active", format!("{} of {}", there("active"), there("total"))),
        (
            "inbox",
            format!("{} pending", show::cell(digest, "/inbox/pending")),
        ),
    ]);
    for (section, name, cells, words) in SECTIONS {
        let row = |entry: &Value| {
            let mut row: Vec<String> = cells.iter().map(|cell| show::cell(entry, cell)).collect();
            row.extend(words.map(|words| format!("> {}", show::brief(entry, words))));
            row
        };
        let (older, newest) = show::newest(show::list(digest, section), most);
        let rows: Vec<Vec<String>> = newest.into_iter().map(row).collect();
        let cut = older || show::list(digest, "more").any(|cut| cut == section);
        text.push_str(&listed(name, cut, &columns(&rows)));
    }
    let (older, newest) = show::newest(show::list(digest, "events"), most);
    let events: Vec<String> = newest.into_iter().map(show::event).collect();
    let cut = older || digest.get("truncated").is_some();
    text.push_str(&listed("events", cut, &events.join("\n")));
    text
}

/// A section under its name.
fn listed(name: &str, cut: bool, rows: &str) -> String {
    match (rows.trim_end(), cut) {
        ("", _) => String::new(),
        (rows, true) => format!("\n{name}, the newest\n{rows}\n"),
        (rows, false) => format!("\n{name}\n{rows}\n"),
    }
}
