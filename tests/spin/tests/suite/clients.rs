//! Clients that send too much, ask for the head alone, or go away.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use a2a_edge_spin_tests::Deployment;
use a2a_edge_stories::server::PATIENCE;
use serde_json::{Value, json};

use crate::party::Party;

/// Opens a connection and sends a request; the connection is closed after its answer.
fn sent(party: &Party, line: &str, token: &str, body: &str) -> TcpStream {
    let host = party.running.url().replace("http://", "");
    let mut stream = TcpStream::connect(&host).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!(
        "{line} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nA2A-Version: 1.0\r\nContent-Type: \
         application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

fn answer(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_body_that_is_too_long_is_refused_and_the_session_goes_on() {
    let party = Party::new(&Deployment::on("memory"));
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
    let party = Party::new(&Deployment::on("memory"));
    let answer = answer(sent(&party, "HEAD /.well-known/agent-card.json", "none", ""));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}

#[test]
fn a_method_that_nothing_takes_is_not_taken_for_another() {
    let party = Party::new(&Deployment::on("memory"));
    let answer = answer(sent(&party, "PROPFIND /tasks", &party.session.client, ""));
    assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
}

#[test]
fn clients_that_hang_up_leave_the_session_as_good_as_it_was() {
    let party = Party::new(&Deployment::on("memory"));
    let client = &party.session.client;
    for number in 0..20 {
        let message = json!({"message": {"messageId": format!("m-{number}"), "role": "ROLE_USER", "parts": [{"text": "?"}]}});
        let stream = sent(&party, "POST /message:send", client, &message.to_string());
        stream.shutdown(Shutdown::Both).unwrap();
    }
    party.caller.send(client, "after").ok();
    let listed = party.caller.call("GET /tasks", client, &Value::Null).ok();
    let tasks = listed["tasks"].as_array().unwrap().len();
    assert!((1..=21).contains(&tasks), "{listed}");
}
