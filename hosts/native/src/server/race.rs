//! Waiting for the first of two things.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// Which of two futures ended first, and with what.
pub(crate) enum First<A, B> {
    /// The left one.
    Left(A),
    /// The right one.
    Right(B),
}

/// Waits for whichever of two futures ends first and drops the other; the left one is asked first.
pub(crate) async fn race<A: Future, B: Future>(left: A, right: B) -> First<A::Output, B::Output> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|context| {
        if let Poll::Ready(output) = left.as_mut().poll(context) {
            return Poll::Ready(First::Left(output));
        }
        right.as_mut().poll(context).map(First::Right)
    })
    .await
}
