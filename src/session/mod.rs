//! The session: the unit of consistency, as a state that events build up.
//!
//! [`Session::decide`] answers what a command would do, as a [`Commit`]; [`Session::apply`] is the only way the state
//! changes. Both are pure. Replaying the commits of a session from an empty one gives its state, and
//! [`Session::snapshot`] and [`Session::restore`] are a shortcut to the same.

mod apply;
pub mod change;
pub mod claim;
pub mod credential;
pub mod decide;
pub mod decision;
pub mod event;
mod facts;
pub mod id;
pub mod inbox;
pub mod knowledge;
pub mod known;
pub mod limits;
pub mod page;
pub mod participant;
pub mod presence;
pub mod push;
pub mod question;
pub mod request;
mod summary;
pub mod task;
pub mod workstream;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

pub use credential::{Caller, Role, Scope, Token};
pub use decide::{Answer, Command, Context, Decided, Idempotency, NewSession};
pub use event::{Commit, Event};
pub use facts::SYSTEM_ADDRESS;
pub use limits::SessionLimits;

use crate::json::own;
use crate::refusal::Refusal;
use crate::time::Timestamp;
use claim::Claims;
use credential::Credential;
use decision::Decision;
use inbox::Inbox;
use knowledge::Knowledge;
use participant::Participant;
use presence::Presence;
use push::Pushes;
use question::Question;
use request::Request;
use task::{Mail, TaskRecord};
use workstream::Workstreams;

/// How long an idempotency key is kept after its use: 24 hours, in milliseconds.
pub const KEY_LIFE_MS: i64 = 86_400_000;

/// What a client's own message id was used for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendRecord {
    /// SHA-256 of the request's canonical form, as base 32.
    pub fingerprint: String,
    /// The task it opened or continued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The message of the session it became.
    pub mail_id: String,
}

/// What an idempotency key was used for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct KeptKey {
    /// SHA-256 of the operation and its parameters, as base 32.
    fingerprint: String,
    /// The commit that remembers the answer. The log has it; the state would grow with every answer.
    seq: u64,
}

/// Which idempotency keys were used when, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct KeyUse {
    at: Timestamp,
    credential: String,
    key: String,
}

/// A session as it stands after its last commit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    session_id: String,
    seq: u64,
    /// The latest time of a commit.
    latest: Timestamp,
    page_key: [u8; 32],
    participants: BTreeMap<String, Participant>,
    /// Ids of the participants in the order they were admitted in, whatever their clocks said.
    participant_order: Vec<String>,
    /// By participant.
    presences: BTreeMap<String, Presence>,
    claims: Claims,
    credentials: BTreeMap<String, Credential>,
    tasks: BTreeMap<String, TaskRecord>,
    /// Ids of tasks, by the id of the work item that each drafted.
    work_items: BTreeMap<String, String>,
    requests: BTreeMap<String, Request>,
    /// Ids of the requests in the order they were made in, whatever their clocks said.
    request_order: Vec<String>,
    /// How many of them are not closed. In no snapshot: counted anew when one is restored.
    #[serde(skip)]
    open_requests: usize,
    /// The requests that will expire unless they are closed before, by when.
    expiring: BTreeSet<(Timestamp, String)>,
    questions: BTreeMap<String, Question>,
    /// Ids of the questions in the order they were asked in.
    question_order: Vec<String>,
    /// The open questions to clients, by the message that puts them.
    put_to_clients: BTreeMap<String, String>,
    decisions: BTreeMap<String, Decision>,
    /// Ids of the decisions in the order they were recorded in.
    decision_order: Vec<String>,
    inbox: Inbox,
    workstreams: Workstreams,
    knowledge: Knowledge,
    pushes: Pushes,
    mail: BTreeMap<String, Mail>,
    /// By client, then by the message id it chose.
    sends: BTreeMap<String, BTreeMap<String, SendRecord>>,
    /// By credential, then by key.
    remembered: BTreeMap<String, BTreeMap<String, KeptKey>>,
    key_uses: VecDeque<KeyUse>,
}

impl Session {
    /// The state that a snapshot holds.
    ///
    /// # Errors
    /// When `bytes` is no snapshot; says what is wrong, for the log of the host.
    pub fn restore(bytes: &[u8]) -> Result<Self, String> {
        let mut session: Self = own::read(bytes)?;
        session.claims.derive(session.latest);
        session.inbox.derive();
        session.workstreams.derive();
        session.pushes.derive();
        let open = session.requests.values().filter(|one| !one.state.is_closed());
        session.open_requests = open.count();
        Ok(session)
    }

    /// The state as JSON, for [`Session::restore`].
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Its id, which is also the tenant on the wire; empty before the first commit.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.session_id
    }

    /// Number of its last commit; 0 before the first.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// The session's time when a host's clock says `now`: it never goes back, so that what has run out by the clock
    /// of one host has run out for all that follows.
    #[must_use]
    pub fn time(&self, now: Timestamp) -> Timestamp {
        now.max(self.latest)
    }

    /// Who holds a token, or `None` if it is unknown, revoked, or another session's.
    #[must_use]
    pub fn authenticate(&self, token: &Token) -> Option<Caller> {
        if token.session() != self.session_id {
            return None;
        }
        let digest = token.digest();
        let credential = self.credentials.get(&digest.credential_id())?;
        if !credential.digest.matches(&digest) || credential.revoked_at.is_some() {
            return None;
        }
        let participant = self.participants.get(&credential.participant_id)?;
        Some(Caller {
            participant_id: participant.participant_id.clone(),
            credential_id: credential.credential_id.clone(),
            role: participant.role,
            scopes: credential.scopes.clone(),
        })
    }

    /// Who calls without a credential: a client of the session that the deployment names. None while there is none of
    /// that id, it is no client, or it was revoked.
    #[must_use]
    pub fn anonymous(&self, participant_id: &str) -> Option<Caller> {
        let participant = self.participants.get(participant_id)?;
        let open = participant.role == Role::Client && participant.revoked_at.is_none();
        open.then(|| Caller::anonymous(participant_id))
    }

    /// Whether a caller that was authenticated once still is: commits since may have revoked its credential.
    #[must_use]
    pub fn is_current(&self, caller: &Caller) -> bool {
        if caller.is_anonymous() {
            return self.anonymous(&caller.participant_id).is_some();
        }
        let credential = self.credentials.get(&caller.credential_id);
        credential.is_some_and(|credential| credential.revoked_at.is_none())
    }

    /// The participants, by id.
    pub fn participants(&self) -> impl Iterator<Item = &Participant> {
        self.participants.values()
    }

    /// The participants, in the order they were admitted in.
    pub fn participants_in_order(&self) -> impl Iterator<Item = &Participant> {
        self.participant_order
            .iter()
            .filter_map(|id| self.participants.get(id))
    }

    /// What a participant last announced.
    #[must_use]
    pub fn presence(&self, participant_id: &str) -> Option<&Presence> {
        self.presences.get(participant_id)
    }

    /// The claims.
    #[must_use]
    pub const fn claims(&self) -> &Claims {
        &self.claims
    }

    /// A participant.
    #[must_use]
    pub fn participant(&self, participant_id: &str) -> Option<&Participant> {
        self.participants.get(participant_id)
    }

    /// The tasks, by id.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskRecord> {
        self.tasks.values()
    }

    /// A task.
    #[must_use]
    pub fn task(&self, task_id: &str) -> Option<&TaskRecord> {
        self.tasks.get(task_id)
    }

    /// A task that the caller may see: its own, and for those within the session the session's.
    ///
    /// # Errors
    /// TASK_NOT_FOUND, the same for a task that is another's and one that does not exist.
    pub fn visible_task(&self, task_id: &str, caller: &Caller) -> Result<&TaskRecord, Refusal> {
        self.tasks
            .get(task_id)
            .filter(|task| Self::may_see(task, caller))
            .ok_or_else(|| Refusal::task_not_found(task_id))
    }

    /// A task that the caller opened.
    ///
    /// # Errors
    /// As for [`visible_task`](Self::visible_task): a task that the caller may only see is not told from another's.
    pub fn own_task(&self, task_id: &str, caller: &Caller) -> Result<&TaskRecord, Refusal> {
        let task = self.task(task_id);
        task.filter(|task| task.opened_by == caller.participant_id)
            .ok_or_else(|| Refusal::task_not_found(task_id))
    }

    /// Whether a task is the caller's to see.
    #[must_use]
    pub fn may_see(task: &TaskRecord, caller: &Caller) -> bool {
        task.opened_by == caller.participant_id
            || (task.origin == task::Origin::Session && caller.role != Role::Client)
    }

    /// The requests, in the order they were made in.
    pub fn requests(&self) -> impl DoubleEndedIterator<Item = &Request> {
        self.request_order.iter().filter_map(|id| self.requests.get(id))
    }

    /// How many requests are not closed, recorded or not. Costs what has expired since the last commit.
    #[must_use]
    pub fn open_request_count(&self, now: Timestamp) -> usize {
        let expired = self.expiring.iter().take_while(|(at, _)| *at <= now);
        self.open_requests.saturating_sub(expired.count())
    }

    /// A request.
    #[must_use]
    pub fn request(&self, request_id: &str) -> Option<&Request> {
        self.requests.get(request_id)
    }

    /// The workstreams.
    #[must_use]
    pub const fn workstreams(&self) -> &Workstreams {
        &self.workstreams
    }

    /// The knowledge.
    #[must_use]
    pub const fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// A message of the session.
    #[must_use]
    pub fn mail(&self, mail_id: &str) -> Option<&Mail> {
        self.mail.get(mail_id)
    }

    /// What a client's message id was used for, if it was.
    #[must_use]
    pub fn send_record(&self, participant_id: &str, message_id: &str) -> Option<&SendRecord> {
        self.sends.get(participant_id)?.get(message_id)
    }

    /// The owner whom the session's clients write to: the first of those who still take part.
    #[must_use]
    pub fn owner(&self) -> Option<&Participant> {
        let owners = self
            .participants
            .values()
            .filter(|one| one.role == Role::Owner && one.revoked_at.is_none());
        owners.min_by(|a, b| (a.added_at, &a.participant_id).cmp(&(b.added_at, &b.participant_id)))
    }

    /// Address of a participant; a stranger's id reads as an agent's.
    #[must_use]
    pub fn address_of(&self, participant_id: &str) -> String {
        self.participants
            .get(participant_id)
            .map_or_else(|| format!("agent:{participant_id}"), Participant::address)
    }
}
