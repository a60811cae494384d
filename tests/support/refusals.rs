//! What the tests of refusals share: telling what was refused, and what it is refused to.

#![allow(dead_code, reason = "each test uses its part of it")]

use serde_json::{Value, json};

use super::support::{Bench, Reply};

/// Status, google.rpc code and reason of a refusal.
pub fn refused(reply: &Reply) -> (u16, u64, String) {
    let (status, reason, _) = reply.refused();
    (
        status,
        reply.body["error"]["code"].as_u64().unwrap_or_default(),
        reason,
    )
}

pub fn reason(reply: &Reply) -> String {
    assert_ne!(reply.status, 200, "{}", reply.body);
    refused(reply).2
}

/// Every field that a refusal names.
pub fn fields(reply: &Reply) -> Vec<String> {
    let details = reply.body["error"]["details"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let violations = details
        .iter()
        .filter_map(|detail| detail["fieldViolations"].as_array())
        .flatten();
    violations
        .map(|violation| violation["field"].as_str().unwrap().to_owned())
        .collect()
}

pub fn create(bench: &Bench, more: &Value) -> String {
    let mut body = json!({"title": "Look into the timeouts"});
    body.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let made = bench.coordinate(&bench.owner, "requests:create", &body).ok();
    made["request"]["requestId"].as_str().unwrap().to_owned()
}

pub fn update(bench: &Bench, token: &str, request: &str, action: &str) -> Reply {
    let mut body = json!({"requestId": request, "action": action});
    if action == "reassign" {
        body["assignee"] = json!(participant(bench, &bench.member));
    }
    if action == "hold" {
        body["gate"] = json!("scope");
        body["reason"] = json!("It touches the parser");
    }
    bench.coordinate(token, "requests:update", &body)
}

pub fn participant(bench: &Bench, token: &str) -> String {
    bench.address(token).split_once(':').unwrap().1.to_owned()
}

pub const ACTIONS: [&str; 7] = [
    "claim", "unclaim", "progress", "complete", "cancel", "reassign", "hold",
];

/// Two bytes a character, so that bytes and characters are told apart.
pub fn chars(count: usize) -> Value {
    json!("é".repeat(count))
}

pub fn list(count: usize, of: &Value) -> Value {
    json!(vec![of; count])
}

/// So many lines of 200 characters, no two alike.
pub fn distinct(count: usize) -> Value {
    json!((0..count).map(|it| format!("{it:é>200}")).collect::<Vec<_>>())
}
