//! Questions, inboxes and decisions by the command line, and an agent that waits for what comes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it is"
)]

mod support;

use serde_json::Value;
use support::{Desk, Scratch};

fn text(value: &Value, pointer: &str) -> String {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_else(|| panic!("{pointer}: {value}"))
        .to_owned()
}

#[test]
fn an_agent_waits_for_a_question_and_answers_it() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &[]);
    let none = desk.run_as("member", &["inbox", "list"]).ended(0);
    assert_eq!(none.out, "Nothing waits.\n");
    let late = desk
        .run_as("member", &["inbox", "list", "--watch", "--timeout", "0"])
        .ended(6);
    assert_eq!(late.out, "Nothing came in time.\n");
    let watch = [
        "inbox",
        "list",
        "--watch",
        "--kind",
        "question",
        "--timeout",
        "60",
        "--json",
    ];
    let came = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| desk.run_as("member", &watch).ended(0).json());
        let asked = desk
            .run_as(
                "owner",
                &[
                    "questions",
                    "ask",
                    "Merge now?\u{202e}",
                    "--choice",
                    "yes",
                    "--choice",
                    "no",
                ],
            )
            .ended(0);
        assert!(asked.out.contains("\nbody\n> Merge now?\\u{202e}\n"), "{asked:?}");
        waiting.join().unwrap()
    });
    let (item, question) = (text(&came, "/items/0/itemId"), text(&came, "/items/0/subjectId"));
    let listed = desk.run_as("member", &["inbox", "list"]).ended(0);
    assert!(listed.out.contains("> Merge now?\\u{202e}"), "{listed:?}");
    let marked = desk
        .run_as("member", &["inbox", "update", &item, "--state", "acknowledged"])
        .ended(0);
    assert!(marked.out.contains("acknowledged"), "{marked:?}");
    let refused = desk
        .run_as("owner", &["inbox", "update", &item, "--state", "resolved"])
        .ended(1);
    assert!(refused.err.contains("INBOX_ITEM_NOT_FOUND"), "{refused:?}");
    desk.run_as("member", &["questions", "answer", &question])
        .ended(2);
    let answered = desk
        .run_as(
            "member",
            &["questions", "answer", &question, "Go.", "--choice", "yes"],
        )
        .ended(0);
    assert!(answered.out.contains("chosen  yes\n"), "{answered:?}");
    assert!(answered.out.contains("> Go.\n"), "{answered:?}");
    let heard = desk.run_as("owner", &["inbox", "list", "--watch"]).ended(0);
    assert!(heard.out.contains(&question), "{heard:?}");
    desk.stop();
}

#[test]
fn a_decision_is_recorded_and_superseded() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &[]);
    let record = [
        "decisions",
        "record",
        "Store",
        "SQLite",
        "--rationale",
        "No server",
        "--alternative",
        "PostgreSQL",
    ];
    let recorded = desk.run_as("member", &record).ended(0);
    assert!(
        recorded.out.contains("\nalternatives\n> PostgreSQL\n"),
        "{recorded:?}"
    );
    let listed = desk
        .run_as("owner", &["inbox", "list", "--kind", "decision", "--json"])
        .ended(0)
        .json();
    let decision = text(&listed, "/items/0/subjectId");
    let next = [
        "decisions",
        "record",
        "Store",
        "PostgreSQL",
        "--supersedes",
        &decision,
    ];
    desk.run_as("member", &next).ended(0);
    let refused = desk.run_as("member", &next).ended(1);
    assert!(refused.err.contains("DECISION_SUPERSEDED"), "{refused:?}");
    desk.stop();
}

#[test]
fn who_joins_sees_how_the_session_stands_and_later_what_is_new() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &[]);
    desk.run_as("owner", &["requests", "create", "Tidy up", "--priority", "high"])
        .ended(0);
    desk.run_as("owner", &["claims", "acquire", "docs/**"]).ended(0);
    let first = desk.run_as("member", &["digest"]).ended(0);
    for part in [
        "active  0 of 3\n",
        "\nclaims\nclaim-",
        "  docs/**\n",
        "\nrequests\nreq-",
        "  high  > Tidy up\n",
    ] {
        assert!(first.out.contains(part), "{part}: {first:?}");
    }
    assert!(!first.out.contains("\nworkstreams\n"), "{first:?}");
    let (_, since) = first.out.rsplit_once("--since ").unwrap();
    let since = since.trim_end();
    desk.run_as("owner", &["status", "announce", "Reading"]).ended(0);
    desk.run_as("owner", &["status", "announce", "Writing"]).ended(0);
    let next = ["digest", "--since", since, "--limit", "1"];
    let next = desk.run_as("member", &next).ended(0);
    assert!(next.out.contains("\nevents, the newest\n"), "{next:?}");
    assert!(
        next.out.contains("  Writing\n") && !next.out.contains("Reading"),
        "{next:?}"
    );
    let refused = desk.run_as("member", &["digest", "--since", "999999"]).ended(1);
    assert!(refused.err.contains("since"), "{refused:?}");
    desk.stop();
}

#[test]
fn a_held_request_waits_for_the_owner_who_reads_why() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &[]);
    let made = desk
        .run_as("owner", &["requests", "create", "Tidy up", "--json"])
        .ended(0)
        .json();
    let (request, task) = (text(&made, "/request/requestId"), text(&made, "/request/taskId"));
    desk.run_as("member", &["requests", "claim", &request]).ended(0);
    let hold = [
        "requests",
        "hold",
        &request,
        "--gate",
        "tool-approval",
        "--reason",
        "rm -rf build",
    ];
    let held = desk.run_as("member", &hold).ended(0);
    assert!(
        held.out.contains(&format!("a2a-edge approve {task}\n")),
        "{held:?}"
    );
    let open = desk.run_as("owner", &["task", "open"]).ended(0);
    assert!(
        open.out.contains(" waits at tool-approval\n> rm -rf build\n"),
        "{open:?}"
    );
    let no = desk.run_as("owner", &["decline", &task, "--reason", "Not that one."]);
    no.ended(0);
    let listed = desk.run_as("member", &["requests", "list", "--full"]).ended(0);
    assert!(listed.out.contains("> Not that one.\n"), "{listed:?}");
    desk.stop();
}
