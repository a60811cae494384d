//! Workstreams and knowledge by the command line, and how much a session may hold.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it is"
)]

mod support;

use serde_json::Value;
use support::{Desk, Scratch, binary, run};

fn text(value: &Value, pointer: &str) -> String {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_else(|| panic!("{pointer}: {value}")).to_owned()
}

#[test]
fn a_workstream_is_begun_worked_on_and_put_away() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &[]);
    let run = |who: &str, args: &[&str]| desk.run_as(who, args);
    let made = run(
        "member",
        &[
            "workstreams",
            "create",
            "Limits",
            "--intent",
            "Nobody waits",
            "--json",
        ],
    );
    let ws = text(&made.ended(0).json(), "/workstream/workstreamId");
    let evidence = "test: 212 passed";
    let updated = run(
        "member",
        &[
            "workstreams",
            "update",
            &ws,
            "--expect",
            "1",
            "--lifecycle",
            "active",
            "--evidence",
            evidence,
            "--checkpoint",
            "Half of it",
            "--next",
            "Load test",
        ],
    );
    let shown = updated.ended(0).out;
    for line in [
        "version     2\n",
        "> Half of it\n",
        "next\n> Load test\n",
        "> 212 passed\n",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let request = run(
        "member",
        &["requests", "create", "Measure", "--workstream", &ws, "--json"],
    );
    let request = text(&request.ended(0).json(), "/request/requestId");
    let found = run("owner", &["requests", "list", "--workstream", &ws]).ended(0);
    assert!(found.out.contains(&request), "{found:?}");
    run(
        "member",
        &["workstreams", "link", &ws, "request", &request, "--expect", "2"],
    )
    .ended(0);
    let stale = run(
        "member",
        &["workstreams", "link", &ws, "external", "pr:1", "--expect", "2"],
    )
    .ended(1);
    assert!(stale.err.contains("VERSION_CONFLICT"), "{stale:?}");
    let other = run(
        "owner",
        &[
            "workstreams",
            "create",
            "Quotas",
            "--intent",
            "Fair shares",
            "--json",
        ],
    );
    let other = text(&other.ended(0).json(), "/workstream/workstreamId");
    let moved = [
        "workstreams",
        "link",
        &other,
        "request",
        &request,
        "--expect",
        "1",
        "--from",
        &ws,
        "--from-expect",
        "3",
    ];
    run("owner", &moved).ended(0);
    run(
        "owner",
        &[
            "workstreams",
            "unlink",
            &other,
            "request",
            &request,
            "--expect",
            "2",
        ],
    )
    .ended(0);
    run(
        "owner",
        &[
            "workstreams",
            "update",
            &ws,
            "--expect",
            "4",
            "--lifecycle",
            "archived",
        ],
    )
    .ended(0);
    let listed = run("member", &["workstreams", "list"]).ended(0).out;
    assert!(listed.contains(&other) && !listed.contains(&ws), "{listed}");
    let history = run("member", &["workstreams", "get", &ws, "--history"])
        .ended(0)
        .out;
    for event in [
        "workstream.created",
        "workstream.updated",
        "workstream.linked",
        "workstream.link-moved",
    ] {
        assert!(history.contains(event), "{event}: {history}");
    }
    desk.stop();
}

#[test]
fn knowledge_is_proposed_by_members_and_let_in_by_the_owner() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &[]);
    let run = |who: &str, args: &[&str]| desk.run_as(who, args);
    let propose = |more: &[&str]| {
        let mut args = vec![
            "knowledge",
            "propose",
            "How to deploy",
            "--body",
            "Push the button.",
            "--json",
        ];
        args.extend(more);
        text(&run("member", &args).ended(0).json(), "/proposal/proposalId")
    };
    let first = propose(&["--tag", "ops", "--rationale", "Everybody asks"]);
    let listed = run("owner", &["knowledge", "proposals"]).ended(0).out;
    assert!(
        listed.contains(&first) && listed.contains("> How to deploy"),
        "{listed}"
    );
    let shown = run("owner", &["knowledge", "review", &first]).ended(0).out;
    assert!(shown.contains("body\n> Push the button.\n"), "{shown}");
    let accepted = run("owner", &["knowledge", "accept", &first, "--json"])
        .ended(0)
        .json();
    let entry = text(&accepted, "/proposal/knowledgeId");
    let [second, third] = ["1", "1"].map(|base| propose(&["--entry", &entry, "--base", base]));
    run("owner", &["knowledge", "accept", &second]).ended(0);
    let told = run("owner", &["knowledge", "accept", &third]).ended(1);
    assert!(told.err.contains("VERSION_CONFLICT"), "{told:?}");
    run("owner", &["knowledge", "accept", &third, "--confirm"]).ended(0);
    let dropped = propose(&[]);
    let rejected = run("owner", &["knowledge", "reject", &dropped, "--reason", "Twice"])
        .ended(0)
        .out;
    assert!(rejected.contains("reason\n> Twice\n"), "{rejected}");
    let found = run(
        "member",
        &["knowledge", "list", "--tag", "ops", "--query", "DEPLOY"],
    )
    .ended(0)
    .out;
    assert_eq!(found, "No such entries.\n", "the latest version has no tag");
    let found = run("member", &["knowledge", "list", "--query", "DEPLOY"])
        .ended(0)
        .out;
    assert!(found.contains(&entry), "{found}");
    let old = run("member", &["knowledge", "read", &entry, "--at", "1"])
        .ended(0)
        .out;
    assert!(
        old.contains("version   1\n") && old.contains("> Push the button.\n"),
        "{old}"
    );
    desk.stop();
}

#[test]
fn the_server_s_limits_are_the_sessions_and_a_wrong_one_is_named() {
    let scratch = Scratch::new();
    let desk = Desk::start(
        &scratch.data(),
        &["--limit", "participants=3", "--limit", "open-workstreams=1"],
    );
    let refused = desk.run_as("owner", &["participant", "add", "Fourth"]).ended(1);
    assert!(refused.err.contains("SESSION_LIMIT"), "{refused:?}");
    let create = ["workstreams", "create", "Limits", "--intent", "Nobody waits"];
    desk.run_as("member", &create).ended(0);
    let refused = desk.run_as("member", &create).ended(1);
    assert!(refused.err.contains("SESSION_LIMIT"), "{refused:?}");
    desk.stop();
    let wrong = support::run_with(&["serve", "--data", &scratch.data(), "--limit", "claims=7"], "").ended(2);
    assert!(
        wrong.err.contains("--limit claims=7: expected NAME=NUMBER"),
        "{wrong:?}"
    );
}

#[test]
fn a_command_line_that_is_wrong_is_a_document_to_a_program() {
    for words in [
        &["--json", "bogus"][..],
        &["--json"],
        &["requests", "claim", "--json"],
        &["requests", "list", "--state", "bogus", "--json"],
    ] {
        let said = run(binary().args(words), "").ended(2).json();
        assert_eq!(text(&said, "/error/status"), "USAGE", "{words:?}");
        assert!(!text(&said, "/error/message").is_empty(), "{words:?}");
    }
    let asked = run(binary().args(["--json", "--help"]), "").ended(0);
    assert!(asked.out.contains("Usage:"), "{}", asked.out);
}
