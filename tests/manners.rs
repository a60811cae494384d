//! HTTP's own manners on every path: HEAD, OPTIONS, Allow; and what A2A asks of every answer, refusals included.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

#[path = "support/desk.rs"]
mod support;

use http::Request;
use serde_json::{Value, json};
use support::{Bench, COORDINATION, ENVELOPE, Reply, WORK};

fn call(bench: &Bench, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let (method, path) = line.split_once(' ').unwrap();
    let request = Request::builder().method(method).uri(path);
    let request = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value));
    bench.call(request.body(body.to_vec()).unwrap())
}

/// Every path there is, with what it takes.
fn paths(task: &str) -> Vec<(String, &'static str)> {
    let read = "GET, HEAD, OPTIONS";
    let act = "POST, OPTIONS";
    [
        ("/.well-known/agent-card.json".to_owned(), read),
        ("/rpc".to_owned(), act),
        ("/message:send".to_owned(), act),
        ("/message:stream".to_owned(), act),
        ("/extendedAgentCard".to_owned(), read),
        ("/tasks".to_owned(), read),
        (format!("/tasks/{task}"), read),
        (format!("/tasks/{task}:cancel"), act),
        (format!("/tasks/{task}:subscribe"), "GET, HEAD, POST, OPTIONS"),
        (
            format!("/tasks/{task}/pushNotificationConfigs"),
            "GET, HEAD, POST, OPTIONS",
        ),
        (
            format!("/tasks/{task}/pushNotificationConfigs/c"),
            "GET, HEAD, DELETE, OPTIONS",
        ),
        (
            "/extensions/session-coordination/v1/requests:list".to_owned(),
            act,
        ),
        (
            "/extensions/session-coordination/v1/events:stream".to_owned(),
            read,
        ),
        ("/operator/v1/tasks:list".to_owned(), act),
        ("/operator/v1/sessions:create".to_owned(), act),
    ]
    .to_vec()
}

#[test]
fn every_path_says_what_may_be_done_with_it_and_takes_no_other_method() {
    let bench = Bench::new();
    for (path, allow) in paths("task-1") {
        let bearer = format!("Bearer {}", bench.owner);
        for headers in [&[][..], &[("authorization", bearer.as_str())][..]] {
            let options = call(&bench, &format!("OPTIONS {path}"), headers, b"");
            assert_eq!(
                (options.status, options.headers["allow"].as_str()),
                (204, allow),
                "{path}"
            );
            assert!(options.body.is_null(), "{path}");
        }
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "BREW"] {
            if allow.split(", ").any(|taken| taken == method) {
                continue;
            }
            let refused = call(&bench, &format!("{method} {path}"), &[], b"{}");
            assert_eq!(
                (refused.status, refused.headers["allow"].as_str()),
                (405, allow),
                "{method} {path}"
            );
        }
    }
    for path in ["/nothing", "/tasks/a/b", "/"] {
        let nothing = call(&bench, &format!("OPTIONS {path}"), &[], b"");
        assert_eq!(
            (nothing.status, nothing.headers.contains_key("allow")),
            (404, false),
            "{path}"
        );
    }
}

#[test]
fn a_head_is_answered_as_a_get_without_its_body() {
    let bench = Bench::new();
    let sent = bench.send(&bench.client, "", &json!({})).ok();
    let task = sent["task"]["id"].as_str().unwrap();
    let credentials = [&bench.client, &bench.member].map(|token| format!("Bearer {token}"));
    let mut compared = 0;
    for (path, _) in paths(task)
        .into_iter()
        .filter(|(_, allow)| allow.contains("HEAD"))
    {
        for bearer in credentials.iter().map(String::as_str).chain(["Bearer x"]) {
            let headers = [
                ("authorization", bearer),
                ("a2a-version", "1.0"),
                ("a2a-extensions", COORDINATION),
            ];
            let get = call(&bench, &format!("GET {path}"), &headers, b"");
            let mut head = call(&bench, &format!("HEAD {path}"), &headers, b"");
            assert!(head.body.is_null(), "{path}");
            let length = head.headers.remove("content-length");
            if !get.body.is_null() {
                let whole = get.body.to_string().len().to_string();
                assert_eq!(length, Some(whole), "{path}");
            }
            assert_eq!((head.status, head.headers), (get.status, get.headers), "{path}");
            compared += 1;
        }
    }
    assert_eq!(compared, 3 * 8);
}

#[test]
fn a_refusal_that_comes_early_says_which_extensions_were_active() {
    let bench = Bench::new();
    let bearer = format!("Bearer {}", bench.client);
    let json_type = ("content-type", "application/json");
    let version = ("a2a-version", "1.0");
    let long = vec![b' '; 262_145];
    /// The method and path, headers and body of a request, and the status of its answer.
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [u8], u16);
    let cases: [Case<'_>; 5] = [
        ("POST /message:send", &[json_type, version], &long, 413),
        (
            "POST /message:send",
            &[("content-type", "text/plain"), version],
            b"{}",
            415,
        ),
        ("POST /message:send", &[json_type, version], b"{", 400),
        (
            "POST /message:send",
            &[json_type, ("a2a-version", "0.3")],
            b"{}",
            400,
        ),
        ("GET /tasks?tenant=another", &[version], b"", 404),
    ];
    for (line, headers, body, status) in cases {
        let ask = |extensions: &str| {
            let mut headers = headers.to_vec();
            headers.push(("authorization", bearer.as_str()));
            headers.push(("a2a-extensions", extensions));
            let reply = call(&bench, line, &headers, body);
            assert_eq!(reply.status, status, "{line}");
            reply.headers.get("a2a-extensions").cloned()
        };
        let both = format!("{ENVELOPE}, urn:unknown, {WORK}");
        assert_eq!(ask(&both), Some(format!("{WORK},{ENVELOPE}")), "{line}");
        assert_eq!(ask("urn:unknown"), None, "{line}");
    }
}

#[test]
fn a_context_id_of_256_bytes_is_taken_and_one_of_257_is_not() {
    let bench = Bench::new();
    let (last, first) = ("c".repeat(256), "c".repeat(257));
    let send = |id: &str| bench.send(&bench.client, "", &json!({ "contextId": id }));
    assert_eq!(send(&last).ok()["task"]["contextId"], last);
    let field = "message.contextId".to_owned();
    assert_eq!(send(&first).refused(), (400, "INVALID_PARAMS".to_owned(), field));
    let list = |id: &str| {
        let path = format!("/tasks?contextId={id}");
        bench.request("GET", &path, &bench.client, "", b"")
    };
    assert_eq!(list(&last).ok()["totalSize"], 1);
    let field = "contextId".to_owned();
    assert_eq!(list(&first).refused(), (400, "INVALID_PARAMS".to_owned(), field));
}

#[test]
fn a_part_is_of_a_media_type_that_the_card_names() {
    let bench = Bench::new();
    let send = |parts: Value| bench.send(&bench.client, "", &json!({ "parts": parts }));
    for media_type in ["text/plain", "TEXT/Plain ; charset=utf-8", "application/json", ""] {
        send(json!([{"text": "a", "mediaType": media_type}])).ok();
        send(json!([{"data": 1, "media_type": media_type}])).ok();
    }
    for (part, index) in [
        (json!({"text": "a", "mediaType": "text/html"}), 0),
        (json!({"data": 1, "mediaType": "application/jsonl"}), 1),
        (
            json!({"url": "https://e.example/x.png", "mediaType": "image/png"}),
            2,
        ),
    ] {
        let mut parts = vec![json!({"text": "a"}); index];
        parts.push(part);
        let field = format!("message.parts[{index}].mediaType");
        let refused = send(json!(parts)).refused();
        assert_eq!(refused, (400, "CONTENT_TYPE_NOT_SUPPORTED".to_owned(), field));
    }
    let status =
        json!({"parts": [{"text": "a", "mediaType": "text/html"}], "metadata": {WORK: {"skill": "status"}}});
    let refused = bench.send(&bench.client, WORK, &status).refused();
    assert_eq!(
        (refused.0, refused.1.as_str()),
        (400, "CONTENT_TYPE_NOT_SUPPORTED")
    );
}
