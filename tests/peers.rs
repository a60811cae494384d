//! Where servers of A2A are known to fall short, this one does not: a test for each, over HTTP+JSON.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

#[path = "support/desk.rs"]
mod support;

use a2a_edge::a2a::card::AgentExtension;
use a2a_edge::desk::{Desk, built_in};
use http::Request;
use serde_json::{Value, json};
use support::{Bench, Reply};

fn call(bench: &Bench, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let (method, path) = line.split_once(' ').unwrap();
    let bearer = format!("Bearer {}", bench.client);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", bearer);
    let request = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value));
    bench.call(request.body(body.to_vec()).unwrap())
}

/// A message in a task, or one that opens it.
fn send(bench: &Bench, id: &str, task: Option<&Value>) -> Value {
    let mut message = json!({"messageId": id});
    if let Some(task) = task {
        message["taskId"] = task.clone();
    }
    bench.send(&bench.client, "", &message).ok()["task"].clone()
}

const VERSION: (&str, &str) = ("a2a-version", "1.0");
const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn a_version_that_is_not_spoken_is_refused_on_every_operation() {
    let bench = Bench::new();
    let task = send(&bench, "m", None)["id"].as_str().unwrap().to_owned();
    for line in [
        "POST /message:send".to_owned(),
        "POST /message:stream".to_owned(),
        format!("GET /tasks/{task}"),
        "GET /tasks".to_owned(),
        format!("POST /tasks/{task}:cancel"),
        format!("GET /tasks/{task}:subscribe"),
        format!("POST /tasks/{task}:subscribe"),
        format!("GET /tasks/{task}/pushNotificationConfigs"),
        "GET /extendedAgentCard".to_owned(),
    ] {
        for headers in [
            &[("a2a-version", "99.0"), JSON][..],
            &[("a2a-version", "0.3"), JSON],
            &[JSON],
        ] {
            let refused = call(&bench, &line, headers, b"{}").refused();
            assert_eq!(
                (refused.0, refused.1.as_str()),
                (400, "VERSION_NOT_SUPPORTED"),
                "{line}"
            );
        }
    }
}

#[test]
fn a_version_may_come_in_the_query() {
    let bench = Bench::new();
    assert_eq!(call(&bench, "GET /tasks?A2A-Version=1.0", &[], b"").status, 200);
    let refused = call(&bench, "GET /tasks?A2A-Version=99.0", &[], b"").refused();
    assert_eq!(refused.1, "VERSION_NOT_SUPPORTED");
}

#[test]
fn a_message_id_that_comes_again_is_another_message_of_the_history() {
    let bench = Bench::new();
    let task = send(&bench, "same", None);
    for _ in 0..2 {
        assert_eq!(send(&bench, "same", Some(&task["id"]))["id"], task["id"]);
    }
    let path = format!("GET /tasks/{}?historyLength=10", task["id"].as_str().unwrap());
    let task = call(&bench, &path, &[VERSION], b"").ok();
    let history = task["history"].as_array().unwrap();
    let same = history.iter().filter(|message| message["messageId"] == "same");
    assert_eq!(same.count(), 3, "{task}");
}

#[test]
fn every_message_that_names_a_task_alone_stays_in_its_context() {
    let bench = Bench::new();
    let task = send(&bench, "m-0", None);
    for id in ["m-1", "m-2", "m-3"] {
        let again = send(&bench, id, Some(&task["id"]));
        assert_eq!(
            (&again["id"], &again["contextId"]),
            (&task["id"], &task["contextId"]),
            "{id}"
        );
    }
}

#[test]
fn a_context_that_is_not_the_task_s_is_refused() {
    let bench = Bench::new();
    let task = send(&bench, "m", None);
    let other = send(&bench, "n", None);
    let message = json!({"taskId": task["id"], "contextId": other["contextId"]});
    let refused = bench.send(&bench.client, "", &message).refused();
    assert_eq!((refused.0, refused.2.as_str()), (400, "message.contextId"));
}

#[test]
fn a_required_extension_is_required_of_every_operation() {
    const REQUIRED: &str = "urn:example:required";
    let mut bench = Bench::new();
    let task = send(&bench, "m", None)["id"].as_str().unwrap().to_owned();
    let required = AgentExtension {
        uri: REQUIRED.to_owned(),
        description: None,
        required: true,
        params: None,
    };
    bench.desk = Desk::with(bench.desk.config().clone(), built_in().with(required)).unwrap();
    let body =
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a"}]}}).to_string();
    for (line, body) in [
        ("POST /message:send".to_owned(), body.as_bytes()),
        ("POST /message:stream".to_owned(), body.as_bytes()),
        (format!("GET /tasks/{task}"), b""),
        ("GET /tasks".to_owned(), b""),
        (format!("GET /tasks/{task}:subscribe"), b""),
        (format!("POST /tasks/{task}:cancel"), b""),
    ] {
        let refused = call(&bench, &line, &[VERSION, JSON], body).refused();
        assert_eq!(
            (refused.0, refused.1.as_str()),
            (400, "EXTENSION_SUPPORT_REQUIRED"),
            "{line}"
        );
        let taken = call(
            &bench,
            &line,
            &[VERSION, JSON, ("a2a-extensions", REQUIRED)],
            body,
        );
        assert_eq!(
            (taken.status, taken.headers["a2a-extensions"].as_str()),
            (200, REQUIRED),
            "{line}"
        );
    }
}

#[test]
fn a_filter_that_is_none_is_refused_and_not_ignored() {
    let bench = Bench::new();
    for (query, field) in [
        ("status=bogus", "status"),
        ("status=WORKING", "status"),
        ("pageSize=0", "pageSize"),
        ("pageSize=101", "pageSize"),
        ("pageToken=bogus", "pageToken"),
        ("historyLength=-1", "historyLength"),
        ("statusTimestampAfter=yesterday", "statusTimestampAfter"),
        ("includeArtifacts=yes", "includeArtifacts"),
    ] {
        let refused = call(&bench, &format!("GET /tasks?{query}"), &[VERSION], b"").refused();
        assert_eq!((refused.0, refused.2.as_str()), (400, field), "{query}");
    }
}

#[test]
fn an_empty_list_is_whole() {
    let bench = Bench::new();
    let list = call(&bench, "GET /tasks", &[VERSION], b"").ok();
    assert_eq!(
        list,
        json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0})
    );
}

#[test]
fn a_body_of_another_type_is_refused() {
    let bench = Bench::new();
    for media_type in [
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
    ] {
        let refused = call(
            &bench,
            "POST /message:send",
            &[VERSION, ("content-type", media_type)],
            b"{}",
        );
        assert_eq!(refused.refused().1, "CONTENT_TYPE_NOT_SUPPORTED", "{media_type}");
        assert_eq!(refused.status, 415);
    }
}

#[test]
fn every_path_is_there_under_a_tenant_too() {
    let bench = Bench::new();
    let task = send(&bench, "m", None)["id"].as_str().unwrap().to_owned();
    let body =
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a"}]}}).to_string();
    for (method, path, body) in [
        ("GET", "/.well-known/agent-card.json".to_owned(), b"".as_slice()),
        ("POST", "/message:send".to_owned(), body.as_bytes()),
        ("POST", "/message:stream".to_owned(), body.as_bytes()),
        ("GET", "/tasks".to_owned(), b""),
        ("GET", format!("/tasks/{task}"), b""),
        ("GET", format!("/tasks/{task}:subscribe"), b""),
        ("POST", format!("/tasks/{task}:cancel"), b""),
    ] {
        let line = format!("{method} /{}{path}", bench.session);
        assert_eq!(call(&bench, &line, &[VERSION, JSON], body).status, 200, "{line}");
    }
}

#[test]
fn parts_are_held_to_the_media_types_of_the_card_without_being_asked_to() {
    let bench = Bench::new();
    let parts = json!({"parts": [{"text": "a", "mediaType": "application/x-unknown"}]});
    let refused = bench.send(&bench.client, "", &parts).refused();
    assert_eq!(
        refused,
        (
            400,
            "CONTENT_TYPE_NOT_SUPPORTED".to_owned(),
            "message.parts[0].mediaType".to_owned()
        )
    );
}

#[test]
fn a_message_without_parts_is_refused() {
    let bench = Bench::new();
    let refused = bench.send(&bench.client, "", &json!({"parts": []})).refused();
    assert_eq!((refused.0, refused.2.as_str()), (400, "message.parts"));
}

#[test]
fn what_is_not_there_is_an_error_of_a2a_s_form_like_any_other() {
    let bench = Bench::new();
    for (line, status) in [
        ("GET /nothing", 404),
        ("PUT /tasks", 405),
        ("GET /tasks/task-1", 404),
    ] {
        let reply = call(&bench, line, &[VERSION], b"");
        assert_eq!(
            (reply.status, &reply.body["error"]["code"]),
            (status, &json!(status)),
            "{line}"
        );
        let info = &reply.body["error"]["details"][0];
        assert_eq!(
            info["@type"], "type.googleapis.com/google.rpc.ErrorInfo",
            "{line}"
        );
        // Errors and results are of one type.
        assert_eq!(reply.headers["content-type"], "application/a2a+json", "{line}");
    }
    let list = call(&bench, "GET /tasks", &[VERSION], b"");
    assert_eq!(list.headers["content-type"], "application/a2a+json");
}

#[test]
fn a_card_says_how_long_it_may_be_kept() {
    let bench = Bench::new();
    let card = call(&bench, "GET /.well-known/agent-card.json", &[], b"");
    assert_eq!(card.headers["cache-control"], "public, max-age=300");
    assert!(card.headers.contains_key("etag"), "{card:?}");
}
