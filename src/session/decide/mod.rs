//! What a command would do: the events, the answer, and the record that makes a repeat harmless, in one value.

mod admit;
mod claims;
mod decisions;
mod inbox;
mod judge;
mod knowledge;
mod presence;
mod push;
mod questions;
mod requests;
mod send;
mod tell;
mod workstreams;

use serde_json::{Map, Value, json};

pub use admit::{Begun, NewSession};
pub use claims::{NewClaim, named};
pub use decisions::NewDecision;
pub use knowledge::{NewProposal, Verdict};
pub use presence::{NewPresence, NewStatus};
pub use push::NewPush;
pub use questions::NewQuestion;
pub use requests::{Action, NewRequest};
pub use send::{Opening, Send};
pub use workstreams::{Edit, Move, NewWorkstream};

use super::credential::Caller;
use super::event::{Commit, Event, Remembered};
use super::id::{Draw, base32, sha256};
use super::inbox::ItemState;
use super::known::not_found;
use super::limits::{self, SessionLimits};
use super::participant::Kind;
use super::request::RequestChange;
use super::{Role, Session};
use crate::json;
use crate::refusal::{Code, Refusal};
use crate::time::Timestamp;

/// Something that a caller wants of the session.
#[derive(Clone, Debug)]
pub enum Command {
    /// A client's message: opens a task, continues one, or is only delivered.
    Send(Box<Send>),
    /// The client calls its task off.
    CancelTask {
        /// Which.
        task_id: String,
    },
    /// The client of a task wants to be notified of what becomes of it.
    SetPushConfig {
        /// The task.
        task_id: String,
        /// Where.
        new: Box<NewPush>,
    },
    /// The client of a task wants no more of such notifications.
    DeletePushConfig {
        /// The task.
        task_id: String,
        /// Which.
        config_id: String,
    },
    /// Somebody is to take part. Owners and admins only.
    AddParticipant {
        /// For people.
        display_name: String,
        /// What it is.
        kind: Kind,
        /// What it will be to the session.
        role: Role,
    },
    /// Somebody is no longer to take part. Owners and admins only.
    RevokeParticipant {
        /// Who.
        participant_id: String,
    },
    /// Somebody is to have another token. Owners and admins only.
    RotateCredential {
        /// Who.
        participant_id: String,
    },
    /// The gate of a handoff's proposal is answered. Owners and admins only.
    DecideProposal {
        /// The task of the handoff.
        task_id: String,
        /// `approve` or `decline`.
        choice: String,
        /// With a decline for the client, with an approval for those who do the work.
        reason: Option<String>,
    },
    /// An ask, or the proposal of a handoff, is turned down. Owners and admins only.
    Decline {
        /// The task.
        task_id: String,
        /// For the client.
        reason: Option<String>,
    },
    /// An ask is closed without an answer: it has failed. Owners and admins only.
    CloseTask {
        /// The task of the ask.
        task_id: String,
        /// For the client.
        reason: Option<String>,
    },
    /// The work item of a handoff is dropped. Owners and admins only.
    DropWork {
        /// The task of the handoff.
        task_id: String,
        /// For the members.
        reason: Option<String>,
    },
    /// The client of a task is asked something. Owners, admins and those who have its request.
    AskClient {
        /// The task.
        task_id: String,
        /// What.
        body: String,
        /// What may be chosen from; empty leaves the answer free.
        choices: Vec<String>,
    },
    /// Work for the participants of the session.
    CreateRequest(Box<NewRequest>),
    /// Something is to happen to a request.
    UpdateRequest {
        /// Which.
        request_id: String,
        /// What.
        action: Action,
    },
    /// The caller is there.
    AnnouncePresence(Box<NewPresence>),
    /// The caller says how it is getting on.
    AnnounceStatus(Box<NewStatus>),
    /// The caller wants a lease on a resource, or its own renewed.
    AcquireClaim(Box<NewClaim>),
    /// A claim is given up.
    ReleaseClaim {
        /// Which.
        claim_id: String,
    },
    /// The caller asks the others, or the client of a request's task.
    AskQuestion(Box<NewQuestion>),
    /// The caller answers a question.
    AnswerQuestion {
        /// Which.
        question_id: String,
        /// At most 16,384 characters.
        body: Option<String>,
        /// One of the question's choices.
        choice: Option<String>,
    },
    /// The caller makes something of items of its inbox.
    UpdateInbox {
        /// Which: 1 to 100.
        item_ids: Vec<String>,
        /// What.
        state: ItemState,
    },
    /// The caller records a decision.
    RecordDecision(Box<NewDecision>),
    /// A new workstream of the caller's.
    CreateWorkstream(Box<NewWorkstream>),
    /// Something is to happen to a workstream that the caller knows the version of.
    EditWorkstream {
        /// Which.
        workstream_id: String,
        /// The version that the caller knows.
        expected_version: u32,
        /// What.
        edit: Box<Edit>,
    },
    /// Something for the knowledge, which an owner or admin decides about.
    ProposeKnowledge(Box<NewProposal>),
    /// A proposal for the knowledge is decided about. Owners and admins only.
    RuleOnProposal {
        /// Which.
        proposal_id: String,
        /// How.
        verdict: Verdict,
    },
}

impl Command {
    /// Whether it is a deciding participant's, about a task of somebody else's.
    const fn is_judgement(&self) -> bool {
        matches!(
            self,
            Self::DecideProposal { .. }
                | Self::Decline { .. }
                | Self::CloseTask { .. }
                | Self::DropWork { .. }
                | Self::AskClient { .. }
        )
    }
}

/// What a command is decided with.
#[derive(Clone, Debug)]
pub struct Context {
    /// Now.
    pub now: Timestamp,
    /// 32 random bytes, fresh for this command.
    pub entropy: [u8; 32],
    /// Who acts.
    pub caller: Caller,
    /// How much the session may hold.
    pub limits: SessionLimits,
    /// The caller's key, with what it was sent for.
    pub idempotency: Option<Idempotency>,
}

/// A key under which a repeat of an operation is recognised (session coordination, §9.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    /// Chosen by the caller: 1 to 255 characters.
    pub key: String,
    /// SHA-256 of the operation's name and the canonical form of its parameters, as base 32.
    pub fingerprint: String,
}

impl Idempotency {
    /// The key of an operation with its parameters (without the key itself).
    #[must_use]
    pub fn new(key: &str, operation: &str, parameters: &Value) -> Self {
        Self {
            key: key.to_owned(),
            fingerprint: fingerprint(operation, parameters),
        }
    }

    /// The key of an operation whose whole body is `body`, the key among its parameters.
    #[must_use]
    pub fn of_body(key: &str, operation: &str, body: &Map<String, Value>) -> Self {
        let mut parameters = body.clone();
        parameters.shift_remove("idempotencyKey");
        Self::new(key, operation, &Value::Object(parameters))
    }
}

/// SHA-256 over an operation's name and the RFC 8785 form of its parameters, as base 32.
#[must_use]
pub fn fingerprint(operation: &str, parameters: &Value) -> String {
    base32(&sha256(&[
        operation.as_bytes(),
        &[0],
        &json::canonical(parameters),
    ]))
}

/// What the caller is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A JSON object.
    Object(Value),
    /// The client's task of this id, as it stands after the commit.
    Task(String),
    /// A direct message: the message of the session that the client's became.
    Mail(String),
    /// What the commit of this number remembers: its operation is repeated.
    Remembered(u64),
}

impl Answer {
    /// The JSON object of an operation that answers with one.
    #[must_use]
    pub fn into_object(self) -> Value {
        match self {
            Self::Object(object) => object,
            Self::Task(_) | Self::Mail(_) | Self::Remembered(_) => json!({}),
        }
    }
}

/// What deciding a command came to.
#[derive(Clone, Debug)]
pub struct Decided {
    /// To be recorded before the answer leaves; none when nothing changes.
    pub commit: Option<Commit>,
    /// For the caller.
    pub answer: Answer,
}

impl Decided {
    /// What a read came to: nothing changes.
    #[must_use]
    pub const fn read(object: Value) -> Self {
        Self {
            commit: None,
            answer: Answer::Object(object),
        }
    }
}

/// The events of a commit while they are being decided.
struct Draft<'a> {
    session: &'a Session,
    context: &'a Context,
    draw: Draw,
    events: Vec<Event>,
}

impl Draft<'_> {
    fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    fn now(&self) -> Timestamp {
        self.context.now
    }

    /// The session's time.
    fn time(&self) -> Timestamp {
        self.session.time(self.context.now)
    }

    /// Whether one more of a kind fits beside the `held` ones.
    fn room_for(&self, kind: limits::Kind, held: usize) -> Result<(), Refusal> {
        self.context.limits.allow(kind, held, 1)
    }

    fn caller(&self) -> &Caller {
        &self.context.caller
    }

    fn only_deciders(&self) -> Result<(), Refusal> {
        if self.caller().role.decides() {
            Ok(())
        } else {
            Err(not_owner("only an owner or admin decides"))
        }
    }
}

/// PERMISSION_DENIED NOT_OWNER: the record is there, and not the caller's to change.
fn not_owner(message: &str) -> Refusal {
    Refusal::coordination(Code::PermissionDenied, "NOT_OWNER", message)
}

/// FAILED_PRECONDITION: the state of the record forbids it.
fn precondition(reason: &'static str, message: &str) -> Refusal {
    Refusal::coordination(Code::FailedPrecondition, reason, message)
}

impl Session {
    /// What `command` would do, without doing it.
    ///
    /// The checks are those from idempotency on (session coordination, §9.2): the caller is authenticated,
    /// the operation known and the fields within their limits.
    ///
    /// # Errors
    /// The first check that fails; the session is as it was.
    pub fn decide(&self, command: &Command, context: &Context) -> Result<Decided, Refusal> {
        if let Some(known) = self.recall(context)? {
            return Ok(Decided {
                commit: None,
                answer: Answer::Remembered(known),
            });
        }
        let mut draft = Draft {
            session: self,
            context,
            draw: Draw::new(context.entropy),
            events: Vec::new(),
        };
        let nonce = draft.draw.short();
        draft.events.extend(self.lapsed(context.now));
        let lapsed = draft.events.len();
        let answer = draft.decide(command)?;
        if draft.events.len() == lapsed {
            return Ok(Decided { commit: None, answer });
        }
        let mut commit = Commit {
            seq: self.seq.saturating_add(1),
            at: context.now,
            by: Some(context.caller.participant_id.clone()),
            nonce,
            events: draft.events,
            remembered: None,
        };
        let answer = match answer {
            Answer::Task(task_id) if command.is_judgement() => self.foresee(&commit, &task_id),
            answer => answer,
        };
        if let (Some(idempotency), Answer::Object(object)) = (&context.idempotency, &answer) {
            commit.remembered = Some(Remembered {
                credential_id: context.caller.credential_id.clone(),
                key: idempotency.key.clone(),
                fingerprint: idempotency.fingerprint.clone(),
                answer: object.clone(),
            });
        }
        Ok(Decided {
            commit: Some(commit),
            answer,
        })
    }

    /// A task as it will stand after `commit`, for those who decide. People decide, and rarely: a copy of the
    /// session is a fair price for one answer that a repeat can be given again.
    fn foresee(&self, commit: &Commit, task_id: &str) -> Answer {
        let mut after = self.clone();
        after.apply(commit);
        let summary = after.task(task_id).map(|task| after.summary(task, commit.at));
        Answer::Object(json!({ "task": summary }))
    }

    /// The commit that remembers the answer to a repeat, or a refusal when the key was used for something else.
    fn recall(&self, context: &Context) -> Result<Option<u64>, Refusal> {
        let Some(idempotency) = &context.idempotency else {
            return Ok(None);
        };
        let keys = self.remembered.get(&context.caller.credential_id);
        match keys.and_then(|keys| keys.get(&idempotency.key)) {
            None => Ok(None),
            Some(kept) if kept.fingerprint == idempotency.fingerprint => Ok(Some(kept.seq)),
            Some(_) => Err(Refusal::coordination(
                Code::AlreadyExists,
                "IDEMPOTENCY_KEY_REUSED",
                "the idempotency key was used for another request; choose a new one",
            )),
        }
    }

    /// What time alone has brought about since the last commit.
    fn lapsed(&self, now: Timestamp) -> Vec<Event> {
        let lapse = |(_, request_id): &(Timestamp, String)| Event::RequestChanged {
            request_id: request_id.clone(),
            change: RequestChange::Expired,
        };
        self.expiring
            .iter()
            .take_while(|(at, _)| *at <= now)
            .map(lapse)
            .collect()
    }
}

impl Draft<'_> {
    fn decide(&mut self, command: &Command) -> Result<Answer, Refusal> {
        match command {
            Command::Send(send) => self.send(send),
            Command::CancelTask { task_id } => self.cancel_task(task_id),
            Command::SetPushConfig { task_id, new } => self.set_push_of(task_id, new),
            Command::DeletePushConfig { task_id, config_id } => self.delete_push(task_id, config_id),
            Command::AddParticipant {
                display_name,
                kind,
                role,
            } => self.add(display_name, *kind, *role),
            Command::RevokeParticipant { participant_id } => self.revoke(participant_id),
            Command::RotateCredential { participant_id } => self.rotate(participant_id),
            Command::DecideProposal {
                task_id,
                choice,
                reason,
            } => self.decide_proposal(task_id, choice, reason.as_deref()),
            Command::Decline { task_id, reason } => self.decline(task_id, reason.as_deref()),
            Command::CloseTask { task_id, reason } => self.close_task(task_id, reason.as_deref()),
            Command::DropWork { task_id, reason } => self.drop_work(task_id, reason.as_deref()),
            Command::AskClient {
                task_id,
                body,
                choices,
            } => self.ask_client(task_id, body, choices),
            Command::CreateRequest(new) => self.create_request(new),
            Command::UpdateRequest { request_id, action } => self.update_request(request_id, action),
            Command::AnnouncePresence(new) => Ok(self.announce_presence(new)),
            Command::AnnounceStatus(new) => self.announce_status(new),
            Command::AcquireClaim(new) => self.acquire_claim(new),
            Command::ReleaseClaim { claim_id } => self.release_claim(claim_id),
            Command::AskQuestion(new) => self.ask_question(new),
            Command::AnswerQuestion {
                question_id,
                body,
                choice,
            } => self.answer_question(question_id, body.as_deref(), choice.as_deref()),
            Command::UpdateInbox { item_ids, state } => self.update_inbox(item_ids, *state),
            Command::RecordDecision(new) => self.record_decision(new),
            Command::CreateWorkstream(new) => self.create_workstream(new),
            Command::EditWorkstream {
                workstream_id,
                expected_version,
                edit,
            } => self.edit_workstream(workstream_id, *expected_version, edit),
            Command::ProposeKnowledge(new) => self.propose_knowledge(new),
            Command::RuleOnProposal { proposal_id, verdict } => self.rule_on_proposal(proposal_id, verdict),
        }
    }
}
