//! What a task has gone through, for those who follow it: each change once, in order, the same for every reader.
//!
//! A change refers to what the session and its log keep anyway, and holds no text of a message or artifact a second
//! time. So whoever renders it, on whatever host and however late, tells the same.

use serde::{Deserialize, Serialize};

use super::Session;
use super::event::{Commit, Event};
use super::facts::lapsed_at;
use super::request::RequestStanding;
use super::task::{Shown, Skill, TaskRecord, WorkStatus};
use crate::a2a::{Artifact, Chunk, TaskState};
use crate::dispatch::SYSTEM_ADDRESS;
use crate::dispatch::artifact::WorkArtifact;
use crate::dispatch::facts::{Note, Stage};
use crate::dispatch::projection::{Projection, project};
use crate::time::Timestamp;

/// Something that those who follow a task are told. Its number is its place among the changes of its task, from 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// Something was handed in: an artifact, or a piece of one.
    Artifact(Piece),
    /// An ask was answered: its answer is an artifact too.
    Answer,
    /// Something of its status is not what it was.
    Status(Standing),
}

impl Change {
    const fn standing(&self) -> Option<&Standing> {
        match self {
            Self::Status(standing) => Some(standing),
            Self::Artifact(_) | Self::Answer => None,
        }
    }
}

/// Where an artifact that was handed in stands in the session's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Number of the commit.
    pub seq: u64,
    /// Which of the commit's events, from 0.
    pub event: usize,
    /// Which of the event's artifacts, from 0.
    pub nth: usize,
}

impl Piece {
    /// The artifact, in the commit that has it, and how much of it that is.
    #[must_use]
    pub fn within<'a>(&self, commit: &'a Commit) -> Option<(&'a Artifact, Chunk)> {
        match commit.events.get(self.event)? {
            Event::RequestChanged { change, .. } => change.handed_in().nth(self.nth),
            _ => None,
        }
    }
}

/// All that a client can see of a task's status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// The state.
    pub state: TaskState,
    /// Since when.
    pub at: Timestamp,
    /// The row of the projection that matched.
    pub row: u8,
    /// The sentence that goes with the state, where it is not the source's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whose words the sentence is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The stage of work under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// The gates that it waits at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<String>,
    /// The work item's own status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkStatus>,
    /// The request that carries it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestStanding>,
}

/// What a sentence is quoted from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// A message of the session.
    Mail(String),
    /// The system's own answer, which is no message ([`Session::answer`]).
    System,
}

impl Source {
    fn of(note: &Note<'_>) -> Self {
        note.id.map_or(Self::System, |id| Self::Mail(id.to_owned()))
    }
}

impl Standing {
    fn of(shown: &Shown, projection: &Projection<'_>, work: Option<WorkStatus>) -> Self {
        let source = projection.source;
        let quoted = source.is_some_and(|note| note.id.is_some() && note.body == shown.text);
        Self {
            state: shown.state,
            at: shown.at,
            row: projection.row,
            text: (!quoted).then(|| shown.text.clone()),
            source: source.map(Source::of),
            stage: projection.stage,
            gates: projection.gates.iter().map(|gate| gate.id.to_owned()).collect(),
            work,
            request: None,
        }
    }
}

impl TaskRecord {
    fn last_standing(&self) -> Option<&Standing> {
        let kept = self.changes.iter().rev().find_map(Change::standing);
        kept.or(self.stood.as_deref())
    }

    /// The state that its client was last told.
    #[must_use]
    pub fn state(&self) -> TaskState {
        self.last_standing()
            .map_or(TaskState::Submitted, |standing| standing.state)
    }

    /// What its client was last told: nothing yet of a task that is being opened.
    #[must_use]
    pub fn shown(&self) -> Shown {
        let last = self.last_standing();
        let text = last
            .and_then(|standing| standing.text.as_ref())
            .or(self.quoted.as_ref());
        Shown {
            state: self.state(),
            text: text.cloned().unwrap_or_default(),
            at: last.map_or(self.opened_at, |standing| standing.at),
        }
    }

    /// Takes a status in, with the sentence that goes with it; one that is not new is none.
    pub(super) fn follow(&mut self, standing: Standing, text: String) {
        self.quoted = standing.text.is_none().then_some(text);
        if self.last_standing() == Some(&standing) {
            return;
        }
        if standing.row == ANSWERED && standing.source.is_some() {
            self.tell(Change::Answer);
        }
        if standing.state.is_interrupted() {
            self.awaited_until = None;
        }
        self.tell(Change::Status(standing));
    }

    /// The number of the last change.
    #[must_use]
    pub fn told(&self) -> usize {
        self.forgotten.saturating_add(self.changes.len())
    }

    /// The changes behind number `known` that are kept, each with its number.
    pub fn told_after(&self, known: usize) -> impl Iterator<Item = (&Change, usize)> {
        let skipped = known.saturating_sub(self.forgotten);
        let numbers = self.forgotten.saturating_add(1)..;
        self.changes.iter().zip(numbers).skip(skipped)
    }

    fn tell(&mut self, change: Change) {
        self.changes.push(change);
        if self.changes.len() > KEPT.saturating_add(FORGOTTEN_AT_ONCE) {
            let forgotten = self.changes.drain(..FORGOTTEN_AT_ONCE);
            let stood = forgotten.rev().find_map(|change| change.standing().cloned());
            self.stood = stood.map(Box::new).or(self.stood.take());
            self.forgotten = self.forgotten.saturating_add(FORGOTTEN_AT_ONCE);
        }
    }
}

/// How many changes of a task are kept at least. Whoever has read less begins with what is kept: a stream with the task
/// anew, a webhook with the oldest.
pub const KEPT: usize = 1_000;
const FORGOTTEN_AT_ONCE: usize = 100;

/// The row of the projection in which an ask is answered.
const ANSWERED: u8 = 5;

/// Whether an artifact shows as one: an ask's answer is shown from the message that completes it.
fn shows(artifact: &Artifact, skill: Skill) -> bool {
    skill == Skill::Handoff || !matches!(WorkArtifact::of(artifact, ""), Ok(Some(WorkArtifact::Answer(_))))
}

impl Session {
    /// How a task stands as of `now`, in short and in full.
    pub(super) fn outlook(&self, task: &TaskRecord, now: Timestamp) -> (Shown, Standing) {
        let facts = self.facts(task, now);
        let projection = project(&facts, SYSTEM_ADDRESS);
        let shown = self.standing_by(task, &projection, now);
        let work = task.work_item.as_ref().map(|item| item.status);
        let standing = Standing {
            request: self.request_of(task).map(|request| request.standing(now)),
            ..Standing::of(&shown, &projection, work)
        };
        (shown, standing)
    }

    /// Takes in what a commit hands in.
    pub(super) fn follow_artifacts(&mut self, commit: &Commit) {
        for (index, event) in commit.events.iter().enumerate() {
            let Event::RequestChanged { request_id, change } = event else {
                continue;
            };
            let task_id = self.requests.get(request_id).and_then(|it| it.task_id.as_ref());
            let Some(task) = task_id.and_then(|id| self.tasks.get_mut(id)) else {
                continue;
            };
            let skill = task.skill;
            let handed_in = change.handed_in().enumerate();
            for (nth, _) in handed_in.filter(|(_, (artifact, _))| shows(artifact, skill)) {
                task.tell(Change::Artifact(Piece {
                    seq: commit.seq,
                    event: index,
                    nth,
                }));
            }
        }
    }

    /// The change that time alone has brought about since the task's last one, though no commit has recorded it yet:
    /// it takes the next number, and the commit that records it gives it the same.
    #[must_use]
    pub fn due_change(&self, task: &TaskRecord, now: Timestamp) -> Option<Change> {
        let request = self.request_of(task)?;
        lapsed_at(request, now).filter(|_| !task.state().is_terminal())?;
        let (_, standing) = self.outlook(task, now);
        (task.last_standing() != Some(&standing)).then_some(Change::Status(standing))
    }

    /// When time alone changes how a task stands, unless something else does before.
    #[must_use]
    pub fn due_at(&self, task: &TaskRecord, now: Timestamp) -> Option<Timestamp> {
        let request = self.request_of(task)?;
        request
            .expires_at
            .filter(|at| !request.state.is_closed() && *at > now)
    }
}
