//! The inbox (session coordination, §9): who is told of what, what becomes of it, and what it costs.

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

use a2a_edge::session::decide::{NewDecision, NewQuestion};
use a2a_edge::session::inbox::{ADDRESSED, BROADCASTS, ItemState};
use a2a_edge::session::limits::SessionLimits;
use a2a_edge::session::participant::Kind as Being;
use a2a_edge::session::{Caller, Command, Context, NewSession, Role, Session, Token};
use a2a_edge::time::Timestamp;
use refusals::{create, participant, reason, refused, update};
use serde_json::{Value, json};
use support::{Bench, Reply, WORK};

fn inbox(bench: &Bench, token: &str, body: &Value) -> Value {
    bench.coordinate(token, "inbox:list", body).ok()
}

/// Kind and preview of what waits for somebody.
fn waiting(bench: &Bench, token: &str) -> Vec<(String, String)> {
    let listed = inbox(bench, token, &json!({}));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = listed["items"].as_array().unwrap().iter();
    items
        .map(|item| (text(&item["kind"]), text(&item["preview"])))
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = expected
        .iter()
        .map(|(kind, preview)| ((*kind).into(), (*preview).into()));
    owned.collect()
}

fn ids(listed: &Value) -> Vec<Value> {
    let items = listed["items"].as_array().unwrap().iter();
    items.map(|item| item["itemId"].clone()).collect()
}

fn mark(bench: &Bench, token: &str, items: &[Value], state: &str) -> Reply {
    bench.coordinate(token, "inbox:update", &json!({"itemIds": items, "state": state}))
}

fn ask(bench: &Bench, token: &str, more: Value) -> Value {
    let mut body = json!({"body": "Merge now?"});
    body.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    bench.coordinate(token, "questions:ask", &body).ok()["question"]["questionId"].clone()
}

fn answer(bench: &Bench, token: &str, question: &Value) {
    let body = json!({"questionId": question, "body": "Yes.\nNow."});
    bench.coordinate(token, "questions:answer", &body).ok();
}

fn announce(bench: &Bench, token: &str, capabilities: Value) {
    let body = json!({ "capabilities": capabilities });
    bench.coordinate(token, "presence:announce", &body).ok();
}

#[test]
fn a_question_is_told_to_whom_it_is_put_and_its_answer_to_who_asked() {
    let bench = Bench::new();
    let (named, skilled) = (bench.admit("member"), bench.admit("member"));
    announce(&bench, &skilled, json!(["review"]));
    let member = &bench.member;
    let to = json!([participant(&bench, &named), participant(&bench, member)]);
    ask(
        &bench,
        member,
        json!({"body": "\n \u{85}First\u{2028}second", "to": to}),
    );
    ask(
        &bench,
        member,
        json!({"body": "Skilled?", "capability": "review"}),
    );
    let all = ask(&bench, member, json!({"body": "All?"}));
    let (first, skilled_one, everyone) = (
        ("question", "First"),
        ("question", "Skilled?"),
        ("question", "All?"),
    );
    assert_eq!(waiting(&bench, &named), pairs(&[first, everyone]));
    assert_eq!(waiting(&bench, &skilled), pairs(&[skilled_one, everyone]));
    assert_eq!(waiting(&bench, &bench.owner), pairs(&[everyone]));
    assert_eq!(waiting(&bench, member), [], "nobody is told of its own doing");
    answer(&bench, &skilled, &all);
    assert_eq!(waiting(&bench, member), pairs(&[("answer", "Yes.")]));
    assert_eq!(
        waiting(&bench, &named),
        pairs(&[first]),
        "an answered question waits for nobody"
    );
    let listed = inbox(&bench, &named, &json!({"state": "resolved"}));
    assert_eq!(listed["items"][0]["subjectId"], all);
    assert_eq!(listed["pendingCount"], 1);
}

#[test]
fn who_announces_a_capability_later_is_told_what_still_waits() {
    let bench = Bench::new();
    ask(&bench, &bench.owner, json!({"capability": "review"}));
    assert_eq!(waiting(&bench, &bench.member), []);
    announce(&bench, &bench.member, json!(["review"]));
    assert_eq!(waiting(&bench, &bench.member).len(), 1);
    let item = ids(&inbox(&bench, &bench.member, &json!({})));
    announce(&bench, &bench.member, json!([]));
    assert_eq!(waiting(&bench, &bench.member), []);
    let reply = mark(&bench, &bench.member, &item, "resolved");
    assert_eq!(reason(&reply), "INBOX_ITEM_NOT_FOUND");
}

#[test]
fn work_is_told_to_whom_it_is_for_until_it_is_taken() {
    let bench = Bench::new();
    let (one, two) = (bench.admit("member"), bench.admit("member"));
    let to = json!([participant(&bench, &one)]);
    create(&bench, &json!({"title": "For one", "to": to}));
    let free = create(&bench, &json!({"title": "For any", "expiresInSeconds": 3_600}));
    bench
        .send(&bench.client, "", &json!({"parts": [{"text": "An ask"}]}))
        .ok();
    let handoff = json!({"metadata": {WORK: {"skill": "handoff", "title": "A handoff"}}});
    let task = bench.send(&bench.client, "", &handoff).ok()["task"]["id"].clone();
    assert_eq!(
        waiting(&bench, &two),
        pairs(&[("request", "For any"), ("request", "An ask")])
    );
    bench
        .operate(&bench.owner, "tasks:approve", &json!({"taskId": task}))
        .ok();
    assert_eq!(
        waiting(&bench, &two).last(),
        pairs(&[("request", "A handoff")]).first()
    );
    assert_eq!(waiting(&bench, &one).len(), 4);
    assert_eq!(waiting(&bench, &bench.owner), pairs(&[("request", "An ask")]));
    update(&bench, &one, &free, "claim").ok();
    assert_eq!(waiting(&bench, &two).len(), 2, "taken");
    update(&bench, &one, &free, "unclaim").ok();
    assert_eq!(waiting(&bench, &two).len(), 3, "free again");
    let seq = bench.state().seq();
    bench.wait(3_600);
    assert_eq!(waiting(&bench, &two).len(), 2, "expired, as of now");
    assert_eq!(bench.state().seq(), seq);
}

#[test]
fn a_reassignment_is_told_to_who_gets_it_and_to_who_had_it() {
    let bench = Bench::new();
    let other = bench.admit("member");
    let request = create(&bench, &json!({"title": "t"}));
    update(&bench, &other, &request, "claim").ok();
    update(&bench, &bench.owner, &request, "reassign").ok();
    for token in [&bench.member, &other] {
        assert!(waiting(&bench, token).contains(&("reassignment".into(), "t".into())));
    }
    assert_eq!(waiting(&bench, &bench.owner), []);
}

#[test]
fn a_decision_is_told_to_all_who_take_part_then_and_to_no_newcomer() {
    let bench = Bench::new();
    let body = json!({"title": "é".repeat(200), "decision": "d"});
    bench.coordinate(&bench.member, "decisions:record", &body).ok();
    let new = bench.admit("member");
    let listed = inbox(&bench, &bench.owner, &json!({"kinds": ["decision"]}));
    assert_eq!(listed["items"][0]["preview"], "é".repeat(120));
    assert_eq!(listed["items"][0]["from"], participant(&bench, &bench.member));
    assert_eq!(waiting(&bench, &new), []);
    // Nor may a newcomer touch what it was not told of.
    let reply = mark(&bench, &new, &ids(&listed), "resolved");
    assert_eq!(refused(&reply), (404, 5, "INBOX_ITEM_NOT_FOUND".into()));
}

#[test]
fn a_lapsed_claim_is_told_from_its_very_instant_without_a_commit_and_for_30_days() {
    let bench = Bench::new();
    let acquire = json!({"resourceId": "src/**", "leaseSeconds": 30});
    let claim = bench.coordinate(&bench.member, "claims:acquire", &acquire).ok()["claim"].clone();
    let seq = bench.state().seq();
    bench.wait(29);
    assert_eq!(waiting(&bench, &bench.member), []);
    bench.wait(1);
    let listed = inbox(&bench, &bench.member, &json!({}));
    let item = &listed["items"][0];
    assert_eq!(item["kind"], "claim-lapsed");
    assert_eq!(item["subjectId"], claim["claimId"]);
    assert_eq!(item["at"], claim["expiresAt"]);
    assert_eq!((&item["preview"], item.get("from")), (&json!("src/**"), None));
    assert_eq!(bench.state().seq(), seq);
    let reply = mark(&bench, &bench.owner, &ids(&listed), "resolved");
    assert_eq!(reason(&reply), "INBOX_ITEM_NOT_FOUND", "another's");
    // It keeps its id, whatever is recorded since.
    create(&bench, &json!({"to": [participant(&bench, &bench.owner)]}));
    assert_eq!(ids(&inbox(&bench, &bench.member, &json!({}))), ids(&listed));
    let marked = mark(&bench, &bench.member, &ids(&listed), "acknowledged").ok();
    assert_eq!(marked["items"][0]["state"], "acknowledged");
    assert_eq!(waiting(&bench, &bench.member), []);
    let all = json!({"state": "all"});
    bench.wait(30 * 86_400);
    assert_eq!(
        inbox(&bench, &bench.member, &all)["items"][0]["state"],
        "acknowledged"
    );
    bench.wait(1);
    assert_eq!(ids(&inbox(&bench, &bench.member, &all)), Vec::<Value>::new());
}

#[test]
fn what_was_given_up_or_renewed_has_not_lapsed() {
    let bench = Bench::new();
    let acquire = |resource: &str| {
        let body = json!({"resourceId": resource, "leaseSeconds": 30});
        bench.coordinate(&bench.member, "claims:acquire", &body).ok()["claim"]["claimId"].clone()
    };
    let released = acquire("a");
    acquire("b");
    bench
        .coordinate(&bench.member, "claims:release", &json!({"claimId": released}))
        .ok();
    bench.wait(20);
    bench
        .coordinate(&bench.member, "presence:announce", &json!({}))
        .ok();
    bench.wait(20);
    assert_eq!(waiting(&bench, &bench.member), []);
    bench.wait(10);
    assert_eq!(waiting(&bench, &bench.member), pairs(&[("claim-lapsed", "b")]));
}

#[test]
fn all_items_are_updated_or_none() {
    let bench = Bench::new();
    for _ in 0..2 {
        ask(&bench, &bench.owner, json!({}));
    }
    ask(
        &bench,
        &bench.member,
        json!({"to": [participant(&bench, &bench.owner)]}),
    );
    let mine = ids(&inbox(&bench, &bench.member, &json!({})));
    let others = ids(&inbox(&bench, &bench.owner, &json!({})));
    for stranger in [
        &others[0],
        &json!("item-99"),
        &json!("item-00"),
        &json!("lapsed-x"),
        &json!("x"),
    ] {
        let reply = mark(
            &bench,
            &bench.member,
            &[mine[0].clone(), stranger.clone()],
            "resolved",
        );
        assert_eq!(refused(&reply), (404, 5, "INBOX_ITEM_NOT_FOUND".into()));
        let metadata = &reply.body["error"]["details"][0]["metadata"];
        assert_eq!(*metadata, json!({"itemId": stranger}));
    }
    assert_eq!(waiting(&bench, &bench.member).len(), 2, "nothing of it was done");
    let twice = [mine[1].clone(), mine[0].clone(), mine[1].clone()];
    let marked = mark(&bench, &bench.member, &twice, "acknowledged").ok();
    assert_eq!(ids(&marked), [mine[1].clone(), mine[0].clone()]);
    let seq = bench.state().seq();
    mark(&bench, &bench.member, &mine, "acknowledged").ok();
    assert_eq!(bench.state().seq(), seq, "nothing changed");
    mark(&bench, &bench.member, &mine[..1], "resolved").ok();
    mark(&bench, &bench.member, &mine[1..], "pending").ok();
    assert_eq!(ids(&inbox(&bench, &bench.member, &json!({}))), mine[1..]);
    assert_eq!(ids(&inbox(&bench, &bench.member, &json!({"state": "all"}))), mine);
}

#[test]
fn what_is_settled_is_resolved_until_its_reader_says_otherwise() {
    let bench = Bench::new();
    let question = ask(&bench, &bench.owner, json!({}));
    let item = ids(&inbox(&bench, &bench.member, &json!({})));
    mark(&bench, &bench.member, &item, "acknowledged").ok();
    answer(&bench, &bench.owner, &question);
    let state = || inbox(&bench, &bench.member, &json!({"state": "all"}))["items"][0]["state"].clone();
    assert_eq!(state(), "resolved");
    mark(&bench, &bench.member, &item, "pending").ok();
    assert_eq!(state(), "pending");
}

#[test]
fn pages_neither_skip_nor_repeat_while_items_come_and_are_resolved() {
    let bench = Bench::new();
    for _ in 0..5 {
        ask(&bench, &bench.owner, json!({}));
    }
    let all = ids(&inbox(&bench, &bench.member, &json!({})));
    let (mut seen, mut token) = (Vec::new(), json!(""));
    loop {
        let body = json!({"pageSize": 2, "pageToken": token});
        let page = inbox(&bench, &bench.member, &body);
        seen.extend(ids(&page));
        // What was read is done with, and something new comes.
        mark(&bench, &bench.member, &ids(&page), "resolved").ok();
        if seen.len() == 2 {
            ask(&bench, &bench.owner, json!({}));
        }
        token = page["nextPageToken"].clone();
        if token == "" {
            break;
        }
        let other = bench.coordinate(&bench.owner, "inbox:list", &json!({"pageToken": token}));
        assert_eq!(other.refused().2, "pageToken", "another's");
        let filtered = json!({"pageToken": token, "kinds": ["question"]});
        let filtered = bench.coordinate(&bench.member, "inbox:list", &filtered);
        assert_eq!(filtered.refused().2, "pageToken", "another list");
    }
    assert_eq!(seen[..5], all);
    assert_eq!(seen.len(), 6);
}

#[test]
fn who_is_out_is_told_nothing_any_more() {
    let bench = Bench::new();
    let gone = bench.admit("member");
    let gone_id = participant(&bench, &gone);
    let question = ask(&bench, &gone, json!({"to": [participant(&bench, &bench.member)]}));
    ask(&bench, &bench.owner, json!({"to": [gone_id]}));
    bench
        .operate(
            &bench.owner,
            "participants:revoke",
            &json!({"participantId": gone_id}),
        )
        .ok();
    answer(&bench, &bench.member, &question);
    let kept = bench.state();
    assert_eq!(kept.inbox_of(&gone_id, bench.now()), []);
    assert!(
        !String::from_utf8(kept.snapshot())
            .unwrap()
            .contains("\"kind\":\"answer\"")
    );
    assert_eq!(bench.coordinate(&gone, "inbox:list", &json!({})).status, 401);
}

#[test]
fn a_proposal_is_told_to_those_who_decide_and_its_review_to_who_proposed_it() {
    let bench = Bench::new();
    let admin = bench.admit("admin");
    let body = json!({"title": "How to deploy", "body": "With care."});
    let proposed = bench.coordinate(&bench.member, "knowledge:propose", &body).ok();
    let proposal = proposed["proposal"]["proposalId"].clone();
    let told = pairs(&[("proposal", "How to deploy")]);
    assert_eq!(waiting(&bench, &bench.owner), told);
    assert_eq!(waiting(&bench, &admin), told);
    assert_eq!(waiting(&bench, &bench.member), []);
    bench
        .operate(&bench.owner, "knowledge:accept", &json!({"proposalId": proposal}))
        .ok();
    assert_eq!(waiting(&bench, &admin), [], "decided");
    let listed = inbox(&bench, &bench.member, &json!({}));
    assert_eq!(listed["items"][0]["kind"], "review");
    assert_eq!(listed["items"][0]["subjectId"], proposal);
}

/// A session without a store, for what takes thousands of commands.
struct Crowd {
    session: Session,
    callers: Vec<Caller>,
    drawn: u64,
}

const NOW: Timestamp = Timestamp::from_millis(1_784_250_000_000);

impl Crowd {
    fn new(members: usize) -> Self {
        let new = NewSession {
            owner_name: "owner".into(),
            owner_kind: Being::Human,
        };
        let begun = new.begin(NOW, [7; 32]);
        let mut session = Session::default();
        assert!(session.apply(&begun.commit));
        let callers = vec![session.authenticate(&begun.token).unwrap()];
        let mut crowd = Self {
            session,
            callers,
            drawn: 0,
        };
        for _ in 0..members {
            let add = Command::AddParticipant {
                display_name: "member".into(),
                kind: Being::Agent,
                role: Role::Member,
            };
            let token = crowd.act(0, &add)["token"].clone();
            let token = Token::parse(token.as_str().unwrap()).unwrap();
            crowd.callers.push(crowd.session.authenticate(&token).unwrap());
        }
        crowd
    }

    fn act(&mut self, caller: usize, command: &Command) -> Value {
        self.drawn += 1;
        let mut entropy = [0; 32];
        entropy[..8].copy_from_slice(&self.drawn.to_be_bytes());
        let context = Context {
            now: NOW,
            entropy,
            caller: self.callers[caller].clone(),
            idempotency: None,
            limits: SessionLimits::default(),
        };
        let decided = self.session.decide(command, &context).unwrap();
        assert!(self.session.apply(&decided.commit.unwrap()));
        decided.answer.into_object()
    }

    fn decides(&mut self) {
        self.act(
            0,
            &Command::RecordDecision(Box::new(NewDecision {
                title: "é".repeat(200),
                decision: "d".into(),
                rationale: None,
                alternatives: Vec::new(),
                supersedes: None,
                workstream_id: None,
            })),
        );
    }

    fn asks(&mut self, body: &str, to: &[usize]) {
        let to = to.iter().map(|it| self.callers[*it].participant_id.clone());
        let question = NewQuestion {
            body: body.into(),
            to: to.collect(),
            capability: None,
            choices: Vec::new(),
            request_id: None,
            workstream_id: None,
        };
        self.act(0, &Command::AskQuestion(Box::new(question)));
    }

    fn items(&self, reader: usize) -> Vec<String> {
        let items = self.session.inbox_of(&self.callers[reader].participant_id, NOW);
        items.into_iter().map(|item| item.item_id).collect()
    }
}

#[test]
fn an_item_to_a_thousand_is_kept_once_and_a_mark_on_it_is_a_few_bytes() {
    let mut crowd = Crowd::new(999);
    let empty = crowd.session.snapshot().len();
    crowd.decides();
    let told = crowd.session.snapshot().len();
    assert!(told - empty < 1_500, "{}", told - empty);
    for reader in 1..=999 {
        let item_ids = crowd.items(reader);
        assert_eq!(item_ids.len(), 1);
        let state = ItemState::Resolved;
        crowd.act(reader, &Command::UpdateInbox { item_ids, state });
    }
    let marked = crowd.session.snapshot().len() - told;
    assert!(marked <= 1_000 * 9, "{marked}");
}

#[test]
fn the_oldest_items_go_when_there_are_too_many() {
    let mut crowd = Crowd::new(3);
    for _ in 0..BROADCASTS {
        crowd.decides();
    }
    let before = crowd.items(1);
    assert_eq!(before.len(), BROADCASTS);
    crowd.asks("To one", &[1]);
    for number in 1..ADDRESSED {
        crowd.asks("To another", &[2 + number % 2]);
    }
    assert_eq!(crowd.items(1).len(), BROADCASTS + 1);
    crowd.decides();
    assert_eq!(crowd.items(1)[..BROADCASTS - 1], before[1..]);
    crowd.asks("To another", &[2, 3]);
    assert_eq!(crowd.items(1).len(), BROADCASTS, "what was addressed to it went");
    assert_eq!(
        crowd.items(2).len() + crowd.items(3).len(),
        2 * BROADCASTS + ADDRESSED + 1
    );
    let restored = Session::restore(&crowd.session.snapshot()).unwrap();
    assert_eq!(format!("{restored:?}"), format!("{:?}", crowd.session));
}
