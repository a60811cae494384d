//! The module traps, or an object fails: whoever waits is told, and the next request finds all well again.

use std::thread;
use std::time::{Duration, Instant};

use a2a_edge_workers_tests::{Deployment, OPERATOR};
use serde_json::{Value, json};

use crate::party::{Party, Reply};

/// Far less than a hanging request would take.
const PROMPT: Duration = Duration::from_secs(10);

fn told(reply: &Reply) {
    assert_eq!(
        (reply.status, reply.reason()),
        (500, "INTERNAL_ERROR"),
        "{reply:?}"
    );
    assert!(!reply.id.is_empty());
    assert_eq!(
        reply.body["error"]["details"][0]["metadata"]["requestId"],
        reply.id.as_str()
    );
}

#[test]
fn a_trap_is_a_500_with_a_request_id_for_all_who_wait_and_the_session_goes_on() {
    let party = Party::new(&Deployment::default().trapping());
    let (caller, session) = (&party.caller, &party.session);
    let before = caller.send(&session.client, "before").ok();
    for round in 0..3 {
        let start = Instant::now();
        let waiting = json!({"message": {"messageId": format!("waiting-{round}"), "role": "ROLE_USER", "parts": [{"text": "?"}]}});
        thread::scope(|scope| {
            let waiter = scope.spawn(|| caller.call("POST /message:send", &session.client, &waiting));
            // Until the waiter's task is there, it waits for nothing.
            while !has_task(&party, &format!("waiting-{round}")) {
                thread::sleep(Duration::from_millis(10));
            }
            caller.call("POST /arm", "", &Value::Null);
            told(&caller.send(&session.client, &format!("trapped-{round}")));
            told(&waiter.join().unwrap());
        });
        assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
        caller.send(&session.client, &format!("after-{round}")).ok();
    }
    let task = format!("GET /tasks/{}", before["task"]["id"].as_str().unwrap());
    assert_eq!(
        caller.call(&task, &session.client, &Value::Null).ok()["id"],
        before["task"]["id"]
    );
    assert!(party.running.line_with(&["\"event\":\"trap\""]).is_some());
}

fn has_task(party: &Party, message: &str) -> bool {
    let listed = party
        .caller
        .call("GET /tasks?historyLength=5", &party.session.client, &Value::Null)
        .ok();
    listed.to_string().contains(message)
}

#[test]
fn an_object_that_fails_is_a_500_with_a_request_id() {
    let party = Party::new(&Deployment::default().trapping());
    party.caller.call("POST /break", "", &Value::Null);
    let reply = party.caller.send(&party.session.client, "m-1");
    told(&reply);
    assert!(
        party
            .running
            .line_with(&["\"event\":\"failed\"", &reply.id])
            .is_some()
    );
    assert!(
        party
            .running
            .line_with(&[
                "\"event\":\"request\"",
                &reply.id,
                "SendMessage",
                &party.session.id
            ])
            .is_some()
    );
    party.caller.send(&party.session.client, "m-1").ok();
}

#[test]
fn a_trap_in_the_worker_itself_is_a_500_too() {
    let party = Party::new(&Deployment::default().trapping());
    party.caller.call("POST /arm", "", &Value::Null);
    told(
        &party
            .caller
            .call("POST /operator/v1/sessions:create", OPERATOR, &json!({})),
    );
    party
        .caller
        .call("POST /operator/v1/sessions:create", OPERATOR, &json!({}))
        .ok();
}
