//! Spin's documented limits: the host of these tests refuses a longer key or value, so that a session which grows past
//! them in all shows that it is split.

use a2a_edge_spin_tests::Deployment;
use serde_json::json;

use crate::party::Party;

/// Enough for a snapshot of more than a value's limit.
const MESSAGES: usize = 24;

/// One commit of more than the head takes.
const BODY: usize = 60_000;

#[test]
fn a_session_of_more_than_a_value_s_limit_is_split_and_whole() {
    let party = Party::new(&Deployment::on("memory").with("requests", "40"));
    let client = &party.session.client;
    for number in 0..MESSAGES {
        let text = "é".repeat(BODY / 2);
        let message =
            json!({"messageId": format!("m-{number}"), "role": "ROLE_USER", "parts": [{"text": text}]});
        let body = json!({"message": message, "configuration": {"returnImmediately": true}});
        party.caller.call("POST /message:send", client, &body).ok();
    }
    let listed = party
        .caller
        .call("GET /tasks?pageSize=100&historyLength=1", client, &json!(null))
        .ok();
    assert_eq!(listed["totalSize"], MESSAGES);
    assert!(
        listed.to_string().len() > MESSAGES * BODY,
        "{}",
        listed.to_string().len()
    );
    let refused = party.running.lines();
    assert!(
        !refused
            .iter()
            .any(|line| line.contains("more than Spin documents"))
    );
}
