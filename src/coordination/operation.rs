//! What an operation is: its name, what it needs, what it takes, and what carries it out.

use serde_json::Value;

use super::Call;
use crate::params::{Param, Rule};
use crate::refusal::Refusal;
use crate::session::event::{Cursor, Span};
use crate::session::{Commit, Decided, Idempotency, Scope, Session};

/// What carries an operation out, once its scope and fields are checked.
#[derive(Clone, Copy, Debug)]
pub enum Handler {
    /// The session as it stands is all it needs.
    Session(fn(&Session, &Call<'_>, Option<Idempotency>) -> Result<Decided, Refusal>),
    /// A read of the log: called without commits first, then with those of the stretch that it asked for, and again
    /// for as long as it asks.
    Log(LogHandler),
    /// A stream of the session's events, called with GET: says where in the log it begins.
    Stream(fn(&Session, &Call<'_>) -> Result<Cursor, Refusal>),
}

/// Reads the log: without commits first, then with those it asked for.
pub type LogHandler = fn(&Session, &Call<'_>, Option<&[Commit]>) -> Result<Read, Refusal>;

/// What a read of the log came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// The answer, a JSON object.
    Answer(Value),
    /// There is none without these commits.
    Log(Span),
}

/// What an operation came to.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A commit, if anything changes, and the answer.
    Decided(Box<Decided>),
    /// There is no answer without these commits: the handler is to be called again with them.
    Log(LogHandler, Span),
    /// The events behind this place, as they come.
    Stream(Cursor),
}

/// An operation of the extension.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Its dotted name, such as `requests.update`.
    pub name: &'static str,
    /// What the caller's credential must have.
    pub scope: Scope,
    /// Whether it changes nothing, whatever it is sent.
    pub read_only: bool,
    /// What it takes, beside `idempotencyKey` where it is no read.
    pub params: &'static [Param],
    /// What goes across its parameters.
    pub rules: &'static [Rule],
    /// What it does, for people.
    pub about: &'static str,
    /// The members of its answer, for people.
    pub answer: &'static str,
    /// What carries it out.
    pub handler: Handler,
}

/// An operation without what carries it out.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Its dotted name, such as `requests.update`.
    pub name: &'static str,
    /// What the caller's credential must have.
    pub scope: Scope,
    /// Whether it changes nothing, whatever it is sent.
    pub read_only: bool,
    /// What it takes, beside `idempotencyKey` where it is no read.
    pub params: &'static [Param],
    /// What goes across its parameters.
    pub rules: &'static [Rule],
    /// What it does, for people.
    pub about: &'static str,
}

impl Operation {
    /// The operation without what carries it out.
    #[must_use]
    pub const fn described(&self) -> Description {
        let Self {
            name,
            scope,
            read_only,
            params,
            rules,
            about,
            answer: _,
            handler: _,
        } = *self;
        Description {
            name,
            scope,
            read_only,
            params,
            rules,
            about,
        }
    }
}
