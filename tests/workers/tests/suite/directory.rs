//! Workers KV in its worst moods: it may cost a detour, but nothing is decided by it.

use a2a_edge_workers_tests::{Deployment, Directory};
use serde_json::{Value, json};

use crate::party::{Party, Session, text};

fn card(session: &str) -> String {
    format!("GET /{session}/.well-known/agent-card.json")
}

/// How often the directory was called with this method.
fn calls(party: &Party, method: &str) -> Vec<Value> {
    let lines = party.lines();
    let calls = lines
        .iter()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    calls
        .filter(|call| call["event"] == "kv" && call["method"] == method)
        .collect()
}

#[test]
fn a_card_of_a_session_in_the_directory_does_not_wake_its_object() {
    let party = Party::new(&Deployment::default());
    let session = &party.session.id;
    let told = party.running.line_with(&["\"kv\"", "PUT", session]);
    assert!(told.is_some(), "{:?}", party.running.lines());
    let from_directory = party.caller.call(&card(session), "", &Value::Null).ok();
    let asked = calls(&party, "GET").into_iter().map(|call| text(&call["key"]));
    assert_eq!(
        asked.collect::<Vec<_>>(),
        ["card".to_owned(), format!("session/{session}")]
    );
    // The same card as the object's.
    let other = Party::new(&Deployment::default().directory(Directory::Stale));
    let from_object = other.caller.call(&card(&other.session.id), "", &Value::Null).ok();
    let named = |card: &Value, session: &Session, url: &str| {
        card.to_string().replace(&session.id, "S").replace(url, "U")
    };
    assert_eq!(
        named(&from_directory, &party.session, party.running.url()),
        named(&from_object, &other.session, other.running.url())
    );
}

#[test]
fn an_entry_says_that_a_session_exists_and_no_more() {
    let party = Party::new(&Deployment::default());
    let session = &party.session;
    let asked = json!({"title": "Look", "body": "At this.", "maxAssignees": 1});
    party
        .caller
        .coordinate(&session.member, "requests:create", &asked)
        .ok();
    party.caller.send(&session.client, "m-1").ok();
    party.caller.call(&card(&session.id), "", &Value::Null).ok();
    let told = party.running.line_with(&["\"kv\"", "PUT"]);
    assert!(told.is_some());
    for put in calls(&party, "PUT") {
        assert_eq!(
            (text(&put["key"]), text(&put["value"])),
            (format!("session/{}", session.id), "{}".to_owned())
        );
    }
}

#[test]
fn a_session_that_the_directory_has_not_heard_of_is_served_all_the_same() {
    for directory in [Directory::Stale, Directory::Failing] {
        let party = Party::new(&Deployment::default().directory(directory));
        let session = &party.session;
        party.caller.call(&card(&session.id), "", &Value::Null).ok();
        party.caller.send(&session.client, "m-1").ok();
        let listed = party
            .caller
            .coordinate(&session.member, "requests:list", &json!({}))
            .ok();
        assert_eq!(
            listed["requests"].as_array().map(Vec::len),
            Some(1),
            "{directory:?}"
        );
    }
}

#[test]
fn a_revoked_credential_is_refused_at_once_however_much_the_directory_lags() {
    for directory in [Directory::Honest, Directory::Stale, Directory::Lavish] {
        let party = Party::new(&Deployment::default().directory(directory));
        let owner = &party.session.owner;
        let (token, id) = Session::admit(&party.caller, owner, "member", "Gone");
        party.caller.coordinate(&token, "requests:list", &json!({})).ok();
        party
            .caller
            .operate(owner, "participants:revoke", &json!({"participantId": id}));
        let reply = party.caller.coordinate(&token, "requests:list", &json!({}));
        assert_eq!(reply.status, 401, "{directory:?}: {reply:?}");
    }
}

#[test]
fn an_entry_of_a_session_that_does_not_exist_lets_nobody_in() {
    let party = Party::new(&Deployment::default().directory(Directory::Lavish));
    let forged = format!("a2ae_nosuchsession_{}", "x".repeat(43));
    for line in ["GET /tasks", "GET /nosuchsession/tasks"] {
        assert_eq!(party.caller.call(line, &forged, &Value::Null).status, 401);
    }
    for operation in ["requests:list", "requests:update"] {
        assert_eq!(
            party.caller.coordinate(&forged, operation, &json!({})).status,
            401
        );
    }
    // All that the directory is believed is that there is a card.
    assert_eq!(
        party.caller.call(&card("nosuchsession"), "", &Value::Null).status,
        200
    );
}
