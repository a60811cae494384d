//! What the coordination operations and the owner's verbs refuse: in which order, and from which value of each field
//! on. The numbers are the session coordination's (§9.3 and §9.4), written out here a second time.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/fields.rs"]
mod fields_of;
#[path = "support/flow_fields.rs"]
mod flow_fields;
#[path = "support/flows_of.rs"]
mod flows_of;
#[path = "support/refusals.rs"]
mod refusals;
#[path = "support/desk.rs"]
mod support;

use std::collections::BTreeSet;

use a2a_edge::coordination::catalogue;
use a2a_edge::params::Shape;
use fields_of::{Limit, asked, claim_limits, limit, presence_limits, talk_limits};
use flow_fields::{flow_limits, flow_minimal};
use refusals::{chars, create, distinct, fields, list, participant, refused, update};
use serde_json::{Value, json};
use support::{Bench, COORDINATION, OPERATOR};

#[test]
fn of_all_faults_at_once_the_first_check_that_fails_answers() {
    let bench = Bench::new();
    let other = bench.admit("member");
    let closed = |by: &str| {
        let request = create(&bench, &json!({}));
        update(&bench, by, &request, "claim").ok();
        update(&bench, by, &request, "complete").ok();
        request
    };
    let held = |by: &str| {
        let request = create(&bench, &json!({"maxAssignees": 2}));
        update(&bench, by, &request, "claim").ok();
        request
    };
    let (mine, others, mine_closed, others_closed) = (
        held(&bench.member),
        held(&other),
        closed(&bench.member),
        closed(&other),
    );
    let used = json!({"title": "t", "idempotencyKey": "used"});
    bench.coordinate(&bench.member, "requests:create", &used).ok();
    let expected = [
        (401, 16, "UNAUTHENTICATED"),
        (404, 5, "NOT_FOUND"),
        (400, 9, "EXTENSION_SUPPORT_REQUIRED"),
        (400, 9, "UNSUPPORTED_OPERATION"),
        (403, 7, "SCOPE_REQUIRED"),
        (400, 3, "INVALID_ARGUMENT"),
        (409, 6, "IDEMPOTENCY_KEY_REUSED"),
        (404, 5, "REQUEST_NOT_FOUND"),
        (403, 7, "NOT_OWNER"),
        (400, 9, "REQUEST_CLOSED"),
    ];
    for faults in 1_u32..1 << expected.len() {
        let has = |check: usize| faults & 1 << (check - 1) != 0;
        let request = match (has(8), has(9), has(10)) {
            (true, ..) => "req-nowhere",
            (_, false, false) => &mine,
            (_, true, false) => &others,
            (_, false, true) => &mine_closed,
            (_, true, true) => &others_closed,
        };
        let key = if has(7) {
            "used".to_owned()
        } else {
            format!("new-{faults}")
        };
        let note = if has(6) { json!(7) } else { json!("n") };
        let body = json!({"requestId": request, "action": "progress", "note": note, "idempotencyKey": key});
        let token = match (has(1), has(5)) {
            (true, _) => "a2ae_x_0123456789012345678901234567890123456789012",
            (false, true) => &bench.client,
            (false, false) => &bench.member,
        };
        let tenant = if has(2) { "another-session" } else { &bench.session };
        let operation = if has(4) {
            "requests:burn"
        } else {
            "requests:update"
        };
        let path = format!("/{tenant}/extensions/session-coordination/v1/{operation}");
        let extensions = if has(3) { "" } else { COORDINATION };
        let reply = bench.request("POST", &path, token, extensions, body.to_string().as_bytes());
        let first = expected[faults.trailing_zeros() as usize];
        let (status, code, reason) = refused(&reply);
        assert_eq!(
            (status, code, reason.as_str()),
            first,
            "faults {faults:b}: {}",
            reply.body
        );
    }
    assert_eq!(
        bench.state().request(&mine).unwrap().notes.len(),
        0,
        "nothing of it was done"
    );
}

#[test]
fn what_is_no_json_object_is_refused_after_the_scope_and_before_the_fields() {
    let bench = Bench::new();
    let path = "/extensions/session-coordination/v1/requests:list";
    let deep = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth)).into_bytes();
    for (body, status) in [
        (b"{}".to_vec(), 200),
        (Vec::new(), 200),
        (deep(63), 200),
        (deep(64), 400),
        (b"[]".to_vec(), 400),
        (b"{\"a\":1,\"a\":2}".to_vec(), 400),
        (b"{".to_vec(), 400),
        (vec![b' '; 262_145], 413),
    ] {
        let reply = bench.request("POST", path, &bench.member, COORDINATION, &body);
        assert_eq!(reply.status, status, "{}", reply.body);
        let outside = bench.request("POST", path, &bench.client, COORDINATION, &body);
        assert_eq!(refused(&outside), (403, 7, "SCOPE_REQUIRED".into()));
        assert_eq!(
            outside.body["error"]["details"][0]["metadata"]["scope"],
            "session:read"
        );
    }
    for method in ["GET", "PUT", "DELETE"] {
        let reply = bench.request(method, path, &bench.member, COORDINATION, b"{}");
        assert_eq!(
            (reply.status, reply.headers["allow"].as_str()),
            (405, "POST, OPTIONS")
        );
    }
}

#[test]
fn all_fields_at_fault_are_named_and_who_the_caller_says_to_be_is_ignored() {
    let bench = Bench::new();
    let body = json!({"title": " ", "to": ["p", 7, ""], "maxAssignees": 0, "priority": "High", "labels": "ops",
        "idempotencyKey": ""});
    let reply = bench.coordinate(&bench.member, "requests:create", &body);
    let expected = [
        "title",
        "to[1]",
        "to[2]",
        "maxAssignees",
        "priority",
        "labels",
        "idempotencyKey",
    ];
    assert_eq!(fields(&reply), expected);
    let artifacts = json!([{"artifactId": "pr", "parts": [{"text": "t"}]}, {"parts": [{"text": "t"}]}]);
    let body = json!({"requestId": "", "action": "progress", "artifacts": artifacts});
    let reply = bench.coordinate(&bench.member, "requests:update", &body);
    let expected = ["requestId", "artifacts[0].artifactId", "artifacts[1].artifactId"];
    assert_eq!(fields(&reply), expected);
    let body =
        json!({"title": "t", "participantId": "p-x", "actor": "p-x", "from": "p-x", "createdBy": "p-x"});
    let made = bench.coordinate(&bench.member, "requests:create", &body).ok();
    assert_eq!(made["request"]["createdBy"], participant(&bench, &bench.member));
}

fn limits(bench: &Bench, request: &str) -> Vec<Limit> {
    let me = json!(participant(bench, &bench.owner));
    let artifact = json!({"artifactId": "a", "parts": [{"text": "t"}]});
    let (create, lists, change) = ("requests:create", "requests:list", "requests:update");
    let mut limits = vec![
        limit(create, "title", chars(200), chars(201), "title"),
        limit(create, "title", json!(" t\u{a0}"), json!("\u{feff} "), "title"),
        limit(create, "title", json!("a b"), json!("a\u{85}b"), "title"),
        limit(create, "title", json!("a"), json!("a\tb"), "title"),
        limit(create, "title", json!("a"), json!(""), "title"),
        limit(create, "title", json!("a"), Value::Null, "title"),
        limit(create, "body", chars(16_384), chars(16_385), "body"),
        limit(create, "body", json!("a\tb\nc"), json!("a\rb"), "body"),
        limit(create, "body", json!("\u{80}"), json!("\u{7f}"), "body"),
        limit(create, "to", list(50, &me), list(51, &me), "to"),
        limit(create, "to", json!([]), json!({}), "to"),
        limit(create, "maxAssignees", json!(1), json!(0), "maxAssignees"),
        limit(create, "maxAssignees", json!(50), json!(51), "maxAssignees"),
        limit(create, "maxAssignees", json!(2), json!("2"), "maxAssignees"),
        limit(create, "maxAssignees", json!(2), json!(2.5), "maxAssignees"),
        limit(
            create,
            "expiresInSeconds",
            json!(60),
            json!(59),
            "expiresInSeconds",
        ),
        limit(
            create,
            "expiresInSeconds",
            json!(2_592_000),
            json!(2_592_001),
            "expiresInSeconds",
        ),
        limit(create, "priority", json!("urgent"), json!("URGENT"), "priority"),
        limit(
            create,
            "labels",
            list(10, &chars(50)),
            list(11, &json!("l")),
            "labels",
        ),
        limit(
            create,
            "labels",
            json!(["l"]),
            json!(["l", chars(51)]),
            "labels[1]",
        ),
        limit(
            create,
            "acceptance",
            list(20, &chars(500)),
            list(21, &json!("l")),
            "acceptance",
        ),
        limit(
            create,
            "acceptance",
            json!(["l"]),
            json!([chars(501)]),
            "acceptance[0]",
        ),
        limit(create, "idempotencyKey", chars(255), chars(256), "idempotencyKey"),
        limit(
            create,
            "idempotencyKey",
            json!("a b"),
            json!("a\tb"),
            "idempotencyKey",
        ),
        limit(create, "idempotencyKey", json!("k"), json!(""), "idempotencyKey"),
        limit(
            create,
            "idempotencyKey",
            json!("j"),
            Value::Null,
            "idempotencyKey",
        ),
        limit(lists, "state", json!("expired"), json!("done"), "state"),
        limit(lists, "assignee", chars(64), chars(65), "assignee"),
        limit(lists, "createdBy", json!("me"), json!(["me"]), "createdBy"),
        limit(lists, "pageSize", json!(1), json!(0), "pageSize"),
        limit(lists, "pageSize", json!(100), json!(101), "pageSize"),
        limit(change, "requestId", json!(request), chars(65), "requestId"),
        limit(change, "action", json!("progress"), json!("burn"), "action"),
        limit(change, "note", chars(16_384), chars(16_385), "note"),
        limit(change, "stage", json!("review"), json!("working"), "stage"),
        limit(change, "stage", Value::Null, json!(""), "stage"),
        limit(
            change,
            "artifacts",
            list(20, &artifact),
            list(21, &artifact),
            "artifacts",
        ),
        limit(
            change,
            "artifacts",
            json!([artifact]),
            json!([artifact, {"artifactId": "b"}]),
            "artifacts[1].parts",
        ),
        limit(change, "assignee", chars(64), chars(65), "assignee"),
        limit(change, "asMessage", json!(false), json!("no"), "asMessage"),
        limit(change, "gate", json!("scope"), json!("task-proposal"), "gate"),
        limit(change, "gate", json!("tool-approval"), json!("wake"), "gate"),
        limit(change, "reason", chars(2_000), chars(2_001), "reason"),
    ];
    limits.extend(presence_limits());
    limits.extend(claim_limits(bench, request));
    limits.extend(talk_limits(bench, request));
    limits.extend(flow_limits(bench));
    for priority in ["high", "medium", "low", "none"] {
        limits.push(limit(
            create,
            "priority",
            json!(priority),
            Value::Null,
            "priority",
        ));
    }
    limits
}

fn minimal(bench: &Bench, operation: &str, request: &str) -> Value {
    match operation {
        "questions:ask" => json!({"body": "Which?"}),
        "questions:answer" => json!({"questionId": asked(bench), "choice": "a"}),
        "inbox:update" => {
            asked(bench);
            let inbox = bench
                .coordinate(&bench.owner, "inbox:list", &json!({"state": "all"}))
                .ok();
            json!({"itemIds": [inbox["items"][0]["itemId"]], "state": "acknowledged"})
        }
        "decisions:record" => json!({"title": "t", "decision": "d"}),
        "requests:create" => json!({"title": "t"}),
        "requests:update" => json!({"requestId": request, "action": "progress"}),
        "claims:check" => json!({"resources": [{"resourceId": "a"}]}),
        "claims:acquire" => json!({"resourceId": "a"}),
        "claims:release" => json!({"claimId": "claim-nowhere"}),
        "status:announce" => json!({"status": "s"}),
        _ => flow_minimal(bench, operation),
    }
}

#[test]
fn every_field_takes_its_last_value_and_refuses_the_next() {
    let bench = Bench::new();
    let request = create(&bench, &json!({}));
    update(&bench, &bench.owner, &request, "claim").ok();
    for Limit {
        operation,
        field,
        good,
        bad,
        at,
        with,
    } in limits(&bench, &request)
    {
        let mut body = with.unwrap_or_else(|| minimal(&bench, operation, &request));
        body[field] = good;
        let reply = bench.coordinate(&bench.owner, operation, &body);
        assert_eq!(reply.status, 200, "{operation} {field}: {}", reply.body);
        body[field] = bad;
        let reply = bench.coordinate(&bench.owner, operation, &body);
        assert_eq!(
            (reply.status, fields(&reply)),
            (400, vec![at.to_owned()]),
            "{operation} {field}"
        );
    }
}

#[test]
fn every_parameter_of_the_catalogue_has_a_limit_that_is_tested_and_refuses_another_type() {
    let bench = Bench::new();
    let request = create(&bench, &json!({}));
    let tested: BTreeSet<(String, &str)> = limits(&bench, &request)
        .iter()
        .map(|limit| (limit.operation.replace(':', "."), limit.field))
        .collect();
    for operation in catalogue::OPERATIONS {
        for param in operation.params {
            // Page tokens have a test of their own.
            assert!(
                param.name == "pageToken" || tested.contains(&(operation.name.to_owned(), param.name)),
                "{}",
                param.name
            );
            let mut body = minimal(&bench, &operation.name.replace('.', ":"), &request);
            body[param.name] = match param.shape {
                Shape::Object(_) => json!("no object"),
                _ => json!({"an": "object"}),
            };
            let reply = bench.coordinate(&bench.owner, &operation.name.replace('.', ":"), &body);
            assert_eq!(
                (reply.status, fields(&reply)),
                (400, vec![param.name.to_owned()]),
                "{}",
                operation.name
            );
            if param.required {
                body.as_object_mut().unwrap().shift_remove(param.name);
                let reply = bench.coordinate(&bench.owner, &operation.name.replace('.', ":"), &body);
                assert_eq!(fields(&reply), [param.name], "{}", operation.name);
            }
        }
    }
}

#[test]
fn the_limits_of_the_owners_verbs_hold() {
    let bench = Bench::new();
    let task = bench.send(&bench.client, "", &json!({})).ok()["task"]["id"].clone();
    let ask = |body: Value, choices: Value| json!({"taskId": task, "body": body, "choices": choices});
    let verbs = [
        (
            "participants:add",
            json!({"displayName": chars(80)}),
            json!({"displayName": chars(81)}),
            "displayName",
        ),
        (
            "tasks:ask",
            ask(chars(16_384), json!([])),
            ask(chars(16_385), json!([])),
            "body",
        ),
        (
            "tasks:ask",
            ask(json!("b"), distinct(20)),
            ask(json!("b"), distinct(21)),
            "choices",
        ),
        (
            "tasks:ask",
            ask(json!("b"), json!(["c"])),
            ask(json!("b"), json!(["c", chars(201)])),
            "choices[1]",
        ),
        (
            "tasks:ask",
            ask(json!("b"), json!([])),
            ask(json!(" \n"), json!([])),
            "body",
        ),
        (
            "tasks:list",
            json!({"state": "all"}),
            json!({"state": "some"}),
            "state",
        ),
        (
            "tasks:list",
            json!({"pageSize": 100}),
            json!({"pageSize": 101}),
            "pageSize",
        ),
        (
            "tasks:list",
            json!({"pageToken": ""}),
            json!({"pageToken": "x"}),
            "pageToken",
        ),
        (
            "tasks:get",
            json!({"taskId": task}),
            json!({"taskId": ""}),
            "taskId",
        ),
        (
            "tasks:decline",
            json!({"taskId": task, "reason": chars(2_000)}),
            json!({"taskId": task, "reason": chars(2_001)}),
            "reason",
        ),
    ];
    for (verb, good, bad, field) in verbs {
        bench.operate(&bench.owner, verb, &good).ok();
        assert_eq!(
            fields(&bench.operate(&bench.owner, verb, &bad)),
            [field],
            "{verb}"
        );
    }
    let owner = |name: usize| json!({"owner": {"displayName": "é".repeat(name), "kind": "agent"}});
    bench.operate(OPERATOR, "sessions:create", &owner(80)).ok();
    assert_eq!(
        fields(&bench.operate(OPERATOR, "sessions:create", &owner(81))),
        ["owner.displayName"]
    );
    assert_eq!(
        fields(&bench.operate(OPERATOR, "sessions:create", &json!({"owner": 7}))),
        ["owner"]
    );
}
