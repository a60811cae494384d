//! What the command line makes of servers that fail, refuse, or are none.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it is"
)]

mod support;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};
use support::{PATIENCE, Said, binary, run};

/// Answers one request with these words, whatever it asks; tells what was asked.
fn once(answer: String, words: &[&str]) -> (Said, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("http://{address}");
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut asked = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let read = stream.read(&mut buffer).unwrap();
            asked.extend_from_slice(&buffer[..read]);
            if read == 0 || is_whole(&asked) {
                break;
            }
        }
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(asked).unwrap()
    });
    let said = run(
        binary().args(["--url", &url, "--token", "secret"]).args(words),
        "",
    );
    // Should the command not have called, this ends the wait for it.
    drop(TcpStream::connect(address));
    (said, server.join().unwrap())
}

/// Whether the head and as much body as it announces are there.
fn is_whole(asked: &[u8]) -> bool {
    let text = String::from_utf8_lossy(asked);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .filter_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length: ")?
                .parse::<usize>()
                .ok()
        })
        .next();
    body.len() >= length.unwrap_or(0)
}

fn http(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn error(status: &str, body: &Value) -> String {
    http(status, &json!({"error": body}).to_string())
}

#[test]
fn a_refusal_shows_field_and_rule_and_is_exit_code_1() {
    let body = json!({
        "code": 400, "status": "INVALID_ARGUMENT", "message": "work.title: expected one line",
        "details": [{"@type": "type.googleapis.com/google.rpc.BadRequest",
                     "fieldViolations": [{"field": "message.metadata.title", "description": "expected one line"}]}],
    });
    let (said, _) = once(error("400 Bad Request", &body), &["send", "hello"]);
    let said = said.ended(1);
    assert_eq!(said.out, "");
    assert_eq!(
        said.err,
        "error: work.title: expected one line (HTTP 400, INVALID_ARGUMENT)\n  \
         field   message.metadata.title\n  rule    expected one line\n"
    );
    let (said, _) = once(error("400 Bad Request", &body), &["send", "hello", "--json"]);
    assert_eq!(said.ended(1).json(), json!({"error": body}));
}

#[test]
fn each_kind_of_failure_has_its_exit_code() {
    let body = json!({"code": 0, "status": "X", "message": "no"});
    for (status, code) in [
        ("401 Unauthorized", 4),
        ("403 Forbidden", 4),
        ("404 Not Found", 1),
        ("409 Conflict", 1),
        ("429 Too Many Requests", 1),
        ("500 Internal Server Error", 5),
        ("503 Service Unavailable", 5),
    ] {
        let (said, _) = once(error(status, &body), &["task", "get", "t1"]);
        assert!(said.ended(code).err.starts_with("error: no (HTTP "), "{status}");
    }
}

#[test]
fn an_answer_that_is_none_of_a2as_is_exit_code_5() {
    for answer in [
        http("200 OK", "<html>"),
        http("404 Not Found", "<html>"),
        http("302 Found", ""),
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".to_owned(),
    ] {
        let (said, _) = once(answer, &["send", "hello", "--json"]);
        assert_eq!(said.ended(5).json()["error"]["status"], "UNREADABLE");
    }
}

#[test]
fn no_server_is_exit_code_3() {
    // A port that was free a moment ago.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for words in [&["task", "list"][..], &["task", "list", "--json"]] {
        let said = run(binary().args(["--url", &url]).args(words), "").ended(3);
        assert!(
            said.err.contains("hint    start one with: a2a-edge serve"),
            "{said:?}"
        );
    }
    // Half an answer is no answer.
    let (said, _) = once(
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".to_owned(),
        &["task", "list"],
    );
    said.ended(3);
}

#[test]
fn an_address_that_is_none_is_exit_code_2() {
    for url in ["nonsense url", "", "http://"] {
        run(binary().args(["--url", url, "task", "list"]), "").ended(2);
    }
}

#[test]
fn what_is_sent_is_a2a_1_0_over_http_json() {
    let task = json!({"task": {"id": "t1", "status": {"state": "TASK_STATE_AUTH_REQUIRED"}}});
    let words = ["send", "--handoff", "T", "--message-id", "m1", "--tenant", "s/1"];
    let (said, asked) = once(http("200 OK", &task.to_string()), &words);
    assert!(said.ended(0).out.contains("a2a-edge approve t1"));
    let (head, body) = asked.split_once("\r\n\r\n").unwrap();
    let head = head.to_ascii_lowercase();
    assert!(
        head.starts_with("post /s%2f1/message:send http/1.1\r\n"),
        "{head}"
    );
    for line in [
        "a2a-version: 1.0",
        "a2a-extensions: https://dispatch.foo/a2a/ext/work/v1, https://dispatch.foo/a2a/ext/gate/v1",
        "authorization: bearer secret",
        "content-type: application/a2a+json",
    ] {
        assert!(head.lines().any(|said| said == line), "{line}: {head}");
    }
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["message"]["messageId"], "m1");
}

#[test]
fn a_task_list_asks_for_what_its_options_say() {
    let list = json!({"tasks": [], "nextPageToken": "", "pageSize": 5, "totalSize": 0});
    let words = [
        "task",
        "list",
        "--plain",
        "--state",
        "input-required",
        "--limit",
        "5",
        "--page",
        "a b",
    ];
    let (said, asked) = once(http("200 OK", &list.to_string()), &words);
    assert_eq!(
        said.ended(0).out,
        "No tasks. Send something: a2a-edge send TEXT\n"
    );
    let expected =
        "GET /tasks?status=TASK_STATE_INPUT_REQUIRED&pageSize=5&pageToken=a%20b&historyLength=0 HTTP/1.1";
    assert_eq!(asked.lines().next(), Some(expected));
    assert!(!asked.to_ascii_lowercase().contains("a2a-extensions"), "{asked}");
}

#[test]
fn a_card_is_fetched_without_a_token() {
    let card = json!({"name": "Other\u{1b}[2J", "description": "Does\nthings", "version": "2",
                      "capabilities": {"extensions": [{"uri": "https://x/y", "required": true}]}});
    let (said, asked) = once(http("200 OK", &card.to_string()), &["card"]);
    let said = said.ended(0);
    assert!(
        said.out.starts_with("name     Other\\u{1b}[2J\nversion  2\n"),
        "{said:?}"
    );
    assert!(said.out.contains("\ndescription\n> Does\n> things\n"), "{said:?}");
    assert!(said.out.contains("https://x/y    (required)"), "{said:?}");
    assert!(asked.starts_with("GET /.well-known/agent-card.json "), "{asked}");
    assert!(!asked.contains("secret"), "{asked}");
}
