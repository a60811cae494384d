//! The whole story by the built binary, and then a power cut: what was read before reads the same after it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    dead_code,
    reason = "a test that cannot go on should stop where it is"
)]

mod support;

use std::collections::BTreeMap;

use serde_json::Value;
use support::{Desk, Scratch};

const WORK: &str = "https://dispatch.foo/a2a/ext/work/v1";

/// The tokens of a first start, which a second does not tell again.
struct Tokens(BTreeMap<&'static str, String>);

impl Tokens {
    fn of(desk: &Desk) -> Self {
        let roles = ["owner", "member", "client"];
        Self(roles.map(|role| (role, desk.token(role).to_owned())).into())
    }

    /// Runs a command as one of the first participants.
    fn run(&self, desk: &Desk, role: &str, words: &[&str]) -> Value {
        let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        desk.run(&self.0[role], &words, "").ended(0).json()
    }

    /// Everything that anybody reads of the task and its request.
    fn readings(&self, desk: &Desk, task: &str) -> Vec<Value> {
        let read = |role, words: &[&str]| self.run(desk, role, words);
        vec![
            read("client", &["task", "get", task, "--history", "10"]),
            read("client", &["task", "get", task, "--history", "10", "--plain"]),
            read("client", &["task", "list"]),
            read("owner", &["task", "open", "--state", "all"]),
            read("owner", &["participant", "list"]),
            read("member", &["requests", "list"]),
        ]
    }
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_else(|| panic!("{pointer}: {value}"))
}

#[test]
fn a_landed_handoff_reads_the_same_after_a_power_cut() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--quiet"]);
    let tokens = Tokens::of(&desk);
    let sent = tokens.run(
        &desk,
        "client",
        &["send", "--handoff", "Add rate limiting", "No limit yet."],
    );
    let task = text(&sent, "/task/id");
    assert_eq!(text(&sent, "/task/status/state"), "TASK_STATE_AUTH_REQUIRED");
    let approved = tokens.run(&desk, "owner", &["approve", task]);
    let request = text(&approved, "/task/requestId");
    let stages: [&[&str]; 4] = [
        &["claim", request],
        &["progress", request, "--stage", "review", "--note", "Have a look."],
        &["progress", request, "--stage", "landing"],
        &[
            "complete",
            request,
            "--pr",
            "https://example.org/pull/7",
            "--pr-state",
            "merged",
        ],
    ];
    for words in stages {
        tokens.run(&desk, "member", &[&["requests"], words].concat());
    }
    let before = tokens.readings(&desk, task);
    assert_eq!(text(&before[0], "/status/state"), "TASK_STATE_COMPLETED");
    assert_eq!(before[0]["artifacts"][0]["metadata"][WORK]["number"], 7);
    assert!(!before[1].to_string().contains(WORK), "{}", before[1]);

    desk.kill();
    let desk = Desk::start(&scratch.data(), &["--quiet"]);
    assert_eq!(desk.welcome.get("tokens"), None);
    assert_eq!(tokens.readings(&desk, task), before);
    let next = tokens.run(&desk, "client", &["send", "--handoff", "Raise the limit"]);
    assert_eq!(text(&next, "/task/status/state"), "TASK_STATE_AUTH_REQUIRED");
    desk.stop();
}
