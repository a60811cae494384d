//! The desk beside a plain model of its rules: thousands of games of random operations, in which time passes, leases
//! lapse and requests expire; every answer is what the model says, and so is every list at the end. A game in which
//! they differ is told as the fewest steps that still do.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/model/mod.rs"]
mod model;
#[path = "support/random.rs"]
#[allow(dead_code, reason = "only part of it is needed here")]
mod random;

use std::collections::BTreeMap;

use a2a_edge::agent::operator;
use a2a_edge::coordination::{self, Reply, catalogue};
use a2a_edge::refusal::Refusal;
use a2a_edge::session::participant::Kind;
use a2a_edge::session::{Answer, Caller, Commit, NewSession, Session, SessionLimits, Token};
use a2a_edge::time::Timestamp;
use model::draw::{self, ACTING};
use model::{Model, Person, difference};
use random::Random;
use serde_json::{Map, Value, json};

const GAMES: u64 = 2_000;
const START: i64 = 1_784_250_000_000;

const LIMITS: SessionLimits = SessionLimits {
    participants: 1_000,
    live_claims: model::LIVE_CLAIMS,
    open_requests: model::OPEN_REQUESTS,
    open_workstreams: model::OPEN_WORKSTREAMS,
    workstream_links: model::LINKS,
    workstream_evidence: model::EVIDENCE,
    knowledge_entries: model::ENTRIES,
    pending_proposals: model::PENDING,
    push_configs: 10,
    request_notes: 1_000,
    request_artifacts: 100,
    artifact_parts: 1_000,
};

/// Everything that the operations of the games come to: what succeeds, and the reasons with their status.
const COMES_TO: &[(&str, u16)] = &[
    ("participants.list", 200),
    ("presence.announce", 200),
    ("status.announce", 200),
    ("claims.check", 200),
    ("claims.acquire", 200),
    ("claims.release", 200),
    ("requests.create", 200),
    ("requests.list", 200),
    ("requests.update claim", 200),
    ("requests.update unclaim", 200),
    ("requests.update progress", 200),
    ("requests.update complete", 200),
    ("requests.update cancel", 200),
    ("requests.update reassign", 200),
    ("requests.update hold", 200),
    ("questions.ask", 200),
    ("questions.answer", 200),
    ("inbox.list", 200),
    ("inbox.update", 200),
    ("decisions.record", 200),
    ("knowledge.propose", 200),
    ("knowledge:accept", 200),
    ("knowledge:reject", 200),
    ("knowledge.list", 200),
    ("knowledge.read", 200),
    ("workstreams.create", 200),
    ("workstreams.list", 200),
    ("workstreams.get", 200),
    ("workstreams.update", 200),
    ("workstreams.link", 200),
    ("workstreams.link moved", 200),
    ("workstreams.unlink", 200),
    ("PARTICIPANT_NOT_FOUND", 404),
    ("CLAIM_NOT_FOUND", 404),
    ("CLAIM_CONFLICT", 400),
    ("CLAIM_NOT_ACTIVE", 400),
    ("NOT_OWNER", 403),
    ("SESSION_LIMIT", 429),
    ("REQUEST_NOT_FOUND", 404),
    ("REQUEST_CLOSED", 400),
    ("REQUEST_AT_CAPACITY", 400),
    ("ALREADY_CLAIMED", 400),
    ("NOT_ADDRESSED", 400),
    ("QUESTION_NOT_FOUND", 404),
    ("QUESTION_CLOSED", 400),
    ("INBOX_ITEM_NOT_FOUND", 404),
    ("DECISION_NOT_FOUND", 404),
    ("DECISION_SUPERSEDED", 400),
    ("KNOWLEDGE_NOT_FOUND", 404),
    ("KNOWLEDGE_VERSION_NOT_FOUND", 404),
    ("PROPOSAL_NOT_FOUND", 404),
    ("PROPOSAL_DECIDED", 400),
    ("VERSION_CONFLICT", 409),
    ("WORKSTREAM_NOT_FOUND", 404),
    ("WORKSTREAM_ARCHIVED", 400),
    ("LINKED_ELSEWHERE", 400),
    ("ALREADY_LINKED", 400),
    ("NOT_LINKED", 400),
    ("INVALID_ARGUMENT assignee", 400),
    ("INVALID_ARGUMENT capability", 400),
    ("INVALID_ARGUMENT choice", 400),
    ("INVALID_ARGUMENT to[0]", 400),
    ("INVALID_ARGUMENT to[1]", 400),
    ("INVALID_ARGUMENT owner", 400),
    ("INVALID_ARGUMENT baseVersion", 400),
    ("INVALID_ARGUMENT from.workstreamId", 400),
];

/// A session, and those who take part in it.
struct Desk {
    session: Session,
    callers: Vec<Caller>,
    drawn: u64,
}

impl Desk {
    fn new() -> (Self, Model) {
        let begun = NewSession {
            owner_name: "owner".to_owned(),
            owner_kind: Kind::Human,
        }
        .begin(Timestamp::from_millis(START), [1; 32]);
        let mut desk = Self {
            session: Session::default(),
            callers: Vec::new(),
            drawn: 0,
        };
        assert!(desk.session.apply(&begun.commit));
        desk.callers
            .push(desk.session.authenticate(&begun.token).unwrap());
        let mut people = vec![("owner", false)];
        for role in ["admin", "member", "member", "member", "client", "member"] {
            let body = json!({"displayName": role, "role": role});
            let added = desk.call(0, "participants:add", &body, START).unwrap();
            let token = Token::parse(added["token"].as_str().unwrap()).unwrap();
            desk.callers.push(desk.session.authenticate(&token).unwrap());
            people.push((role, false));
        }
        let last = desk.callers.len() - 1;
        let body = json!({"participantId": desk.callers[last].participant_id});
        desk.call(0, "participants:revoke", &body, START).unwrap();
        people[last].1 = true;
        let people = people.into_iter().zip(&desk.callers);
        let people = people.map(|((role, revoked), caller)| Person {
            id: caller.participant_id.clone(),
            role,
            revoked,
            presence: None,
        });
        let model = Model {
            now: START,
            people: people.collect(),
            ..Model::default()
        };
        (desk, model)
    }

    /// The answer, or the status and the reason.
    fn call(&mut self, who: usize, operation: &str, body: &Value, now: i64) -> Result<Value, (u16, String)> {
        self.drawn += 1;
        let mut entropy = [0; 32];
        entropy[..8].copy_from_slice(&self.drawn.to_be_bytes());
        let (now, body) = (Timestamp::from_millis(now), body.as_object().unwrap());
        let decided = if operation.contains(':') {
            self.rule(who, operation, body, now, entropy)
        } else {
            self.coordinate(who, operation, body, now, entropy)
        };
        let (commit, answer) = decided.map_err(|refusal| {
            let reason = match refusal.violations.first() {
                Some(violation) => format!("INVALID_ARGUMENT {}", violation.field),
                None => refusal.reason().unwrap_or_default().to_owned(),
            };
            (refusal.status(), reason)
        })?;
        if let Some(commit) = commit {
            assert!(self.session.apply(&commit));
        }
        Ok(answer.into_object())
    }

    fn coordinate(
        &self,
        who: usize,
        operation: &str,
        body: &Map<String, Value>,
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Result<(Option<Commit>, Answer), Refusal> {
        let call = coordination::Call {
            caller: self.callers[who].clone(),
            now,
            entropy,
            limits: LIMITS,
            body,
            last_event_id: None,
        };
        match coordination::invoke(&self.session, catalogue::find(operation).unwrap(), &call)? {
            Reply::Decided(decided) => Ok((decided.commit, decided.answer)),
            other => panic!("{other:?}"),
        }
    }

    fn rule(
        &self,
        who: usize,
        verb: &str,
        body: &Map<String, Value>,
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Result<(Option<Commit>, Answer), Refusal> {
        let (verb, caller) = (operator::find(verb).unwrap(), &self.callers[who]);
        let ruled = operator::rule(&self.session, verb, body, caller, now, entropy, LIMITS)?;
        Ok((ruled.commit, ruled.answer))
    }
}

/// A step of a game. What is done is drawn when it is its turn, so that it makes sense whatever was left out before.
#[derive(Clone, Copy)]
struct Step {
    seed: u64,
}

/// What a game came to.
#[derive(Default)]
struct Played {
    seen: BTreeMap<String, (u16, usize)>,
    script: Vec<String>,
    /// Where the desk and the model differ.
    difference: Option<String>,
}

/// The lists, which both must show alike to everybody.
fn lists() -> Vec<(&'static str, Value)> {
    vec![
        ("participants.list", json!({})),
        ("requests.list", json!({"pageSize": 100})),
        ("inbox.list", json!({"pageSize": 100, "state": "all"})),
        ("knowledge.list", json!({"pageSize": 100})),
        (
            "workstreams.list",
            json!({"pageSize": 100, "includeArchived": true}),
        ),
    ]
}

/// Both put the items of one moment, and entries, in an order of their own.
fn sorted(operation: &str, mut answer: Value) -> Value {
    if operation == "inbox.list"
        && let Some(items) = answer["items"].as_array_mut()
    {
        let text = |item: &Value, member: &str| item[member].to_string();
        items.sort_by_key(|it| (text(it, "at"), text(it, "kind"), text(it, "subjectId")));
    }
    if operation == "presence.announce" {
        for (member, by) in [("renewedClaims", "/claimId"), ("lapsedClaims", "")] {
            if let Some(claims) = answer[member].as_array_mut() {
                claims.sort_by_key(|it| it.pointer(by).map(Value::to_string));
            }
        }
    }
    answer
}

fn play(steps: &[Step]) -> Played {
    let (mut desk, mut model) = Desk::new();
    let mut played = Played::default();
    for step in steps {
        let mut random = Random(step.seed);
        model.now += *random.pick(&[1, 1, 500, 5_000, 20_000, 45_000]);
        let mut who = random.below(ACTING);
        let (operation, body) = draw::operation(&mut random, &model, who);
        if operation.contains(':') {
            // Whoever else asks for a verdict finds nothing there.
            who %= 2;
        }
        turn(&mut desk, &mut model, who, operation, &body, &mut played);
        if played.difference.is_some() {
            return played;
        }
    }
    for who in 0..ACTING {
        for (operation, body) in lists() {
            turn(&mut desk, &mut model, who, operation, &body, &mut played);
            if played.difference.is_some() {
                return played;
            }
        }
    }
    played
}

/// Lets both do one thing, and compares.
fn turn(desk: &mut Desk, model: &mut Model, who: usize, operation: &str, body: &Value, played: &mut Played) {
    let actual = desk.call(who, operation, body, model.now);
    let expected = model.run(who, operation, body);
    played
        .script
        .push(format!("+{} ms, p{who}: {operation} {body}", model.now - START));
    let (came_to, status) = match &expected {
        Ok(_) => {
            let action = body["action"].as_str().map(|action| format!(" {action}"));
            let moved = (!body["from"].is_null()).then(|| " moved".to_owned());
            let more = action.or(moved).unwrap_or_default();
            (format!("{operation}{more}"), 200)
        }
        Err(reason) => {
            let known = COMES_TO.iter().find(|(known, _)| known == reason);
            (reason.clone(), known.map_or(0, |(_, status)| *status))
        }
    };
    let differs = match (expected, actual) {
        (Ok(expected), Ok(actual)) => {
            model.learn(operation, &actual);
            difference(&sorted(operation, expected), &sorted(operation, actual), "answer")
        }
        (Err(_), Err(refusal)) if refusal == (status, came_to.clone()) => None,
        (expected, actual) => Some(format!("expected {expected:?}, got {actual:?}")),
    };
    played.seen.entry(came_to).or_insert((status, 0)).1 += 1;
    played.difference = differs;
}

/// The fewest steps that still come to a difference: one after another is left out that isn't needed for it.
fn shrunk(mut steps: Vec<Step>) -> Played {
    let mut index = 0;
    while index < steps.len() {
        let mut fewer = steps.clone();
        fewer.remove(index);
        if play(&fewer).difference.is_some() {
            steps = fewer;
        } else {
            index += 1;
        }
    }
    play(&steps)
}

#[test]
fn the_desk_does_what_the_model_says() {
    let mut seen: BTreeMap<String, (u16, usize)> = BTreeMap::new();
    for seed in 0..GAMES {
        let mut random = Random(seed << 16);
        let steps: Vec<Step> = (0..40 + random.below(21))
            .map(|_| Step { seed: random.next() })
            .collect();
        let played = play(&steps);
        if played.difference.is_some() {
            let least = shrunk(steps);
            panic!(
                "seed {seed}: {}\n{}",
                least.difference.unwrap_or_default(),
                least.script.join("\n")
            );
        }
        for (what, (status, times)) in played.seen {
            seen.entry(what).or_insert((status, 0)).1 += times;
        }
    }
    for (what, status) in COMES_TO {
        let times = seen.get(*what).filter(|(known, _)| known == status);
        assert!(times.is_some(), "no game comes to {status} {what}: {seen:?}");
    }
    let listed = |what: &String| COMES_TO.iter().any(|(known, _)| known == what);
    let unlisted: Vec<&String> = seen.keys().filter(|what| !listed(what)).collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");
}

#[test]
fn a_difference_is_found_wherever_it_is() {
    let expected = json!({"a": [{"b": 1_784_250_000_000_i64, "c": null}], "d": "x"});
    let actual = |time: &str, d: &str| json!({"a": [{"b": time, "more": 1}], "d": d});
    let differs = |actual: &Value| difference(&expected, actual, "answer").is_some();
    assert!(!differs(&actual("2026-07-17T01:00:00.000Z", "x")));
    assert!(differs(&actual("2026-07-17T01:00:00.001Z", "x")));
    assert!(differs(&actual("2026-07-17T01:00:00.000Z", "y")));
    assert!(differs(&json!({"a": [], "d": "x"})));
    assert!(differs(
        &json!({"a": [{"b": "2026-07-17T01:00:00.000Z", "c": 1}], "d": "x"})
    ));
}
