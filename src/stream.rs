//! What comes of a stream when it is asked for more.
//!
//! A stream is a place in what the session keeps, not a queue: it is asked when the client can take more, and a client
//! that is slow, or gone, costs nothing. A host with no task to wait in asks again whenever it likes.

use serde_json::Value;

use crate::session::event::Span;
use crate::time::Timestamp;

/// How many events come of a stream at once.
pub const BATCH: usize = 32;

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What a client that comes back names as the last it has; none where a stream can't go on.
    pub id: Option<String>,
    /// What it says; without it there is only the id to be known.
    pub data: Option<Value>,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Events, at least one.
    Events(Vec<Event>),
    /// Nothing until the session moves on, or until then.
    Wait(Option<Timestamp>),
    /// Nothing without these commits of the session's log.
    Log(Span),
    /// Nothing ever again.
    End,
}
