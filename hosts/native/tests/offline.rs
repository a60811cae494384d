//! The commands that need no server.

mod support;

use serde_json::json;
use support::{Scratch, run_with};

#[test]
fn a_valid_request_is_told_so_with_exit_code_0() {
    let said = run_with(&["validate", "work"], r#"{"skill":"handoff","title":"Fix it"}"#).ended(0);
    assert_eq!(said.out, "valid: work/v1 takes it\n");
    let said = run_with(&["validate", "envelope", "-", "--json"], r#"{"kind":"question"}"#).ended(0);
    assert_eq!(said.json(), json!({"ok": true}));
}

#[test]
fn an_invalid_request_is_pointed_at_with_exit_code_1() {
    let scratch = Scratch::new();
    let file = scratch.0.path().join("handoff.json");
    std::fs::write(
        &file,
        r#"{"skill":"handoff","title":"Fix it","labels":["ok"," "]}"#,
    )
    .unwrap();
    let file = file.display().to_string();
    let said = run_with(&["validate", "work", &file], "").ended(1);
    assert!(
        said.out.starts_with("invalid: work.labels[1]: expected "),
        "{said:?}"
    );
    assert!(said.out.contains("\n      \" \"\n      ^^^\n"), "{said:?}");
    let said = run_with(&["--json", "validate", "work", &file], "").ended(1);
    assert_eq!(said.json()["error"]["field"], "work.labels[1]");
    assert_eq!(said.json()["error"]["code"], "invalid");
    let said = run_with(&["validate", "envelope"], r#"{"urgent":true}"#).ended(1);
    assert!(said.out.starts_with("forbidden: urgent: "), "{said:?}");
}

#[test]
fn what_is_no_json_is_an_invalid_request() {
    let said = run_with(&["validate", "work"], r#"{"skill":"a","skill":"b"}"#).ended(1);
    assert!(said.out.contains("duplicate"), "{said:?}");
}

#[test]
fn facts_are_projected_to_state_row_and_text() {
    let facts = r#"{"openGates":[{"id":"g1","type":"scope","openedAt":"2026-07-17T01:00:00Z"}]}"#;
    let said = run_with(&["project"], facts).ended(0);
    assert_eq!(
        said.out,
        "state  AUTH_REQUIRED\nrow    8\ngates  g1 (scope)\n\ntext\n\
         > Waiting for the project owner to approve a change of scope.\n"
    );
    let said = run_with(&["project", "--json"], r#"{"canceledAt":"2026-07-17T01:00:00Z"}"#).ended(0);
    assert_eq!(said.json()["result"]["row"], 1);
    assert_eq!(said.json()["result"]["state"], "CANCELED");
    let said = run_with(&["project"], r#"{"openGates":[{}]}"#).ended(1);
    assert!(said.out.starts_with("invalid: openGates[0]"), "{said:?}");
}

#[test]
fn text_of_strangers_does_not_reach_the_terminal_raw() {
    let said = run_with(
        &["validate", "work"],
        "{\"skill\":\"handoff\",\"title\":\"\\u001b[2J\\u202e\\n\"}",
    )
    .ended(1);
    assert!(
        said.out
            .chars()
            .all(|c| c == '\n' || (!c.is_control() && c != '\u{202e}')),
        "{said:?}"
    );
}

#[test]
fn the_command_line_is_checked_with_exit_code_2() {
    for words in [
        &["nonsense"][..],
        &["validate", "gate"],
        &["validate", "work", "/no/such/file.json"],
        &["send", "--handoff"],
        &["send", "--status", "t", "--handoff", "x"],
        &["task"],
        // What a script passes when its variable is empty.
        &["task", "get", ""],
        &["task", "cancel", ""],
        &["send", "--task", "", "Yes."],
        &["send", "--context", "", "Yes."],
        &["serve", "--listen", "nowhere"],
        &["serve", "--wait-limit", "0"],
    ] {
        let said = run_with(words, "").ended(2);
        assert_eq!(said.out, "", "{said:?}");
        assert!(
            said.err.starts_with("error: ") || said.err.contains("Usage:"),
            "{said:?}"
        );
    }
}

#[test]
fn help_goes_to_standard_output_and_teaches() {
    let said = run_with(&["--help"], "").ended(0);
    assert!(said.out.contains("Exit codes:\n  0  done\n"), "{said:?}");
    assert!(said.out.contains("Start here:\n  a2a-edge serve "), "{said:?}");
    let said = run_with(&["requests", "complete", "--help"], "").ended(0);
    assert!(
        said.out
            .contains("Examples:\n  a2a-edge requests complete r_91ab --answer"),
        "{said:?}"
    );
    assert_eq!(
        run_with(&["--version"], "").ended(0).out,
        format!("a2a-edge {}\n", env!("CARGO_PKG_VERSION"))
    );
}
