//! Claims (session coordination, §9.1): leases that lapse, conflicts, whose a claim is, the session's limit.

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

use a2a_edge::session::claim::{Claim, ClaimType};
use a2a_edge::session::decide::NewClaim;
use a2a_edge::session::{Command, Commit, Context, Event, SessionLimits, Token};
use a2a_edge::time::Timestamp;
use refusals::{create, participant, reason, refused};
use serde_json::{Value, json};
use support::{Bench, Reply};

fn acquire(bench: &Bench, token: &str, body: &Value) -> Reply {
    bench.coordinate(token, "claims:acquire", body)
}

fn acquired(bench: &Bench, token: &str, resource: &str, more: Value) -> Value {
    let mut body = more;
    body["resourceId"] = json!(resource);
    acquire(bench, token, &body).ok()["claim"].clone()
}

fn release(bench: &Bench, token: &str, claim: &Value) -> Reply {
    bench.coordinate(token, "claims:release", &json!({"claimId": claim["claimId"]}))
}

fn available(bench: &Bench, token: &str, resource: &str, claim_type: &str) -> Value {
    let body = json!({"resources": [{"resourceId": resource, "claimType": claim_type}]});
    bench.coordinate(token, "claims:check", &body).ok()["results"][0].clone()
}

const FREE: fn() -> Value = || json!({"available": true, "conflicts": []});

#[test]
fn a_lease_lapses_and_another_takes_over_with_a_higher_fence() {
    let bench = Bench::new();
    let other = bench.admit("member");
    let first = acquired(&bench, &bench.member, "src/**", json!({"leaseSeconds": 30}));
    bench.wait(29);
    assert_eq!(
        available(&bench, &other, "src/a.rs", "shared")["conflicts"],
        json!([first])
    );
    assert_eq!(
        reason(&acquire(&bench, &other, &json!({"resourceId": "src/a.rs"}))),
        "CLAIM_CONFLICT"
    );
    let seq = bench.state().seq();
    bench.wait(1);
    assert_eq!(available(&bench, &other, "src/a.rs", "exclusive"), FREE());
    assert_eq!(
        refused(&release(&bench, &bench.member, &first)),
        (400, 9, "CLAIM_NOT_ACTIVE".into())
    );
    assert_eq!(
        bench.state().seq(),
        seq,
        "neither reading nor being refused writes"
    );
    let second = acquired(&bench, &other, "src/a.rs", json!({}));
    assert!(second["fence"].as_u64() > first["fence"].as_u64());
    // What lapsed is gone: its holder gets a new claim, once there is room.
    assert_eq!(
        reason(&acquire(&bench, &bench.member, &json!({"resourceId": "src/**"}))),
        "CLAIM_CONFLICT"
    );
    release(&bench, &other, &second).ok();
    let third = acquired(&bench, &bench.member, "src/**", json!({}));
    assert_ne!(third["claimId"], first["claimId"]);
    assert!(third["fence"].as_u64() > second["fence"].as_u64());
    assert_eq!(third.get("renewedAt"), None);
}

#[test]
fn announcing_presence_renews_what_is_live_by_its_own_lease_and_tells_what_lapsed_once() {
    let bench = Bench::new();
    let announce = |body: Value| bench.coordinate(&bench.member, "presence:announce", &body).ok();
    let short = acquired(&bench, &bench.member, "a", json!({"leaseSeconds": 30}));
    let long = acquired(&bench, &bench.member, "b", json!({"leaseSeconds": 120}));
    bench.wait(29);
    let said = announce(json!({}));
    let renewed = said["renewedClaims"].as_array().unwrap();
    assert_eq!(renewed[0]["claimId"], short["claimId"]);
    assert_eq!(renewed[1]["claimId"], long["claimId"]);
    assert_eq!(said["lapsedClaims"], json!([]));
    let kept = bench.state();
    let now = kept
        .presence(&participant(&bench, &bench.member))
        .unwrap()
        .last_seen_at;
    assert_eq!(renewed[0]["expiresAt"], json!(now.plus_seconds(30)));
    assert_eq!(renewed[1]["expiresAt"], json!(now.plus_seconds(120)));
    bench.wait(29);
    assert_eq!(
        announce(json!({"renewClaims": false}))["renewedClaims"],
        json!([])
    );
    bench.wait(1);
    let said = announce(json!({}));
    assert_eq!(said["lapsedClaims"], json!([short["claimId"]]));
    assert_eq!(said["renewedClaims"][0]["claimId"], long["claimId"]);
    assert_eq!(
        said["renewedClaims"].as_array().unwrap().len(),
        1,
        "what lapsed is not revived"
    );
    assert_eq!(announce(json!({}))["lapsedClaims"], json!([]));
    assert_eq!(available(&bench, &bench.owner, "a", "exclusive"), FREE());
    let others = bench
        .coordinate(&bench.owner, "presence:announce", &json!({}))
        .ok();
    assert_eq!(
        (&others["renewedClaims"], &others["lapsedClaims"]),
        (&json!([]), &json!([]))
    );
}

#[test]
fn acquiring_again_renews_the_claim_and_keeps_its_fence() {
    let bench = Bench::new();
    let request = create(&bench, &json!({}));
    let first = acquired(
        &bench,
        &bench.member,
        "src/**",
        json!({"reason": "refactoring", "requestId": request}),
    );
    bench.wait(10);
    let again = acquired(&bench, &bench.member, "src/**", json!({"leaseSeconds": 60}));
    for same in ["claimId", "fence", "acquiredAt", "reason", "requestId"] {
        assert_eq!(again[same], first[same], "{same}");
    }
    let renewed: Timestamp = serde_json::from_value(again["renewedAt"].clone()).unwrap();
    assert_eq!(again["expiresAt"], json!(renewed.plus_seconds(60)));
    let shared = acquired(&bench, &bench.member, "src/**", json!({"claimType": "shared"}));
    let below = acquired(&bench, &bench.member, "src/a.rs", json!({}));
    assert_ne!(
        (&shared["claimId"], &below["claimId"]),
        (&first["claimId"], &first["claimId"])
    );
    assert_eq!(
        available(&bench, &bench.member, "src/**", "exclusive"),
        FREE(),
        "one's own is in nobody's way"
    );
}

#[test]
fn claims_conflict_when_they_overlap_and_one_is_exclusive() {
    let bench = Bench::new();
    let other = bench.admit("member");
    for (held, wanted, conflict) in [
        (("src/**", "exclusive"), ("src/app/*.rs", "exclusive"), true),
        (("src/**", "shared"), ("src/app/*.rs", "exclusive"), true),
        (("src/**", "exclusive"), ("src/app/*.rs", "shared"), true),
        (("src/**", "shared"), ("src/app/*.rs", "shared"), false),
        (("src/*.rs", "exclusive"), ("src/app/*.rs", "exclusive"), false),
        (("src/app", "exclusive"), ("src/app/**", "exclusive"), true),
        (("pr:12", "exclusive"), ("pr:12", "exclusive"), true),
        (("pr:12", "exclusive"), ("pr:1", "exclusive"), false),
    ] {
        let claim = acquired(&bench, &bench.member, held.0, json!({"claimType": held.1}));
        let seen = available(&bench, &other, wanted.0, wanted.1);
        assert_eq!(seen["available"], !conflict, "{held:?} {wanted:?}");
        let reply = acquire(
            &bench,
            &other,
            &json!({"resourceId": wanted.0, "claimType": wanted.1}),
        );
        if conflict {
            let details = &reply.body["error"]["details"];
            assert_eq!(refused(&reply), (400, 9, "CLAIM_CONFLICT".into()));
            assert_eq!(
                details[0]["metadata"],
                json!({"resourceId": wanted.0, "claimType": wanted.1})
            );
            let kind = "j5a2a.com/extensions/session-coordination/v1/ClaimConflict";
            assert_eq!(details[1], json!({"@type": kind, "conflicts": [claim]}));
        } else {
            release(&bench, &other, &reply.ok()["claim"]).ok();
        }
        release(&bench, &bench.member, &claim).ok();
    }
}

#[test]
fn a_claim_is_released_once_by_its_holder_an_owner_or_an_admin() {
    let bench = Bench::new();
    let (other, admin) = (bench.admit("member"), bench.admit("admin"));
    for token in [&bench.member, &bench.owner, &admin] {
        let claim = acquired(&bench, &bench.member, "a", json!({}));
        assert_eq!(
            refused(&release(&bench, &other, &claim)),
            (403, 7, "NOT_OWNER".into())
        );
        let released = release(&bench, token, &claim).ok()["claim"].clone();
        assert!(released["releasedAt"].is_string());
        assert_eq!(released["participantId"], participant(&bench, &bench.member));
        assert_eq!(
            refused(&release(&bench, token, &claim)),
            (400, 9, "CLAIM_NOT_ACTIVE".into())
        );
        assert_eq!(
            refused(&release(&bench, &other, &claim)),
            (403, 7, "NOT_OWNER".into())
        );
        assert_eq!(available(&bench, &other, "a", "exclusive"), FREE());
    }
    let nowhere = json!({"claimId": "claim-nowhere"});
    assert_eq!(
        refused(&release(&bench, &other, &nowhere)),
        (404, 5, "CLAIM_NOT_FOUND".into())
    );
}

#[test]
fn what_a_claim_names_must_be_there_and_who_claims_is_the_credential() {
    let bench = Bench::new();
    for (field, reason) in [
        ("requestId", "REQUEST_NOT_FOUND"),
        ("workstreamId", "WORKSTREAM_NOT_FOUND"),
    ] {
        let reply = acquire(
            &bench,
            &bench.member,
            &json!({"resourceId": "a", field: "nowhere"}),
        );
        assert_eq!(refused(&reply), (404, 5, reason.into()));
    }
    let owner = participant(&bench, &bench.owner);
    let claim = acquired(
        &bench,
        &bench.member,
        "a",
        json!({"participantId": owner, "actor": owner, "from": owner}),
    );
    assert_eq!(claim["participantId"], participant(&bench, &bench.member));
    let keyed = json!({"resourceId": "b", "idempotencyKey": "k"});
    let once = acquire(&bench, &bench.member, &keyed).ok();
    bench.wait(5);
    assert_eq!(
        acquire(&bench, &bench.member, &keyed).ok().to_string(),
        once.to_string()
    );
    for (operation, scope) in [
        ("claims:check", "session:read"),
        ("claims:acquire", "session:write"),
        ("claims:release", "session:write"),
    ] {
        let reply = bench.coordinate(&bench.client, operation, &json!({}));
        assert_eq!(reply.body["error"]["details"][0]["metadata"]["scope"], scope);
    }
}

#[test]
fn a_session_has_at_most_10000_live_claims_and_names_at_most_100_in_the_way() {
    let bench = Bench::new();
    let mut session = bench.state();
    let now = Timestamp::from_millis(1_784_260_000_000);
    let holder = participant(&bench, &bench.member);
    let claim = |number: usize| Event::ClaimAcquired {
        claim: Box::new(Claim {
            claim_id: format!("claim-{number}"),
            resource_id: format!("src/{number}"),
            claim_type: ClaimType::Exclusive,
            participant_id: holder.clone(),
            fence: number as u64,
            acquired_at: now,
            renewed_at: None,
            expires_at: now.plus_seconds(30),
            released_at: None,
            reason: None,
            workstream_id: None,
            request_id: None,
        }),
    };
    let commit = Commit {
        seq: session.seq() + 1,
        at: now,
        by: None,
        nonce: "n".into(),
        events: (1..SessionLimits::default().live_claims).map(claim).collect(),
        remembered: None,
    };
    assert!(session.apply(&commit));
    let caller = session
        .authenticate(&Token::parse(&bench.owner).unwrap())
        .unwrap();
    let mut want = |resource: &str, seconds: i64| {
        let context = Context {
            now: now.plus_seconds(seconds),
            entropy: [7; 32],
            caller: caller.clone(),
            limits: SessionLimits::default(),
            idempotency: None,
        };
        let new = NewClaim {
            resource: a2a_edge::coordination::resource::ResourceId::parse(resource).unwrap(),
            claim_type: ClaimType::Exclusive,
            lease_seconds: 30,
            reason: None,
            workstream_id: None,
            request_id: None,
        };
        let decided = session.decide(&Command::AcquireClaim(Box::new(new)), &context)?;
        assert!(session.apply(&decided.commit.unwrap()));
        Ok::<Value, a2a_edge::refusal::Refusal>(decided.answer.into_object())
    };
    let crowd = want("src/**", 0).unwrap_err();
    assert_eq!(crowd.details[0]["conflicts"].as_array().unwrap().len(), 100);
    assert_eq!(crowd.details[0]["conflicts"][0]["fence"], 1);
    assert_eq!(crowd.details[0]["truncated"], true);
    assert_eq!(want("docs/a", 0).unwrap()["claim"]["fence"], 10_000);
    let full = want("docs/b", 29).unwrap_err();
    assert_eq!((full.status(), full.reason()), (429, Some("SESSION_LIMIT")));
    assert_eq!(full.info.as_ref().unwrap().metadata["kind"], "live claims");
    want("docs/a", 29).expect("renewing takes no more room");
    assert_eq!(want("docs/b", 30).unwrap()["claim"]["fence"], 10_001);
}
