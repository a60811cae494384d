//! Clients that hang up, send too much, or ask for the head alone.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use a2a_edge_workers_tests::Deployment;
use serde_json::{Value, json};

use crate::party::{PATIENCE, Party};

/// The request as it goes over the wire; the connection is closed after its answer.
fn raw(party: &Party, line: &str, token: &str, body: &str) -> String {
    format!(
        "{line} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nA2A-Version: 1.0\r\nContent-Type: \
         application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        host(party),
        body.len()
    )
}

fn host(party: &Party) -> String {
    party.running.url().replace("http://", "")
}

fn connect(party: &Party) -> TcpStream {
    let stream = TcpStream::connect(host(party)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// The whole answer to a request without a body.
fn exchange(party: &Party, line: &str, token: &str) -> String {
    let mut stream = connect(party);
    stream.write_all(raw(party, line, token, "").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn clients_that_hang_up_leave_the_session_as_good_as_it_was() {
    let party = Party::new(&Deployment::default());
    let client = &party.session.client;
    for number in 0..20 {
        // Half of them wait for an answer that does not come, half go away in the middle of their body.
        let message = json!({"message": {"messageId": format!("m-{number}"), "role": "ROLE_USER", "parts": [{"text": "?"}]}});
        let request = raw(&party, "POST /message:send", client, &message.to_string());
        let cut = if number % 2 == 0 { 0 } else { 5 };
        let sent = &request.as_bytes()[..request.len() - cut];
        let mut stream = connect(&party);
        stream.write_all(sent).unwrap();
        stream.shutdown(Shutdown::Both).unwrap();
    }
    party.caller.send(client, "after").ok();
    let listed = party.caller.call("GET /tasks", client, &Value::Null).ok();
    // What came whole was done, or was not begun; nothing is half there.
    let tasks = listed["tasks"].as_array().unwrap().len();
    assert!((1..=11).contains(&tasks), "{listed}");
}

#[test]
fn a_body_that_is_too_long_is_refused_and_the_session_goes_on() {
    let party = Party::new(&Deployment::default());
    let client = &party.session.client;
    for bytes in [262_145, 1 << 20] {
        let body = Value::String("x".repeat(bytes - 2));
        let reply = party.caller.call("POST /message:send", client, &body);
        assert_eq!(
            (reply.status, reply.reason()),
            (413, "CONTENT_TOO_LARGE"),
            "{reply:?}"
        );
    }
    party.caller.send(client, "after").ok();
}

#[test]
fn the_head_of_a_card_has_no_body() {
    let party = Party::new(&Deployment::default());
    let answer = exchange(&party, "HEAD /.well-known/agent-card.json", "none");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}

#[test]
fn a_method_that_nothing_takes_is_not_taken_for_another() {
    let party = Party::new(&Deployment::default());
    let answer = exchange(&party, "PROPFIND /tasks", &party.session.client);
    assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
}
