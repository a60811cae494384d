//! The body of an answer: whole, or as it comes.

use std::fmt;
use std::pin::Pin;

use futures_util::{Stream, StreamExt as _};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Bytes, Frame};

/// The body of an answer.
pub enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// Pieces as they come. It is asked for the next one when the client has taken the last.
    Stream(Pin<Box<dyn Stream<Item = Vec<u8>> + Send>>),
}

/// A body as hyper sends it.
pub(super) type Sent = UnsyncBoxBody<Bytes, std::convert::Infallible>;

impl Body {
    /// All of it; none of one that has no end yet.
    #[must_use]
    pub fn into_whole(self) -> Option<Vec<u8>> {
        match self {
            Self::Whole(bytes) => Some(bytes),
            Self::Stream(_) => None,
        }
    }

    pub(super) fn into_sent(self) -> Sent {
        match self {
            Self::Whole(bytes) => Full::new(Bytes::from(bytes)).boxed_unsync(),
            Self::Stream(pieces) => {
                StreamBody::new(pieces.map(|piece| Ok(Frame::data(Bytes::from(piece))))).boxed_unsync()
            }
        }
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Whole(bytes)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(out, "{} bytes", bytes.len()),
            Self::Stream(_) => out.write_str("a stream"),
        }
    }
}
