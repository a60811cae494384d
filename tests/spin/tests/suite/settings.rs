//! What is not configured says so by its variable's name, and a store that can't keep the guarantee is refused.

use std::fs;
use std::path::Path;

use a2a_edge::desk::settings::NAMES;
use a2a_edge_spin_tests::Deployment;
use a2a_edge_stories::server::OPERATOR;
use serde_json::{Value, json};

use crate::callers::Caller;
use crate::pages;
use crate::party::{Party, start};

const CARD: &str = "GET /.well-known/agent-card.json";

/// Status, reason and message of the first answer.
fn first_answer(deployment: &Deployment) -> (u16, String, String) {
    let running = start(&deployment.clone().with("instances", "1"));
    let reply = Caller::of(&running).call(CARD, "", &Value::Null);
    let message = reply.body["error"]["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(!reply.id.is_empty());
    let named = &reply.body["error"]["details"][0]["metadata"]["requestId"];
    assert_eq!(named, &json!(reply.id));
    (reply.status, reply.reason().to_owned(), message)
}

#[test]
fn a_setting_at_fault_is_named_by_its_variable() {
    for (variable, value, rule) in [
        ("operator_token", "", "expected a secret"),
        (
            "operator_token",
            "too short",
            "expected at least 32 printable characters of ASCII",
        ),
        ("base_url", "desk.example.org", "expected an absolute http(s) URL"),
        ("wait_limit", "301", "expected whole seconds from 1 to 300"),
        ("keep_alive", "0.5", "expected whole seconds from 1 to 300"),
        ("streams", "yes", "expected on or off"),
        ("push", "yes", "expected on, off or local"),
        (
            "limits",
            "participants=200,claims=7",
            "expected NAME=NUMBER, 1 at least",
        ),
    ] {
        let (status, reason, message) = first_answer(&Deployment::on("memory").with(variable, value));
        assert_eq!(
            (status, reason.as_str()),
            (500, "MISCONFIGURED"),
            "{variable}={value}: {message}"
        );
        assert!(message.contains(&format!("{variable}: {rule}")), "{message}");
        assert!(value.is_empty() || !message.contains(value), "{message}");
    }
    let (_, _, message) = first_answer(&Deployment::on("memory").without("operator_token"));
    assert!(message.contains("operator_token: expected a secret"), "{message}");
}

#[test]
fn a_store_that_overwrites_what_has_changed_is_refused() {
    let (status, reason, message) = first_answer(&Deployment::on("careless"));
    assert_eq!((status, reason.as_str()), (500, "MISCONFIGURED"), "{message}");
    assert!(
        message.contains("it overwrites a value that has changed"),
        "{message}"
    );
}

#[test]
fn a_store_that_is_away_is_no_misconfiguration() {
    // Nobody listens there.
    let (status, reason, _) = first_answer(&Deployment::on("redis:1"));
    assert_eq!((status, reason.as_str()), (503, "STORE_UNAVAILABLE"));
}

#[test]
fn a_page_of_an_origin_that_is_named_may_call() {
    let running = start(&Deployment::on("memory").with("allowed_origins", pages::PAGE));
    pages::only_the_page_may_call(running.url());
}

#[test]
fn what_is_set_stands_on_the_card() {
    let deployment = Deployment::on("memory")
        .with("name", "Our desk")
        .with("base_url", "https://desk.example.org/");
    let running = start(&deployment);
    let card = Caller::of(&running).call(CARD, "", &Value::Null).ok();
    assert_eq!(card["name"], "Our desk");
    assert!(
        card.to_string().contains("\"https://desk.example.org\""),
        "{card}"
    );
}

/// The text of `spin.toml` from one heading to the next.
fn table(heading: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spin.toml");
    let text = fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once(&format!("\n[{heading}]\n")).unwrap();
    rest.split("\n[").next().unwrap().to_owned()
}

#[test]
fn the_manifest_declares_every_setting_and_hands_it_on() {
    let (declared, handed) = (table("variables"), table("component.a2a-edge.variables"));
    for name in NAMES {
        assert!(
            declared.contains(&format!("\n{name} = ")) || declared.starts_with(&format!("{name} = ")),
            "{name}"
        );
        assert!(
            handed.contains(&format!("{name} = \"{{{{ {name} }}}}\"")),
            "{name}"
        );
    }
    assert_eq!(
        declared.lines().filter(|line| line.contains(" = ")).count(),
        NAMES.len()
    );
    assert!(
        declared.contains("operator_token = { required = true, secret = true }"),
        "{declared}"
    );
}

#[test]
fn every_request_is_one_line_of_the_log_without_secrets_or_bodies() {
    let party = Party::new(&Deployment::on("memory"));
    let session = &party.session;
    let reply = party.caller.send(&session.client, "a message of note");
    let line = party
        .running
        .line_with(&["\"event\":\"request\"", &reply.id])
        .unwrap();
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (&line["method"], &line["route"], &line["status"]),
        (&json!("POST"), &json!("SendMessage"), &json!(200))
    );
    assert!(line["ms"].is_u64(), "{line}");
    party
        .caller
        .call("GET /nothing?secret=1", &session.owner, &Value::Null);
    assert!(party.running.line_with(&["\"route\":\"none\""]).is_some());
    for line in party.running.lines() {
        let secrets = [&session.owner, &session.member, &session.client].map(String::as_str);
        for unsaid in secrets
            .into_iter()
            .chain([OPERATOR, "a message of note", "secret"])
        {
            assert!(!line.contains(unsaid), "{line}");
        }
    }
}
