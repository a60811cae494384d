//! Streams about a task: the task as it stands, then each change of it (A2A 1.0, §3.1.2 and §3.1.6).
//!
//! A stream ends with the change that ends its task. While a task waits for input or for a decision it stays open: the
//! task goes on, and §7.6.1 asks for that where authorization is waited for. The id of an event is the number of the
//! last change that the client knows with it, so that who comes back goes on behind it, on whatever host.

use serde_json::json;

use super::view::{Shape, View};
use super::{Follow, Goal, Poll};
use crate::a2a::{Chunk, StreamResponse};
use crate::desk::Desk;
use crate::extension::Payload;
use crate::session::change::Change;
use crate::session::event::{Cursor, Span};
use crate::session::task::TaskRecord;
use crate::session::{Commit, Session};
use crate::stream::{BATCH, Event, Next};
use crate::time::Timestamp;

/// A stream of events about one task, or of the one message that answers a send.
#[derive(Debug)]
pub struct Stream {
    follow: Follow,
    /// How many of the task's changes the client knows; none before it was shown the task.
    known: Option<usize>,
    /// Commits that the next artifacts are in.
    commits: Vec<Commit>,
    ended: bool,
}

impl Stream {
    /// The stream that a streaming operation came to; `known` is the number of the last change that the client has
    /// from an earlier one.
    #[must_use]
    pub const fn new(follow: Follow, known: Option<usize>) -> Self {
        Self {
            follow,
            known,
            commits: Vec::new(),
            ended: false,
        }
    }

    /// The value of the answer's A2A-Extensions header.
    #[must_use]
    pub fn echo(&self) -> Option<String> {
        self.follow.activations.echo()
    }

    /// The commits that [`Next::Log`] asked for. A log that lacks them ends the stream: its client may come back.
    pub fn supply(&mut self, commits: Vec<Commit>) {
        self.ended = commits.is_empty();
        self.commits = commits;
    }

    /// What comes next, with the session as it stands at `now`.
    pub fn next(&mut self, desk: &Desk, session: &Session, now: Timestamp) -> Next {
        if self.ended {
            return Next::End;
        }
        let Goal::Task { task_id, shape, .. } = &self.follow.goal else {
            return self.only(desk, session, now);
        };
        let shape = *shape;
        let Ok(record) = session.visible_task(task_id, &self.follow.caller) else {
            return Next::End;
        };
        let changes = Changes {
            record,
            due: session.due_change(record, now),
        };
        let events = match self.known {
            Some(known) if (record.forgotten..=changes.count()).contains(&known) => {
                match self.news(desk, session, now, &changes, known) {
                    Ok(events) => events,
                    Err(span) => return Next::Log(span),
                }
            }
            // An id that no event of this task has, or none that is kept, begins the stream anew: nothing is lost by it.
            _ => self
                .task(desk, session, now, &changes, shape)
                .into_iter()
                .collect(),
        };
        if events.is_empty() {
            self.ended |= session.standing(record, now).state.is_terminal();
            return if self.ended {
                Next::End
            } else {
                Next::Wait(session.due_at(record, now))
            };
        }
        Next::Events(events)
    }

    /// The message that answers directly, and that is all.
    fn only(&mut self, desk: &Desk, session: &Session, now: Timestamp) -> Next {
        self.ended = true;
        match self.follow.poll(desk, session, now) {
            Ok(Poll::Ready(reply, _)) => Next::Events(vec![Event {
                id: None,
                data: Some(json!(reply)),
            }]),
            Ok(Poll::Wait(_)) | Err(_) => Next::End,
        }
    }

    /// The task as it stands, with all its changes so far; none where the stream ends instead.
    fn task(
        &mut self,
        desk: &Desk,
        session: &Session,
        now: Timestamp,
        changes: &Changes<'_>,
        shape: Shape,
    ) -> Option<Event> {
        let task = self.follow.view(desk, session, now).task(changes.record, shape);
        self.event(StreamResponse::Task(task), changes.count(), now)
    }

    /// The next changes that the client does not know, up to one whose commit is not at hand.
    fn news(
        &mut self,
        desk: &Desk,
        session: &Session,
        now: Timestamp,
        changes: &Changes<'_>,
        known: usize,
    ) -> Result<Vec<Event>, Span> {
        let mut events = Vec::new();
        for (change, number) in changes.after(known).take(BATCH) {
            let view = self.follow.view(desk, session, now);
            let update = match update(&view, changes.record, change, &self.commits) {
                Ok(update) => update,
                Err(span) if events.is_empty() => return Err(span),
                Err(_) => break,
            };
            self.known = Some(number);
            events.extend(update.and_then(|update| self.event(update, number, now)));
            if self.ended {
                break;
            }
        }
        Ok(events)
    }

    /// An event, as the extensions leave it. Where one of them cannot go on the stream ends: its client may come back
    /// and is told the same again.
    fn event(&mut self, mut update: StreamResponse, number: usize, now: Timestamp) -> Option<Event> {
        self.known = Some(number);
        self.ended = self.follow.respond(Payload::from(&mut update), now).is_err();
        (!self.ended).then(|| Event {
            id: Some(number.to_string()),
            data: Some(json!(update)),
        })
    }
}

/// A change as those who follow the task are told of it; nothing of what shows no more.
///
/// # Errors
/// The commits of the log that it and what follows can't be told without, where they are not at hand.
pub(super) fn update(
    view: &View<'_>,
    record: &TaskRecord,
    change: &Change,
    commits: &[Commit],
) -> Result<Option<StreamResponse>, Span> {
    let handed_in = match change {
        Change::Status(standing) => {
            let update = view.status_update(record, standing);
            return Ok(Some(StreamResponse::StatusUpdate(update)));
        }
        Change::Answer => view.answer(record).map(|answer| (answer, Chunk::WHOLE)),
        Change::Artifact(piece) => match commits.iter().find(|commit| commit.seq == piece.seq) {
            Some(commit) => piece
                .within(commit)
                .map(|(artifact, chunk)| (view.handed_in(artifact), chunk)),
            _ => return Err(Cursor::event(piece.seq, piece.event).span(BATCH)),
        },
    };
    Ok(handed_in.map(|(artifact, chunk)| {
        StreamResponse::ArtifactUpdate(view.artifact_update(record, artifact, chunk))
    }))
}

/// The changes of a task, with the one that time has brought about and no commit recorded yet.
pub(super) struct Changes<'a> {
    pub(super) record: &'a TaskRecord,
    pub(super) due: Option<Change>,
}

impl Changes<'_> {
    fn count(&self) -> usize {
        self.record.told().saturating_add(usize::from(self.due.is_some()))
    }

    /// Those behind the first `known`, each with its number.
    pub(super) fn after(&self, known: usize) -> impl Iterator<Item = (&Change, usize)> {
        let due = self.due.iter().map(|due| (due, self.count()));
        let due = due.filter(move |(_, number)| *number > known);
        self.record.told_after(known).chain(due)
    }
}

/// Whether a stream that knows so much of a task's changes has more to come.
pub(super) fn has_more(session: &Session, record: &TaskRecord, known: Option<usize>, now: Timestamp) -> bool {
    let due = session.due_change(record, now);
    let count = Changes { record, due }.count();
    !session.standing(record, now).state.is_terminal() || known.is_some_and(|known| known < count)
}

/// What the id of an event says: how many changes are known with it.
#[must_use]
pub fn known(event_id: &str) -> Option<usize> {
    let is_number = event_id.bytes().all(|byte| byte.is_ascii_digit());
    event_id.parse().ok().filter(|_| is_number)
}
