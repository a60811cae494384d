//! What can happen to a session, and the commits that record it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::claim::Claim;
use super::credential::Credential;
use super::decision::Decision;
use super::inbox::ItemState;
use super::knowledge::{Proposal, Ruling};
use super::participant::Participant;
use super::presence::Presence;
use super::push::{PushRecord, Then};
use super::question::{Question, QuestionAnswer};
use super::request::{Request, RequestChange};
use super::task::{Choice, Ending, Gate, Mail, TaskRecord};
use super::workstream::{Workstream, WorkstreamChange};
use crate::json::own;
use crate::time::Timestamp;

/// Something that happened. Events are facts: they are never refused and never rewritten.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The session began.
    SessionCreated {
        /// Its id.
        session_id: String,
        /// 32 random bytes that its page tokens are sealed with.
        page_key: [u8; 32],
    },
    /// Somebody takes part.
    ParticipantAdded {
        /// Who.
        participant: Participant,
        /// What it authenticates with.
        credential: Credential,
    },
    /// Somebody no longer takes part: its credentials stopped working.
    ParticipantRevoked {
        /// Who.
        participant_id: String,
    },
    /// A participant is there.
    PresenceAnnounced {
        /// Who.
        participant_id: String,
        /// As what.
        presence: Box<Presence>,
    },
    /// A participant says how it is getting on.
    StatusAnnounced {
        /// Its place in the log ([`Cursor`]).
        event_id: String,
        /// Who.
        participant_id: String,
        /// How: at most 1,000 characters.
        status: String,
        /// What it waits for: at most 280 characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        blocked_on: Option<String>,
        /// The workstream it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workstream_id: Option<String>,
        /// What it is at: at most 20 resource ids.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        resources: Vec<String>,
    },
    /// A participant holds a claim, new or renewed by acquiring it again.
    ClaimAcquired {
        /// The claim, as it is from now on.
        claim: Box<Claim>,
    },
    /// A participant's live claims got their lease anew.
    ClaimsRenewed {
        /// Whose.
        participant_id: String,
    },
    /// A claim was given up.
    ClaimReleased {
        /// Which.
        claim_id: String,
    },
    /// A workstream was made.
    WorkstreamCreated {
        /// As it was made.
        workstream: Box<Workstream>,
    },
    /// Something happened to a workstream.
    WorkstreamChanged {
        /// Which.
        workstream_id: String,
        /// What.
        change: WorkstreamChange,
    },
    /// Somebody proposes something for the knowledge.
    KnowledgeProposed {
        /// The proposal.
        proposal: Box<Proposal>,
        /// At most 65,536 characters.
        body: String,
    },
    /// An owner or admin decided about a proposal for the knowledge.
    ProposalDecided {
        /// Which.
        proposal_id: String,
        /// How.
        ruling: Ruling,
    },
    /// A participant was given another token; those it had no longer work.
    CredentialRotated {
        /// What is kept of the new one.
        credential: Credential,
    },
    /// A message was accepted.
    MailPosted {
        /// The message.
        mail: Box<Mail>,
        /// The task it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<String>,
    },
    /// A task was opened by the message that came just before.
    TaskOpened {
        /// The task.
        task: Box<TaskRecord>,
    },
    /// The system raised a gate about a task.
    GateOpened {
        /// The task.
        task_id: String,
        /// The gate.
        gate: Gate,
    },
    /// A deciding participant decided a gate.
    GateDecided {
        /// The task.
        task_id: String,
        /// The gate.
        gate_id: String,
        /// The answer's id.
        answer: String,
        /// How.
        choice: Choice,
    },
    /// A request was made; with `task_id` it carries that task.
    RequestCreated {
        /// The request.
        request: Box<Request>,
    },
    /// Something happened to a request.
    RequestChanged {
        /// Which.
        request_id: String,
        /// What.
        change: RequestChange,
    },
    /// The client is asked something: the message that came just before.
    QuestionOpened {
        /// The task.
        task_id: String,
        /// The question's message.
        mail_id: String,
    },
    /// The client answered a question.
    QuestionAnswered {
        /// The task.
        task_id: String,
        /// The question's message.
        mail_id: String,
    },
    /// A participant asked the others something, or the client of a task with the message that came before.
    QuestionAsked {
        /// What.
        question: Box<Question>,
    },
    /// A question got its one answer.
    AnswerGiven {
        /// Which.
        question_id: String,
        /// What it was answered.
        answer: QuestionAnswer,
    },
    /// The participants decided something.
    DecisionRecorded {
        /// What.
        decision: Box<Decision>,
    },
    /// A participant made something of items of its inbox.
    InboxUpdated {
        /// Who.
        participant_id: String,
        /// Which: at most 100.
        item_ids: Vec<String>,
        /// What.
        state: ItemState,
    },
    /// An ask was answered by the message that came just before, or closed by the system with it.
    TaskAnswered {
        /// The task.
        task_id: String,
        /// The answer's message.
        mail_id: String,
        /// Whether it answers the send that still waits, in place of the task.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        directly: bool,
    },
    /// A task was called off.
    TaskCanceled {
        /// The task.
        task_id: String,
        /// By whom and why.
        ending: Ending,
    },
    /// A deciding participant declined an ask.
    TaskDeclined {
        /// The task.
        task_id: String,
        /// By whom and why.
        ending: Ending,
    },
    /// A deciding participant dropped the work item of a handoff.
    TaskDropped {
        /// The task.
        task_id: String,
        /// By whom and why.
        ending: Ending,
    },
    /// A client wants to be notified of what becomes of its task. A config of the same id is no more.
    PushConfigSet {
        /// Where and since when.
        record: Box<PushRecord>,
    },
    /// A client wants no more notifications by one of its configs.
    PushConfigDeleted {
        /// The task.
        task_id: String,
        /// The config.
        config_id: String,
    },
    /// A webhook has taken what happened up to a change of its task.
    PushDelivered {
        /// The task.
        task_id: String,
        /// The config.
        config_id: String,
        /// The number of the change.
        known: usize,
    },
    /// A webhook did not take the next change of its task.
    PushFailed {
        /// The task.
        task_id: String,
        /// The config.
        config_id: String,
        /// What is done about it.
        then: Then,
    },
    /// A send was recorded under the client's own message id, so that a repeat finds it.
    SendRecorded {
        /// Who sent it.
        participant_id: String,
        /// The id the client chose.
        message_id: String,
        /// SHA-256 of the request's canonical form, as base 32.
        fingerprint: String,
        /// The task it opened or continued; none if it was answered with a message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<String>,
        /// The message of the session it became.
        mail_id: String,
    },
}

/// An answer that a repeat of the same operation is given again, byte for byte (session coordination, §9.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Remembered {
    /// The credential that the key belongs to.
    pub credential_id: String,
    /// Chosen by the caller.
    pub key: String,
    /// SHA-256 of the operation and its parameters, as base 32.
    pub fingerprint: String,
    /// The answer.
    pub answer: Value,
}

/// A place in a session's log, behind an event or behind a whole commit. As text it is `<seq>-<index>`, which is also
/// the id of that event, or `<seq>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Number of the commit.
    pub seq: u64,
    /// Which of its events, from 0; none for the last.
    pub index: Option<usize>,
}

impl Cursor {
    /// Behind the whole commit of this number.
    #[must_use]
    pub const fn behind(seq: u64) -> Self {
        Self { seq, index: None }
    }

    /// Behind an event: its id.
    #[must_use]
    pub const fn event(seq: u64, index: usize) -> Self {
        let index = Some(index);
        Self { seq, index }
    }

    /// What follows it: at most so many commits, the one that it is within included.
    #[must_use]
    pub const fn span(self, most: usize) -> Span {
        let after = match self.index {
            Some(_) => self.seq.saturating_sub(1),
            None => self.seq,
        };
        Span { after, most }
    }

    /// Whether an event follows it.
    #[must_use]
    pub fn is_before(self, seq: u64, index: usize) -> bool {
        (seq, index) > (self.seq, self.index.unwrap_or(usize::MAX))
    }

    /// Whether something may follow it in a log of so many commits.
    #[must_use]
    pub const fn is_within(self, last: u64) -> bool {
        self.span(1).after < last
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(out, "{}-{index}", self.seq),
            None => write!(out, "{}", self.seq),
        }
    }
}

impl FromStr for Cursor {
    type Err = ();

    /// Only the text that [`Display`](fmt::Display) writes is one.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (seq, index) = match text.split_once('-') {
            Some((seq, index)) => (seq, Some(index.parse().map_err(drop)?)),
            None => (text, None),
        };
        let seq = seq.parse().map_err(drop)?;
        let cursor = Self { seq, index };
        if cursor.to_string() == text {
            Ok(cursor)
        } else {
            Err(())
        }
    }
}

/// A stretch of a session's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// It begins behind the commit of this number.
    pub after: u64,
    /// It has this many commits, or fewer where the log ends before.
    pub most: usize,
}

/// One step of a session: all of it is recorded, or nothing is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Commit {
    /// Its number: one more than that of the commit before.
    pub seq: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// The participant that acted; none for the operator of the deployment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Unlike that of any other commit.
    pub nonce: String,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// What a repeat is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remembered: Option<Remembered>,
}

impl Commit {
    /// The commit as a store keeps it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Only a map with keys that are no strings fails, and no event holds one.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// Why the bytes are no commit.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        own::read(bytes)
    }
}
