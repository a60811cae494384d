//! `digest.get` (session coordination, §9): how the session stands, and what happened last.

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

use a2a_edge::serve::Host as _;
use flows_of::{edit, entry, workstream};
use refusals::{create, participant, reason, update};
use serde_json::{Value, json};
use support::{Bench, WORK};

fn get(bench: &Bench, token: &str, body: &Value) -> Value {
    bench.coordinate(token, "digest:get", body).ok()
}

/// The digest without a cursor.
fn digest(bench: &Bench, token: &str, body: &Value) -> Value {
    get(bench, token, body)["digest"].clone()
}

/// One member of each entry of a section.
fn each(digest: &Value, section: &str, member: &str) -> Vec<Value> {
    let entries = digest[section].as_array().unwrap();
    entries
        .iter()
        .map(|entry| entry.pointer(member).cloned().unwrap_or_default())
        .collect()
}

fn acquire(bench: &Bench, token: &str, resource: &str, claim_type: &str, lease: u32) -> Value {
    let body = json!({"resourceId": resource, "claimType": claim_type, "leaseSeconds": lease});
    bench.coordinate(token, "claims:acquire", &body).ok()["claim"].clone()
}

fn ask(bench: &Bench, token: &str, body: &Value) -> Value {
    bench.coordinate(token, "questions:ask", body).ok()["question"].clone()
}

fn record(bench: &Bench, title: &str, supersedes: Option<&Value>) -> Value {
    let mut body = json!({"title": title, "decision": "So be it."});
    if let Some(before) = supersedes {
        body["supersedes"] = before["decisionId"].clone();
    }
    bench.coordinate(&bench.owner, "decisions:record", &body).ok()["decision"].clone()
}

fn say(bench: &Bench, status: &str) {
    let body = json!({ "status": status });
    bench.coordinate(&bench.member, "status:announce", &body).ok();
}

#[test]
fn a_session_in_which_nothing_is_done_has_its_participants_and_its_events() {
    let bench = Bench::new();
    let answer = get(&bench, &bench.member, &json!({}));
    let expected = json!({
        "generatedAt": bench.now(),
        "participants": {"active": 0, "total": 3},
        "inbox": {"pending": 0},
        "claims": [], "conflicts": [], "openRequests": [], "openQuestions": [], "decisions": [], "knowledge": [],
        "workstreams": [],
        "events": answer["digest"]["events"],
    });
    assert_eq!((&answer["digest"], &answer["cursor"]), (&expected, &json!("3")));
    let types = [
        "session.created",
        "participant.joined",
        "participant.joined",
        "participant.joined",
    ];
    assert_eq!(each(&expected, "events", "/type"), types);
}

#[test]
fn each_section_has_what_stands_and_nothing_that_is_over() {
    let bench = Bench::new();
    let lapsing = acquire(&bench, &bench.member, "docs/**", "exclusive", 30);
    bench.wait(30);
    bench
        .coordinate(&bench.member, "presence:announce", &json!({}))
        .ok();
    bench
        .coordinate(&bench.owner, "presence:announce", &json!({"state": "idle"}))
        .ok();
    let released = acquire(&bench, &bench.member, "a", "exclusive", 60);
    let body = json!({"claimId": released["claimId"]});
    bench.coordinate(&bench.member, "claims:release", &body).ok();
    let kept = acquire(&bench, &bench.member, "src/**", "exclusive", 60);

    let (open, taken, done) = (
        create(&bench, &json!({})),
        create(&bench, &json!({})),
        create(&bench, &json!({})),
    );
    let expiring = create(&bench, &json!({"expiresInSeconds": 60}));
    for (request, action) in [(&taken, "claim"), (&done, "claim"), (&done, "complete")] {
        update(&bench, &bench.member, request, action).ok();
    }
    let answered = ask(&bench, &bench.owner, &json!({"body": "Now?"}));
    let body = json!({"questionId": answered["questionId"], "body": "Yes."});
    bench.coordinate(&bench.member, "questions:answer", &body).ok();
    let asked = ask(&bench, &bench.owner, &json!({"body": "Where?"}));
    let first = record(&bench, "First", None);
    let second = record(&bench, "Second", Some(&first));
    let known = entry(&bench, &json!({"title": "How to deploy"}));
    let matter = workstream(&bench, &bench.member, &json!({}));
    let away = workstream(&bench, &bench.member, &json!({}));
    edit(
        &bench,
        &bench.member,
        "update",
        &away,
        json!({"lifecycle": "archived"}),
    )
    .ok();

    let shown = digest(&bench, &bench.member, &json!({}));
    assert_eq!(shown["participants"], json!({"active": 1, "total": 3}));
    assert_eq!(shown["claims"], json!([kept]));
    assert_eq!(
        each(&shown, "openRequests", "/requestId"),
        [open.as_str(), &taken, &expiring]
    );
    assert_eq!(
        each(&shown, "openRequests", "/state"),
        ["open", "claimed", "open"]
    );
    assert_eq!(shown["openQuestions"], json!([asked]));
    assert_eq!(shown["decisions"], json!([second]));
    assert_eq!(
        shown["knowledge"],
        json!([{"knowledgeId": known, "title": "How to deploy", "version": 1}])
    );
    assert_eq!(shown["workstreams"], json!([matter]));
    assert_eq!(shown.get("more"), None);

    bench.wait(59);
    assert_eq!(digest(&bench, &bench.member, &json!({}))["claims"], json!([kept]));
    bench.wait(1);
    let later = digest(&bench, &bench.member, &json!({}));
    assert_eq!(
        (&later["claims"], &later["participants"]["active"]),
        (&json!([]), &json!(1))
    );
    assert_eq!(
        each(&later, "openRequests", "/requestId"),
        [open.as_str(), &taken]
    );
    let pending = bench.coordinate(&bench.member, "inbox:list", &json!({})).ok()["pendingCount"].clone();
    assert_eq!(later["inbox"]["pending"], pending);
    assert_ne!(lapsing["claimId"], kept["claimId"]);
}

#[test]
fn of_more_than_max_items_the_newest_are_there_and_more_says_so() {
    let bench = Bench::new();
    for number in 0..3 {
        let name = format!("n{number}");
        acquire(&bench, &bench.member, &name, "exclusive", 60);
        create(&bench, &json!({ "title": name }));
        ask(&bench, &bench.owner, &json!({ "body": name }));
        record(&bench, &name, None);
        entry(&bench, &json!({ "title": name }));
        workstream(&bench, &bench.owner, &json!({ "title": name }));
    }
    let sections = [
        ("claims", "/resourceId"),
        ("openRequests", "/title"),
        ("openQuestions", "/body"),
        ("decisions", "/title"),
        ("knowledge", "/title"),
        ("workstreams", "/title"),
    ];
    let whole = digest(&bench, &bench.member, &json!({"maxItems": 3}));
    let cut = digest(&bench, &bench.member, &json!({"maxItems": 2}));
    for (section, member) in sections {
        assert_eq!(each(&whole, section, member), ["n0", "n1", "n2"], "{section}");
        assert_eq!(each(&cut, section, member), ["n1", "n2"], "{section}");
    }
    assert_eq!(whole.get("more"), None);
    assert_eq!(cut["more"], json!(sections.map(|(section, _)| section)));
}

#[test]
fn who_shares_a_resource_with_whom_is_told_in_pairs() {
    let bench = Bench::new();
    let other = bench.admit("member");
    let wide = acquire(&bench, &bench.member, "src/**", "shared", 60);
    let own = acquire(&bench, &bench.member, "src/app/*.rs", "shared", 60);
    acquire(&bench, &bench.owner, "docs/**", "exclusive", 60);
    let late = acquire(&bench, &other, "src/app/x.rs", "shared", 30);
    let pairs = json!([{"claims": [wide, late]}, {"claims": [own, late]}]);
    let shown = digest(&bench, &bench.member, &json!({}));
    let by_id = |pairs: &Value| {
        let mut ids: Vec<String> = each(&json!({"p": pairs}), "p", "/claims")
            .iter()
            .map(Value::to_string)
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(by_id(&shown["conflicts"]), by_id(&pairs));
    let one = digest(&bench, &bench.member, &json!({"maxItems": 1}));
    assert_eq!(one["conflicts"].as_array().unwrap().len(), 1);
    assert_eq!(one["more"], json!(["claims", "conflicts"]));
    let two = digest(&bench, &bench.member, &json!({"maxItems": 2}));
    assert_eq!(
        (two["conflicts"].as_array().unwrap().len(), &two["more"]),
        (2, &json!(["claims"]))
    );
    bench.wait(30);
    assert_eq!(digest(&bench, &bench.member, &json!({}))["conflicts"], json!([]));
}

#[test]
fn events_go_on_where_the_digest_before_ended() {
    let bench = Bench::new();
    let first = get(&bench, &bench.member, &json!({}));
    let again = |since: &Value| get(&bench, &bench.member, &json!({"since": since, "maxItems": 2}));
    let none = again(&first["cursor"]);
    assert_eq!(
        (&none["digest"]["events"], &none["cursor"]),
        (&json!([]), &first["cursor"])
    );
    assert_eq!(none["digest"].get("truncated"), None);
    say(&bench, "one");
    say(&bench, "two");
    let two = again(&first["cursor"]);
    assert_eq!(each(&two["digest"], "events", "/data/status"), ["one", "two"]);
    assert_eq!(
        (&two["cursor"], two["digest"].get("truncated")),
        (&json!("5"), None)
    );
    say(&bench, "three");
    let cut = again(&first["cursor"]);
    assert_eq!(each(&cut["digest"], "events", "/data/status"), ["two", "three"]);
    assert_eq!(
        (&cut["cursor"], &cut["digest"]["truncated"]),
        (&json!("6"), &json!(true))
    );
    // The id of an event is a place in the log too.
    assert_eq!(
        each(&again(&json!("4-0"))["digest"], "events", "/data/status"),
        ["two", "three"]
    );
    assert_eq!(again(&json!("4-0"))["digest"].get("truncated"), None);
    let after = json!({"after": first["cursor"]});
    let listed = bench.coordinate(&bench.member, "events:list", &after).ok();
    assert_eq!(
        listed["events"].as_array().unwrap().len(),
        3,
        "the rest is in the log"
    );
}

#[test]
fn events_are_looked_for_beyond_what_the_caller_may_not_read() {
    let bench = Bench::new();
    say(&bench, "far");
    say(&bench, "near");
    // A mark on an inbox is an event that nobody is told of.
    ask(&bench, &bench.member, &json!({"body": "Which?"}));
    let inbox = bench.coordinate(&bench.owner, "inbox:list", &json!({})).ok();
    let item = json!([inbox["items"][0]["itemId"]]);
    let mut state = "pending";
    let mut marks = |count: usize| {
        for _ in 0..count {
            state = if state == "pending" {
                "acknowledged"
            } else {
                "pending"
            };
            let body = json!({"itemIds": item, "state": state});
            bench.coordinate(&bench.owner, "inbox:update", &body).ok();
        }
    };
    let shown = || digest(&bench, &bench.member, &json!({"maxItems": 2}));
    marks(2);
    assert_eq!(
        each(&shown(), "events", "/type"),
        ["status.announced", "question.asked"]
    );
    marks(5);
    let end = shown();
    assert_eq!(
        each(&end, "events", "/type"),
        ["question.asked"],
        "of the last eight commits"
    );
    assert_eq!(end["truncated"], json!(true));
    marks(1);
    assert_eq!(
        (&shown()["events"], &shown()["truncated"]),
        (&json!([]), &json!(true))
    );
    let since = json!({"maxItems": 2, "since": "6"});
    assert_eq!(digest(&bench, &bench.member, &since).get("truncated"), None);
}

#[test]
fn what_is_between_a_client_and_those_who_decide_is_in_theirs_alone() {
    let bench = Bench::new();
    let task = bench.send(&bench.client, "", &json!({})).ok()["task"]["id"].clone();
    let request = get(&bench, &bench.member, &json!({}))["digest"]["openRequests"][0]["requestId"].clone();
    update(&bench, &bench.owner, request.as_str().unwrap(), "claim").ok();
    let client = participant(&bench, &bench.client);
    ask(
        &bench,
        &bench.owner,
        &json!({"body": "Which region?", "requestId": request, "to": [client]}),
    );
    let handoff = json!({"parts": [{"data": {"skill": "handoff", "title": "Fix it"}}], "extensions": [WORK]});
    let _ = bench.send(&bench.client, WORK, &handoff);
    let (member, owner) = (
        digest(&bench, &bench.member, &json!({})),
        digest(&bench, &bench.owner, &json!({})),
    );
    assert_eq!(each(&member, "openQuestions", "/body"), Vec::<Value>::new());
    assert_eq!(each(&owner, "openQuestions", "/body"), ["Which region?"]);
    assert!(!member.to_string().contains("Which region?"), "{member}");
    let tasks = |digest: &Value| each(digest, "events", "/data/taskId").contains(&task);
    assert_eq!((tasks(&member), tasks(&owner)), (false, true));
    let refused = bench.coordinate(&bench.client, "digest:get", &json!({}));
    assert_eq!(reason(&refused), "SCOPE_REQUIRED");
}

#[test]
fn a_digest_writes_nothing() {
    let bench = Bench::new();
    acquire(&bench, &bench.member, "src/**", "exclusive", 30);
    create(&bench, &json!({"expiresInSeconds": 60}));
    bench.wait(60);
    let before = bench.state().snapshot();
    digest(&bench, &bench.member, &json!({"idempotencyKey": "k"}));
    assert_eq!(bench.state().snapshot(), before);
    assert_eq!(bench.host.now(), bench.now());
}
