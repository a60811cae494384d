//! Every row of the projection with its text, and what of it stands where for whom.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test stops at what it does not expect"
)]

use a2a_edge::a2a::{Message, Task};
use a2a_edge::dispatch::facts::{Facts, Note};
use a2a_edge::dispatch::placement;
use a2a_edge::dispatch::projection::{is_gate_traffic, project, project_json};
use a2a_edge::dispatch::{ENVELOPE_URI, GATE_URI, SYSTEM_ADDRESS, WORK_URI};
use serde_json::{Value, json};

const ALL: [&str; 3] = [WORK_URI, ENVELOPE_URI, GATE_URI];
const AT: &str = "2026-09-23T11:00:00.000Z";

/// What the text door says of these facts; the typed door must say the same.
fn projected(facts: &Value) -> Value {
    let verdict: Value = serde_json::from_str(&project_json(&facts.to_string(), "")).unwrap();
    assert_eq!(verdict["ok"], true, "{verdict}");
    let result = verdict["result"].clone();
    let facts = Facts::read(facts).unwrap();
    let typed = project(&facts, SYSTEM_ADDRESS);
    assert_eq!(result["row"], typed.row);
    assert_eq!(result["state"], typed.state.short_name());
    assert_eq!(result["text"], typed.text.as_ref());
    assert_eq!(
        result.get("messageId").and_then(Value::as_str),
        typed.source.and_then(|note| note.id)
    );
    result
}

fn row_and_text(facts: &Value) -> (u64, String) {
    let result = projected(facts);
    let text = result["text"].as_str().unwrap().to_owned();
    (result["row"].as_u64().unwrap(), text)
}

fn item(status: &str, approved: bool) -> Value {
    json!({"id": "t-1", "title": "Limit exports", "status": status, "approved": approved})
}

fn handoff(status: &str, approved: bool) -> Value {
    json!({"skill": "handoff", "task": item(status, approved)})
}

/// These facts and the members of `more`.
fn with(mut facts: Value, more: Value) -> Value {
    let Value::Object(more) = more else {
        panic!("members are expected")
    };
    facts.as_object_mut().unwrap().extend(more);
    facts
}

fn gate(id: &str, name: &str, at: &str) -> Value {
    json!({"id": id, "type": name, "openedAt": at})
}

#[test]
fn rows_one_to_six_say_how_a_task_ended() {
    let closed = |data: Value, body: &str| json!({"answer": {"id": "m", "from": "agent:dispatch", "body": body, "data": data}});
    let answer = |choice: &str, body: &str| json!({"answer": {"id": "m", "choice": choice, "body": body}});
    for (facts, row, text) in [
        (
            json!({"canceledAt": AT, "declinedAt": AT, "recipientTaskDropped": true}),
            1,
            "Canceled by the client.",
        ),
        (json!({"declinedAt": AT}), 2, "Declined by the project owner."),
        (
            json!({"declinedAt": AT, "answer": {"body": "Not now."}}),
            2,
            "Not now.",
        ),
        (
            json!({"declinedAt": AT, "answer": {"body": " "}}),
            2,
            "Declined by the project owner.",
        ),
        (with(handoff("dropped", true), answer("decline", "No.")), 2, "No."),
        (
            with(
                handoff("dropped", true),
                with(answer("accept", "Yes."), json!({"dropped": "other"})),
            ),
            2,
            "The project owner dropped this task.",
        ),
        (
            with(handoff("dropped", true), json!({"dropped": "other"})),
            2,
            "The project owner dropped this task.",
        ),
        (
            with(handoff("dropped", false), json!({"dropped": "other"})),
            2,
            "Declined by the project owner.",
        ),
        (
            with(
                handoff("dropped", false),
                json!({"declinedAt": AT, "answer": {"body": "Not this."}}),
            ),
            2,
            "Not this.",
        ),
        (
            with(answer("decline", "no"), json!({"dropped": "other"})),
            5,
            "no",
        ),
        (
            closed(json!({"type": "x-closed", "reason": "client revoked"}), "Closed."),
            3,
            "client revoked",
        ),
        (
            closed(json!({"type": "x-closed", "reason": 7}), "Closed."),
            3,
            "Closed.",
        ),
        (closed(json!({"type": "x-closed"}), ""), 3, "Closed by the host."),
        (closed(json!({"type": "x-other"}), "Hm."), 5, "Hm."),
        (
            json!({"recipientTaskDropped": true, "answer": {"body": "late"}}),
            3,
            "The task this was asked of was dropped.",
        ),
        (
            json!({"skill": "handoff", "task": "deleted", "openGates": [gate("g", "wake", AT)]}),
            4,
            "The task was deleted.",
        ),
        (answer("west", "West it is."), 5, "West it is."),
        (answer("west", ""), 5, "west"),
        (json!({"answer": {}}), 5, "Answered."),
        (handoff("landed", true), 6, "Landed."),
    ] {
        assert_eq!(row_and_text(&facts), (row, text.to_owned()), "{facts}");
    }
}

#[test]
fn rows_seven_to_twelve_say_what_a_task_waits_for() {
    let scope = json!({"client": "agent:c", "scope": [
        {"id": "m-1", "from": "human:o", "body": "Begun."},
        {"id": "m-2", "from": "human:o", "body": "Half way."},
        {"id": "m-3", "from": "agent:c", "body": "How far?"},
    ]});
    let held = |to: Value, deliveries: Value| json!({"root": {"to": to}, "rootDeliveries": deliveries});
    for (facts, row, text) in [
        (
            json!({"openQuestions": [{"id": "q", "body": "East?"}, {"id": "r", "body": "West?"}]}),
            7,
            "East?",
        ),
        (
            json!({"openQuestions": [{"id": "q", "body": ""}]}),
            7,
            "(no text)",
        ),
        (
            json!({"openGates": [gate("a", "scope", "2026-09-23T13:00:00+02:00"),
                gate("b", "wake", "2026-09-23T10:59:59.999Z")]}),
            8,
            "Waiting for the project owner to approve waking the task.",
        ),
        (
            json!({"openGates": [gate("a", "scope", "2026-09-23T13:00:00+02:00"), gate("b", "wake", AT)]}),
            8,
            "Waiting for the project owner to approve a change of scope.",
        ),
        (handoff("working", true), 9, "Working."),
        (handoff("qa", false), 9, "Working."),
        (with(handoff("review", true), scope.clone()), 9, "Half way."),
        (handoff("draft", true), 10, "Approved; waiting to be scheduled."),
        (handoff("ready", true), 10, "Approved; waiting to be scheduled."),
        (
            held(json!(["task:t"]), json!(["held"])),
            11,
            "Waiting in the mailbox of task:t.",
        ),
        (
            held(json!(["task:t", "a2a:p"]), json!(["held", "held"])),
            11,
            "Waiting in the mailboxes of task:t, a2a:p.",
        ),
        (json!({"rootDeliveries": ["held"]}), 11, "Waiting in a mailbox."),
        (held(json!(["task:t"]), json!(["held", "seen"])), 12, "Working."),
        (held(json!(["task:t"]), json!([])), 12, "Working."),
        (
            with(handoff("draft", false), held(json!(["task:t"]), json!(["held"]))),
            12,
            "Working.",
        ),
        (handoff("dropped", true), 12, "Working."),
        (scope, 12, "Half way."),
        (
            json!({"root": {"from": "agent:c"}, "scope": [{"from": "agent:c", "body": "mine"}]}),
            12,
            "Working.",
        ),
    ] {
        assert_eq!(row_and_text(&facts), (row, text.to_owned()), "{facts}");
    }
}

#[test]
fn only_a_task_in_review_or_landing_has_a_stage() {
    for (status, stage) in [
        ("working", json!(null)),
        ("review", json!("review")),
        ("landing", json!("landing")),
    ] {
        let result = projected(&handoff(status, true));
        assert_eq!(result["stage"], stage);
        assert_eq!(result["work"]["stage"], stage);
    }
    let paused = with(
        handoff("review", true),
        json!({"openGates": [gate("g", "scope", AT)]}),
    );
    assert_eq!(
        projected(&paused)["work"],
        json!({"task": "t-1", "title": "Limit exports", "status": "review"})
    );
}

#[test]
fn a_phase_that_the_host_names_counts_before_the_status() {
    for (phase, row) in [
        ("draft", 10),
        ("queued", 10),
        ("working", 9),
        ("landed", 6),
        ("dropped", 12),
    ] {
        let mut facts = handoff("review", true);
        facts["task"]["phase"] = phase.into();
        assert_eq!(row_and_text(&facts).0, row, "{phase}");
    }
}

#[test]
fn the_system_address_is_the_hosts_to_choose() {
    let facts =
        json!({"answer": {"from": "agent:host", "data": {"type": "x-closed", "reason": "r"}}}).to_string();
    assert!(project_json(&facts, "agent:host").contains(r#""row":3"#));
    assert!(project_json(&facts, "").contains(r#""row":5"#));
}

#[test]
fn gate_traffic_never_reaches_a_client() {
    let wake = json!({"type": "wake"});
    let reply = json!({"id": "r", "replyTo": "g", "body": "secret"});
    let raised = json!({"id": "g", "data": wake, "body": "secret"});
    for facts in [
        json!({"scope": [raised, reply]}),
        json!({"root": raised, "scope": [reply]}),
        json!({"openQuestions": [raised, reply]}),
        json!({"openQuestions": [reply], "scope": [raised]}),
        json!({"answer": raised, "scope": [reply]}),
        json!({"answer": reply, "scope": [raised]}),
        json!({"declinedAt": AT, "answer": reply, "scope": [raised]}),
        json!({"openGates": [gate("g", "wake", AT)], "openQuestions": [reply]}),
        json!({"skill": "handoff", "dropped": "other", "answer": raised}),
    ] {
        let text = task_text(&facts, &ALL) + &task_text(&facts, &[]);
        assert!(!text.contains("secret"), "{facts}: {text}");
    }
    let unresolved = json!({"scope": [reply]});
    assert_eq!(
        row_and_text(&unresolved),
        (12, "secret".to_owned()),
        "a reply to what is not there is none"
    );
    let private = json!({"scope": [{"id": "p", "data": {"type": "x-note"}, "body": "shown"}]});
    assert_eq!(row_and_text(&private).1, "shown");
    let bare = Note::default();
    assert!(
        !is_gate_traffic(&bare, &Facts::default()),
        "a message without an id replies to none"
    );
}

fn task(facts: &Value, active: &[&str]) -> Task {
    let text = placement::task_json(&facts.to_string(), "", &json!(active).to_string(), "m-status");
    let verdict: Value = serde_json::from_str(&text).unwrap();
    serde_json::from_value(verdict["result"].clone()).unwrap_or_else(|_| panic!("{text}"))
}

fn task_text(facts: &Value, active: &[&str]) -> String {
    serde_json::to_string(&task(facts, active)).unwrap()
}

fn status_message(task: &Task) -> &Message {
    task.status.message.as_ref().unwrap()
}

fn texts(task: &Task) -> Value {
    serde_json::to_value(&status_message(task).parts).unwrap()
}

#[test]
fn a_waiting_handoff_carries_its_gates_and_state_when_active() {
    let facts = with(
        handoff("draft", false),
        json!({"id": "a-1", "contextId": "c-1", "openGates": [gate("g-1", "task-proposal", AT), gate("g-2", "wake", AT)]}),
    );
    let active = task(&facts, &ALL);
    let state = json!({"task": "t-1", "title": "Limit exports", "status": "draft"});
    let gates = json!({"gates": [
        {"id": "g-1", "type": "task-proposal", "openedAt": AT, "waitingOn": "owner"},
        {"id": "g-2", "type": "wake", "openedAt": AT, "waitingOn": "owner"},
    ]});
    assert_eq!(
        (active.id.as_str(), active.context_id.as_deref()),
        ("a-1", Some("c-1"))
    );
    assert_eq!(
        serde_json::to_value(&active.metadata).unwrap(),
        json!({WORK_URI: state})
    );
    let message = status_message(&active);
    assert_eq!(
        serde_json::to_value(&message.metadata).unwrap(),
        json!({WORK_URI: state, GATE_URI: gates})
    );
    assert_eq!(message.extensions, [WORK_URI, GATE_URI]);
    assert_eq!(
        texts(&active),
        json!([{"text": "Waiting for the project owner to approve this handoff."}])
    );
    assert_eq!(message.message_id, "m-status");

    let plain = task(&facts, &[]);
    assert!(plain.metadata.is_empty());
    assert!(status_message(&plain).metadata.is_empty() && status_message(&plain).extensions.is_empty());
    assert_eq!(
        texts(&plain),
        json!([
            {"text": "Waiting for the project owner to approve this handoff."},
            {"text": "Waiting for the project owner to approve waking the task.\nLimit exports: draft [t-1]"},
        ])
    );
}

#[test]
fn each_extension_is_written_only_when_it_is_active() {
    let question = json!({"id": "q", "thread": "m", "replyTo": "m", "from": "human:o", "to": ["agent:c"],
        "kind": "question", "body": "Which?", "blocking": true, "choices": ["east", "west"],
        "refs": [{"type": "task", "id": "t"}], "urgent": true, "wake": "request"});
    let facts = with(handoff("working", true), json!({"openQuestions": [question]}));
    for (active, named, plain) in [
        (&ALL[..1], &ALL[..1], Some("Choices: east, west")),
        (&ALL[1..2], &ALL[1..2], Some("Limit exports: working [t-1]")),
        (
            &ALL[2..],
            &[][..],
            Some("Choices: east, west\nLimit exports: working [t-1]"),
        ),
        (&ALL[..], &ALL[..2], None),
        (
            &[
                "https://dispatch.foo/a2a/ext/work/v2",
                "HTTPS://dispatch.foo/a2a/ext/envelope/v1",
            ],
            &[],
            None,
        ),
    ] {
        let task = task(&facts, active);
        let message = status_message(&task);
        assert_eq!(message.extensions, named, "{active:?}");
        assert!(message.metadata.keys().eq(named));
        assert_eq!(task.metadata.contains_key(WORK_URI), named.contains(&WORK_URI));
        assert_eq!(message.message_id, "q", "the id of the message that is quoted");
        if let Some(plain) = plain {
            assert_eq!(texts(&task), json!([{"text": "Which?"}, {"text": plain}]));
        }
    }
    let message = task(&facts, &ALL).status.message.unwrap();
    assert_eq!(
        message.metadata[ENVELOPE_URI].to_string(),
        r#"{"id":"q","thread":"m","from":"human:o","kind":"question","replyTo":"m","blocking":true,"choices":["east","west"],"refs":[{"type":"task","id":"t"}]}"#
    );
}

#[test]
fn a_status_of_the_hosts_own_is_shown_with_its_stage() {
    let mut facts = handoff("qa", true);
    facts["task"]["phase"] = "review".into();
    assert_eq!(
        texts(&task(&facts, &[]))[1]["text"],
        "Limit exports: qa (review) [t-1]"
    );
    let state = json!({"task": "t-1", "title": "Limit exports", "status": "qa", "stage": "review"});
    assert_eq!(task(&facts, &ALL).metadata[WORK_URI], state);
}

#[test]
fn an_answered_ask_and_a_landed_handoff_have_artifacts_in_order() {
    let answered = json!({"answer": {"id": "m-9", "body": "West.", "choice": "west"}});
    let plain = task(&answered, &[]);
    assert_eq!(
        texts(&plain),
        json!([{"text": "West."}, {"text": "Choice: west"}])
    );
    assert_eq!(
        serde_json::to_value(&plain.artifacts).unwrap(),
        json!([{"artifactId": "answer", "name": "answer", "parts": [{"text": "West."}, {"data": {"choice": "west"}}]}])
    );
    assert_eq!(
        task(&answered, &ALL).artifacts[0].metadata[WORK_URI].to_string(),
        r#"{"kind":"answer","messageId":"m-9","choice":"west"}"#
    );
    let work = json!({"pr": {"url": "https://a.example/7", "number": 7, "state": "merged"},
        "diffstat": {"files": 1, "insertions": 2, "deletions": 0,
            "perFile": [{"path": "a.rs", "insertions": 2, "deletions": 0}]},
        "evidence": {"items": [{"command": "cargo\ntest", "exitCode": 0, "durationMs": 12, "summary": "7 passed"}]}});
    let landed = task(&with(handoff("landed", true), json!({"work": work})), &ALL);
    let parts: Vec<Value> = landed
        .artifacts
        .iter()
        .map(|it| serde_json::to_value(&it.parts).unwrap())
        .collect();
    assert_eq!(
        parts,
        [
            json!([{"url": "https://a.example/7"}, {"text": "Pull request #7 (merged)"}]),
            json!([{"text": "1 file changed, 2 insertions, 0 deletions"}, {"data": work["diffstat"]}]),
            json!([{"data": work["evidence"]}, {"text": "cargo test: exit code 0 in 12 ms: 7 passed"}]),
        ]
    );
    let states: Vec<String> = landed
        .artifacts
        .iter()
        .map(|it| it.metadata[WORK_URI].to_string())
        .collect();
    assert!(
        states[0].starts_with(r#"{"kind":"pr","url":"https://a.example/7","number":7,"state":"merged"}"#)
    );
    assert!(
        states[1]
            .starts_with(r#"{"kind":"diffstat","files":1,"insertions":2,"deletions":0,"perFile":[{"path""#)
    );
    assert!(
        states[2].starts_with(
            r#"{"kind":"evidence","items":[{"command":"cargo\ntest","exitCode":0,"durationMs":12"#
        )
    );
}

#[test]
fn the_text_door_of_a_task_names_what_is_wrong() {
    for (facts, active, field) in [
        ("{", "[]", "facts"),
        ("{}", "", "active"),
        ("{}", "{}", "active"),
        ("{}", "[1]", "active"),
        (r#"{"scope":1}"#, "[]", "scope"),
    ] {
        let verdict = placement::task_json(facts, "", active, "m");
        assert!(verdict.contains(&format!(r#""field":"{field}""#)), "{verdict}");
    }
}
