//! An operation of session coordination on its way: a commit and an answer at once, or a read of the log step by step.

use serde_json::{Map, Value};

use super::Poll;
use super::work::{Decided, Outcome};
use crate::agent::Failed;
use crate::coordination::{self, Call, Operation, Reply};
use crate::http::answer::{Form, success};
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
        Ok(match self.invoke(session, caller, now, entropy, None)? {
            Reply::Decided(decided) => (decided.commit, Outcome::of(decided.answer, self.echo.clone())),
            Reply::Log(span) => {
                let reading = Reading {
                    invocation: self.clone(),
                    caller: caller.clone(),
                    entropy,
                    span,
                    log: None,
                };
                (None, Outcome::Read(Box::new(reading)))
            }
        })
    }

    fn invoke(
        &self,
        session: &Session,
        caller: &Caller,
        now: Timestamp,
        entropy: [u8; 32],
        log: Option<&[Commit]>,
    ) -> Result<Reply, Failed> {
        let call = Call {
            caller: caller.clone(),
            now,
            entropy,
            limits: self.limits,
            body: &self.body,
        };
        coordination::invoke(session, self.operation, &call, log).map_err(|refusal| Failed {
            echo: self.echo.clone(),
            refusal,
        })
    }
}

/// A read of the log that has no answer yet.
#[derive(Debug)]
pub(super) struct Reading {
    invocation: Invocation,
    caller: Caller,
    entropy: [u8; 32],
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
        let Self {
            invocation,
            caller,
            entropy,
            ..
        } = self;
        Ok(
            match invocation.invoke(session, caller, now, *entropy, Some(&log))? {
                Reply::Decided(decided) => {
                    let object = decided.answer.into_object();
                    Poll::Ready(success(Form::Coordination, &object, invocation.echo.as_deref()))
                }
                Reply::Log(span) => {
                    self.span = span;
                    Poll::Log(span)
                }
            },
        )
    }
}
