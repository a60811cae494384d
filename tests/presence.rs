//! Who is there (session coordination, §9.3): presence, and status in the log.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/refusals.rs"]
mod refusals;
#[path = "support/desk.rs"]
mod support;

use a2a_edge::serve::Host as _;
use a2a_edge::store::Store as _;
use refusals::{participant, refused};
use serde_json::{Value, json};
use support::Bench;

fn announce(bench: &Bench, token: &str, body: &Value) -> Value {
    bench.coordinate(token, "presence:announce", body).ok()["participant"].clone()
}

fn list(bench: &Bench, body: &Value) -> Vec<Value> {
    let list = bench.coordinate(&bench.owner, "participants:list", body).ok();
    list["participants"].as_array().unwrap().clone()
}

fn ids(list: &[Value]) -> Vec<&str> {
    list.iter()
        .map(|one| one["participantId"].as_str().unwrap())
        .collect()
}

#[test]
fn a_presence_reads_offline_from_its_expiry_on_and_nothing_is_written_for_it() {
    let bench = Bench::new();
    let said = announce(&bench, &bench.member, &json!({"state": "idle", "ttlSeconds": 15}));
    let me = participant(&bench, &bench.member);
    let seen = || {
        list(&bench, &json!({}))
            .into_iter()
            .find(|one| one["participantId"] == me.as_str())
    };
    let there = || list(&bench, &json!({"includeOffline": false})).len();
    bench.wait(14);
    assert_eq!((seen().unwrap(), there()), (said.clone(), 1));
    let seq = bench.state().seq();
    bench.wait(1);
    let late = seen().unwrap();
    assert_eq!(late["presence"]["state"], "offline");
    assert_eq!(late["presence"]["expiresAt"], said["presence"]["expiresAt"]);
    assert_eq!((there(), bench.state().seq()), (0, seq));
    announce(&bench, &bench.member, &json!({}));
    assert_eq!(
        (seen().unwrap()["presence"]["state"].clone(), there()),
        (json!("active"), 1)
    );
}

#[test]
fn an_announcement_says_anew_how_one_is_there_and_keeps_what_one_is() {
    let bench = Bench::new();
    let whole = json!({"state": "away", "activity": "At lunch", "capabilities": ["rust", "review"],
        "client": {"name": "ide", "version": "1.2"}});
    let said = announce(&bench, &bench.member, &whole);
    assert_eq!(said["presence"]["activity"], "At lunch");
    bench.wait(1);
    let again = announce(&bench, &bench.member, &json!({}));
    assert_eq!(again["presence"]["state"], "active");
    assert_eq!(again["presence"].get("activity"), None);
    assert_ne!(again["presence"]["lastSeenAt"], said["presence"]["lastSeenAt"]);
    assert_eq!(again["capabilities"], json!(["rust", "review"]));
    assert_eq!(again["client"], json!({"name": "ide", "version": "1.2"}));
    let other = json!({"capabilities": [], "client": {"name": "shell"}});
    let other = announce(&bench, &bench.member, &other);
    assert_eq!(
        (&other["capabilities"], &other["client"]),
        (&json!([]), &json!({"name": "shell"}))
    );
}

#[test]
fn participants_are_listed_as_they_were_admitted_without_those_who_are_out() {
    let bench = Bench::new();
    let out = bench.admit("member");
    let last = bench.admit("admin");
    let revoke = json!({"participantId": participant(&bench, &out)});
    let expected =
        [&bench.owner, &bench.member, &bench.client, &last].map(|token| participant(&bench, token));
    bench.operate(&bench.owner, "participants:revoke", &revoke).ok();
    assert_eq!(ids(&list(&bench, &json!({}))), expected);
    let page = |body: Value| bench.coordinate(&bench.owner, "participants:list", &body);
    let first = page(json!({"pageSize": 2})).ok();
    bench.admit("member");
    let rest = page(json!({"pageToken": first["nextPageToken"]})).ok();
    assert_eq!(ids(first["participants"].as_array().unwrap()), expected[..2]);
    assert_eq!(ids(rest["participants"].as_array().unwrap())[..2], expected[2..]);
    assert_eq!(rest["nextPageToken"], "");
    for (token, body) in [
        (&bench.owner, json!({"pageToken": "x"})),
        (
            &bench.owner,
            json!({"pageToken": first["nextPageToken"], "includeOffline": false}),
        ),
        (&bench.member, json!({"pageToken": first["nextPageToken"]})),
    ] {
        let reply = bench.coordinate(token, "participants:list", &body);
        assert_eq!(refusals::fields(&reply), ["pageToken"]);
    }
}

#[test]
fn presence_is_the_credentials_whoever_the_body_names() {
    let bench = Bench::new();
    let owner = participant(&bench, &bench.owner);
    let said = announce(
        &bench,
        &bench.member,
        &json!({"participantId": owner, "actor": owner, "from": owner}),
    );
    assert_eq!(said["participantId"], participant(&bench, &bench.member));
    assert!(bench.state().presence(&owner).is_none());
    for operation in ["presence:announce", "status:announce"] {
        let reply = bench.coordinate(&bench.client, operation, &json!({}));
        assert_eq!(refused(&reply), (403, 7, "SCOPE_REQUIRED".into()));
        assert_eq!(
            reply.body["error"]["details"][0]["metadata"]["scope"],
            "presence:write"
        );
    }
}

#[test]
fn a_status_is_an_event_of_the_log_once_a_key() {
    let bench = Bench::new();
    let body = json!({"status": "Half of the tests pass", "blockedOn": "pr:12", "resources": ["src/**"],
        "idempotencyKey": "k"});
    let said = bench.coordinate(&bench.member, "status:announce", &body).ok();
    let again = bench.coordinate(&bench.member, "status:announce", &body).ok();
    assert_eq!(said.to_string(), again.to_string());
    let seq = bench.state().seq();
    assert_eq!(said["event"]["seq"], seq);
    let log = pollster::block_on(bench.host.store().history(&bench.session, 0, usize::MAX)).unwrap();
    let last: Value = serde_json::from_slice(&log.last().unwrap().bytes).unwrap();
    let expected = json!({"statusAnnounced": {"eventId": said["event"]["eventId"],
        "participantId": participant(&bench, &bench.member), "status": "Half of the tests pass",
        "blockedOn": "pr:12", "resources": ["src/**"]}});
    assert_eq!(
        (&last["events"][0], &last["at"]),
        (&expected, &said["event"]["at"])
    );
    let nowhere = json!({"status": "s", "workstreamId": "ws-nowhere"});
    let reply = bench.coordinate(&bench.member, "status:announce", &nowhere);
    assert_eq!(refused(&reply), (404, 5, "WORKSTREAM_NOT_FOUND".into()));
    assert_eq!(bench.state().seq(), seq);
}
