//! The body of an answer: all of it at once, or a stream that is asked for more.

use super::sessions::Seen;
use super::{Decider, Host, history};
use crate::exchange::{Advance, Exchange};
use crate::store::{Bell as _, StoreError};

/// The body of an answer.
#[derive(Debug)]
pub enum Body<X = Exchange> {
    /// All of it.
    Whole(Vec<u8>),
    /// What there is of it when it is asked for.
    Stream(Stream<X>),
}

impl<X> Body<X> {
    /// The whole body; none of one that has no end yet.
    #[must_use]
    pub fn into_whole(self) -> Option<Vec<u8>> {
        match self {
            Self::Whole(bytes) => Some(bytes),
            Self::Stream(_) => None,
        }
    }
}

/// An answer that goes on. It holds a place in the session's log and nothing else, so that one that nobody reads costs
/// nothing; dropping it ends it.
#[derive(Debug)]
pub struct Stream<X = Exchange> {
    exchange: Box<X>,
    /// What comes next, and what of the session must be durable before it is told.
    next: Option<(Seen, Vec<u8>)>,
}

impl<X> Stream<X> {
    pub(super) const fn new(exchange: Box<X>) -> Self {
        Self { exchange, next: None }
    }

    /// The next bytes, as soon as there are any; none when the stream has ended, the host is about to, or its store
    /// fails. A client goes on behind the last event it has. The future may be dropped at any time: nothing is lost.
    pub async fn next<H, D>(&mut self, host: &H, desk: &D) -> Option<Vec<u8>>
    where
        D: Decider<Exchange = X>,
        H: Host<D::Session>,
    {
        match self.advance(host, desk).await {
            Ok(bytes) => bytes,
            Err(fault) => {
                host.report(&fault);
                None
            }
        }
    }

    async fn advance<H, D>(&mut self, host: &H, desk: &D) -> Result<Option<Vec<u8>>, StoreError>
    where
        D: Decider<Exchange = X>,
        H: Host<D::Session>,
    {
        let session_id = desk.session_id(&self.exchange).to_owned();
        while !host.is_closing() {
            if let Some((seen, _)) = &self.next {
                seen.settled().await?;
                return Ok(self.next.take().map(|(_, bytes)| bytes));
            }
            // The session need not stay in memory while nothing happens to it.
            let (advance, seen) = {
                let slot = host.sessions().slot(&session_id);
                let seat = slot.look(host).await?;
                let advance = desk.advance(&mut self.exchange, seat.session(), host.now());
                (advance, seat.leave())
            };
            match advance {
                Advance::Write(bytes) => self.next = Some((seen, bytes)),
                Advance::Wait(until) => {
                    seen.settled().await?;
                    host.bell().wait(&session_id, seen.seq, until).await;
                }
                Advance::Log(span) => {
                    seen.settled().await?;
                    desk.supply(&mut self.exchange, history(host, &session_id, span).await?);
                }
                Advance::End => {
                    seen.settled().await?;
                    break;
                }
            }
        }
        Ok(None)
    }
}
