//! An answer that a send which still waits is given in place of its task (session coordination, §9).
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

#[path = "support/desk.rs"]
mod support;

use std::cell::Cell;

use a2a_edge::serve::{Host, Sessions, handle};
use a2a_edge::store::Bell;
use a2a_edge::time::Timestamp;
use http::Request;
use serde_json::{Value, json};
use support::{Bench, ENVELOPE, TestHost, WORK};

/// The host of a bench, where something happens the first time that a request waits.
struct Meanwhile<'b, F> {
    bench: &'b Bench,
    act: Cell<Option<F>>,
}

impl<F: FnOnce(&Bench)> Bell for Meanwhile<'_, F> {
    fn ring(&self, _: &str, _: u64) {}

    async fn wait(&self, session: &str, after: u64, until: Timestamp) {
        match self.act.take() {
            Some(act) => act(self.bench),
            None => self.bench.host.wait(session, after, until).await,
        }
    }
}

impl<F: FnOnce(&Bench)> Host for Meanwhile<'_, F> {
    type Store = <TestHost as Host>::Store;
    type Bell = Self;

    fn store(&self) -> &Self::Store {
        self.bench.host.store()
    }

    fn bell(&self) -> &Self {
        self
    }

    fn sessions(&self) -> &Sessions {
        self.bench.host.sessions()
    }

    fn now(&self) -> Timestamp {
        self.bench.host.now()
    }

    fn entropy(&self) -> [u8; 32] {
        self.bench.host.entropy()
    }
}

fn message() -> Value {
    json!({"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Is it done?"}]})
}

/// The answer to a send that waits, while somebody does something.
fn sent(bench: &Bench, extensions: &str, act: impl FnOnce(&Bench)) -> Value {
    let host = Meanwhile {
        bench,
        act: Cell::new(Some(act)),
    };
    let request = Request::post("/message:send")
        .header("a2a-version", "1.0")
        .header("a2a-extensions", extensions)
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {}", bench.client))
        .body(json!({ "message": message() }).to_string().into_bytes());
    let answer = pollster::block_on(handle(&host, &bench.desk, request.unwrap()));
    assert_eq!(answer.status(), 200);
    serde_json::from_slice(&answer.into_body().into_whole().unwrap()).unwrap()
}

fn update(bench: &Bench, request: &Value, body: Value) -> (u16, String, String) {
    let mut body = body;
    body["requestId"] = request.clone();
    let reply = bench.coordinate(&bench.member, "requests:update", &body);
    if reply.status == 200 {
        return (200, String::new(), String::new());
    }
    reply.refused()
}

/// The newest request, claimed.
fn claimed(bench: &Bench) -> Value {
    let listed = bench.coordinate(&bench.member, "requests:list", &json!({})).ok();
    let request = listed["requests"].as_array().unwrap().last().unwrap()["requestId"].clone();
    assert_eq!(update(bench, &request, json!({"action": "claim"})).0, 200);
    request
}

fn answer(bench: &Bench, request: &Value) -> (u16, String, String) {
    let body = json!({"action": "complete", "note": "Yes.", "asMessage": true});
    update(bench, request, body)
}

fn done() -> (u16, String, String) {
    (200, String::new(), String::new())
}

fn shown() -> (u16, String, String) {
    (400, "TASK_SHOWN".to_owned(), String::new())
}

/// An answer as work/v1 has it.
fn given() -> Value {
    json!({"artifactId": "answer", "parts": [{"text": "West."}], "metadata": {WORK: {"kind": "answer"}}})
}

fn tasks(bench: &Bench) -> Value {
    bench.request("GET", "/tasks", &bench.client, "", b"").ok()["tasks"].clone()
}

#[test]
fn a_send_that_waits_is_answered_with_the_message() {
    let bench = Bench::new();
    let answered = sent(&bench, "", |bench| {
        let request = claimed(bench);
        assert_eq!(answer(bench, &request), done());
    });
    assert_eq!(answered["message"]["parts"], json!([{"text": "Yes."}]));
    assert_eq!(answered["message"]["role"], "ROLE_AGENT");
    assert!(answered.get("task").is_none(), "{answered}");
    assert!(answered["message"].get("taskId").is_none(), "{answered}");
    // It ended like any other.
    let tasks = tasks(&bench);
    assert_eq!(tasks[0]["contextId"], answered["message"]["contextId"]);
    assert_eq!(tasks[0]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[test]
fn a_send_that_is_repeated_is_answered_as_the_first() {
    let bench = Bench::new();
    let first = sent(&bench, ENVELOPE, |bench| {
        let request = claimed(bench);
        assert_eq!(answer(bench, &request), done());
    });
    assert!(first.get("message").is_some(), "{first}");
    assert_eq!(sent(&bench, ENVELOPE, |_| ()), first);
}

#[test]
fn a_client_that_was_told_of_the_task_is_told_how_it_ends() {
    let immediately = json!({"message": message(), "configuration": {"returnImmediately": true}});
    for (path, body) in [
        ("/message:send", immediately),
        ("/message:stream", json!({ "message": message() })),
    ] {
        let bench = Bench::new();
        let body = body.to_string();
        bench.request("POST", path, &bench.client, "", body.as_bytes());
        let request = claimed(&bench);
        assert_eq!(answer(&bench, &request), shown(), "{path}");
        let complete = json!({"action": "complete", "note": "Yes.", "asMessage": false});
        assert_eq!(update(&bench, &request, complete), done(), "{path}");
    }
}

#[test]
fn a_task_that_waited_for_its_client_or_the_owner_was_told_of() {
    let bench = Bench::new();
    let asked = sent(&bench, "", |bench| {
        let request = claimed(bench);
        let client = bench.address(&bench.client);
        let (_, client) = client.split_once(':').unwrap();
        let question = json!({"body": "Which?", "requestId": request, "to": [client]});
        bench.coordinate(&bench.member, "questions:ask", &question).ok();
    });
    let more = json!({"taskId": asked["task"]["id"], "parts": [{"text": "That."}]});
    assert_eq!(bench.send(&bench.client, "", &more).status, 200);
    let listed = bench.coordinate(&bench.member, "requests:list", &json!({})).ok();
    assert_eq!(answer(&bench, &listed["requests"][0]["requestId"]), shown());
    sent(&bench, "", |bench| {
        let request = claimed(bench);
        let hold = json!({"action": "hold", "gate": "scope", "reason": "More of it"});
        assert_eq!(update(bench, &request, hold), done());
        assert_eq!(answer(bench, &request), shown());
    });
}

#[test]
fn who_writes_about_a_task_knows_of_it() {
    let bench = Bench::new();
    sent(&bench, "", |bench| {
        let request = claimed(bench);
        let body = json!({
            "message": {"messageId": "m-2", "role": "ROLE_USER", "parts": [{"text": "Well?"}], "taskId": tasks(bench)[0]["id"]},
            "configuration": {"returnImmediately": true},
        });
        let body = body.to_string();
        bench
            .request("POST", "/message:send", &bench.client, "", body.as_bytes())
            .ok();
        assert_eq!(answer(bench, &request), shown());
    });
}

#[test]
fn a_send_waits_so_long_and_no_longer() {
    for (more, expected) in [(-1, done()), (0, shown())] {
        let bench = Bench::new();
        let limit = i64::from(bench.desk.config().blocking_limit_ms);
        let begun = bench.now();
        sent(&bench, "", |bench| {
            let request = claimed(bench);
            let until = begun.plus_millis(limit + more);
            pollster::block_on(bench.host.wait("", 0, until));
            assert_eq!(answer(bench, &request), expected, "{more}");
        });
    }
}

#[test]
fn work_that_no_client_waits_for_and_what_is_handed_in_have_a_task() {
    let bench = Bench::new();
    let created = bench
        .coordinate(&bench.owner, "requests:create", &json!({"title": "Look"}))
        .ok();
    let own = created["request"]["requestId"].clone();
    assert_eq!(update(&bench, &own, json!({"action": "claim"})), done());
    assert_eq!(answer(&bench, &own), shown());
    let other = json!({"artifactId": "a", "parts": [{"text": "a"}]});
    let body = json!({"action": "complete", "asMessage": true, "artifacts": [given(), other]});
    let invalid = (400, "INVALID_ARGUMENT".to_owned(), "artifacts[1]".to_owned());
    assert_eq!(update(&bench, &own, body), invalid);
}

#[test]
fn the_answer_may_be_the_artifact_that_gives_it() {
    let bench = Bench::new();
    let answered = sent(&bench, "", |bench| {
        let request = claimed(bench);
        let body = json!({"action": "complete", "asMessage": true, "artifacts": [given()]});
        assert_eq!(update(bench, &request, body), done());
    });
    assert_eq!(answered["message"]["parts"], json!([{"text": "West."}]));
}
