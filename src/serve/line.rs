//! How far a session in memory is durable, where commits stand in line for the disk.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::store::{CommitOutcome, StoreError};
use crate::time::Timestamp;

#[derive(Debug, Default)]
struct Progress {
    /// The number of the last commit that is known to be durable.
    durable: u64,
    /// Whether a commit of the line was lost, and all behind it with it.
    broken: bool,
    /// Commits up to this one ask for no snapshot any more.
    snapshot: u64,
    waiting: Vec<Waker>,
}

/// The commits that one session in memory holds, some of them on their way to the store. When one is lost the session
/// is read again, and stands in a line of its own.
#[derive(Debug, Default)]
pub(super) struct Line {
    progress: Mutex<Progress>,
}

impl Line {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self, act: impl FnOnce(&mut Progress)) {
        let waiting = {
            let mut progress = self.progress();
            act(&mut progress);
            std::mem::take(&mut progress.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// The store has everything up to this commit.
    pub(super) fn reached(&self, seq: u64) {
        self.wake(|progress| progress.durable = progress.durable.max(seq));
    }

    /// A commit of the line is not in the store, or nobody knows.
    pub(super) fn break_off(&self) {
        self.wake(|progress| progress.broken = true);
    }

    /// Whether what is in memory is no longer what the store will have.
    pub(super) fn is_broken(&self) -> bool {
        self.progress().broken
    }

    /// Returns when everything up to this commit is durable.
    ///
    /// # Errors
    /// It will not be, or nobody knows.
    pub(super) async fn reaches(&self, seq: u64) -> Result<(), StoreError> {
        poll_fn(|context| {
            let mut progress = self.progress();
            if progress.durable >= seq {
                return Poll::Ready(Ok(()));
            }
            if progress.broken {
                let why = "a change that this one builds on was lost".to_owned();
                return Poll::Ready(Err(StoreError::Unavailable(why)));
            }
            progress.waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Whether the snapshot that the store asked for with the commit `asked` is still to be made, now of the state after
    /// `seq`: all that share a write with that commit ask for it.
    pub(super) fn takes_snapshot(&self, asked: u64, seq: u64) -> bool {
        let mut progress = self.progress();
        let takes = asked > progress.snapshot;
        if takes {
            progress.snapshot = seq;
        }
        takes
    }
}

/// A commit that stands in line. Whoever drops it before it has landed breaks the line off: nobody would learn what
/// became of it.
pub(super) struct Flight<F> {
    storing: Pin<Box<F>>,
    /// The outcome, if it was there at once.
    outcome: Option<Result<CommitOutcome, StoreError>>,
    line: Arc<Line>,
    seq: u64,
    /// When something of the session is to be delivered, once it has landed.
    due: Option<Timestamp>,
    landed: bool,
}

impl<F: Future<Output = Result<CommitOutcome, StoreError>>> Flight<F> {
    /// Puts a commit in line: the store takes it in the order of the calls.
    pub(super) async fn begin(storing: F, line: Arc<Line>, seq: u64, due: Option<Timestamp>) -> Self {
        let mut storing = Box::pin(storing);
        let outcome = poll_fn(|context| Poll::Ready(storing.as_mut().poll(context))).await;
        Self {
            storing,
            outcome: match outcome {
                Poll::Ready(outcome) => Some(outcome),
                Poll::Pending => None,
            },
            line,
            seq,
            due,
            landed: false,
        }
    }

    /// Its number.
    pub(super) const fn seq(&self) -> u64 {
        self.seq
    }

    /// When something of the session is next due to be delivered.
    pub(super) const fn due(&self) -> Option<Timestamp> {
        self.due
    }

    /// What became of it.
    ///
    /// # Errors
    /// What the store says.
    pub(super) async fn land(mut self) -> Result<CommitOutcome, StoreError> {
        let outcome = match self.outcome.take() {
            Some(outcome) => outcome,
            None => self.storing.as_mut().await,
        };
        if let Ok(CommitOutcome::Committed { .. }) = outcome {
            self.landed = true;
            self.line.reached(self.seq);
        }
        outcome
    }
}

impl<F> Drop for Flight<F> {
    fn drop(&mut self) {
        if !self.landed {
            self.line.break_off();
        }
    }
}
