//! `digest.get`: what a joining agent reads first, and what has changed since it last looked (session coordination, §9).

use serde_json::{Map, Value, json};

use super::page::Room;
use super::{Call, Handler, Operation, Read, events, journal, requests};
use crate::json::compact_len;
use crate::params::{Fields, Param, Shape};
use crate::refusal::Refusal;
use crate::session::event::{Cursor, Span};
use crate::session::knowledge::Entry;
use crate::session::presence::PresenceState;
use crate::session::question::QuestionState;
use crate::session::{Commit, Scope, Session};

const MOST: u32 = 50;

/// The most bytes of each section, about.
const SECTION: usize = 1 << 20;

/// How many commits are looked through at most for each event that may be told: there are commits of which the caller
/// may read nothing.
const REACH: usize = 4;

/// `digest.get`.
pub const GET: Operation = Operation {
    name: "digest.get",
    scope: Scope::SessionRead,
    read_only: true,
    params: &[
        Param::optional(
            "since",
            Shape::Id,
            "The cursor of an earlier digest: only what happened behind it is told as events",
        ),
        Param::optional(
            "maxItems",
            Shape::Integer(1, 200),
            "How many of each kind at most, the newest (50)",
        ),
    ],
    rules: &[],
    about: "Tells in one answer how the session stands, and what happened last",
    answer: "`digest`, `cursor`",
    handler: Handler::Log(get),
};

fn get(session: &Session, call: &Call<'_>, log: Option<&[Commit]>) -> Result<Read, Refusal> {
    let fields = Fields(call.body);
    let since = match fields.text("since") {
        Some(since) => events::cursor(session, "since", since)?,
        None => Cursor::behind(0),
    };
    let most = usize::try_from(fields.number("maxItems").unwrap_or(MOST)).unwrap_or(usize::MAX);
    // One more, for the commit that `since` may be within.
    let near = most.saturating_add(1);
    let log = match log {
        None if since.is_within(session.seq()) => return Ok(Read::Log(latest(since, session.seq(), near))),
        log => log.unwrap_or_default(),
    };
    let news = News::read(session, call, since, log);
    let cursor = news.end;
    if news.events.len() < most && news.begins_late && log.len() == near {
        let wider = most.saturating_mul(REACH);
        return Ok(Read::Log(latest(since, cursor.seq, wider)));
    }
    let digest = Digest {
        session,
        call,
        most,
        more: Vec::new(),
    };
    let mut answer = Map::new();
    answer.insert("digest".to_owned(), digest.write(news));
    answer.insert("cursor".to_owned(), json!(cursor.to_string()));
    Ok(Read::Answer(Value::Object(answer)))
}

/// The last `most` commits of a log that ends with commit `last`, as far as they are not before `since`.
fn latest(since: Cursor, last: u64, most: usize) -> Span {
    let reach = u64::try_from(most).unwrap_or(u64::MAX);
    let after = since.span(most).after.max(last.saturating_sub(reach));
    Span { after, most }
}

/// What happened.
struct News {
    /// Oldest first.
    events: Vec<Value>,
    /// Whether there was more since than the stretch of the log has.
    begins_late: bool,
    /// Where it ends.
    end: Cursor,
}

impl News {
    /// Reads what happened behind `since` in the end of a log.
    fn read(session: &Session, call: &Call<'_>, since: Cursor, log: &[Commit]) -> Self {
        let told = log.iter().flat_map(|commit| {
            let events = journal::events(session, commit, &call.caller).into_iter();
            events.filter(|(place, _)| place.index.is_some_and(|at| since.is_before(place.seq, at)))
        });
        let first = log.first().map(|commit| commit.seq.saturating_sub(1));
        Self {
            events: told.map(|(_, event)| event).collect(),
            begins_late: first.is_some_and(|before| since.span(1).after < before),
            end: log.last().map_or(since, |commit| Cursor::behind(commit.seq)),
        }
    }
}

/// A digest being written.
struct Digest<'a> {
    session: &'a Session,
    call: &'a Call<'a>,
    most: usize,
    /// The members that hold not all there is.
    more: Vec<&'static str>,
}

impl Digest<'_> {
    fn write(mut self, news: News) -> Value {
        let (session, caller) = (self.session, &self.call.caller);
        let now = session.time(self.call.now);
        let claims = session.claims().live_newest_first(now);
        let claims = self.newest("claims", claims.map(value));
        let (conflicts, all) = session.claims().shared_overlaps(self.most, now);
        self.note("conflicts", !all);
        let pair = |pair: &_| Value::Object(Map::from_iter([("claims".to_owned(), json!(pair))]));
        let conflicts = conflicts.iter().rev().map(pair).collect();
        let open = session.requests().rev();
        let open = open.filter(|request| !request.state_at(now).is_closed());
        let requests = self.newest("openRequests", open.map(|it| requests::shown(it, self.call)));
        let open = session.questions().rev();
        let open = open.filter(|question| {
            question.state == QuestionState::Open && journal::may_read(session, question, caller)
        });
        let questions = self.newest("openQuestions", open.map(value));
        let standing = session.decisions().rev().filter(|it| it.superseded_by.is_none());
        let decisions = self.newest("decisions", standing.map(value));
        let entries = session.knowledge().entries().rev();
        let knowledge = self.newest("knowledge", entries.map(Entry::heading));
        let open = session.workstreams().in_order().rev();
        let open = open.filter(|one| one.is_open());
        let workstreams = self.newest("workstreams", open.map(value));

        let mut events = news.events;
        let mut room = Room::of(SECTION);
        let newest = events.iter().rev().take(self.most);
        let kept = newest.take_while(|event| room.takes(compact_len(event))).count();
        let over = events.len().saturating_sub(kept);
        events.drain(..over);
        let mut digest = Map::new();
        let mut put = |name: &str, value: Value| digest.insert(name.to_owned(), value);
        put("generatedAt", json!(now));
        put("participants", self.participants());
        let pending = session.inbox_pending(&caller.participant_id, now);
        put("inbox", json!({ "pending": pending }));
        put("claims", claims);
        put("conflicts", conflicts);
        put("openRequests", requests);
        put("openQuestions", questions);
        put("decisions", decisions);
        put("knowledge", knowledge);
        put("workstreams", workstreams);
        put("events", Value::Array(events));
        if over > 0 || news.begins_late {
            put("truncated", json!(true));
        }
        if !self.more.is_empty() {
            put("more", json!(self.more));
        }
        Value::Object(digest)
    }

    fn note(&mut self, section: &'static str, more: bool) {
        self.more.extend(more.then_some(section));
    }

    /// The first of some records that come newest first, newest last: at most `most`, fewer where they are long.
    fn newest(&mut self, section: &'static str, newest_first: impl Iterator<Item = Value>) -> Value {
        let (mut kept, mut room) = (Vec::new(), Room::of(SECTION));
        for value in newest_first {
            if kept.len() >= self.most || !room.takes(compact_len(&value)) {
                self.note(section, true);
                break;
            }
            kept.push(value);
        }
        kept.reverse();
        Value::Array(kept)
    }

    fn participants(&self) -> Value {
        let now = self.session.time(self.call.now);
        let (mut active, mut total) = (0_usize, 0_usize);
        for participant in self.session.participants() {
            if participant.revoked_at.is_some() {
                continue;
            }
            total = total.saturating_add(1);
            let presence = self.session.presence(&participant.participant_id);
            let state = presence.map_or(PresenceState::Offline, |presence| presence.state_at(now));
            active = active.saturating_add(usize::from(state == PresenceState::Active));
        }
        json!({ "active": active, "total": total })
    }
}

fn value(record: impl serde::Serialize) -> Value {
    json!(record)
}
