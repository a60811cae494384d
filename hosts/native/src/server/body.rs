//! The body of an answer: whole, or as it comes.

use std::convert::Infallible;
use std::fmt;
use std::io::Cursor;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use hyper::body::{Frame, SizeHint};

/// The body of an answer.
pub enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// Pieces as they come. It is asked for the next one when the client has taken the last.
    Stream(Pin<Box<dyn Stream<Item = Vec<u8>> + Send>>),
}

impl Body {
    /// All of it; none of one that has no end yet.
    #[must_use]
    pub fn into_whole(self) -> Option<Vec<u8>> {
        match self {
            Self::Whole(bytes) => Some(bytes),
            Self::Stream(_) => None,
        }
    }
}

impl hyper::body::Body for Body {
    type Data = Cursor<Vec<u8>>;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Infallible>>> {
        let piece = match &mut *self {
            Self::Whole(bytes) => Poll::Ready(Some(std::mem::take(bytes)).filter(|bytes| !bytes.is_empty())),
            Self::Stream(pieces) => pieces.as_mut().poll_next(context),
        };
        piece.map(|piece| piece.map(|bytes| Ok(Frame::data(Cursor::new(bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(u64::try_from(bytes.len()).unwrap_or(u64::MAX)),
            Self::Stream(_) => SizeHint::default(),
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
