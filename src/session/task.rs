//! What a client's message opens: a task, the draft of a handoff, and the gate that waits on the owner.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::change::{Change, Standing};
use crate::a2a::{Message, TaskState};
use crate::dispatch::draft::Draft;
use crate::dispatch::envelope::{Kind, Reference};
use crate::time::Timestamp;

/// What the client asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Skill {
    /// A question, to be answered.
    #[default]
    Ask,
    /// A piece of work, to be landed.
    Handoff,
}

/// Who opened a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A client, by an A2A message: the task is its alone.
    Client,
    /// A participant, by `requests.create`: the task is the session's members' to see.
    Session,
}

/// A message of the session: who said what to whom, and what of it a client may see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mail {
    /// Made by the server.
    pub id: String,
    /// The id of the message that began the conversation.
    pub thread: String,
    /// Address of its author.
    pub from: String,
    /// Addresses of its recipients.
    pub to: Vec<String>,
    /// What it is.
    pub kind: Kind,
    /// Its text.
    pub body: String,
    /// What it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// Whether its author waits for the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocking: bool,
    /// What may be chosen from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// What was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// Tasks and messages it refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<Reference>,
    /// Data; a client's is wrapped under the envelope's URI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// When it was accepted.
    pub at: Timestamp,
    /// The message as the client sent it, for the task's history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Message>,
}

/// Why a task ended otherwise than by its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ending {
    /// When.
    pub at: Timestamp,
    /// By which participant.
    pub by: String,
    /// What the client is told, if something was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The state that the client was last told, and since when it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The state.
    pub state: TaskState,
    /// The sentence that goes with it.
    pub text: String,
    /// Since when.
    pub at: Timestamp,
}

/// A task as the session keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRecord {
    /// Made by the server.
    pub task_id: String,
    /// The conversation.
    pub context_id: String,
    /// The participant that opened it.
    pub opened_by: String,
    /// How it was opened.
    pub origin: Origin,
    /// What was asked for.
    pub skill: Skill,
    /// When.
    pub opened_at: Timestamp,
    /// Until when the send that opened it waits for what comes of it; none where its client was told of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited_until: Option<Timestamp>,
    /// The message that opened it.
    pub root: String,
    /// Messages since, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<String>,
    /// Questions to the client that still wait for an answer, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<String>,
    /// The answer that completes an ask, or that decided a handoff's proposal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Whether the answer is one to the send that opened it, in place of the task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub answered_directly: bool,
    /// The request that carries the work, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The work item of a handoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_item: Option<WorkItem>,
    /// The gates raised about it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Gate>,
    /// Whether somebody has taken it in hand since it was sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub delivered: bool,
    /// The client or a participant called it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canceled: Option<Ending>,
    /// The owner declined an ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined: Option<Ending>,
    /// The owner dropped the work item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<Ending>,
    /// The sentence of its last status, where that only says whose words they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quoted: Option<String>,
    /// What it was told last, oldest first ([`Self::told_after`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// How many changes before those are not kept any more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: usize,
    /// The last status among those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stood: Option<Box<Standing>>,
}

/// The work item that a handoff drafts (work/v1, §8.6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkItem {
    /// Made by the server.
    pub id: String,
    /// What is to be done, as it was shaped from the client's handoff.
    pub draft: Draft,
    /// Where it stands.
    pub status: WorkStatus,
    /// Whether a deciding participant approved it.
    pub approved: bool,
}

/// Where a work item stands; each status is its own phase, but `ready` is the phase `queued`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are work/v1's own (§8.6)")]
pub enum WorkStatus {
    Draft,
    Ready,
    Working,
    Review,
    Landing,
    Landed,
    Dropped,
}

impl WorkStatus {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Ready => "ready",
            Self::Working => "working",
            Self::Review => "review",
            Self::Landing => "landing",
            Self::Landed => "landed",
            Self::Dropped => "dropped",
        }
    }
}

/// The type of the gate that a handoff's proposal waits at.
pub const TASK_PROPOSAL: &str = "task-proposal";

/// Something that waits for a deciding participant: only the system raises one (gate/v1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// The id of the question that it is.
    pub id: String,
    /// `task-proposal`, or for work under way `tool-approval` or `scope`.
    #[serde(rename = "type")]
    pub gate_type: String,
    /// Since when.
    pub opened_at: Timestamp,
    /// Who decided, what and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// How a gate was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The answer's id.
    pub answer: String,
    /// Approve or decline.
    pub choice: Choice,
    /// By which participant.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// The two choices of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// The draft is promoted, or the work goes on as it was meant to.
    Approve,
    /// The draft is dropped, or the work goes on without.
    Decline,
}

impl Choice {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Decline => "decline",
        }
    }

    /// The choice of a name, exactly.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Approve, Self::Decline]
            .into_iter()
            .find(|choice| choice.as_str() == name)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl TaskRecord {
    /// Whether the send that opened it still waits at `now` for a first word of it. What waits for the client, or for a
    /// decision, has been told to it.
    #[must_use]
    pub fn is_awaited(&self, now: Timestamp) -> bool {
        self.awaited_until.is_some_and(|until| now < until)
    }

    /// The gates that nobody has decided yet, in the order they were raised.
    pub fn open_gates(&self) -> impl Iterator<Item = &Gate> {
        self.gates.iter().filter(|gate| gate.decision.is_none())
    }
}
