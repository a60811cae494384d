//! What a stream does besides telling: it stays, it ends, it can be off.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "tests"
)]

#[path = "support/desk.rs"]
mod support;

use a2a_edge::serve::{Body, Stream, handle};
use http::Request;
use serde_json::{Value, json};
use support::{Bench, COORDINATION};

const EVENTS: &str = "/extensions/session-coordination/v1/events:stream";

fn open(bench: &Bench, method: &str, path: &str, token: &str, last: &str, body: &Value) -> Stream {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("a2a-version", "1.0")
        .header("a2a-extensions", COORDINATION)
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {token}"));
    if !last.is_empty() {
        request = request.header("last-event-id", last);
    }
    let bytes = if body.is_null() {
        Vec::new()
    } else {
        body.to_string().into_bytes()
    };
    let answer = pollster::block_on(handle(&bench.host, &bench.desk, request.body(bytes).unwrap()));
    match answer.into_body() {
        Body::Stream(stream) => stream,
        Body::Whole(bytes) => panic!("{}", String::from_utf8_lossy(&bytes)),
    }
}

fn next(bench: &Bench, stream: &mut Stream) -> Option<String> {
    let bytes = pollster::block_on(stream.next(&bench.host, &bench.desk))?;
    Some(String::from_utf8(bytes).unwrap())
}

fn ask() -> Value {
    json!({"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]}})
}

#[test]
fn a_silent_stream_says_that_it_is_still_there() {
    let bench = Bench::new();
    let mut stream = open(&bench, "GET", EVENTS, &bench.member, "", &Value::Null);
    assert_eq!(next(&bench, &mut stream).as_deref(), Some("id: 3\n\n"));
    for _ in 0..3 {
        let before = bench.state().seq();
        assert_eq!(next(&bench, &mut stream).as_deref(), Some(": keep-alive\n\n"));
        assert_eq!(bench.state().seq(), before, "a stream never commits");
    }
}

#[test]
fn a_stream_ends_with_the_credential_that_opened_it() {
    let bench = Bench::new();
    let client = bench.admit("client");
    let mut stream = open(&bench, "POST", "/message:stream", &client, "", &ask());
    assert!(next(&bench, &mut stream).is_some());
    let address = bench.address(&client);
    let (_, id) = address.split_once(':').unwrap();
    let body = json!({ "participantId": id });
    bench.operate(&bench.owner, "participants:revoke", &body).ok();
    assert_eq!(next(&bench, &mut stream), None);
}

#[test]
fn what_time_alone_brings_about_is_told_when_it_is_due_and_under_the_same_id_ever_after() {
    let bench = Bench::new();
    let asked = json!({"title": "Look into it", "expiresInSeconds": 60});
    let created = bench.coordinate(&bench.member, "requests:create", &asked).ok();
    let task = created["request"]["taskId"].as_str().unwrap();
    let path = format!("/tasks/{task}:subscribe");
    let mut stream = open(&bench, "GET", &path, &bench.member, "", &Value::Null);
    let first = next(&bench, &mut stream).unwrap();
    assert!(first.starts_with("id: 1\n"), "{first}");
    let told = loop {
        let told = next(&bench, &mut stream).unwrap();
        if told != ": keep-alive\n\n" {
            break told;
        }
    };
    assert!(told.contains("TASK_STATE_FAILED"), "{told}");
    assert_eq!(next(&bench, &mut stream), None);
    // Another commit records what has happened.
    bench
        .coordinate(&bench.member, "presence:announce", &json!({}))
        .ok();
    let mut again = open(&bench, "GET", &path, &bench.member, "1", &Value::Null);
    assert_eq!(next(&bench, &mut again), Some(told));
    assert_eq!(next(&bench, &mut again), None);
}

#[test]
fn an_id_that_no_event_has_begins_the_stream_anew() {
    let bench = Bench::new();
    let sent = bench.send(&bench.client, "", &json!({})).ok();
    let path = format!("/tasks/{}:subscribe", sent["task"]["id"].as_str().unwrap());
    for last in ["99", "x", "+1", "18446744073709551616"] {
        let mut stream = open(&bench, "GET", &path, &bench.client, last, &Value::Null);
        let first = next(&bench, &mut stream).unwrap();
        assert!(first.contains("\"task\":"), "{last}: {first}");
    }
}

#[test]
fn the_last_1000_changes_of_a_task_are_kept_and_who_has_read_less_begins_anew() {
    let bench = Bench::new();
    let sent = bench.send(&bench.client, "", &json!({})).ok();
    let task = sent["task"]["id"].as_str().unwrap();
    let path = format!("/tasks/{task}:subscribe");
    let request = bench.state().task(task).unwrap().request_id.clone();
    let update = |more: Value| {
        let mut body = json!({ "requestId": request });
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        bench.coordinate(&bench.member, "requests:update", &body).ok();
    };
    let log = json!({"artifactId": "log", "parts": [{"text": "once more"}]});
    update(json!({"action": "claim"}));
    // Some changes more than 1,100 with the opening and the claim: the oldest are forgotten by the hundred.
    for _ in 0..55 {
        update(json!({"action": "progress", "artifacts": vec![log.clone(); 20]}));
    }
    let count = bench.state().task(task).unwrap().told();
    let first = |last: usize| {
        let last = &last.to_string();
        let mut stream = open(&bench, "GET", &path, &bench.client, last, &Value::Null);
        next(&bench, &mut stream).unwrap()
    };
    let anew = first(99);
    assert!(anew.starts_with(&format!("id: {count}\n")), "{anew}");
    assert!(anew.contains("\"task\":"), "{anew}");
    for last in [100, count - 1] {
        let next = first(last);
        assert!(next.starts_with(&format!("id: {}\n", last + 1)), "{next}");
        assert!(next.contains("\"artifactUpdate\":"), "{next}");
    }
}

#[test]
fn a_place_in_the_log_is_read_strictly() {
    let bench = Bench::new();
    for last in ["x", "4", "1-", "-1", "01", "1-+1", "99999999999999999999"] {
        let body = json!({ "after": last });
        let refused = bench.coordinate(&bench.member, "events:list", &body).refused();
        assert_eq!((refused.0, refused.2.as_str()), (400, "after"), "{last}");
    }
    let listed = bench
        .coordinate(&bench.member, "events:list", &json!({"after": "3"}))
        .ok();
    assert_eq!(listed, json!({"events": [], "cursor": "3", "nextPageToken": ""}));
}

#[test]
fn streams_about_tasks_can_be_off() {
    let mut bench = Bench::new();
    bench.reconfigure(|config| config.streaming = false);
    let card = bench
        .request("GET", "/.well-known/agent-card.json", "", "", b"")
        .ok();
    assert_eq!(card["capabilities"]["streaming"], false);
    let body = ask().to_string();
    for (line, path) in [
        ("POST", "/message:stream"),
        ("GET", "/tasks/t:subscribe"),
        ("POST", "/tasks/t:subscribe"),
    ] {
        let body = if path == "/message:stream" {
            body.as_bytes()
        } else {
            b""
        };
        let refused = bench.request(line, path, &bench.client, "", body).refused();
        assert_eq!(
            (refused.0, refused.1.as_str()),
            (400, "UNSUPPORTED_OPERATION"),
            "{path}"
        );
    }
    // The session's own stream is no capability of the card: it is among the extension's operations.
    let mut stream = open(&bench, "GET", EVENTS, &bench.member, "", &Value::Null);
    assert!(next(&bench, &mut stream).is_some());
}
