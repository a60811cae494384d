//! Whoever follows a task or the session is told the same, whenever and wherever it was cut off.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    dead_code,
    reason = "tests, with support that they share"
)]

#[path = "support/play.rs"]
mod play;
#[path = "support/random.rs"]
mod random;

use std::collections::BTreeMap;
use std::sync::Arc;

use a2a_edge::agent::stream::{Stream, known};
use a2a_edge::agent::{self, Call};
use a2a_edge::coordination::{self, events};
use a2a_edge::dispatch::{ENVELOPE_URI, GATE_URI, WORK_URI};
use a2a_edge::extension::Method;
use a2a_edge::serve::{Config, Desk};
use a2a_edge::session::event::{Cursor, Span};
use a2a_edge::session::{Caller, Commit, Session};
use a2a_edge::stream::{Event, Next};
use play::Play;
use serde_json::json;

const STEPS: usize = 150;

fn desk() -> Desk {
    Desk::new(Config::default()).unwrap()
}

fn log(play: &Play, span: Span) -> Vec<Commit> {
    let after = usize::try_from(span.after).unwrap();
    play.commits.iter().skip(after).take(span.most).cloned().collect()
}

/// A subscription to a task; none to one that has nothing more to tell.
fn subscribe(
    desk: &Desk,
    play: &Play,
    caller: &Caller,
    task: &str,
    active: bool,
    id: Option<&str>,
) -> Option<Stream> {
    let uris = [WORK_URI, ENVELOPE_URI, GATE_URI, coordination::URI];
    let requested: Vec<String> = uris.map(str::to_owned).into_iter().filter(|_| active).collect();
    let known = id.and_then(known);
    let params = json!({ "id": task });
    let call = Call {
        method: Method::SubscribeToTask,
        params: params.as_object().unwrap(),
        requested: &requested,
        caller: &Arc::new(caller.clone()),
        now: play.now,
        entropy: [0; 32],
        known,
    };
    let step = agent::begin(desk, &play.session, call).ok()?;
    assert!(step.commit.is_none());
    Some(Stream::new(step.follow, known))
}

/// All that a stream has to tell by now, and whether it ends with it.
fn drain(desk: &Desk, play: &Play, stream: &mut Stream, told: &mut Vec<Event>) -> bool {
    loop {
        match stream.next(desk, &play.session, play.now) {
            Next::Events(events) => told.extend(events),
            Next::Log(span) => stream.supply(log(play, span)),
            Next::Wait(until) => {
                assert!(until.is_none_or(|until| until > play.now));
                return false;
            }
            Next::End => return true,
        }
    }
}

struct Followed {
    caller: Caller,
    stream: Stream,
    told: Vec<Event>,
    ended: bool,
}

/// Plays, with a subscriber to every task from its first moment on.
fn game(seed: u64, desk: &Desk, active: bool) -> (Play, BTreeMap<String, Followed>) {
    let mut play = Play::new(seed);
    let mut followed: BTreeMap<String, Followed> = BTreeMap::new();
    for _ in 0..STEPS {
        play.tick();
        let (caller, command, idempotency) = play.draw();
        if let Ok(decided) = play.decide(caller, &command, idempotency) {
            play.accept(&decided);
        }
        let new = play
            .session
            .tasks()
            .filter(|task| !followed.contains_key(&task.task_id));
        for (task_id, opened_by) in new
            .map(|task| (task.task_id.clone(), task.opened_by.clone()))
            .collect::<Vec<_>>()
        {
            let caller = play
                .callers
                .iter()
                .find(|it| it.participant_id == opened_by)
                .unwrap();
            let caller = caller.clone();
            if let Some(stream) = subscribe(desk, &play, &caller, &task_id, active, None) {
                let (told, ended) = (Vec::new(), false);
                followed.insert(
                    task_id,
                    Followed {
                        caller,
                        stream,
                        told,
                        ended,
                    },
                );
            }
        }
        // Not after every commit: a slow reader is told the same.
        if play.random.one_in(2) {
            for it in followed.values_mut().filter(|it| !it.ended) {
                it.ended = drain(desk, &play, &mut it.stream, &mut it.told);
            }
        }
    }
    for it in followed.values_mut().filter(|it| !it.ended) {
        it.ended = drain(desk, &play, &mut it.stream, &mut it.told);
    }
    (play, followed)
}

fn may_call(session: &Session, caller: &Caller) -> bool {
    caller.scopes.contains(&a2a_edge::session::Scope::TasksSend) && session.is_current(caller)
}

#[test]
fn wherever_a_stream_is_cut_the_rest_of_it_is_told_exactly() {
    let desk = desk();
    let (mut cuts, mut ends, mut pieces) = (0, 0, 0);
    for seed in 0..80 {
        let active = seed % 2 == 0;
        let (play, followed) = game(seed, &desk, active);
        for (task_id, it) in followed
            .iter()
            .filter(|(_, it)| may_call(&play.session, &it.caller))
        {
            let numbers: Vec<usize> = it
                .told
                .iter()
                .map(|event| known(event.id.as_ref().unwrap()).unwrap())
                .collect();
            assert!(
                numbers.windows(2).all(|two| two[0] + 1 == two[1]),
                "{task_id}: {numbers:?}"
            );
            for (index, event) in it.told.iter().enumerate() {
                let mut rest = Vec::new();
                match subscribe(&desk, &play, &it.caller, task_id, active, event.id.as_deref()) {
                    Some(mut stream) => assert_eq!(drain(&desk, &play, &mut stream, &mut rest), it.ended),
                    None => assert!(it.ended && index + 1 == it.told.len(), "{task_id} at {index}"),
                }
                assert_eq!(rest, it.told[index + 1..], "{task_id} from {index}, seed {seed}");
                cuts += 1;
                let data = event.data.as_ref().unwrap();
                pieces += usize::from(data.get("artifactUpdate").is_some());
            }
            ends += usize::from(it.ended);
        }
    }
    assert!(cuts > 500 && ends > 50 && pieces > 20, "{cuts} {ends} {pieces}");
}

#[test]
fn what_a_stream_tells_last_is_where_the_task_stands() {
    let desk = desk();
    for seed in 100..120 {
        let (play, followed) = game(seed, &desk, true);
        for (task_id, it) in &followed {
            let last = it.told.last().unwrap().data.as_ref().unwrap();
            let record = play.session.task(task_id).unwrap();
            let shown = play.session.standing(record, play.now);
            let status = last["statusUpdate"]
                .get("status")
                .unwrap_or(&last["task"]["status"]);
            if status.is_null() {
                assert!(last.get("artifactUpdate").is_some());
                continue;
            }
            assert_eq!(status["state"], json!(shown.state), "{task_id}");
            assert_eq!(
                status["message"]["parts"][0]["text"],
                json!(shown.text),
                "{task_id}"
            );
            assert_eq!(status["timestamp"], json!(shown.at), "{task_id}");
            assert_eq!(it.ended, shown.state.is_terminal(), "{task_id}");
        }
    }
}

/// All that the session tells a caller behind a place.
fn told(play: &Play, caller: &Caller, place: Cursor) -> Vec<Event> {
    let mut stream = events::Stream::new(caller.clone(), place);
    let mut all = Vec::new();
    loop {
        match stream.next(&play.session, play.now) {
            Next::Events(events) => all.extend(events),
            Next::Log(span) => stream.supply(log(play, span)),
            Next::Wait(_) | Next::End => return all,
        }
    }
}

#[test]
fn wherever_the_session_s_stream_is_cut_the_rest_of_it_is_told_exactly() {
    let desk = desk();
    for seed in 200..206 {
        let (play, _) = game(seed, &desk, false);
        for caller in [&play.callers[0], &play.callers[3]] {
            let all = told(&play, caller, Cursor::behind(0));
            assert!(all.len() > 20, "{}", all.len());
            for (index, event) in all.iter().enumerate() {
                let place = event.id.as_ref().unwrap().parse().unwrap();
                let rest = told(&play, caller, place);
                assert_eq!(rest[1..], all[index + 1..], "from {place}, seed {seed}");
            }
        }
    }
}

#[test]
fn a_member_is_told_a_part_of_what_the_owner_is_and_nobody_a_secret() {
    let desk = desk();
    for seed in 300..306 {
        let (play, _) = game(seed, &desk, false);
        let [owner, member] = [0, 3].map(|index| told(&play, &play.callers[index], Cursor::behind(0)));
        assert!(member.len() < owner.len());
        assert!(member.iter().all(|event| owner.contains(event)));
        for event in &owner {
            let text = event.data.as_ref().map(ToString::to_string).unwrap_or_default();
            for secret in [
                "digest",
                "credential",
                "pageKey",
                "a2ae_",
                "nonce",
                "remembered",
                "\"sent\"",
            ] {
                assert!(!text.contains(secret), "{secret}: {text}");
            }
        }
    }
}
