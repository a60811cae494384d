//! Pages of other origins: what a browser is told, and that it is told nothing unless the deployment says so (Fetch, §3.2).

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
use serde_json::json;
use support::{Bench, Reply};

const PAGE: &str = "https://app.example.org";
const CARD: &str = "/.well-known/agent-card.json";

fn bench(origins: &str) -> Bench {
    Bench::with(|config| config.allowed_origins = origins.parse().unwrap())
}

fn ask(bench: &Bench, line: &str, headers: &[(&str, &str)]) -> Reply {
    let (method, path) = line.split_once(' ').unwrap();
    let request = Request::builder().method(method).uri(path);
    let request = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value));
    bench.call(request.body(Vec::new()).unwrap())
}

/// What an answer says to browsers, by the end of the header's name.
fn told(reply: &Reply) -> Vec<(&str, &str)> {
    let said = reply.headers.iter().filter_map(|(name, value)| {
        let name = name.strip_prefix("access-control-");
        name.map(|name| (name, value.as_str()))
    });
    said.collect()
}

const READ: (&str, &str) = (
    "expose-headers",
    "a2a-extensions, allow, etag, retry-after, www-authenticate, x-request-id",
);

#[test]
fn nothing_is_said_to_browsers_unless_the_deployment_says_so() {
    let bench = bench("");
    for line in ["OPTIONS /message:send", "GET /.well-known/agent-card.json"] {
        let asked = [("origin", PAGE), ("access-control-request-method", "POST")];
        let reply = ask(&bench, line, &asked);
        assert_eq!(told(&reply), [], "{line}");
        assert_eq!(reply.headers.get("vary"), None, "{line}");
    }
}

#[test]
fn a_page_that_may_call_is_told_so_before_and_with_the_answer() {
    let bench = bench(&format!("http://localhost:5173, {PAGE}"));
    let asked = [
        ("origin", PAGE),
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "a2a-version,authorization,content-type",
        ),
    ];
    for (line, methods) in [
        ("OPTIONS /message:send", "POST, OPTIONS"),
        ("OPTIONS /rpc", "POST, OPTIONS"),
        ("OPTIONS /tasks/t", "GET, HEAD, OPTIONS"),
        (
            "OPTIONS /extensions/session-coordination/v1/requests:list",
            "POST, OPTIONS",
        ),
        ("OPTIONS /operator/v1/sessions:create", "POST, OPTIONS"),
    ] {
        let before = ask(&bench, line, &asked);
        assert_eq!(before.status, 204, "{line}");
        let expected = [
            ("allow-headers", "authorization, *"),
            ("allow-methods", methods),
            ("allow-origin", PAGE),
            ("max-age", "7200"),
        ];
        assert_eq!(told(&before), expected, "{line}");
        assert_eq!(before.headers["vary"], "origin", "{line}");
    }
    // Refusals as well: a page is to read why.
    for (line, status) in [
        (format!("GET {CARD}"), 200),
        ("GET /tasks".to_owned(), 401),
        ("GET /nowhere".to_owned(), 404),
        ("PUT /tasks".to_owned(), 405),
        ("OPTIONS /tasks".to_owned(), 204),
    ] {
        let reply = ask(&bench, &line, &[("origin", PAGE)]);
        assert_eq!((reply.status, reply.headers["vary"].as_str()), (status, "origin"));
        assert_eq!(told(&reply), [("allow-origin", PAGE), READ], "{line}");
    }
    let authorization = format!("Bearer {}", bench.client);
    let headers = [
        ("origin", PAGE),
        ("a2a-version", "1.0"),
        ("authorization", authorization.as_str()),
    ];
    let listed = ask(&bench, "GET /tasks", &headers);
    assert_eq!(told(&listed), [("allow-origin", PAGE), READ]);
    assert_eq!(listed.ok()["tasks"], json!([]));
}

#[test]
fn a_page_of_another_origin_is_told_nothing_and_no_cache_takes_one_for_the_other() {
    let bench = bench(PAGE);
    for origin in [
        "https://app.example.org:8443",
        "http://app.example.org",
        "https://app.example.org.evil.example",
        "https://APP.example.org",
        "null",
        "*",
    ] {
        let reply = ask(&bench, &format!("GET {CARD}"), &[("origin", origin)]);
        assert_eq!(told(&reply), [], "{origin}");
        assert_eq!(reply.headers["vary"], "origin");
    }
    let reply = ask(&bench, &format!("GET {CARD}"), &[]);
    assert_eq!((told(&reply), reply.headers["vary"].as_str()), (vec![], "origin"));
}

#[test]
fn the_star_lets_every_page_and_whatever_a_cache_keeps_of_it() {
    let bench = bench("*");
    for headers in [&[("origin", PAGE)][..], &[("origin", "null")], &[]] {
        let reply = ask(&bench, &format!("GET {CARD}"), headers);
        assert_eq!(told(&reply), [("allow-origin", "*"), READ]);
        assert_eq!(reply.headers.get("vary"), None);
    }
    let tag = ask(&bench, &format!("GET {CARD}"), &[]).headers["etag"].clone();
    let kept = ask(&bench, &format!("GET {CARD}"), &[("if-none-match", tag.as_str())]);
    assert_eq!(
        (kept.status, told(&kept)),
        (304, vec![("allow-origin", "*"), READ])
    );
}

#[test]
fn a_stream_is_read_like_any_other_answer() {
    let bench = bench(PAGE);
    let message = json!({"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]});
    let request = Request::post("/message:stream")
        .header("origin", PAGE)
        .header("a2a-version", "1.0")
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {}", bench.client))
        .body(json!({ "message": message }).to_string().into_bytes());
    let reply = bench.call(request.unwrap());
    assert_eq!(reply.headers["content-type"], "text/event-stream");
    assert_eq!(told(&reply), [("allow-origin", PAGE), READ]);
}
