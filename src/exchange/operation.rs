//! An operation of session coordination on its way: a commit and an answer at once, or a read of the log step by step.

use serde_json::{Map, Value};

use super::Poll;
use super::stream::{Source, Stream};
use super::work::{Decided, Outcome};
use crate::agent::Failed;
use crate::coordination::{self, Call, LogHandler, Operation, Read, Reply, events};
use crate::http::answer::{Form, success};
use crate::refusal::Refusal;
use crate::session::event::Span;
use crate::session::{Caller, Commit, Session, SessionLimits};
use crate::time::Timestamp;

/// A call of an operation.
#[derive(Clone, Debug)]
pub(super) struct Invocation {
    /// Which.
    pub(super) operation: &'static Operation,
    /// Its parameters.
    pub(super) body: Map<String, Value>,
    /// How much the session may hold.
    pub(super) limits: SessionLimits,
    /// The last event that a client of a stream has already.
    pub(super) last_event_id: Option<String>,
    /// The extensions that are active.
    pub(super) echo: Option<String>,
}

impl Invocation {
    pub(super) fn decide(
        &self,
        session: &Session,
        caller: &Caller,
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Result<Decided, Failed> {
        let call = self.call(caller, now, entropy);
        let reply = coordination::invoke(session, self.operation, &call).map_err(|it| self.fail(it))?;
        Ok(match reply {
            Reply::Decided(decided) => {
                let outcome = Outcome::of(decided.answer, self.echo.clone());
                (decided.commit, outcome)
            }
            Reply::Log(handler, span) => {
                let reading = Reading {
                    invocation: self.clone(),
                    caller: caller.clone(),
                    entropy,
                    handler,
                    span,
                    log: None,
                };
                (None, Outcome::Read(Box::new(reading)))
            }
            Reply::Stream(place) => {
                let events = Source::Events(events::Stream::new(caller.clone(), place));
                let stream = Stream::new(events, self.echo.clone());
                (None, Outcome::Stream(Box::new(stream)))
            }
        })
    }

    fn call(&self, caller: &Caller, now: Timestamp, entropy: [u8; 32]) -> Call<'_> {
        Call {
            caller: caller.clone(),
            now,
            entropy,
            limits: self.limits,
            body: &self.body,
            last_event_id: self.last_event_id.as_deref(),
        }
    }

    fn fail(&self, refusal: Refusal) -> Failed {
        Failed {
            echo: self.echo.clone(),
            refusal,
        }
    }
}

/// A read of the log that has no answer yet.
#[derive(Debug)]
pub(super) struct Reading {
    invocation: Invocation,
    caller: Caller,
    entropy: [u8; 32],
    handler: LogHandler,
    /// What it asks for.
    span: Span,
    /// That, once it is there.
    log: Option<Vec<Commit>>,
}

impl Reading {
    pub(super) fn supply(&mut self, commits: Vec<Commit>) {
        self.log = Some(commits);
    }

    /// Looks for the answer. Nothing is ever committed here.
    pub(super) fn poll(&mut self, session: &Session, now: Timestamp) -> Result<Poll, Failed> {
        let Some(log) = self.log.take() else {
            return Ok(Poll::Log(self.span));
        };
        let invocation = &self.invocation;
        let call = invocation.call(&self.caller, now, self.entropy);
        let read = (self.handler)(session, &call, Some(&log)).map_err(|it| invocation.fail(it))?;
        Ok(match read {
            Read::Answer(answer) => {
                let echo = invocation.echo.as_deref();
                Poll::Ready(success(Form::Coordination, &answer, echo))
            }
            Read::Log(span) => {
                self.span = span;
                Poll::Log(span)
            }
        })
    }
}
