//! The tasks of a session as those who decide see them: a page at a time with long texts cut, and one whole.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

#[path = "support/desk.rs"]
mod support;

use serde_json::{Value, json};
use support::{Bench, COORDINATION, WORK};

fn ids(page: &Value) -> Vec<String> {
    let tasks = page["tasks"].as_array().unwrap().iter();
    tasks
        .map(|task| task["taskId"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn tasks_are_listed_page_by_page_each_once() {
    let bench = Bench::new();
    let mut sent = Vec::new();
    for _ in 0..5 {
        let task = bench.send(&bench.client, "", &json!({})).ok();
        sent.push(task["task"]["id"].as_str().unwrap().to_owned());
        bench.wait(1);
    }
    let list = |body: Value| bench.operate(&bench.owner, "tasks:list", &body);
    let mut found = Vec::new();
    let mut page = list(json!({"pageSize": 2})).ok();
    let first_token = page["nextPageToken"].clone();
    for _ in 0..3 {
        found.extend(ids(&page));
        let token = page["nextPageToken"].clone();
        page = if token == "" {
            break;
        } else {
            list(json!({"pageSize": 2, "pageToken": token})).ok()
        };
    }
    assert_eq!(found, sent);
    assert_eq!(page["nextPageToken"], "");
    // A token is good for its own list alone.
    let other = list(json!({"state": "all", "pageToken": first_token})).refused();
    assert_eq!((other.0, other.2.as_str()), (400, "pageToken"));
    // A task that ends meanwhile moves none of the others.
    bench
        .operate(&bench.owner, "tasks:decline", &json!({"taskId": sent[0]}))
        .ok();
    let rest = list(json!({"pageToken": first_token})).ok();
    assert_eq!(ids(&rest), sent[2..]);
    assert_eq!(ids(&list(json!({"state": "closed"})).ok()), sent[..1]);
    assert_eq!(ids(&list(json!({"state": "all"})).ok()), sent);
}

#[test]
fn a_page_holds_fifty_unless_another_number_is_asked_for() {
    let bench = Bench::new();
    for _ in 0..51 {
        bench.send(&bench.client, "", &json!({})).ok();
    }
    let page = bench.operate(&bench.owner, "tasks:list", &json!({})).ok();
    assert_eq!(ids(&page).len(), 50);
    assert_ne!(page["nextPageToken"], "");
}

#[test]
fn long_texts_are_cut_in_the_list_and_whole_alone() {
    let bench = Bench::new();
    let send = |text: &str, metadata: Value| {
        let message = json!({"parts": [{"text": text}], "metadata": metadata});
        let sent = bench.send(&bench.client, WORK, &message).ok();
        sent["task"]["id"].as_str().unwrap().to_owned()
    };
    let shown = |task: &str| {
        let page = bench.operate(&bench.owner, "tasks:list", &json!({})).ok();
        let mut tasks = page["tasks"].as_array().unwrap().iter();
        let brief = tasks.find(|it| it["taskId"] == task).unwrap().clone();
        let whole = bench
            .operate(&bench.owner, "tasks:get", &json!({ "taskId": task }))
            .ok();
        (brief, whole["task"].clone())
    };
    let (brief, whole) = shown(&send(&"x".repeat(1_024), json!({})));
    assert_eq!(brief, whole);
    let long = "é".repeat(512) + "x";
    let (brief, whole) = shown(&send(&long, json!({})));
    assert_eq!(brief["body"], "é".repeat(512));
    assert_eq!(brief["truncated"], json!(["body"]));
    assert_eq!(whole["body"], long);
    assert!(whole.get("truncated").is_none(), "{whole}");

    // As JSON each list has its brackets, and each text its quotes.
    let handoff = |length: usize| {
        let acceptance = json!(["a".repeat(500), "b".repeat(length)]);
        json!({WORK: {"skill": "handoff", "title": "t", "acceptance": acceptance, "writes": ["s".repeat(13)]}})
    };
    let (brief, whole) = shown(&send("b", handoff(500)));
    assert_eq!(brief, whole);
    let mut more = handoff(500);
    more[WORK]["writes"] = json!(["s".repeat(14)]);
    let (brief, whole) = shown(&send("b", more));
    assert_eq!(brief["truncated"], json!(["draft.acceptance", "draft.writes"]));
    assert!(brief["draft"].get("acceptance").is_none(), "{brief}");
    assert_eq!(brief["draft"]["title"], "t");
    assert_eq!(whole["draft"]["writes"], json!(["s".repeat(14)]));
}

#[test]
fn what_holds_a_task_is_cut_too() {
    let bench = Bench::new();
    let sent = bench.send(&bench.client, "", &json!({})).ok();
    let task = sent["task"]["id"].as_str().unwrap();
    let request = bench.state().task(task).unwrap().request_id.clone().unwrap();
    let update = |more: Value| {
        let mut body = json!({ "requestId": request });
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        bench.coordinate(&bench.member, "requests:update", &body).ok()
    };
    update(json!({"action": "claim"}));
    update(json!({"action": "hold", "gate": "scope", "reason": "r".repeat(1_025)}));
    let page = bench.operate(&bench.owner, "tasks:list", &json!({})).ok();
    let brief = &page["tasks"][0];
    assert_eq!(brief["gate"]["reason"], "r".repeat(1_024));
    assert_eq!(brief["truncated"], json!(["gate.reason"]));
}

#[test]
fn a_task_is_shown_whole_to_those_who_decide_alone() {
    let bench = Bench::new();
    let sent = bench.send(&bench.client, "", &json!({})).ok();
    let body = json!({"taskId": sent["task"]["id"]});
    for (token, status) in [(&bench.owner, 200), (&bench.member, 404), (&bench.client, 404)] {
        let reply = bench.request(
            "POST",
            "/operator/v1/tasks:get",
            token,
            COORDINATION,
            body.to_string().as_bytes(),
        );
        assert_eq!(reply.status, status);
    }
    let missing = bench.operate(&bench.owner, "tasks:get", &json!({"taskId": "task-nowhere"}));
    assert_eq!(missing.refused().1, "TASK_NOT_FOUND");
}
