//! Many who call at once: what an instance has room for, and the lines that it writes.

use std::thread;

use a2a_edge_spin_tests::Deployment;
use a2a_edge_stories::{Http, Target as _};
use http::Request;
use serde_json::{Value, json};

use crate::callers::{Caller, scratch};
use crate::party::{Party, sqlite};

/// How many call at once.
const CALLERS: usize = 12;

/// As many calls as a batch may have.
const CALLS: usize = 50;

/// Has everybody call at once.
fn together<T: Send>(calls: impl Fn(usize) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let calls = &calls;
        let callers: Vec<_> = (0..CALLERS)
            .map(|number| scope.spawn(move || calls(number)))
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    })
}

/// A batch of sends, of which each is a commit of its own.
fn batch(number: usize) -> Value {
    let call = |call| {
        let message = json!({
            "messageId": format!("m-{number}-{call}"),
            "role": "ROLE_USER",
            "parts": [{"text": "?"}],
        });
        let params = json!({"message": message, "configuration": {"returnImmediately": true}});
        json!({"jsonrpc": "2.0", "id": call, "method": "SendMessage", "params": params})
    };
    (0..CALLS).map(call).collect()
}

/// Every call of every batch is done.
fn all_find_room(party: &Party) {
    let client = &party.session.client;
    let answers = together(|number| {
        let caller = Caller::of(&party.running);
        caller.call("POST /rpc", client, &batch(number)).ok()
    });
    for answer in answers {
        let answers = answer.as_array().unwrap();
        assert_eq!(answers.len(), CALLS);
        for answer in answers {
            assert!(answer["result"]["task"]["id"].is_string(), "{answer}");
        }
    }
    let listed = party
        .caller
        .call("GET /tasks?pageSize=1", client, &Value::Null)
        .ok();
    assert_eq!(listed["totalSize"], CALLERS * CALLS);
}

#[test]
fn batches_that_come_at_once_find_room_in_instances_that_are_warm_and_cold() {
    let party = Party::new(&Deployment::on("memory").with("instances", "1"));
    all_find_room(&party);
}

#[test]
fn batches_that_come_at_once_find_room_where_instances_are_in_each_other_s_way() {
    let place = scratch();
    all_find_room(&Party::new(&sqlite(&place)));
}

#[test]
fn lines_of_the_log_are_whole_whoever_writes_at_once() {
    let party = Party::new(&Deployment::on("memory"));
    together(|_| {
        let caller = Caller::of(&party.running);
        for _ in 0..CALLS {
            caller
                .call("GET /tasks?pageSize=1", &party.session.client, &Value::Null)
                .ok();
        }
    });
    let lines = party.lines();
    let read = lines.iter().filter(|line| line.contains("\"ListTasks\""));
    assert_eq!(read.count(), CALLERS * CALLS);
    for line in lines {
        let line: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(line["event"].is_string(), "{line}");
    }
}

#[test]
fn the_answer_to_a_head_has_the_length_of_what_is_left_out() {
    let party = Party::new(&Deployment::on("memory"));
    let length = |method: &str| {
        let request = Request::builder()
            .method(method)
            .uri("/.well-known/agent-card.json")
            .body(Vec::new());
        let answer = Http::new(party.running.url()).call(request.unwrap());
        let (head, body) = answer.unwrap().into_parts();
        let length = head.headers["content-length"].to_str().unwrap().to_owned();
        (length, body.len())
    };
    let (told, read) = length("GET");
    assert_eq!(told, read.to_string());
    assert_eq!(length("HEAD"), (told, 0));
}
