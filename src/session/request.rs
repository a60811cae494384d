//! A request: work that participants of the session take, up to a capacity (session coordination, §9.3).

use serde::{Deserialize, Serialize};

use crate::a2a::{Artifact, Chunk};
use crate::dispatch::work::Priority;
use crate::time::Timestamp;

/// Where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestState {
    /// Nobody has it.
    Open,
    /// Somebody has it.
    Claimed,
    /// Done.
    Completed,
    /// Called off by a participant.
    Cancelled,
    /// Its time ran out.
    Expired,
}

impl RequestState {
    const ALL: [Self; 5] = [
        Self::Open,
        Self::Claimed,
        Self::Completed,
        Self::Cancelled,
        Self::Expired,
    ];

    /// The state of a name on the wire.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Claimed => "claimed",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    /// Whether a request in this state never changes again.
    #[must_use]
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled | Self::Expired)
    }
}

/// How far claimed work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Being looked at.
    Review,
    /// Being merged.
    Landing,
}

/// Somebody who has the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assignee {
    /// Who.
    pub participant_id: String,
    /// Since when.
    pub claimed_at: Timestamp,
}

/// A remark on a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Whose.
    pub from: String,
    /// What it says.
    pub body: String,
    /// When.
    pub at: Timestamp,
}

/// A request as the session keeps it and as the wire shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// Made by the server.
    pub request_id: String,
    /// One line, at most 200 characters.
    pub title: String,
    /// At most 16,384 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Where it stands as recorded; [`Request::state_at`] tells where it stands now.
    pub state: RequestState,
    /// Who asked.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
    /// When something last changed.
    pub updated_at: Timestamp,
    /// When it expires if nobody completes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// How many may have it at once.
    pub max_assignees: u32,
    /// Who has it.
    pub assignees: Vec<Assignee>,
    /// How far the work has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// How much it matters.
    pub priority: Priority,
    /// At most 10, each one line of at most 50 characters.
    pub labels: Vec<String>,
    /// When it counts as done: at most 20, each one line of at most 500 characters.
    pub acceptance: Vec<String>,
    /// What was handed in.
    pub artifacts: Vec<Artifact>,
    /// Ids of those whose last chunk has not come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<String>,
    /// Remarks, oldest first.
    pub notes: Vec<Note>,
    /// The A2A task it projects onto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The workstream it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workstream_id: Option<String>,
    /// Who may take it; empty means any member.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// When somebody first took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_at: Option<Timestamp>,
    /// When the last who had it gave it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclaimed_at: Option<Timestamp>,
}

/// What the client of a request's task may know of where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestStanding {
    /// Where it stands.
    pub state: RequestState,
    /// Ids of those who have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assignees: Vec<String>,
    /// When somebody first took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_at: Option<Timestamp>,
    /// When the last who had it gave it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclaimed_at: Option<Timestamp>,
    /// When its time ran out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expired_at: Option<Timestamp>,
}

impl Request {
    /// What the client may know of where the request stands at `now`.
    #[must_use]
    pub fn standing(&self, now: Timestamp) -> RequestStanding {
        let state = self.state_at(now);
        let assignees = self.assignees.iter();
        RequestStanding {
            state,
            assignees: assignees.map(|one| one.participant_id.clone()).collect(),
            claimed_at: self.claimed_at,
            unclaimed_at: self.unclaimed_at,
            expired_at: self.expires_at.filter(|_| state == RequestState::Expired),
        }
    }

    /// Where the request stands at `now`: one whose time has run out is expired, recorded or not.
    #[must_use]
    pub fn state_at(&self, now: Timestamp) -> RequestState {
        match self.expires_at {
            Some(expiry) if expiry <= now && !self.state.is_closed() => RequestState::Expired,
            _ => self.state,
        }
    }

    /// Whether a participant has the request.
    #[must_use]
    pub fn is_assigned_to(&self, participant_id: &str) -> bool {
        self.assignees
            .iter()
            .any(|assignee| assignee.participant_id == participant_id)
    }

    /// Whether no more may take it.
    #[must_use]
    pub fn is_full(&self) -> bool {
        u32::try_from(self.assignees.len()).is_ok_and(|taken| taken >= self.max_assignees)
            || self.assignees.len() > usize::try_from(self.max_assignees).unwrap_or(usize::MAX)
    }

    /// The request after a change to it at `at`.
    pub fn change(&mut self, change: &RequestChange, at: Timestamp) {
        match change {
            RequestChange::Claimed { participant_id, note } => {
                self.assignees.push(Assignee {
                    participant_id: participant_id.clone(),
                    claimed_at: at,
                });
                self.notes.extend(note.clone());
                self.state = RequestState::Claimed;
                self.claimed_at.get_or_insert(at);
            }
            RequestChange::Unclaimed { participant_id, note } => {
                self.assignees
                    .retain(|assignee| assignee.participant_id != *participant_id);
                self.notes.extend(note.clone());
                if self.assignees.is_empty() {
                    self.state = RequestState::Open;
                    self.stage = None;
                    self.unclaimed_at = Some(at);
                }
            }
            RequestChange::Progressed { note, stage, .. } => {
                self.notes.extend(note.clone());
                if let Some(stage) = stage {
                    self.stage = *stage;
                }
                self.put_artifacts(change);
            }
            RequestChange::Completed { note, .. } => {
                self.notes.extend(note.clone());
                self.put_artifacts(change);
                self.state = RequestState::Completed;
            }
            RequestChange::Cancelled { note } => {
                self.notes.extend(note.clone());
                self.state = RequestState::Cancelled;
            }
            RequestChange::Reassigned { participant_id, note } => {
                self.assignees = vec![Assignee {
                    participant_id: participant_id.clone(),
                    claimed_at: at,
                }];
                self.notes.extend(note.clone());
                self.state = RequestState::Claimed;
                self.claimed_at.get_or_insert(at);
            }
            RequestChange::Noted { note } => self.notes.extend(note.clone()),
            RequestChange::Expired => self.state = RequestState::Expired,
        }
        self.updated_at = at;
    }

    /// Keeps artifacts by id: a later one of the same id takes the place of the earlier, or goes after it.
    fn put_artifacts(&mut self, change: &RequestChange) {
        for (artifact, chunk) in change.handed_in() {
            let id = &artifact.artifact_id;
            match self.artifacts.iter_mut().find(|kept| kept.artifact_id == *id) {
                Some(kept) if chunk.append => kept.append(artifact),
                Some(kept) => kept.clone_from(artifact),
                None => self.artifacts.push(artifact.clone()),
            }
            mark(&mut self.unfinished, id, chunk);
        }
    }
}

/// Keeps which artifacts are unfinished, when a chunk of one comes.
pub(super) fn mark(unfinished: &mut Vec<String>, artifact_id: &str, chunk: Chunk) {
    unfinished.retain(|id| id != artifact_id);
    if !chunk.last {
        unfinished.push(artifact_id.to_owned());
    }
}

/// What can happen to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RequestChange {
    /// Somebody took it.
    Claimed {
        /// Who.
        participant_id: String,
        /// A remark.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Note>,
    },
    /// Somebody gave it back.
    Unclaimed {
        /// Who.
        participant_id: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Note>,
    },
    /// The work came further.
    Progressed {
        /// A remark.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Note>,
        /// The new stage; `Some(None)` takes the stage away.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "twice")]
        stage: Option<Option<Stage>>,
        /// Handed in.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        artifacts: Vec<Artifact>,
        /// How much of each that is, where one of them is not whole; else empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        chunks: Vec<Chunk>,
    },
    /// The work is done.
    Completed {
        /// A remark.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Note>,
        /// Handed in.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        artifacts: Vec<Artifact>,
        /// Whether the answer is given to the send that still waits, in place of the task.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        as_message: bool,
    },
    /// A participant called it off.
    Cancelled {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Note>,
    },
    /// An owner or admin gave it to somebody.
    Reassigned {
        /// To whom.
        participant_id: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Note>,
    },
    /// Its task was held or let go on: nothing of the request itself.
    Noted {
        /// A remark.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Note>,
    },
    /// Its time ran out.
    Expired,
}

impl RequestChange {
    /// What is handed in with it, in order, and how much of each artifact that is.
    pub fn handed_in(&self) -> impl Iterator<Item = (&Artifact, Chunk)> {
        let (artifacts, chunks): (&[Artifact], &[Chunk]) = match self {
            Self::Progressed {
                artifacts, chunks, ..
            } => (artifacts, chunks),
            Self::Completed { artifacts, .. } => (artifacts, &[]),
            Self::Claimed { .. }
            | Self::Unclaimed { .. }
            | Self::Cancelled { .. }
            | Self::Reassigned { .. }
            | Self::Noted { .. }
            | Self::Expired => (&[], &[]),
        };
        let chunks = chunks.iter().copied().chain(std::iter::repeat(Chunk::WHOLE));
        artifacts.iter().zip(chunks)
    }
}

/// An optional member that may also be null: absent, null and a value are three things.
mod twice {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Option<Option<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().and_then(Option::as_ref).serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<T>>, D::Error> {
        Option::<T>::deserialize(deserializer).map(Some)
    }
}
