//! Callers without a credential, where a deployment lets them act as one client: what they may do, and what stays closed.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

#[path = "support/desk.rs"]
mod support;

use a2a_edge::desk::Anonymous;
use a2a_edge::guard::Reach;
use a2a_edge::serve::{Body, handle};
use http::Request;
use serde_json::{Value, json};
use support::{Bench, COORDINATION, OPERATOR, Reply};

/// A desk whose callers without a credential act as its client, whose id is given back.
fn open() -> (Bench, String) {
    let mut bench = Bench::new();
    let listed = bench.operate(&bench.owner, "participants:list", &json!({})).ok();
    let mut participants = listed["participants"].as_array().unwrap().iter();
    let client = participants.find(|it| it["role"] == "client").unwrap();
    let id = client["participantId"].as_str().unwrap().to_owned();
    let anonymous = Anonymous {
        session_id: bench.session.clone(),
        participant_id: id.clone(),
    };
    bench.reconfigure(|config| config.anonymous = Some(anonymous));
    (bench, id)
}

fn request(line: &str, body: &Value) -> Request<Vec<u8>> {
    let (method, path) = line.split_once(' ').unwrap();
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("a2a-version", "1.0")
        .header("a2a-extensions", COORDINATION);
    if body.is_null() {
        return request.body(Vec::new()).unwrap();
    }
    let request = request.header("content-type", "application/json");
    request.body(body.to_string().into_bytes()).unwrap()
}

/// Calls without a credential.
fn call(bench: &Bench, line: &str, body: &Value) -> Reply {
    bench.call(request(line, body))
}

fn message() -> Value {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Please."}]});
    json!({"message": message, "configuration": {"returnImmediately": true}})
}

#[test]
fn without_a_credential_one_acts_as_the_named_client() {
    let (bench, _) = open();
    let sent = call(&bench, "POST /message:send", &message()).ok();
    let task = sent["task"]["id"].as_str().unwrap().to_owned();
    let own = call(&bench, &format!("GET /tasks/{task}"), &Value::Null).ok();
    assert_eq!(own["id"], task);
    // It is the client's like any other of its tasks.
    assert_eq!(bench.task(&bench.client, "", &task).ok()["id"], task);
    let within = format!("GET /{}/tasks", bench.session);
    for line in ["GET /tasks", within.as_str()] {
        assert_eq!(call(&bench, line, &Value::Null).ok()["totalSize"], 1, "{line}");
    }
    let canceled = call(&bench, &format!("POST /tasks/{task}:cancel"), &Value::Null).ok();
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
}

#[test]
fn both_bindings_are_open_to_it_and_the_extended_card_in_neither() {
    let (mut bench, _) = open();
    bench.reconfigure(|config| config.card.extended = Some(Default::default()));
    let rpc = |method: &str| json!({"jsonrpc": "2.0", "id": 1, "method": method});
    let listed = call(&bench, "POST /rpc", &rpc("ListTasks")).ok();
    assert_eq!(listed["result"]["totalSize"], 0);
    let batch = call(
        &bench,
        "POST /rpc",
        &json!([rpc("ListTasks"), rpc("GetExtendedAgentCard")]),
    );
    let answers = batch.ok();
    assert_eq!(answers[0]["result"]["totalSize"], 0);
    assert_eq!(answers[1]["error"]["data"][0]["reason"], "UNAUTHENTICATED");
    assert_eq!(
        call(&bench, "POST /rpc", &rpc("GetExtendedAgentCard")).status,
        401
    );
    assert_eq!(call(&bench, "POST /nowhere/rpc", &rpc("ListTasks")).status, 401);
}

#[test]
fn it_sees_no_task_of_anybody_else() {
    let (bench, _) = open();
    let other = bench.admit("client");
    let sent = bench.send(&other, "", &json!({})).ok();
    let foreign = format!("GET /tasks/{}", sent["task"]["id"].as_str().unwrap());
    assert_eq!(call(&bench, &foreign, &Value::Null).refused().1, "TASK_NOT_FOUND");
    assert_eq!(call(&bench, "GET /tasks", &Value::Null).ok()["totalSize"], 0);
}

#[test]
fn everything_but_the_core_operations_needs_a_credential() {
    let (mut bench, _) = open();
    bench.reconfigure(|config| config.card.extended = Some(Default::default()));
    for (line, body) in [
        (
            "POST /extensions/session-coordination/v1/requests:list",
            json!({}),
        ),
        (
            "GET /extensions/session-coordination/v1/events:stream",
            Value::Null,
        ),
        ("POST /operator/v1/tasks:list", json!({})),
        ("POST /operator/v1/sessions:create", json!({})),
        ("GET /extendedAgentCard", Value::Null),
    ] {
        let refused = call(&bench, line, &body);
        assert_eq!(refused.refused().1, "UNAUTHENTICATED", "{line}");
        assert_eq!(refused.headers["www-authenticate"], "Bearer", "{line}");
    }
}

#[test]
fn the_paths_of_another_session_stay_closed() {
    let (bench, _) = open();
    let other = bench.operate(OPERATOR, "sessions:create", &json!({})).ok();
    let other = other["sessionId"].as_str().unwrap();
    for session in [other, "nowhere"] {
        for (line, body) in [
            (format!("GET /{session}/tasks"), Value::Null),
            (format!("POST /{session}/message:send"), message()),
            (format!("GET /{session}/extendedAgentCard"), Value::Null),
        ] {
            assert_eq!(
                call(&bench, &line, &body).refused().1,
                "UNAUTHENTICATED",
                "{line}"
            );
        }
        // Nor does naming it in a body lead there.
        let mut named = message();
        named["tenant"] = json!(session);
        let refused = call(&bench, "POST /message:send", &named);
        assert_eq!(refused.status, 404, "{}", refused.body);
    }
}

#[test]
fn a_credential_that_is_no_good_is_refused_and_not_forgotten() {
    let (bench, _) = open();
    let forged = format!("a2ae_{}_{}", bench.session, "x".repeat(43));
    for bearer in ["", "x", forged.as_str()] {
        let reply = bench.request("GET", "/tasks", bearer, "", b"");
        assert_eq!(reply.refused().1, "UNAUTHENTICATED", "{bearer}");
    }
}

#[test]
fn only_a_client_that_is_there_can_be_the_named_one() {
    let (mut bench, client) = open();
    let listed = bench.operate(&bench.owner, "participants:list", &json!({})).ok();
    let ids = listed["participants"].as_array().unwrap().iter();
    let others = ids
        .filter(|it| it["role"] != "client")
        .map(|it| it["participantId"].clone());
    for participant in others.chain([json!("p-nobody")]) {
        let participant_id = participant.as_str().unwrap().to_owned();
        bench.reconfigure(|config| {
            config.anonymous.as_mut().unwrap().participant_id = participant_id;
        });
        assert_eq!(
            call(&bench, "GET /tasks", &Value::Null).status,
            401,
            "{participant}"
        );
    }
    bench.reconfigure(|config| {
        config.anonymous.as_mut().unwrap().participant_id = client.clone();
    });
    call(&bench, "GET /tasks", &Value::Null).ok();
    let revoke = json!({ "participantId": client });
    bench.operate(&bench.owner, "participants:revoke", &revoke).ok();
    assert_eq!(call(&bench, "GET /tasks", &Value::Null).status, 401);
}

#[test]
fn a_stream_ends_when_the_named_client_is_revoked() {
    let (bench, client) = open();
    let request = request("POST /message:stream", &message());
    let answer = pollster::block_on(handle(&bench.host, &bench.desk, request));
    let Body::Stream(mut stream) = answer.into_body() else {
        panic!("no stream");
    };
    let mut next = || pollster::block_on(stream.next(&bench.host, &bench.desk));
    assert!(next().is_some());
    let revoke = json!({ "participantId": client });
    bench.operate(&bench.owner, "participants:revoke", &revoke).ok();
    assert_eq!(next(), None);
}

#[test]
fn the_cards_that_it_goes_for_ask_for_no_credential() {
    let (bench, _) = open();
    let other = bench.operate(OPERATOR, "sessions:create", &json!({})).ok();
    let other = other["sessionId"].as_str().unwrap().to_owned();
    let card = |tenant: &str| {
        let line = format!("GET {tenant}/.well-known/agent-card.json");
        call(&bench, &line, &Value::Null).ok()
    };
    for tenant in [String::new(), format!("/{}", bench.session)] {
        let card = card(&tenant);
        assert!(card.get("securityRequirements").is_none(), "{card}");
        assert!(card["securitySchemes"]["bearer"].is_object(), "{card}");
    }
    let closed = card(&format!("/{other}"));
    assert_eq!(
        closed["securityRequirements"],
        json!([{"schemes": {"bearer": {}}}])
    );
    let shut = Bench::new();
    let card = call(&shut, "GET /.well-known/agent-card.json", &Value::Null).ok();
    assert_eq!(card["securityRequirements"], json!([{"schemes": {"bearer": {}}}]));
    assert_eq!(call(&shut, "GET /tasks", &Value::Null).status, 401);
}

#[test]
fn what_one_of_them_keeps_secret_is_not_shown_to_the_others() {
    let (mut bench, _) = open();
    bench.reconfigure(|config| config.webhooks = Some(Reach::Public));
    let sent = call(&bench, "POST /message:send", &message()).ok();
    let configs = format!(
        "/tasks/{}/pushNotificationConfigs",
        sent["task"]["id"].as_str().unwrap()
    );
    let config = json!({
        "id": "c", "url": "https://client.example/", "token": "t-1",
        "authentication": {"scheme": "Bearer", "credentials": "secret"},
    });
    call(&bench, &format!("POST {configs}"), &config).ok();
    for line in [format!("GET {configs}"), format!("GET {configs}/c")] {
        let shown = call(&bench, &line, &Value::Null).ok().to_string();
        assert!(
            shown.contains("Bearer") && !shown.contains("secret") && !shown.contains("t-1"),
            "{shown}"
        );
    }
    // With its credential the client reads what it set.
    let own = bench
        .request("GET", &format!("{configs}/c"), &bench.client, "", b"")
        .ok();
    assert_eq!(own["authentication"], config["authentication"]);
}
