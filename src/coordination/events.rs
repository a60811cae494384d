//! `events.list` and `events.stream`: the session's log, as far as the caller may read it (session coordination, §9.6).

use serde_json::{Value, json};

use super::{Call, Handler, Operation, Read, journal, page};
use crate::json::compact_len;
use crate::params::{Fields, Param, Shape};
use crate::refusal::Refusal;
use crate::session::event::Cursor;
use crate::session::{Caller, Commit, Scope, Session};
use crate::stream::{BATCH, Event, Next};
use crate::time::Timestamp;

/// `events.list`.
pub const LIST: Operation = Operation {
    name: "events.list",
    scope: Scope::SessionRead,
    read_only: true,
    params: &[
        Param::optional(
            "after",
            Shape::Id,
            "Where to begin: an eventId or cursor that is known; without it, at the session's own beginning",
        ),
        page::SIZE,
        page::TOKEN,
    ],
    rules: &[],
    about: "Lists what happened in the session, oldest first",
    answer: "`events[]`, `cursor`, `nextPageToken`",
    handler: Handler::Log(list),
};

/// `events.stream`.
pub const STREAM: Operation = Operation {
    name: "events.stream",
    scope: Scope::SessionRead,
    read_only: true,
    params: &[],
    rules: &[],
    about: "Tells what happens in the session as it happens, from Last-Event-ID on or from now on",
    answer: "a stream of events",
    handler: Handler::Stream(stream),
};

/// A place that the log has, from the text that names it.
///
/// # Errors
/// INVALID_ARGUMENT on `field`.
pub(super) fn cursor(session: &Session, field: &str, text: &str) -> Result<Cursor, Refusal> {
    let cursor: Option<Cursor> = text.parse().ok();
    cursor
        .filter(|cursor| cursor.seq <= session.seq())
        .ok_or_else(|| Refusal::invalid(field, "expected an eventId or cursor of this session"))
}

fn list(session: &Session, call: &Call<'_>, log: Option<&[Commit]>) -> Result<Read, Refusal> {
    let fields = Fields(call.body);
    let first = match fields.text("after") {
        Some(after) => cursor(session, "after", after)?,
        None => Cursor::behind(0),
    };
    let name = format!("events.list {} {first}", call.caller.participant_id);
    let mut place = page::position(session, &name, fields)?.unwrap_or(first);
    let size = page::size(fields);
    let commits = match log {
        None if place.is_within(session.seq()) => return Ok(Read::Log(place.span(size))),
        log => log.unwrap_or_default(),
    };
    let events = read(session, &call.caller, commits, &mut place, size);
    let next = if place.is_within(session.seq()) {
        session.page_token(&name, &place.to_string())
    } else {
        String::new()
    };
    let events: Vec<Value> = events.into_iter().map(|(_, event)| event).collect();
    Ok(Read::Answer(
        json!({ "events": events, "cursor": place.to_string(), "nextPageToken": next }),
    ))
}

/// At most `most` of the events behind `place` that the caller may read, fewer where they are long; `place` moves behind all
/// that was looked at.
fn read(
    session: &Session,
    caller: &Caller,
    commits: &[Commit],
    place: &mut Cursor,
    most: usize,
) -> Vec<(Cursor, Value)> {
    let (mut found, mut room) = (Vec::new(), page::Room::default());
    for commit in commits {
        for (at, event) in journal::events(session, commit, caller) {
            if !at.index.is_some_and(|index| place.is_before(commit.seq, index)) {
                continue;
            }
            if found.len() >= most || !room.takes(compact_len(&event)) {
                return found;
            }
            *place = at;
            found.push((at, event));
        }
        *place = Cursor::behind(commit.seq);
    }
    found
}

fn stream(session: &Session, call: &Call<'_>) -> Result<Cursor, Refusal> {
    match call.last_event_id {
        Some(id) => cursor(session, "Last-Event-ID", id),
        None => Ok(Cursor::behind(session.seq())),
    }
}

/// How long a log that is behind is given, in milliseconds.
const LOG_REST_MS: i64 = 1_000;

/// The session's events, from a place in its log on.
#[derive(Debug)]
pub struct Stream {
    caller: Caller,
    place: Cursor,
    /// Whether the client knows where the stream began.
    begun: bool,
    log: Option<Vec<Commit>>,
}

impl Stream {
    /// A stream of what follows `place`.
    #[must_use]
    pub const fn new(caller: Caller, place: Cursor) -> Self {
        Self {
            caller,
            place,
            begun: false,
            log: None,
        }
    }

    /// The commits that [`Next::Log`] asked for.
    pub fn supply(&mut self, commits: Vec<Commit>) {
        self.log = Some(commits);
    }

    /// What comes next. The first event has no data: it names the place where the stream begins, for a client that
    /// leaves before anything happens.
    pub fn next(&mut self, session: &Session, now: Timestamp) -> Next {
        if !self.begun {
            self.begun = true;
            return Next::Events(vec![Event {
                id: Some(self.place.to_string()),
                data: None,
            }]);
        }
        match self.log.take() {
            Some(log) if log.is_empty() => return Next::Wait(Some(now.plus_millis(LOG_REST_MS))),
            Some(log) => {
                let found = read(session, &self.caller, &log, &mut self.place, BATCH);
                if !found.is_empty() {
                    return Next::Events(found.into_iter().map(event).collect());
                }
            }
            None => {}
        }
        if self.place.is_within(session.seq()) {
            Next::Log(self.place.span(BATCH))
        } else {
            Next::Wait(None)
        }
    }
}

fn event((place, data): (Cursor, Value)) -> Event {
    Event {
        id: Some(place.to_string()),
        data: Some(data),
    }
}
