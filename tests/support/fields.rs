//! What the fields of presence, claims, questions, inboxes and decisions take at most, and what they refuse.

use serde_json::{Value, json};

use super::refusals::{chars, distinct, list, participant};
use super::support::Bench;

/// The last value that a field takes and the first that it does not; `at` is what the fault is on.
pub struct Limit {
    pub operation: &'static str,
    pub field: &'static str,
    pub good: Value,
    pub bad: Value,
    pub at: &'static str,
    /// The other members, where the least that the operation takes will not do.
    pub with: Option<Value>,
}

pub const fn limit(
    operation: &'static str,
    field: &'static str,
    good: Value,
    bad: Value,
    at: &'static str,
) -> Limit {
    Limit {
        operation,
        field,
        good,
        bad,
        at,
        with: None,
    }
}

pub fn presence_limits() -> Vec<Limit> {
    let (lists, announce, status) = ("participants:list", "presence:announce", "status:announce");
    let (events, digest) = ("events:list", "digest:get");
    let named = |name: Value| json!({ "name": name });
    let version = |version: Value| json!({"name": "n", "version": version});
    let (path, long) = (json!("src/**"), |length: usize| json!("é".repeat(length)));
    let cases = [
        (
            lists,
            "includeOffline",
            json!(false),
            json!("no"),
            "includeOffline",
        ),
        (lists, "pageSize", json!(1), json!(0), "pageSize"),
        (lists, "pageSize", json!(100), json!(101), "pageSize"),
        (events, "after", json!("1-0"), json!("1_0"), "after"),
        (events, "after", json!("1"), json!("100000"), "after"),
        (events, "pageSize", json!(1), json!(0), "pageSize"),
        (events, "pageSize", json!(100), json!(101), "pageSize"),
        (digest, "since", json!("1-0"), json!("1_0"), "since"),
        (digest, "since", json!("1"), json!("100000"), "since"),
        (digest, "maxItems", json!(1), json!(0), "maxItems"),
        (digest, "maxItems", json!(200), json!(201), "maxItems"),
        (announce, "state", json!("away"), json!("offline"), "state"),
        (announce, "activity", chars(280), chars(281), "activity"),
        (announce, "activity", json!("a"), json!("a\nb"), "activity"),
        (announce, "ttlSeconds", json!(15), json!(14), "ttlSeconds"),
        (announce, "ttlSeconds", json!(3_600), json!(3_601), "ttlSeconds"),
        (
            announce,
            "capabilities",
            list(20, &chars(64)),
            list(21, &json!("c")),
            "capabilities",
        ),
        (
            announce,
            "capabilities",
            json!([]),
            json!(["c", chars(65)]),
            "capabilities[1]",
        ),
        (
            announce,
            "client",
            named(chars(80)),
            named(chars(81)),
            "client.name",
        ),
        (
            announce,
            "client",
            named(json!("n")),
            named(json!(" ")),
            "client.name",
        ),
        (announce, "client", named(json!("n")), json!({}), "client.name"),
        (
            announce,
            "client",
            version(chars(40)),
            version(chars(41)),
            "client.version",
        ),
        (announce, "client", named(json!("n")), json!("n"), "client"),
        (announce, "renewClaims", json!(false), json!(0), "renewClaims"),
        (status, "status", chars(1_000), chars(1_001), "status"),
        (status, "status", json!("a\tb\nc"), json!(" \n"), "status"),
        (status, "blockedOn", chars(280), chars(281), "blockedOn"),
        (status, "resources", list(20, &path), list(21, &path), "resources"),
        (
            status,
            "resources",
            json!([long(512)]),
            json!(["a", long(513)]),
            "resources[1]",
        ),
        (
            status,
            "resources",
            json!(["pr:12"]),
            json!(["/etc"]),
            "resources[0]",
        ),
    ];
    cases
        .map(|(operation, field, good, bad, at)| limit(operation, field, good, bad, at))
        .into()
}

pub fn claim_limits(bench: &Bench, request: &str) -> Vec<Limit> {
    let (check, acquire, release) = ("claims:check", "claims:acquire", "claims:release");
    let on = |resource: Value| json!({ "resourceId": resource });
    let typed = |claim_type: &str| json!([{"resourceId": "a", "claimType": claim_type}]);
    let held = bench.coordinate(&bench.owner, acquire, &on(json!("kept"))).ok();
    let held = held["claim"]["claimId"].clone();
    let cases = [
        (
            check,
            "resources",
            list(50, &on(chars(512))),
            list(51, &on(json!("a"))),
            "resources",
        ),
        (
            check,
            "resources",
            json!([on(json!("a"))]),
            json!([]),
            "resources",
        ),
        (
            check,
            "resources",
            json!([on(json!("a"))]),
            json!([{}]),
            "resources[0].resourceId",
        ),
        (
            check,
            "resources",
            json!([on(json!("a"))]),
            json!([on(json!("a")), on(json!("{a"))]),
            "resources[1].resourceId",
        ),
        (
            check,
            "resources",
            json!([on(json!("a"))]),
            json!(["a"]),
            "resources[0]",
        ),
        (
            check,
            "resources",
            typed("shared"),
            typed("SHARED"),
            "resources[0].claimType",
        ),
        (acquire, "resourceId", chars(512), chars(513), "resourceId"),
        (
            acquire,
            "resourceId",
            json!("src/{a,b}/**"),
            json!("src/../b"),
            "resourceId",
        ),
        (acquire, "claimType", json!("shared"), json!("write"), "claimType"),
        (acquire, "leaseSeconds", json!(30), json!(29), "leaseSeconds"),
        (
            acquire,
            "leaseSeconds",
            json!(86_400),
            json!(86_401),
            "leaseSeconds",
        ),
        (acquire, "reason", chars(500), chars(501), "reason"),
        (acquire, "requestId", json!(request), chars(65), "requestId"),
        (release, "claimId", held, chars(65), "claimId"),
    ];
    cases
        .map(|(operation, field, good, bad, at)| limit(operation, field, good, bad, at))
        .into()
}

/// A question that has every choice which is as long as may be, by its id.
pub fn asked(bench: &Bench) -> Value {
    let body = json!({"body": "Which?", "choices": ["a", chars(200)]});
    let asked = bench.coordinate(&bench.member, "questions:ask", &body).ok();
    asked["question"]["questionId"].clone()
}

pub fn talk_limits(bench: &Bench, request: &str) -> Vec<Limit> {
    let (ask, answer, read, update) = ("questions:ask", "questions:answer", "inbox:list", "inbox:update");
    let record = "decisions:record";
    let question = asked(bench);
    let inbox = bench.coordinate(&bench.owner, read, &json!({})).ok();
    let item = inbox["items"][0]["itemId"].clone();
    let made = json!({"title": "t", "decision": "d"});
    let made = bench.coordinate(&bench.owner, record, &made).ok();
    let member = json!(participant(bench, &bench.member));
    let kinds = json!([
        "question",
        "answer",
        "request",
        "reassignment",
        "decision",
        "proposal",
        "review",
        "claim-lapsed"
    ]);
    let cases = [
        (ask, "body", chars(16_384), chars(16_385), "body"),
        (ask, "body", json!("\na"), json!(" \n"), "body"),
        (ask, "to", list(50, &member), list(51, &member), "to"),
        (ask, "to", json!([]), json!([member, ""]), "to[1]"),
        (ask, "capability", chars(64), chars(65), "capability"),
        (ask, "capability", json!("a"), json!("a\nb"), "capability"),
        (ask, "choices", distinct(20), distinct(21), "choices"),
        (
            ask,
            "choices",
            json!([chars(200)]),
            json!(["a", chars(201)]),
            "choices[1]",
        ),
        (
            ask,
            "choices",
            json!(["a", "A"]),
            json!(["a", "b", "a"]),
            "choices[2]",
        ),
        (ask, "requestId", json!(request), chars(65), "requestId"),
        (answer, "questionId", question, chars(65), "questionId"),
        (answer, "body", chars(16_384), chars(16_385), "body"),
        (answer, "choice", chars(200), chars(201), "choice"),
        (read, "state", json!("all"), json!("open"), "state"),
        (
            read,
            "kinds",
            kinds,
            json!(["question", "claimLapsed"]),
            "kinds[1]",
        ),
        (read, "kinds", json!([]), json!(["answer", "answer"]), "kinds[1]"),
        (read, "pageSize", json!(1), json!(0), "pageSize"),
        (read, "pageSize", json!(100), json!(101), "pageSize"),
        (update, "itemIds", list(100, &item), list(101, &item), "itemIds"),
        (update, "itemIds", json!([item]), json!([]), "itemIds"),
        (update, "state", json!("pending"), json!("all"), "state"),
        (record, "title", chars(200), chars(201), "title"),
        (record, "title", json!("a"), json!("a\nb"), "title"),
        (record, "decision", chars(16_384), chars(16_385), "decision"),
        (record, "rationale", chars(16_384), chars(16_385), "rationale"),
        (
            record,
            "alternatives",
            list(20, &chars(500)),
            list(21, &json!("a")),
            "alternatives",
        ),
        (
            record,
            "alternatives",
            json!(["a\nb"]),
            json!(["a", chars(501)]),
            "alternatives[1]",
        ),
        (
            record,
            "supersedes",
            made["decision"]["decisionId"].clone(),
            chars(65),
            "supersedes",
        ),
    ];
    cases
        .map(|(operation, field, good, bad, at)| limit(operation, field, good, bad, at))
        .into()
}
