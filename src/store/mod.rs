//! The ports that a host implements: where sessions are kept, what time it is, where randomness comes from, and
//! how a waiting request learns of a commit.
//!
//! A session is a sequence of commits, numbered from 1 without a gap. A store keeps them, hands them out again,
//! and accepts the next one only if its number is the one that follows.

use std::fmt;
use std::future::Future;

use crate::time::Timestamp;

/// One commit of a session as a store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its number: 1 for the commit that creates the session, then one more each.
    pub seq: u64,
    /// Unlike that of any other commit ever tried, so that its writer can find it again in the store.
    pub nonce: String,
    /// The commit, as JSON.
    pub bytes: Vec<u8>,
}

/// The state of a session after some commit: a shortcut for replaying up to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Number of the last commit it holds.
    pub seq: u64,
    /// The state, as JSON.
    pub bytes: Vec<u8>,
}

/// What a store has of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Where to start, when the commits below do not reach back to what the caller has.
    pub snapshot: Option<Snapshot>,
    /// The commits after the snapshot (or after what the caller has), in order and without a gap.
    pub commits: Vec<Record>,
}

/// How an attempt to commit went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The commit is durable.
    Committed {
        /// Whether the store asks to be compacted now.
        compact: bool,
    },
    /// Another commit took the number first; nothing was written.
    Conflict,
}

/// A failure of the store itself: never the caller's fault, and never shown to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The store could not be reached or did not answer; whether a write took effect is not known.
    Unavailable(String),
    /// What the store holds is not what was put there.
    Corrupt(String),
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(why) => write!(out, "the store is unavailable: {why}"),
            Self::Corrupt(why) => write!(out, "the store holds something unexpected: {why}"),
        }
    }
}

impl std::error::Error for StoreError {}

/// Keeps sessions durably.
///
/// Every method may be called from several requests, and from several machines, at once.
pub trait Store {
    /// Keeps the first commit of a new session. `false`: the session exists already, and nothing was written.
    fn create(&self, session: &str, first: &Record) -> impl Future<Output = Result<bool, StoreError>>;

    /// Everything of a session after commit number `after` (0: everything), or `None` if there is no such session.
    fn load(&self, session: &str, after: u64) -> impl Future<Output = Result<Option<Loaded>, StoreError>>;

    /// Makes a commit durable if its number follows the last one's; else changes nothing.
    ///
    /// A commit that returned [`CommitOutcome::Committed`] survives any crash from then on. After an error the
    /// commit may or may not be there: loading again and looking for its nonce tells.
    fn commit(
        &self,
        session: &str,
        record: &Record,
    ) -> impl Future<Output = Result<CommitOutcome, StoreError>>;

    /// Keeps a snapshot, so that loading need not replay what it holds. Loses no commit, and may do nothing.
    fn compact(&self, session: &str, snapshot: &Snapshot) -> impl Future<Output = Result<(), StoreError>>;
}

/// Tells the time.
pub trait Clock {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// Draws random bytes.
pub trait Entropy {
    /// 32 bytes from a cryptographically secure source, fresh at every call.
    fn draw(&self) -> [u8; 32];
}

/// Wakes requests that wait for news of a session.
pub trait Bell {
    /// Tells all who wait that the session has reached commit number `seq`.
    fn ring(&self, session: &str, seq: u64);

    /// Returns when the session may have passed commit number `after`, or when `until` has come; early is allowed.
    fn wait(&self, session: &str, after: u64, until: Timestamp) -> impl Future<Output = ()>;
}
