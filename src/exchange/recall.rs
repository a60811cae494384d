//! The answer to an operation that is repeated under its idempotency key: the commit of the first time remembers it
//! (session coordination, §9.5).

use serde_json::Value;

use super::Poll;
use crate::agent::Failed;
use crate::http::answer::{Form, success};
use crate::refusal::Refusal;
use crate::session::Commit;
use crate::session::event::Cursor;

/// An answer that is read from the log.
#[derive(Debug)]
pub(super) struct Recall {
    /// The commit that remembers it.
    seq: u64,
    /// The extensions that are active.
    echo: Option<String>,
    /// What the log had there.
    found: Option<Option<Value>>,
}

impl Recall {
    pub(super) const fn new(seq: u64, echo: Option<String>) -> Self {
        Self {
            seq,
            echo,
            found: None,
        }
    }

    pub(super) fn supply(&mut self, commits: Vec<Commit>) {
        let mut commits = commits.into_iter().filter(|commit| commit.seq == self.seq);
        self.found = Some(commits.find_map(|commit| commit.remembered).map(|it| it.answer));
    }

    pub(super) fn poll(&self) -> Result<Poll, Failed> {
        match &self.found {
            None => Ok(Poll::Log(Cursor::event(self.seq, 0).span(1))),
            Some(Some(answer)) => {
                let answer = success(Form::Coordination, answer, self.echo.as_deref());
                Ok(Poll::Ready(answer))
            }
            // Only a log that lost something.
            Some(None) => Err(Refusal::internal().into()),
        }
    }
}
