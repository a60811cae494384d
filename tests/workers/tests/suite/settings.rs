//! What is not configured says so at the first request, by the variable's name; and what the log holds.

use a2a_edge_workers_tests::{Deployment, OPERATOR};
use serde_json::{Value, json};

use crate::pages;
use crate::party::{Caller, PLATFORM, Party, scratch};

fn first_answer(deployment: &Deployment) -> (u16, String, String) {
    let place = scratch();
    let running = PLATFORM.start(deployment, place.path()).unwrap();
    let reply = Caller::of(&running).call("GET /.well-known/agent-card.json", "", &Value::Null);
    let message = reply.body["error"]["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    (reply.status, reply.reason().to_owned(), message)
}

#[test]
fn a_page_of_an_origin_that_is_named_may_call() {
    let place = scratch();
    let deployment = Deployment::default().with("A2A_EDGE_ALLOWED_ORIGINS", pages::PAGE);
    let running = PLATFORM.start(&deployment, place.path()).unwrap();
    pages::only_the_page_may_call(running.url());
}

#[test]
fn a_setting_at_fault_is_named_by_its_variable_at_the_first_request() {
    for (variable, value, rule) in [
        ("A2A_EDGE_OPERATOR_TOKEN", "", "expected a secret"),
        (
            "A2A_EDGE_OPERATOR_TOKEN",
            "too short",
            "expected at least 32 printable characters of ASCII",
        ),
        (
            "A2A_EDGE_BASE_URL",
            "desk.example.org",
            "expected an absolute http(s) URL",
        ),
        (
            "A2A_EDGE_WAIT_LIMIT",
            "301",
            "expected whole seconds from 1 to 300",
        ),
        (
            "A2A_EDGE_KEEP_ALIVE",
            "0.5",
            "expected whole seconds from 1 to 300",
        ),
        ("A2A_EDGE_STREAMS", "yes", "expected on or off"),
        ("A2A_EDGE_PUSH", "yes", "expected on, off or local"),
        (
            "A2A_EDGE_LIMITS",
            "participants=200,claims=7",
            "expected NAME=NUMBER, 1 at least",
        ),
    ] {
        let (status, reason, message) = first_answer(&Deployment::default().with(variable, value));
        assert_eq!(
            (status, reason.as_str()),
            (500, "MISCONFIGURED"),
            "{variable}={value}: {message}"
        );
        assert!(message.contains(&format!("{variable}: {rule}")), "{message}");
        assert!(value.is_empty() || !message.contains(value), "{message}");
    }
}

#[test]
fn what_is_set_stands_on_the_card_and_the_origin_is_the_address_unless_one_is() {
    let place = scratch();
    let running = PLATFORM
        .start(
            &Deployment::default().with("A2A_EDGE_NAME", "Our desk"),
            place.path(),
        )
        .unwrap();
    let card = Caller::of(&running)
        .call("GET /.well-known/agent-card.json", "", &Value::Null)
        .ok();
    assert_eq!(card["name"], "Our desk");
    assert!(card.to_string().contains(running.url()), "{card}");
    let place = scratch();
    let told = Deployment::default().with("A2A_EDGE_BASE_URL", "https://desk.example.org/");
    let running = PLATFORM.start(&told, place.path()).unwrap();
    let card = Caller::of(&running)
        .call("GET /.well-known/agent-card.json", "", &Value::Null)
        .ok();
    assert!(
        card.to_string().contains("\"https://desk.example.org\""),
        "{card}"
    );
    assert!(!card.to_string().contains(running.url()), "{card}");
}

#[test]
fn every_request_is_one_line_of_the_log_without_secrets_or_bodies() {
    let party = Party::new(&Deployment::default());
    let session = &party.session;
    let reply = party.caller.send(&session.client, "a message of note");
    let line = party
        .running
        .line_with(&["\"event\":\"request\"", &reply.id])
        .unwrap();
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (&line["method"], &line["route"], &line["session"], &line["status"]),
        (
            &json!("POST"),
            &json!("SendMessage"),
            &json!(session.id),
            &json!(200)
        )
    );
    assert!(line["ms"].is_u64(), "{line}");
    party
        .caller
        .call("GET /nothing?secret=1", &session.owner, &Value::Null);
    assert!(party.running.line_with(&["\"route\":\"none\""]).is_some());
    for line in party.lines() {
        let secrets = [&session.owner, &session.member, &session.client].map(String::as_str);
        for unsaid in secrets
            .into_iter()
            .chain([OPERATOR, "a message of note", "secret"])
        {
            assert!(!line.contains(unsaid), "{line}");
        }
    }
}
