//! What of the session's log its participants may read: the one place that says of every event what it is called, whom
//! it is for, and what is told of it (session coordination, §9.6).
//!
//! Secrets are in no event's `data`: no token, digest, key or page key. What a client and the session say to each other
//! is told by the request that carries it and by nothing here.

use serde_json::{Map, Value, json};

use crate::dispatch::SYSTEM_ADDRESS;
use crate::session::event::{Cursor, Event};
use crate::session::knowledge::Ruling;
use crate::session::participant::Participant;
use crate::session::presence::Presence;
use crate::session::question::Question;
use crate::session::request::RequestChange;
use crate::session::task::Origin;
use crate::session::workstream::WorkstreamChange;
use crate::session::{Caller, Commit, Session};
use crate::time::Timestamp;

/// Whom an event is for. It never changes for an event, so that nobody finds one later where there was none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Audience {
    /// All who may read the session.
    Members,
    /// Owners and admins.
    Deciders,
}

impl Audience {
    const fn has(self, caller: &Caller) -> bool {
        match self {
            Self::Members => true,
            Self::Deciders => caller.role.decides(),
        }
    }
}

/// An event as it is told.
struct Told {
    name: &'static str,
    audience: Audience,
    data: Value,
    /// When it happened and that nobody did it, for what time alone brought about.
    lapsed: Option<Timestamp>,
}

impl Told {
    const fn to(audience: Audience, name: &'static str, data: Value) -> Self {
        Self {
            name,
            audience,
            data,
            lapsed: None,
        }
    }

    const fn members(name: &'static str, data: Value) -> Self {
        Self::to(Audience::Members, name, data)
    }

    const fn deciders(name: &'static str, data: Value) -> Self {
        Self::to(Audience::Deciders, name, data)
    }
}

/// The events of a commit that a caller may read, each with its place in the log:
/// `{eventId, seq, at, type, actor?, data}`. What it may not read is left out, and counts as a place all the same.
pub fn events(session: &Session, commit: &Commit, caller: &Caller) -> Vec<(Cursor, Value)> {
    let told = commit.events.iter().enumerate().filter_map(|(index, event)| {
        let told = tell(session, event)?;
        let place = Cursor::event(commit.seq, index);
        told.audience
            .has(caller)
            .then(|| (place, record(commit, place, told)))
    });
    told.collect()
}

fn record(commit: &Commit, place: Cursor, told: Told) -> Value {
    let mut record = Map::new();
    record.insert("eventId".to_owned(), json!(place.to_string()));
    record.insert("seq".to_owned(), json!(commit.seq));
    record.insert("at".to_owned(), json!(told.lapsed.unwrap_or(commit.at)));
    record.insert("type".to_owned(), json!(told.name));
    let actor = commit.by.as_ref().filter(|_| told.lapsed.is_none());
    record.extend(actor.map(|actor| ("actor".to_owned(), json!(actor))));
    record.insert("data".to_owned(), told.data);
    Value::Object(record)
}

/// What is told of an event; nothing of what is only for the session itself.
fn tell(session: &Session, event: &Event) -> Option<Told> {
    Some(match event {
        Event::SessionCreated { session_id, .. } => {
            Told::members("session.created", json!({ "sessionId": session_id }))
        }
        Event::ParticipantAdded { participant, .. } => {
            Told::members("participant.joined", joined(participant))
        }
        Event::ParticipantRevoked { participant_id } => {
            Told::members("participant.left", json!({ "participantId": participant_id }))
        }
        Event::CredentialRotated { credential } => Told::deciders(
            "credential.rotated",
            json!({ "participantId": credential.participant_id }),
        ),
        Event::PresenceAnnounced {
            participant_id,
            presence,
        } => Told::members("presence.announced", present(participant_id, presence)),
        Event::StatusAnnounced {
            participant_id,
            status,
            blocked_on,
            workstream_id,
            resources,
            ..
        } => {
            let mut data = json!({ "participantId": participant_id, "status": status });
            put(&mut data, "blockedOn", blocked_on.as_ref());
            put(&mut data, "workstreamId", workstream_id.as_ref());
            put(
                &mut data,
                "resources",
                Some(resources).filter(|it| !it.is_empty()),
            );
            Told::members("status.announced", data)
        }
        Event::ClaimAcquired { claim } => {
            let name = match claim.renewed_at {
                Some(_) => "claim.renewed",
                None => "claim.acquired",
            };
            Told::members(name, json!({ "claim": claim }))
        }
        Event::ClaimsRenewed { participant_id } => {
            Told::members("claims.renewed", json!({ "participantId": participant_id }))
        }
        Event::ClaimReleased { claim_id } => Told::members("claim.released", json!({ "claimId": claim_id })),
        Event::RequestCreated { request } => Told::members("request.created", json!({ "request": request })),
        Event::RequestChanged { request_id, change } => changed(session, request_id, change),
        Event::WorkstreamCreated { workstream } => {
            Told::members("workstream.created", json!({ "workstream": workstream }))
        }
        Event::WorkstreamChanged {
            workstream_id,
            change,
        } => Told::members(change.name(), worked(workstream_id, change)),
        Event::KnowledgeProposed { proposal, .. } => {
            Told::deciders("knowledge.proposed", json!({ "proposal": proposal }))
        }
        Event::ProposalDecided { proposal_id, ruling } => ruled(proposal_id, ruling),
        Event::TaskOpened { task } => {
            let data = json!({ "taskId": task.task_id, "skill": task.skill, "openedBy": task.opened_by });
            Told::to(by_origin(task.origin), "task.opened", data)
        }
        Event::GateOpened { task_id, gate } => Told::deciders(
            "gate.opened",
            json!({ "taskId": task_id, "gateId": gate.id, "gateType": gate.gate_type }),
        ),
        Event::GateDecided {
            task_id,
            gate_id,
            choice,
            ..
        } => Told::deciders(
            "gate.decided",
            json!({ "taskId": task_id, "gateId": gate_id, "choice": choice }),
        ),
        Event::QuestionOpened { task_id, mail_id } => Told::to(
            of_task(session, task_id),
            "client.asked",
            json!({ "taskId": task_id, "messageId": mail_id }),
        ),
        Event::QuestionAnswered { task_id, mail_id } => Told::to(
            of_task(session, task_id),
            "client.answered",
            json!({ "taskId": task_id, "messageId": mail_id }),
        ),
        Event::TaskAnswered { task_id, mail_id, .. } => {
            let by_system = session
                .mail(mail_id)
                .is_some_and(|mail| mail.from == SYSTEM_ADDRESS);
            let name = if by_system { "task.closed" } else { "task.answered" };
            ended(session, name, task_id)
        }
        Event::TaskCanceled { task_id, .. } => ended(session, "task.canceled", task_id),
        Event::TaskDeclined { task_id, .. } => ended(session, "task.declined", task_id),
        Event::TaskDropped { task_id, .. } => ended(session, "task.dropped", task_id),
        Event::QuestionAsked { question } => Told::to(
            of_question(session, question),
            "question.asked",
            json!({ "question": question }),
        ),
        Event::AnswerGiven { question_id, answer } => {
            let question = session.question(question_id)?;
            let data = json!({ "questionId": question_id, "answer": answer });
            Told::to(of_question(session, question), "question.answered", data)
        }
        Event::DecisionRecorded { decision } => {
            Told::members("decision.recorded", json!({ "decision": decision }))
        }
        Event::MailPosted { .. }
        | Event::SendRecorded { .. }
        | Event::InboxUpdated { .. }
        | Event::PushConfigSet { .. }
        | Event::PushConfigDeleted { .. }
        | Event::PushDelivered { .. }
        | Event::PushFailed { .. } => return None,
    })
}

fn put<T: serde::Serialize>(data: &mut Value, name: &str, value: Option<T>) {
    if let (Some(data), Some(value)) = (data.as_object_mut(), value) {
        data.insert(name.to_owned(), json!(value));
    }
}

fn joined(participant: &Participant) -> Value {
    json!({
        "participantId": participant.participant_id,
        "displayName": participant.display_name,
        "kind": participant.kind,
        "role": participant.role,
    })
}

fn present(participant_id: &str, presence: &Presence) -> Value {
    let mut data = json!({ "participantId": participant_id, "state": presence.state });
    put(&mut data, "activity", presence.activity.as_ref());
    put(&mut data, "expiresAt", Some(presence.expires_at));
    data
}

/// What happened to a request: `{requestId, participantId?, note?, stage?, artifactIds?}`.
fn changed(session: &Session, request_id: &str, change: &RequestChange) -> Told {
    let mut data = json!({ "requestId": request_id });
    let mut lapsed = None;
    let (name, note) = match change {
        RequestChange::Claimed { participant_id, note } => {
            put(&mut data, "participantId", Some(participant_id));
            ("request.claimed", note)
        }
        RequestChange::Unclaimed { participant_id, note } => {
            put(&mut data, "participantId", Some(participant_id));
            ("request.unclaimed", note)
        }
        RequestChange::Reassigned { participant_id, note } => {
            put(&mut data, "participantId", Some(participant_id));
            ("request.reassigned", note)
        }
        RequestChange::Progressed { note, stage, .. } => {
            put(&mut data, "stage", stage.as_ref());
            ("request.progressed", note)
        }
        RequestChange::Noted { note } => ("request.noted", note),
        RequestChange::Completed { note, .. } => ("request.completed", note),
        RequestChange::Cancelled { note } => ("request.cancelled", note),
        RequestChange::Expired => {
            lapsed = session.request(request_id).and_then(|it| it.expires_at);
            ("request.expired", &None)
        }
    };
    put(&mut data, "note", note.as_ref().map(|note| &note.body));
    let ids: Vec<&str> = change
        .handed_in()
        .map(|(it, _)| it.artifact_id.as_str())
        .collect();
    put(&mut data, "artifactIds", Some(ids).filter(|ids| !ids.is_empty()));
    Told {
        lapsed,
        ..Told::members(name, data)
    }
}

/// What happened to a workstream: its id, and what the change brought.
fn worked(workstream_id: &str, change: &WorkstreamChange) -> Value {
    let mut data = json!({ "workstreamId": workstream_id });
    if let (Some(data), Value::Object(brought)) = (data.as_object_mut(), change.brought()) {
        data.extend(brought);
    }
    data
}

/// What became of a proposal. Why it was rejected is between those who decide and its author.
fn ruled(proposal_id: &str, ruling: &Ruling) -> Told {
    match ruling {
        Ruling::Accepted {
            knowledge_id,
            version,
        } => Told::members(
            "knowledge.accepted",
            json!({ "proposalId": proposal_id, "knowledgeId": knowledge_id, "version": version }),
        ),
        Ruling::Rejected { .. } => Told::deciders("knowledge.rejected", json!({ "proposalId": proposal_id })),
    }
}

const fn by_origin(origin: Origin) -> Audience {
    match origin {
        Origin::Session => Audience::Members,
        Origin::Client => Audience::Deciders,
    }
}

/// Whom a task is for: that of a client is its own and the deciders' alone (session coordination, §15).
fn of_task(session: &Session, task_id: &str) -> Audience {
    let task = session.task(task_id);
    task.map_or(Audience::Deciders, |task| by_origin(task.origin))
}

/// Whom a question is for: one that is put to a client is as private as its task.
fn of_question(session: &Session, question: &Question) -> Audience {
    let task_id = question.task_id.as_ref();
    task_id.map_or(Audience::Members, |task_id| of_task(session, task_id))
}

/// Whether a question is a caller's to read.
pub(super) fn may_read(session: &Session, question: &Question, caller: &Caller) -> bool {
    of_question(session, question).has(caller)
}

/// That a task ended is also for those who may have its request.
fn ended(session: &Session, name: &'static str, task_id: &str) -> Told {
    let mut data = json!({ "taskId": task_id });
    let request_id = session.task(task_id).and_then(|task| task.request_id.as_ref());
    put(&mut data, "requestId", request_id);
    let audience = match request_id {
        Some(_) => Audience::Members,
        None => of_task(session, task_id),
    };
    Told::to(audience, name, data)
}
