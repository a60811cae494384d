//! The session over thousands of random commands: replaying and restoring give the same state, what must hold holds
//! after every step, and what has ended never changes again.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/claims.rs"]
mod claims;
#[path = "support/holds.rs"]
mod holds;
#[path = "support/play.rs"]
mod play;
#[path = "support/random.rs"]
mod random;
#[path = "support/workstreams.rs"]
mod workstreams;

use std::collections::{BTreeMap, BTreeSet};

use a2a_edge::agent::operator;
use a2a_edge::coordination::{self, Reply, catalogue};
use a2a_edge::session::presence;
use a2a_edge::session::request::RequestState;
use a2a_edge::session::task::Origin;
use a2a_edge::session::{Answer, Commit, Context, Role, Session, SessionLimits};
use a2a_edge::time::Timestamp;
use claims::check_claims;
use holds::{Reader, check, check_what_a_client_sees};
use play::Play;
use serde_json::{Map, Value, json};
use workstreams::check_histories;

const STEPS: usize = 80;

fn through_json(commit: &Commit) -> Commit {
    serde_json::from_slice(&serde_json::to_vec(commit).unwrap()).unwrap()
}

fn replayed(commits: &[Commit], through: impl Fn(&Commit) -> Commit) -> Session {
    let mut session = Session::default();
    for commit in commits {
        assert!(session.apply(&through(commit)));
    }
    session
}

#[track_caller]
fn assert_same(one: &Session, other: &Session, why: &str) {
    let text = |session: &Session| String::from_utf8(session.snapshot()).unwrap();
    assert_eq!(text(one), text(other), "{why}");
}

/// Plays a whole game, calling `watch` after every step with the commit that it came to.
fn game(seed: u64, mut watch: impl FnMut(&mut Play, Option<&Commit>)) -> Play {
    let mut play = Play::new(seed);
    for _ in 0..STEPS {
        play.tick();
        let (caller, command, idempotency) = play.draw();
        let decided = play.decide(caller, &command, idempotency);
        let commit = match decided {
            Ok(decided) => {
                play.accept(&decided);
                decided.commit
            }
            Err(refusal) => {
                assert!(refusal.status() < 500, "{command:?}: {refusal:?}");
                None
            }
        };
        watch(&mut play, commit.as_ref());
        if play.random.one_in(4)
            && let Some(commit) = play.land()
        {
            watch(&mut play, Some(&commit));
        }
    }
    play
}

#[test]
fn replaying_the_commits_gives_the_state_also_through_json() {
    for seed in 0..150 {
        let play = game(seed, |_, _| {});
        assert_same(&play.session, &replayed(&play.commits, Clone::clone), "replayed");
        assert_same(
            &play.session,
            &replayed(&play.commits, through_json),
            "through JSON",
        );
    }
}

#[test]
fn a_restored_snapshot_goes_on_as_if_nothing_had_happened() {
    for seed in 1000..1080 {
        let mut twin: Option<Session> = None;
        let play = game(seed, |play, commit| {
            if let (Some(twin), Some(commit)) = (&mut twin, commit) {
                assert!(twin.apply(&through_json(commit)));
            }
            if play.random.one_in(10) {
                twin = Some(Session::restore(&play.session.snapshot()).unwrap());
            }
        });
        let Some(twin) = twin else { continue };
        assert_same(&play.session, &twin, "restored and gone on");
    }
}

#[test]
fn a_restored_session_decides_as_the_one_it_was_taken_from() {
    for seed in 2000..2030 {
        let mut play = Play::new(seed);
        for step in 0..STEPS {
            play.tick();
            let (caller, command, idempotency) = play.draw();
            let context = Context {
                now: play.now,
                entropy: play.entropy(),
                caller: play.callers[caller].clone(),
                limits: SessionLimits::default(),
                idempotency,
            };
            let before = play.session.snapshot();
            let decided = play.session.decide(&command, &context);
            assert_eq!(play.session.snapshot(), before, "deciding changes nothing");
            let twin = Session::restore(&before).unwrap();
            assert_eq!(
                format!("{twin:?}"),
                format!("{:?}", play.session),
                "a snapshot holds everything"
            );
            assert_eq!(
                format!("{decided:?}"),
                format!("{:?}", twin.decide(&command, &context)),
                "step {step}"
            );
            if let Ok(decided) = decided {
                play.accept(&decided);
            }
        }
    }
}

#[test]
fn a_commit_is_applied_once_and_only_in_its_turn() {
    let play = game(7, |_, _| {});
    let mut session = Session::default();
    for (index, commit) in play.commits.iter().enumerate() {
        assert!(
            play.commits
                .get(index + 1)
                .is_none_or(|later| !session.apply(later))
        );
        assert!(session.apply(commit));
        let before = session.snapshot();
        assert!(!session.apply(commit), "applied twice");
        assert_eq!(session.snapshot(), before);
    }
}

#[test]
fn what_must_hold_holds_after_every_step() {
    let reader = Reader::new();
    let mut worked_on = 0;
    for seed in 3000..3160 {
        let mut last_commit = Timestamp::from_millis(1_784_250_000_000);
        let mut working: BTreeSet<String> = BTreeSet::new();
        let mut histories = BTreeMap::new();
        game(seed, |play, commit| {
            if let Some(commit) = commit {
                assert_eq!(commit.seq + 1, play.commits.len() as u64 + 1);
                assert_eq!(commit.seq, play.session.seq());
                assert!(!commit.events.is_empty());
                last_commit = commit.at;
            }
            check(play, last_commit);
            check_histories(&play.session, &mut histories);
            for task in play.session.tasks() {
                let state = play.session.standing(task, play.now).state.short_name();
                if state == "WORKING" {
                    working.insert(task.task_id.clone());
                }
                assert!(
                    state != "SUBMITTED" || !working.contains(&task.task_id),
                    "rewound: {task:?}"
                );
            }
            if play.random.one_in(16) {
                let client = play.with_role(Role::Client);
                let client = play.callers[client].clone();
                check_what_a_client_sees(play, &reader, &client);
            }
        });
        worked_on += working.len();
    }
    assert!(worked_on > 200, "{worked_on}");
}

#[test]
fn a_task_that_has_ended_looks_the_same_for_ever() {
    let reader = Reader::new();
    let mut ended_states = BTreeSet::new();
    for seed in 4000..4060 {
        let mut ended: BTreeMap<String, (Value, Value)> = BTreeMap::new();
        game(seed, |play, _| {
            for task in play.session.tasks() {
                if !play.session.standing(task, play.now).state.is_terminal() {
                    assert!(!ended.contains_key(&task.task_id), "risen: {task:?}");
                    continue;
                }
                let opener = play
                    .callers
                    .iter()
                    .find(|it| it.participant_id == task.opened_by)
                    .unwrap();
                let seen = |active| reader.task(play, opener, &task.task_id, active).unwrap();
                if !ended.contains_key(&task.task_id) {
                    ended.insert(task.task_id.clone(), (seen(true), seen(false)));
                } else if play.now.as_millis() % 4 == 0 || play.commits.len() == STEPS {
                    let (active, plain) = &ended[&task.task_id];
                    assert_eq!(*active, seen(true), "{task:?}");
                    assert_eq!(*plain, seen(false), "{task:?}");
                }
            }
        });
        ended_states.extend(
            ended
                .values()
                .map(|(seen, _)| seen["status"]["state"].to_string()),
        );
    }
    assert_eq!(ended_states.len(), 4, "{ended_states:?}");
}

#[test]
fn clocks_that_disagree_take_nothing_back_that_is_recorded() {
    let mut expired = 0;
    for seed in 9000..9040 {
        let mut ended: BTreeMap<String, Value> = BTreeMap::new();
        let play = game(seed, |play, commit| {
            check_claims(&play.session, play.now);
            if commit.is_some() {
                for task in play.session.tasks().filter(|task| task.state().is_terminal()) {
                    let known = ended.entry(task.task_id.clone()).or_insert_with(|| json!(task));
                    assert_eq!(*known, json!(task));
                }
            }
            // The next command comes from a host that is up to two minutes behind.
            if play.random.one_in(3) {
                play.now = play.now.plus_millis(-(play.random.below(120_000) as i64));
            }
        });
        assert_same(&play.session, &replayed(&play.commits, through_json), "replayed");
        let requests = play.session.requests();
        expired += requests
            .filter(|request| request.state == RequestState::Expired)
            .count();
    }
    assert!(expired > 20, "{expired}");
}

#[test]
fn the_reads_of_members_and_owners_come_to_no_commit() {
    for seed in 5000..5010 {
        game(seed, |play, _| {
            let (owner, empty) = (play.callers[0].clone(), Map::new());
            let resources = json!({"resources": [{"resourceId": "**"}]});
            let workstream = play.workstream_id();
            let history = json!({"workstreamId": workstream, "includeHistory": true});
            let entry = json!({"knowledgeId": "know-nowhere"});
            for operation in catalogue::OPERATIONS.iter().filter(|it| it.read_only) {
                let call = coordination::Call {
                    caller: owner.clone(),
                    now: play.now,
                    entropy: [0; 32],
                    limits: SessionLimits::default(),
                    body: match operation.name {
                        "claims.check" => resources.as_object().unwrap(),
                        "workstreams.get" => history.as_object().unwrap(),
                        "knowledge.read" => entry.as_object().unwrap(),
                        _ => &empty,
                    },
                    last_event_id: None,
                };
                match coordination::invoke(&play.session, operation, &call) {
                    Ok(Reply::Decided(decided)) => {
                        assert!(decided.commit.is_none(), "{}", operation.name);
                    }
                    Ok(Reply::Log(..) | Reply::Stream(_)) => {}
                    Err(refusal) => assert_eq!(refusal.status(), 404, "{refusal:?}"),
                }
            }
            for verb in ["tasks:list", "participants:list", "knowledge:proposals"] {
                let verb = operator::find(verb).unwrap();
                let ruled = operator::rule(
                    &play.session,
                    verb,
                    &empty,
                    &owner,
                    play.now,
                    [0; 32],
                    SessionLimits::default(),
                );
                assert!(ruled.unwrap().commit.is_none());
            }
        });
    }
}

#[test]
fn what_a_member_is_answered_is_what_the_session_then_holds() {
    for seed in 6000..6040 {
        let mut play = Play::new(seed);
        for _ in 0..STEPS {
            play.tick();
            let (caller, command, _) = play.draw();
            let Ok(decided) = play.decide(caller, &command, None) else {
                continue;
            };
            play.accept(&decided);
            let Answer::Object(answer) = decided.answer else {
                continue;
            };
            if let Some(id) = answer["request"]["requestId"].as_str() {
                assert_eq!(answer["request"], json!(play.session.request(id).unwrap()));
            }
            if let Some(id) = answer["participant"]["participantId"].as_str()
                && !answer["renewedClaims"].is_null()
            {
                let (participant, presence) = (play.session.participant(id), play.session.presence(id));
                let time = play.session.time(play.now);
                assert_eq!(
                    answer["participant"],
                    presence::record(participant.unwrap(), presence, time)
                );
            }
            if let Some(id) = answer["claim"]["claimId"].as_str() {
                assert_eq!(answer["claim"], json!(play.session.claims().get(id).unwrap()));
            }
            for name in ["workstream", "movedFrom"] {
                if let Some(id) = answer[name]["workstreamId"].as_str() {
                    assert_eq!(answer[name], json!(play.session.workstreams().get(id).unwrap()));
                }
            }
            if let Some(id) = answer["proposal"]["proposalId"].as_str() {
                assert_eq!(
                    answer["proposal"],
                    json!(play.session.knowledge().proposal(id).unwrap())
                );
            }
            for renewed in answer["renewedClaims"].as_array().into_iter().flatten() {
                let claim = play.session.claims().get(renewed["claimId"].as_str().unwrap());
                assert_eq!(renewed["expiresAt"], json!(claim.unwrap().expires_at));
            }
            if let Some(id) = answer["question"]["questionId"].as_str() {
                assert_eq!(answer["question"], json!(play.session.question(id).unwrap()));
            }
            if let Some(id) = answer["decision"]["decisionId"].as_str() {
                assert_eq!(answer["decision"], json!(play.session.decision(id).unwrap()));
            }
            for item in answer["items"].as_array().into_iter().flatten() {
                let me = &play.callers[caller].participant_id;
                let kept = play
                    .session
                    .inbox_item(me, item["itemId"].as_str().unwrap(), play.now);
                assert_eq!(*item, json!(kept.unwrap()));
            }
            if let Some(id) = answer["event"]["eventId"].as_str() {
                assert_eq!(answer["event"]["seq"], play.session.seq(), "{id}");
            }
            if let Some(id) = answer["task"]["taskId"].as_str() {
                let task = play.session.task(id).unwrap();
                assert_eq!(answer["task"], play.session.summary(task, play.now));
            }
        }
    }
}

#[test]
fn a_repeat_with_a_key_is_answered_byte_for_byte_and_another_use_of_it_is_refused() {
    let (mut repeats, mut refusals) = (0, 0);
    for seed in 7000..7200 {
        let mut answers: BTreeMap<(String, String), (String, String)> = BTreeMap::new();
        let mut play = Play::new(seed);
        for _ in 0..STEPS {
            play.now = play.now.plus_seconds(1);
            let (caller, command, Some(key)) = play.draw() else {
                continue;
            };
            let name = (play.callers[caller].credential_id.clone(), key.key.clone());
            let print = key.fingerprint.clone();
            let decided = play.decide(caller, &command, Some(key));
            match (answers.get(&name), decided) {
                (Some((known, answer)), Ok(decided)) => {
                    assert_eq!((known, decided.commit.is_none()), (&print, true));
                    let Answer::Remembered(seq) = decided.answer else {
                        panic!()
                    };
                    let commit = play.commits.iter().find(|commit| commit.seq == seq);
                    let remembered = through_json(commit.unwrap()).remembered.unwrap();
                    assert_eq!(*answer, remembered.answer.to_string());
                    repeats += 1;
                }
                (Some((known, _)), Err(refusal)) => {
                    assert_ne!(*known, print);
                    assert_eq!(
                        (refusal.status(), refusal.reason()),
                        (409, Some("IDEMPOTENCY_KEY_REUSED"))
                    );
                    refusals += 1;
                }
                (None, Ok(decided)) => {
                    if let (Answer::Object(answer), true) = (&decided.answer, decided.commit.is_some()) {
                        answers.insert(name, (print, answer.to_string()));
                    }
                    play.accept(&decided);
                }
                (None, Err(refusal)) => assert_ne!(refusal.reason(), Some("IDEMPOTENCY_KEY_REUSED")),
            }
            if play.random.one_in(4) {
                play.session = Session::restore(&play.session.snapshot()).unwrap();
            }
        }
    }
    assert!(repeats > 30 && refusals > 60, "{repeats} {refusals}");
}

/// The name of something that happened, and its members.
fn named(kept: &Value) -> (&str, &Value) {
    match kept {
        Value::Object(kept) => kept
            .iter()
            .next()
            .map(|(name, members)| (name.as_str(), members))
            .unwrap(),
        alone => (alone.as_str().unwrap(), &Value::Null),
    }
}

#[test]
fn the_games_meet_every_event_and_every_change_of_a_request() {
    let mut met: BTreeSet<String> = BTreeSet::new();
    for seed in 0..120 {
        for commit in game(seed, |_, _| {}).commits {
            for event in serde_json::to_value(commit).unwrap()["events"]
                .as_array()
                .unwrap()
            {
                let (name, members) = named(event);
                let told = members.get("change").or_else(|| members.get("ruling"));
                met.insert(told.map_or(name, |told| named(told).0).to_owned());
            }
        }
    }
    let all = [
        "accepted",
        "answerGiven",
        "cancelled",
        "claimAcquired",
        "claimReleased",
        "claimed",
        "claimsRenewed",
        "completed",
        "decisionRecorded",
        "expired",
        "gateDecided",
        "gateOpened",
        "inboxUpdated",
        "knowledgeProposed",
        "linkMoved",
        "linked",
        "mailPosted",
        "noted",
        "participantAdded",
        "participantRevoked",
        "presenceAnnounced",
        "progressed",
        "pushConfigDeleted",
        "pushConfigSet",
        "pushDelivered",
        "pushFailed",
        "questionAnswered",
        "questionAsked",
        "questionOpened",
        "reassigned",
        "rejected",
        "requestCreated",
        "sendRecorded",
        "sessionCreated",
        "statusAnnounced",
        "taskAnswered",
        "taskCanceled",
        "taskDeclined",
        "taskDropped",
        "taskOpened",
        "unclaimed",
        "unlinked",
        "updated",
        "workstreamCreated",
    ];
    assert_eq!(met, all.map(str::to_owned).into());
}

#[test]
fn tasks_within_the_session_are_its_members_to_see_and_no_clients() {
    let reader = Reader::new();
    let mut within = 0;
    for seed in 8000..8015 {
        let mut play = game(seed, |_, _| {});
        let (member, client) = (play.with_role(Role::Member), play.with_role(Role::Client));
        for task in play.session.tasks().filter(|task| task.origin == Origin::Session) {
            within += 1;
            assert!(
                reader
                    .task(&play, &play.callers[member], &task.task_id, false)
                    .is_ok()
            );
            assert!(
                reader
                    .task(&play, &play.callers[client], &task.task_id, false)
                    .is_err()
            );
        }
    }
    assert!(within > 20);
}
