//! Many who call at once: what an instance has room for, and the lines that it writes.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

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

/// Every call of every batch is done, in a session with so many tasks before.
pub(crate) fn all_find_room(party: &Party, before: usize) {
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
    assert_eq!(listed["totalSize"], CALLERS * CALLS + before);
}

#[test]
fn batches_that_come_at_once_find_room_in_instances_that_are_warm_and_cold() {
    let party = Party::new(&Deployment::on("memory").with("instances", "1"));
    all_find_room(&party, 0);
}

#[test]
fn batches_that_come_at_once_find_room_where_instances_are_in_each_other_s_way() {
    let place = scratch();
    all_find_room(&Party::new(&sqlite(&place)), 0);
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
fn bodies_that_do_not_come_keep_nobody_out_and_are_waited_for_half_a_minute() {
    let party = Party::new(&Deployment::on("memory").with("instances", "1"));
    let address = party.running.url().strip_prefix("http://").unwrap();
    // Each may be as long a batch as there is: of two the instance's room is taken.
    let head = format!("POST /rpc HTTP/1.1\r\nhost: {address}\r\ncontent-length: 200000\r\n\r\n[");
    let mut idle: Vec<TcpStream> = (0..4).map(|_| TcpStream::connect(address).unwrap()).collect();
    for stream in &mut idle {
        stream.set_read_timeout(Some(Duration::from_secs(50))).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
    }
    let start = Instant::now();
    party.caller.send(&party.session.client, "meanwhile").ok();
    assert!(start.elapsed() < Duration::from_secs(25), "{:?}", start.elapsed());
    for mut stream in idle {
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 408");
    }
    all_find_room(&party, 1);
}

#[test]
fn an_answer_has_a_length_where_it_may_have_one() {
    let party = Party::new(&Deployment::on("memory"));
    let http = Http::new(party.running.url());
    let ask = |method: &str, etag: Option<&str>| {
        let mut request = Request::builder()
            .method(method)
            .uri("/.well-known/agent-card.json");
        if let Some(etag) = etag {
            request = request.header("if-none-match", etag);
        }
        let (head, body) = http.call(request.body(Vec::new()).unwrap()).unwrap().into_parts();
        let told = |name: &str| {
            head.headers
                .get(name)
                .map(|value| value.to_str().unwrap().to_owned())
        };
        (
            head.status.as_u16(),
            told("content-length"),
            body.len(),
            told("etag"),
        )
    };
    let (_, told, read, etag) = ask("GET", None);
    assert_eq!(told, Some(read.to_string()));
    assert_eq!(ask("HEAD", None), (200, told, 0, etag.clone()));
    for method in ["GET", "HEAD"] {
        assert_eq!(ask(method, etag.as_deref()), (304, None, 0, etag.clone()));
    }
    assert_eq!(ask("OPTIONS", None), (204, None, 0, None));
}
