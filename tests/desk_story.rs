//! The main job, end to end in one process: a handoff travels from a client to a landed task.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

#[path = "support/desk.rs"]
mod support;

use serde_json::{Value, json};
use support::{Bench, GATE, WORK};

fn handoff() -> Value {
    json!({"metadata": {WORK: {"skill": "handoff", "title": "Add rate limiting", "priority": "high",
        "acceptance": ["Over 100 a minute get 429"], "writes": ["src/export/**"], "labels": ["API"]}}})
}

#[test]
fn a_handoff_travels_from_a_client_to_a_landed_task() {
    let bench = Bench::new();
    let all = format!("{WORK},{GATE}");
    let sent = bench.send(&bench.client, &all, &handoff());
    assert_eq!(sent.headers["a2a-extensions"], all);
    let task = sent.ok()["task"].clone();
    let id = task["id"].as_str().unwrap();
    assert_eq!(task["status"]["state"], "TASK_STATE_AUTH_REQUIRED");
    assert_eq!(task["metadata"][WORK]["status"], "draft");
    assert_eq!(
        task["status"]["message"]["metadata"][GATE]["gates"][0]["waitingOn"],
        "owner"
    );

    let approved = bench
        .operate(&bench.owner, "tasks:approve", &json!({"taskId": id}))
        .ok();
    assert_eq!(approved["task"]["state"], "TASK_STATE_SUBMITTED");
    let open = bench
        .coordinate(&bench.member, "requests:list", &json!({"state": "open"}))
        .ok();
    let request = open["requests"][0]["requestId"].as_str().unwrap();
    for (action, state, stage) in [
        (json!({"action": "claim"}), "TASK_STATE_WORKING", Value::Null),
        (
            json!({"action": "progress", "stage": "review", "note": "In review."}),
            "TASK_STATE_WORKING",
            json!("review"),
        ),
        (
            json!({"action": "progress", "stage": "landing"}),
            "TASK_STATE_WORKING",
            json!("landing"),
        ),
        (
            json!({"action": "complete", "artifacts": [{"artifactId": "pr", "parts": [{"text": "pr"}],
                "metadata": {WORK: {"kind": "pr", "url": "https://example.com/pull/7", "number": 7, "state": "merged"}}}]}),
            "TASK_STATE_COMPLETED",
            Value::Null,
        ),
    ] {
        let mut body = action;
        body["requestId"] = json!(request);
        bench.coordinate(&bench.member, "requests:update", &body).ok();
        let task = bench.task(&bench.client, WORK, id).ok();
        assert_eq!(task["status"]["state"], state, "{body}");
        assert_eq!(task["metadata"][WORK]["stage"], stage, "{body}");
    }
    let plain = bench.task(&bench.client, "", id).ok();
    assert_eq!(plain["artifacts"][0]["artifactId"], "pr");
    assert!(plain.get("metadata").is_none(), "{plain}");
    println!(
        "{}",
        serde_json::to_string_pretty(&bench.task(&bench.client, &all, id).ok()).unwrap()
    );
}
