//! The card's document in Workers KV: it is shown, and decides nothing, however old it is.

use a2a_edge_workers_tests::{Deployment, Directory};
use serde_json::{Value, json};

use crate::party::{Party, Session};

const CARD: &str = "GET /.well-known/agent-card.json";

fn skill(name: &str) -> Value {
    json!({"id": "bake", "name": name, "description": "Bread.", "tags": ["bread"]})
}

#[test]
fn every_card_says_what_the_document_says() {
    let document = json!({
        "name": "Bakery", "skills": [skill("Bake")],
        "extended": {"description": "For us.", "skills": [skill("Bake at night")]},
    });
    let party = Party::new(&Deployment::default().card(&document.to_string()));
    let of_session = format!("GET /{}/.well-known/agent-card.json", party.session.id);
    for line in [CARD, of_session.as_str()] {
        let card = party.caller.call(line, "", &Value::Null).ok();
        assert_eq!(
            (&card["name"], &card["skills"]),
            (&json!("Bakery"), &json!([skill("Bake")]))
        );
        assert_eq!(card["capabilities"]["extendedAgentCard"], true);
    }
    let line = "GET /extendedAgentCard";
    assert_eq!(party.caller.call(line, "", &Value::Null).status, 401);
    let card = party.caller.call(line, &party.session.client, &Value::Null).ok();
    assert_eq!(card["description"], "For us.");
    assert_eq!(card["skills"], json!([skill("Bake at night")]));
}

#[test]
fn a_document_that_is_no_good_is_noted_and_not_shown() {
    let party = Party::new(&Deployment::default().card(r#"{"nam": "Bakery"}"#));
    let card = party.caller.call(CARD, "", &Value::Null).ok();
    assert_eq!(card["name"], "a2a-edge");
    assert!(
        party
            .running
            .line_with(&["\"event\":\"card\"", "nam: expected"])
            .is_some()
    );
}

#[test]
fn a_directory_that_fails_shows_the_card_of_the_settings() {
    let document = json!({"name": "Bakery"}).to_string();
    let party = Party::new(
        &Deployment::default()
            .directory(Directory::Failing)
            .card(&document),
    );
    let card = party.caller.call(CARD, "", &Value::Null).ok();
    assert_eq!(card["name"], "a2a-edge");
}

#[test]
fn a_directory_that_does_not_answer_is_not_waited_for() {
    let party = Party::new(&Deployment::default().directory(Directory::Silent));
    let of_session = format!("GET /{}/.well-known/agent-card.json", party.session.id);
    for line in [CARD, of_session.as_str()] {
        let card = party.caller.call(line, "", &Value::Null).ok();
        assert_eq!(card["name"], "a2a-edge", "{line}");
    }
    assert!(
        party
            .running
            .line_with(&["\"event\":\"directory\"", "no answer in time"])
            .is_some()
    );
}

/// The directory shows a document for good that says all that it can say of who may do what. Who may is decided by the
/// session all the same, at once.
#[test]
fn an_old_document_makes_no_credential_and_no_claim_wrong() {
    let document = json!({
        "description": "Anybody may do anything.", "skills": [skill("Bake without asking")],
        "extended": {"description": "Everybody is an owner."},
    });
    let deployment = Deployment::default()
        .directory(Directory::Stale)
        .card(&document.to_string());
    let party = Party::new(&deployment);
    let shown = || party.caller.call(CARD, "", &Value::Null).ok()["description"].clone();
    assert_eq!(shown(), "Anybody may do anything.");
    let owner = &party.session.owner;
    let [first, second] =
        ["First", "Second"].map(|name| Session::admit(&party.caller, owner, "member", name));
    let claim = json!({"resourceId": "src/**", "claimType": "exclusive"});
    let acquire = |token: &str| party.caller.coordinate(token, "claims:acquire", &claim);
    let held = acquire(&first.0).ok();
    assert_eq!(acquire(&second.0).reason(), "CLAIM_CONFLICT");
    let release = json!({"claimId": held["claim"]["claimId"]});
    party.caller.coordinate(&first.0, "claims:release", &release).ok();
    assert_eq!(acquire(&second.0).status, 200);
    assert_eq!(acquire(&first.0).reason(), "CLAIM_CONFLICT");
    // A member that is out is out.
    let revoke = json!({"participantId": first.1});
    party.caller.operate(owner, "participants:revoke", &revoke);
    for line in ["GET /tasks", "GET /extendedAgentCard"] {
        assert_eq!(
            party.caller.call(line, &first.0, &Value::Null).status,
            401,
            "{line}"
        );
        assert_eq!(party.caller.call(line, "", &Value::Null).status, 401, "{line}");
    }
    assert_eq!(acquire(&first.0).status, 401);
    // A member decides nothing, whatever a card says of it.
    let decide = party
        .caller
        .call("POST /operator/v1/tasks:list", &second.0, &json!({}));
    assert_eq!(decide.status, 404);
    assert_eq!(shown(), "Anybody may do anything.");
}
