//! Workstreams and knowledge for tests: made, changed and decided about; and what their fields take at most.

#![allow(dead_code, reason = "each test uses its part of it")]

use serde_json::{Value, json};

use super::support::{Bench, Reply};

/// A new workstream of somebody's.
pub fn workstream(bench: &Bench, token: &str, more: &Value) -> Value {
    let mut body = json!({"title": "Limits", "intent": "Every answer within a second"});
    body.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    bench.coordinate(token, "workstreams:create", &body).ok()["workstream"].clone()
}

/// What names a workstream and its version, with more members.
pub fn at(workstream: &Value, more: Value) -> Value {
    let mut body = more;
    body["workstreamId"] = workstream["workstreamId"].clone();
    body["expectedVersion"] = workstream["version"].clone();
    body
}

/// A call on a workstream in the version that is known of it.
pub fn edit(bench: &Bench, token: &str, verb: &str, workstream: &Value, more: Value) -> Reply {
    bench.coordinate(token, &format!("workstreams:{verb}"), &at(workstream, more))
}

/// The workstream as it stands.
pub fn seen(bench: &Bench, workstream: &Value) -> Value {
    let body = json!({"workstreamId": workstream["workstreamId"]});
    bench.coordinate(&bench.member, "workstreams:get", &body).ok()["workstream"].clone()
}

/// The history of a workstream.
pub fn history(bench: &Bench, workstream: &Value) -> Vec<Value> {
    let body = json!({"workstreamId": workstream["workstreamId"], "includeHistory": true, "pageSize": 100});
    let shown = bench.coordinate(&bench.member, "workstreams:get", &body).ok();
    shown["history"].as_array().unwrap().clone()
}

/// A resource outside.
pub fn outside(id: &str) -> Value {
    json!({"kind": "external", "id": id})
}

/// A proposal of the member's.
pub fn propose(bench: &Bench, more: &Value) -> Value {
    let mut body = json!({"title": "How to deploy", "body": "Push the button."});
    body.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    bench.coordinate(&bench.member, "knowledge:propose", &body).ok()["proposal"].clone()
}

/// The owner's word on a proposal.
pub fn rule(bench: &Bench, verb: &str, proposal: &Value, more: Value) -> Reply {
    let mut body = more;
    body["proposalId"] = proposal["proposalId"].clone();
    bench.operate(&bench.owner, &format!("knowledge:{verb}"), &body)
}

/// The id of a new entry.
pub fn entry(bench: &Bench, more: &Value) -> Value {
    let proposal = propose(bench, more);
    rule(bench, "accept", &proposal, json!({})).ok()["proposal"]["knowledgeId"].clone()
}
