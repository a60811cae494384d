//! What must hold of a session that plays at any time, and what its clients may see of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use a2a_edge::agent::{self, Call, Poll};
use a2a_edge::coordination;
use a2a_edge::desk::{Config, Desk};
use a2a_edge::dispatch::projection::project;
use a2a_edge::dispatch::{ENVELOPE_URI, GATE_URI, SYSTEM_ADDRESS, WORK_URI};
use a2a_edge::extension::Method;
use a2a_edge::session::inbox::{ItemState, Kind};
use a2a_edge::session::question::QuestionState;
use a2a_edge::session::{Caller, Role, Session};
use a2a_edge::time::Timestamp;
use serde_json::{Value, json};

use super::claims::check_claims;
use super::play::Play;
use super::workstreams::{check_knowledge, check_workstreams};

/// What must hold of a session at any time. The callers are those of `play`.
pub fn check(play: &Play, at: Timestamp) {
    let session = &play.session;
    check_claims(session, play.now);
    check_questions(session);
    for caller in &play.callers {
        check_inbox(session, caller, play.now);
    }
    check_workstreams(session);
    check_knowledge(session);
    check_pushes(session);
    let open = session.requests().filter(|it| !it.state_at(play.now).is_closed());
    assert_eq!(session.open_request_count(play.now), open.count());
    for request in session.requests() {
        let mut who: Vec<&str> = request
            .assignees
            .iter()
            .map(|it| it.participant_id.as_str())
            .collect();
        who.sort_unstable();
        who.dedup();
        assert_eq!(who.len(), request.assignees.len(), "nobody has a request twice");
        assert!(who.len() <= request.max_assignees as usize, "{request:?}");
        let task = session.task(request.task_id.as_ref().unwrap()).unwrap();
        assert_eq!(task.request_id.as_ref(), Some(&request.request_id));
        let ended = session.standing(task, play.now).state.is_terminal();
        assert_eq!(
            request.state_at(play.now).is_closed(),
            ended,
            "{request:?}\n{task:?}"
        );
    }
    for task in session.tasks() {
        let facts = session.facts(task, at);
        let projection = project(&facts, SYSTEM_ADDRESS);
        assert_eq!(task.state(), projection.state, "{task:?}");
        assert!(task.shown().at <= at, "{task:?}");
        let within = task
            .canceled
            .as_ref()
            .is_some_and(|ending| ending.by != task.opened_by);
        if !within {
            assert_eq!(task.shown().text, projection.text, "{task:?}");
        }
    }
}

/// Whatever a webhook lacks is due, unless it was given up.
fn check_pushes(session: &Session) {
    for task in session.tasks() {
        let changes = task.changes.len();
        for record in session.pushes().of_task(&task.task_id) {
            assert!(record.known <= changes, "{record:?}");
            let lacks = record.known < changes && record.given_up_at.is_none();
            assert!(!lacks || record.due.is_some(), "{record:?}");
            assert!(record.given_up_at.is_none() || record.due.is_none(), "{record:?}");
        }
    }
}

/// A task that waits for its client waits for the answer to questions that are open, and to no other.
fn check_questions(session: &Session) {
    for task in session.tasks().filter(|task| !task.state().is_terminal()) {
        for mail_id in &task.open_questions {
            let question = session.question_put_by(mail_id).unwrap();
            assert_eq!(question.task_id.as_ref(), Some(&task.task_id));
            assert_eq!(question.body, session.mail(mail_id).unwrap().body);
        }
        let put = session
            .questions()
            .filter(|it| it.task_id.as_ref() == Some(&task.task_id));
        let open = put.filter(|it| it.state == QuestionState::Open).count();
        assert_eq!(open, task.open_questions.len(), "{task:?}");
    }
    for question in session.questions() {
        assert_eq!(
            question.answer.is_some(),
            question.state == QuestionState::Answered
        );
    }
}

/// The items of an inbox come in order, each with an id of its own; none is of the reader's own doing, and what has
/// its answer or its end waits for nobody who did not say so.
fn check_inbox(session: &Session, reader: &Caller, now: Timestamp) {
    let me = &reader.participant_id;
    let items = session.inbox_of(me, now);
    let out = session.participant(me).is_some_and(|it| it.revoked_at.is_some());
    assert!(items.is_empty() || (reader.role != Role::Client && !out));
    let pending = items.iter().filter(|it| it.state == ItemState::Pending).count();
    assert_eq!(session.inbox_pending(me, now), pending);
    let mut ids = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        assert!(ids.insert(&item.item_id), "{item:?}");
        assert!(index == 0 || items[index - 1].place < item.place, "{item:?}");
        assert!(item.at <= session.time(now));
        assert_ne!(item.from, Some(me.as_str()), "{item:?}");
        assert_eq!(session.inbox_item(me, &item.item_id, now).as_ref(), Some(item));
        let there = match item.kind {
            Kind::Question | Kind::Answer => session.question(item.subject_id).is_some(),
            Kind::Request | Kind::Reassignment => session.request(item.subject_id).is_some(),
            Kind::Decision => session.decision(item.subject_id).is_some(),
            Kind::Proposal | Kind::Review => session.knowledge().proposal(item.subject_id).is_some(),
            Kind::ClaimLapsed => session
                .claims()
                .get(item.subject_id)
                .is_some_and(|it| !it.is_live(now)),
        };
        assert!(there, "{item:?}");
    }
}

pub struct Reader {
    desk: Desk,
}

impl Reader {
    pub fn new() -> Self {
        Self {
            desk: Desk::new(Config::default()).unwrap(),
        }
    }

    /// What a caller is told by a read; a read never comes to a commit.
    pub fn read(
        &self,
        session: &Session,
        now: Timestamp,
        caller: &Caller,
        method: Method,
        params: Value,
        active: bool,
    ) -> Result<Value, String> {
        let uris = [WORK_URI, ENVELOPE_URI, GATE_URI, coordination::URI];
        let requested = if active {
            uris.map(str::to_owned).to_vec()
        } else {
            Vec::new()
        };
        let call = Call {
            method,
            params: params.as_object().unwrap(),
            requested: &requested,
            caller: &Arc::new(caller.clone()),
            now,
            entropy: [0; 32],
            known: None,
        };
        let step = agent::begin(&self.desk, session, call).map_err(|failed| failed.refusal.to_string())?;
        assert!(step.commit.is_none(), "a read never comes to a commit");
        let mut follow = step.follow;
        match follow.poll(&self.desk, session, now).unwrap() {
            Poll::Ready(reply, _) => Ok(json!(reply)),
            Poll::Wait(_) => panic!("a read waits for nothing"),
        }
    }

    pub fn task(&self, play: &Play, caller: &Caller, task_id: &str, active: bool) -> Result<Value, String> {
        self.read(
            &play.session,
            play.now,
            caller,
            Method::GetTask,
            json!({ "id": task_id }),
            active,
        )
    }
}

/// What a client may not learn: gates but by their ids, and everything of other clients' tasks.
pub fn check_what_a_client_sees(play: &Play, reader: &Reader, client: &Caller) {
    let session = &play.session;
    for task in session.tasks() {
        let own = task.opened_by == client.participant_id;
        for active in [true, false] {
            let seen = reader.task(play, client, &task.task_id, active);
            assert_eq!(seen.is_ok(), own, "{task:?}");
            let Ok(seen) = seen else {
                assert_eq!(seen.unwrap_err(), "no such task");
                continue;
            };
            check_no_gate_traffic(session, &seen, active);
        }
    }
    let params = json!({"pageSize": 100, "includeArtifacts": true});
    let list = reader
        .read(session, play.now, client, Method::ListTasks, params, true)
        .unwrap();
    let own = session
        .tasks()
        .filter(|task| task.opened_by == client.participant_id)
        .count();
    assert_eq!(list["totalSize"], own);
    for task in list["tasks"].as_array().unwrap() {
        let record = session.task(task["id"].as_str().unwrap()).unwrap();
        assert_eq!(record.opened_by, client.participant_id);
    }
}

fn check_no_gate_traffic(session: &Session, seen: &Value, active: bool) {
    let text = seen.to_string();
    assert!(
        !text.contains("Approve the handoff?") && !text.contains("proposedBy"),
        "{text}"
    );
    assert!(active || !text.contains("gate-"), "{text}");
    let history = seen["history"].as_array().into_iter().flatten();
    for message in history.chain(seen["status"].get("message")) {
        let id = message["messageId"].as_str().unwrap();
        let mail = session.mail(id);
        assert!(
            mail.is_none_or(|mail| !session.is_gate_traffic(mail)),
            "{message}"
        );
    }
}
