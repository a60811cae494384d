//! Knowledge (session coordination, §9.1): proposed by anybody within, decided about by who decides, kept in versions.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/flows_of.rs"]
mod flows_of;
#[path = "support/refusals.rs"]
mod refusals;
#[path = "support/desk.rs"]
mod support;

use flows_of::{entry, propose, rule};
use refusals::{fields, participant, reason, refused};
use serde_json::{Value, json};
use support::{Bench, Reply};

fn read(bench: &Bench, body: Value) -> Reply {
    bench.coordinate(&bench.member, "knowledge:read", &body)
}

fn list(bench: &Bench, body: Value) -> Vec<Value> {
    let list = bench.coordinate(&bench.member, "knowledge:list", &body).ok();
    list["entries"].as_array().unwrap().clone()
}

fn proposals(bench: &Bench, body: Value) -> Vec<Value> {
    let list = bench.operate(&bench.owner, "knowledge:proposals", &body).ok();
    list["proposals"].as_array().unwrap().clone()
}

#[test]
fn a_proposal_changes_no_entry_until_it_is_accepted() {
    let bench = Bench::new();
    let proposal = propose(
        &bench,
        &json!({"tags": ["ops"], "rationale": "Everybody asks", "proposedBy": "p-x"}),
    );
    let me = participant(&bench, &bench.member);
    let expected = json!({"proposalId": proposal["proposalId"], "title": "How to deploy", "tags": ["ops"],
        "rationale": "Everybody asks", "proposedBy": me, "at": proposal["at"], "state": "pending"});
    assert_eq!(proposal.to_string(), expected.to_string());
    assert_eq!(list(&bench, json!({})), Vec::<Value>::new());
    assert_eq!(proposals(&bench, json!({})), vec![proposal.clone()]);
    let shown = bench
        .operate(
            &bench.owner,
            "knowledge:review",
            &json!({"proposalId": proposal["proposalId"]}),
        )
        .ok();
    assert_eq!(
        (&shown["proposal"]["body"], shown.get("entry")),
        (&json!("Push the button."), None)
    );
    let accepted = rule(&bench, "accept", &proposal, json!({})).ok()["proposal"].clone();
    let owner = participant(&bench, &bench.owner);
    assert_eq!(
        (&accepted["state"], &accepted["version"], &accepted["decidedBy"]),
        (&json!("accepted"), &json!(1), &json!(owner))
    );
    let whole = read(&bench, json!({"knowledgeId": accepted["knowledgeId"]})).ok()["entry"].clone();
    let expected = json!({"knowledgeId": accepted["knowledgeId"], "title": "How to deploy", "tags": ["ops"], "version": 1,
        "proposedBy": me, "acceptedBy": owner, "createdAt": accepted["decidedAt"], "updatedAt": accepted["decidedAt"],
        "body": "Push the button."});
    assert_eq!(whole.to_string(), expected.to_string());
    let mut listed = whole;
    listed.as_object_mut().unwrap().shift_remove("body");
    assert_eq!(list(&bench, json!({})), vec![listed]);
    assert_eq!(proposals(&bench, json!({})), Vec::<Value>::new());
    assert_eq!(proposals(&bench, json!({"state": "accepted"})), vec![accepted]);
}

#[test]
fn an_accepted_change_is_the_next_version_and_the_older_ones_stay_readable() {
    let bench = Bench::new();
    let id = entry(&bench, &json!({}));
    bench.wait(1);
    let change = propose(
        &bench,
        &json!({"knowledgeId": id, "title": "Deploying", "body": "Push it twice."}),
    );
    assert_eq!((&change["knowledgeId"], &change["baseVersion"]), (&id, &json!(1)));
    let accepted = rule(&bench, "accept", &change, json!({})).ok();
    assert_eq!(accepted["proposal"]["version"], 2);
    let at =
        |version: Value| read(&bench, json!({"knowledgeId": id, "version": version})).ok()["entry"].clone();
    let (first, second) = (at(json!(1)), at(json!(2)));
    assert_eq!(read(&bench, json!({ "knowledgeId": id })).ok()["entry"], second);
    assert_eq!(
        (&first["body"], &first["title"]),
        (&json!("Push the button."), &json!("How to deploy"))
    );
    assert_eq!(
        (&second["body"], &second["title"]),
        (&json!("Push it twice."), &json!("Deploying"))
    );
    assert_eq!(first["createdAt"], second["createdAt"]);
    assert_ne!(first["updatedAt"], second["updatedAt"]);
    let missing = read(&bench, json!({"knowledgeId": id, "version": 3}));
    assert_eq!(refused(&missing), (404, 5, "KNOWLEDGE_VERSION_NOT_FOUND".into()));
    let missing = read(&bench, json!({"knowledgeId": "know-nowhere"}));
    assert_eq!(refused(&missing), (404, 5, "KNOWLEDGE_NOT_FOUND".into()));
    let shown = bench
        .operate(
            &bench.owner,
            "knowledge:review",
            &json!({"proposalId": change["proposalId"]}),
        )
        .ok();
    assert_eq!(
        (&shown["proposal"]["body"], &shown["entry"]),
        (&json!("Push it twice."), &second)
    );
}

#[test]
fn a_reviewer_is_told_that_the_entry_moved_on_and_confirms() {
    let bench = Bench::new();
    let id = entry(&bench, &json!({}));
    let [early, late, old] = [json!({}), json!({}), json!({"baseVersion": 1})].map(|mut more| {
        more["knowledgeId"] = id.clone();
        propose(&bench, &more)
    });
    rule(&bench, "accept", &early, json!({})).ok();
    let seq = bench.state().seq();
    for body in [json!({}), json!({"confirm": false})] {
        let reply = rule(&bench, "accept", &late, body);
        assert_eq!(refused(&reply), (409, 10, "VERSION_CONFLICT".into()));
        let details = &reply.body["error"]["details"];
        let kind = "j5a2a.com/extensions/session-coordination/v1/VersionConflict";
        assert_eq!(
            details[1],
            json!({"@type": kind, "knowledgeId": id, "expected": 1, "current": 2})
        );
    }
    assert_eq!(bench.state().seq(), seq);
    assert_eq!(
        rule(&bench, "accept", &late, json!({"confirm": true})).ok()["proposal"]["version"],
        3
    );
    rule(&bench, "reject", &old, json!({})).ok();
    // Whoever looks at the version that is there needs nothing confirmed.
    let fresh = propose(&bench, &json!({"knowledgeId": id, "baseVersion": 3}));
    rule(&bench, "accept", &fresh, json!({})).ok();
    for base in [json!(5), json!(4_294_967_295_u32)] {
        let body = json!({"title": "t", "body": "b", "knowledgeId": id, "baseVersion": base});
        let reply = bench.coordinate(&bench.member, "knowledge:propose", &body);
        assert_eq!(refused(&reply), (404, 5, "KNOWLEDGE_VERSION_NOT_FOUND".into()));
    }
    let body = json!({"title": "t", "body": "b", "knowledgeId": "know-nowhere"});
    let reply = bench.coordinate(&bench.member, "knowledge:propose", &body);
    assert_eq!(refused(&reply), (404, 5, "KNOWLEDGE_NOT_FOUND".into()));
    let body = json!({"title": "t", "body": "b", "baseVersion": 1});
    assert_eq!(
        fields(&bench.coordinate(&bench.member, "knowledge:propose", &body)),
        ["baseVersion"]
    );
}

#[test]
fn a_proposal_is_decided_about_once_by_who_decides() {
    let bench = Bench::new();
    let admin = bench.admit("admin");
    let kept = propose(&bench, &json!({}));
    let dropped = propose(&bench, &json!({}));
    let body = json!({"proposalId": kept["proposalId"]});
    for verb in [
        "knowledge:proposals",
        "knowledge:review",
        "knowledge:accept",
        "knowledge:reject",
    ] {
        assert_eq!(
            refused(&bench.operate(&bench.member, verb, &body)),
            (404, 5, "METHOD_NOT_FOUND".into())
        );
    }
    bench.operate(&admin, "knowledge:accept", &body).ok();
    let said = rule(
        &bench,
        "reject",
        &dropped,
        json!({"reason": "Out of date", "idempotencyKey": "k"}),
    )
    .ok();
    assert_eq!(
        (
            &said["proposal"]["state"],
            &said["proposal"]["reason"],
            said["proposal"].get("version")
        ),
        (&json!("rejected"), &json!("Out of date"), None)
    );
    let again = rule(
        &bench,
        "reject",
        &dropped,
        json!({"reason": "Out of date", "idempotencyKey": "k"}),
    )
    .ok();
    assert_eq!(again.to_string(), said.to_string());
    for (verb, proposal, state) in [
        ("accept", &kept, "accepted"),
        ("reject", &kept, "accepted"),
        ("accept", &dropped, "rejected"),
        ("reject", &dropped, "rejected"),
    ] {
        let reply = rule(&bench, verb, proposal, json!({}));
        assert_eq!(refused(&reply), (400, 9, "PROPOSAL_DECIDED".into()));
        assert_eq!(reply.body["error"]["details"][0]["metadata"]["state"], state);
    }
    let shown = bench
        .operate(
            &bench.owner,
            "knowledge:review",
            &json!({"proposalId": dropped["proposalId"]}),
        )
        .ok();
    assert_eq!(
        shown["proposal"].get("body"),
        None,
        "what was turned down is not kept"
    );
    let nowhere = json!({"proposalId": "prop-nowhere"});
    for verb in ["review", "accept", "reject"] {
        assert_eq!(
            refused(&rule(&bench, verb, &nowhere, json!({}))),
            (404, 5, "PROPOSAL_NOT_FOUND".into())
        );
    }
    assert_eq!(list(&bench, json!({})).len(), 1);
    assert_eq!(proposals(&bench, json!({"state": "all"})).len(), 2);
}

#[test]
fn entries_are_found_by_tag_and_by_words_in_pages_that_inserts_do_not_move() {
    let bench = Bench::new();
    for (title, tag) in [
        ("Deploying", "Ops"),
        ("Testing", "Dev"),
        ("Rollback", "ops"),
        ("Straße", "Ops"),
    ] {
        entry(&bench, &json!({"title": title, "tags": [tag]}));
    }
    let titles = |body: Value| {
        let found = list(&bench, body);
        found
            .iter()
            .map(|it| it["title"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(titles(json!({"tag": "Ops"})), ["Deploying", "Straße"]);
    assert_eq!(
        titles(json!({"query": "OPS"})),
        ["Deploying", "Rollback", "Straße"]
    );
    assert_eq!(titles(json!({"query": "rAßE", "tag": "Ops"})), ["Straße"]);
    assert_eq!(titles(json!({"query": "button"})), Vec::<String>::new());
    let page = |body: Value| bench.coordinate(&bench.member, "knowledge:list", &body);
    let first = page(json!({"query": "ops", "pageSize": 2})).ok();
    entry(&bench, &json!({"title": "Later", "tags": ["ops"]}));
    let rest = page(json!({"query": "ops", "pageToken": first["nextPageToken"]})).ok();
    assert_eq!(
        (&rest["entries"][0]["title"], &rest["entries"][1]["title"]),
        (&json!("Straße"), &json!("Later"))
    );
    assert_eq!(rest["nextPageToken"], "");
    for body in [
        json!({"pageToken": first["nextPageToken"]}),
        json!({"query": "ops", "tag": "ops", "pageToken": first["nextPageToken"]}),
    ] {
        assert_eq!(fields(&page(body)), ["pageToken"]);
    }
    let reviews = |body: Value| bench.operate(&bench.owner, "knowledge:proposals", &body);
    let first = reviews(json!({"state": "all", "pageSize": 3})).ok();
    let rest = reviews(json!({"state": "all", "pageToken": first["nextPageToken"]})).ok();
    assert_eq!(rest["proposals"].as_array().unwrap().len(), 2);
    assert_eq!(
        fields(&reviews(json!({"pageToken": first["nextPageToken"]}))),
        ["pageToken"]
    );
}

#[test]
fn the_limits_of_knowledge_are_the_sessions() {
    let bench = Bench::with_limits(&["knowledge-entries=1", "pending-proposals=2"]);
    let full = |reply: &Reply, kind: &str| {
        assert_eq!(refused(reply), (429, 8, "SESSION_LIMIT".into()), "{}", reply.body);
        assert_eq!(reply.body["error"]["details"][0]["metadata"]["kind"], kind);
    };
    let first = propose(&bench, &json!({}));
    let second = propose(&bench, &json!({}));
    let body = json!({"title": "t", "body": "b"});
    let another = || bench.coordinate(&bench.member, "knowledge:propose", &body);
    full(&another(), "pending proposals");
    let accepted = rule(&bench, "accept", &first, json!({})).ok();
    another().ok();
    full(&another(), "pending proposals");
    full(
        &rule(&bench, "accept", &second, json!({"confirm": true})),
        "knowledge entries",
    );
    rule(&bench, "reject", &second, json!({})).ok();
    // Another version of an entry takes no more room.
    let change = propose(
        &bench,
        &json!({"knowledgeId": accepted["proposal"]["knowledgeId"]}),
    );
    rule(&bench, "accept", &change, json!({})).ok();
    assert_eq!(
        reason(&bench.coordinate(&bench.client, "knowledge:propose", &body)),
        "SCOPE_REQUIRED"
    );
}
