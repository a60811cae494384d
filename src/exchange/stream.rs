//! An answer that is a stream: what it yields, as bytes, and that it is still there when it yields nothing.

use http::{HeaderValue, Response, header};
use serde_json::{Value, json};

use crate::agent;
use crate::coordination::events;
use crate::desk::Desk;
use crate::extension::header::NAME as EXTENSIONS;
use crate::http::answer::Form;
use crate::http::{answer, rpc, sse};
use crate::session::event::Span;
use crate::session::{Commit, Session};
use crate::stream::{Event, Next};
use crate::time::Timestamp;

/// What a stream is asked for more comes to.
#[derive(Debug)]
pub enum Advance {
    /// These bytes, to be sent now.
    Write(Vec<u8>),
    /// Nothing yet: ask again when the session has moved on, at the latest then.
    Wait(Timestamp),
    /// Nothing without these commits of the session's log: supply them, then ask again.
    Log(Span),
    /// The stream has ended.
    End,
}

/// What is told.
#[derive(Debug)]
pub(super) enum Source {
    /// A task.
    Task(Box<agent::stream::Stream>),
    /// The session.
    Events(events::Stream),
}

/// A stream on its way.
#[derive(Debug)]
pub(super) struct Stream {
    source: Source,
    echo: Option<String>,
    /// When it last said something; none before it first did.
    said: Option<Timestamp>,
}

impl Stream {
    pub(super) const fn new(source: Source, echo: Option<String>) -> Self {
        let said = None;
        Self { source, echo, said }
    }

    /// The answer without its body.
    pub(super) fn head(&self) -> Response<()> {
        let mut head = Response::new(());
        let headers = head.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(sse::MEDIA_TYPE));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Or nginx collects what should go out at once.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        if let Some(echo) = &self.echo {
            answer::set(&mut head, EXTENSIONS, echo);
        }
        head
    }

    pub(super) fn supply(&mut self, commits: Vec<Commit>) {
        match &mut self.source {
            Source::Task(stream) => stream.supply(commits),
            Source::Events(stream) => stream.supply(commits),
        }
    }

    /// The value of the answer's A2A-Extensions header.
    pub(super) fn echo(&self) -> Option<&str> {
        self.echo.as_deref()
    }

    /// What comes next, each event in the form of the call.
    pub(super) fn advance(
        &mut self,
        desk: &Desk,
        session: &Session,
        form: Form<'_>,
        now: Timestamp,
    ) -> Advance {
        let next = match &mut self.source {
            Source::Task(stream) => stream.next(desk, session, now),
            Source::Events(stream) => stream.next(session, now),
        };
        match next {
            Next::Events(mut events) => {
                if let Form::Rpc(Some(id)) = form {
                    events = events.into_iter().map(|event| enveloped(id, event)).collect();
                }
                self.say(sse::encode(&events), now)
            }
            Next::Log(span) => Advance::Log(span),
            Next::End => Advance::End,
            Next::Wait(until) => {
                let silence = i64::from(desk.config.keep_alive_ms);
                let silent_until = self.said.get_or_insert(now).plus_millis(silence);
                if silent_until <= now {
                    return self.say(sse::KEEP_ALIVE.to_vec(), now);
                }
                Advance::Wait(until.map_or(silent_until, |until| until.min(silent_until)))
            }
        }
    }

    fn say(&mut self, bytes: Vec<u8>, now: Timestamp) -> Advance {
        self.said = Some(now);
        Advance::Write(bytes)
    }
}

/// The event as the result of the call of this id.
fn enveloped(id: &Value, event: Event) -> Event {
    Event {
        data: event.data.map(|data| json!(rpc::result(id, data))),
        ..event
    }
}
