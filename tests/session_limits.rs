//! How much a session may hold (session coordination, §9.4): the last that fits is taken, the next refused by its kind.

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

use refusals::{create, participant, refused, update};
use serde_json::json;
use support::{Bench, Reply, WORK};

#[track_caller]
fn assert_full(reply: &Reply, kind: &str) {
    assert_eq!(refused(reply), (429, 8, "SESSION_LIMIT".into()), "{}", reply.body);
    assert_eq!(reply.body["error"]["details"][0]["metadata"]["kind"], kind);
    assert_eq!(reply.headers["retry-after"], "1");
}

#[test]
fn a_session_takes_its_last_participant_and_room_is_made_by_revoking() {
    let bench = Bench::with_limits(&["participants=4"]);
    let fourth = bench.admit("member");
    let add = || bench.operate(&bench.owner, "participants:add", &json!({"displayName": "fifth"}));
    assert_full(&add(), "participants");
    let revoke = json!({"participantId": participant(&bench, &fourth)});
    bench.operate(&bench.owner, "participants:revoke", &revoke).ok();
    add().ok();
    assert_full(&add(), "participants");
}

#[test]
fn open_requests_are_counted_whoever_made_them_until_they_are_closed_or_expire() {
    let bench = Bench::with_limits(&["open-requests=3"]);
    let handoff = json!({"metadata": {WORK: {"skill": "handoff", "title": "Fix the build"}}});
    let proposal = bench.send(&bench.client, WORK, &handoff).ok()["task"]["id"].clone();
    bench.send(&bench.client, "", &json!({})).ok();
    create(&bench, &json!({"expiresInSeconds": 60}));
    let last = create(&bench, &json!({}));
    let another = || bench.coordinate(&bench.member, "requests:create", &json!({"title": "t"}));
    let approve = || bench.operate(&bench.owner, "tasks:approve", &json!({"taskId": proposal}));
    assert_full(&another(), "open requests");
    assert_full(&approve(), "open requests");
    let seq = bench.state().seq();
    let ask = bench.send(&bench.client, "", &json!({}));
    assert_eq!((ask.status, ask.refused().1.as_str()), (429, "SESSION_LIMIT"));
    assert_eq!(bench.state().seq(), seq, "what is refused leaves nothing");
    bench.wait(60);
    another().ok();
    assert_full(&another(), "open requests");
    update(&bench, &bench.owner, &last, "cancel").ok();
    approve().ok();
    assert_full(&another(), "open requests");
}

#[test]
fn live_claims_are_counted_until_they_lapse() {
    let bench = Bench::with_limits(&["live-claims=2"]);
    let acquire = |resource: &str, seconds: u32| {
        let body = json!({"resourceId": resource, "leaseSeconds": seconds});
        bench.coordinate(&bench.member, "claims:acquire", &body)
    };
    acquire("a", 30).ok();
    acquire("b", 60).ok();
    assert_full(&acquire("c", 30), "live claims");
    bench.wait(30);
    acquire("c", 30).ok();
    assert_full(&acquire("d", 30), "live claims");
}

#[test]
fn a_request_holds_so_many_notes_artifacts_and_parts_and_can_always_be_completed() {
    let bench = Bench::with_limits(&["request-notes=2", "request-artifacts=2", "artifact-parts=3"]);
    let request = create(&bench, &json!({}));
    update(&bench, &bench.member, &request, "claim").ok();
    let progress = |more: serde_json::Value| {
        let mut body = json!({"requestId": request, "action": "progress"});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        bench.coordinate(&bench.member, "requests:update", &body)
    };
    let note = || progress(json!({"note": "So far, so good."}));
    note().ok();
    note().ok();
    assert_full(&note(), "request notes");
    let artifact =
        |id: &str, parts: usize| json!({"artifactId": id, "parts": vec![json!({"text": "t"}); parts]});
    let hand_in = |artifact: serde_json::Value| progress(json!({"artifacts": [artifact]}));
    hand_in(artifact("a", 1)).ok();
    hand_in(json!({"artifact": artifact("b", 1)})).ok();
    assert_full(&hand_in(artifact("c", 1)), "request artifacts");
    let append = || hand_in(json!({"artifact": artifact("b", 1), "append": true}));
    append().ok();
    assert_full(&append(), "artifact parts");
    assert_full(&hand_in(artifact("a", 2)), "artifact parts");
    hand_in(artifact("b", 1)).ok();
    hand_in(artifact("a", 2)).ok();
    update(&bench, &bench.member, &request, "complete").ok();
}
