//! The ports that a host implements: where sessions are kept, what time it is, where randomness comes from, and
//! how a waiting request learns of a commit.
//!
//! A session is a sequence of commits, numbered from 1 without a gap. A store keeps them, hands them out again,
//! and accepts the next one only if its number is the one that follows.
//!
//! A host whose storage has transactions implements [`Store`] on them. For all others [`HeadSwap`] builds one from
//! a [`KeyValue`] store that can compare and swap an existing key, and [`Sqlite`] one of a session's own database.

mod codec;
mod compaction;
mod faults;
mod head;
mod head_swap;
mod kv;
mod memory;
mod objects;
mod sqlite;

use std::fmt;
use std::future::Future;

use crate::time::Timestamp;

pub use faults::{Fault, Faulty};
pub use head_swap::{HeadSwap, Limits};
pub use kv::KeyValue;
pub use memory::Memory;
pub use sqlite::{Database, SqlValue, Sqlite};

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

/// What a caller needs to bring its copy of a session up to date.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Where to start over; its number is above what the caller has. `None`: the caller goes on from there.
    pub snapshot: Option<Snapshot>,
    /// The commits after the snapshot (or after what the caller has), in order, without a gap, up to the last.
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
///
/// [`create`](Self::create) and [`commit`](Self::commit) know a record again by its number and nonce. So after
/// [`StoreError::Unavailable`], when nobody can say whether the record was kept, the caller repeats the call with
/// the *same* record until it gets an answer: the record ends up in the store at most once.
pub trait Store {
    /// Whether nobody but this process writes to the store, so that a session in memory is never behind it.
    fn is_exclusive(&self) -> bool {
        false
    }

    /// Whether commits of a session may be offered before the one in front is in. [`commit`](Self::commit) then takes its
    /// place in line the first time that it is polled; no commit is made whose predecessor was not; and none is answered
    /// before those in front of it are durable. Only for a store that [is exclusive](Self::is_exclusive).
    ///
    /// A session has many writers in flight then, and a store that makes all commits that wait in one write serves them
    /// with one. After an error none is offered again: the session is read from the store.
    fn is_queue(&self) -> bool {
        false
    }

    /// Keeps the first commit (number 1) of a new session. `false`: the session exists already with another first
    /// commit, and nothing was written.
    fn create(&self, session: &str, first: &Record) -> impl Future<Output = Result<bool, StoreError>>;

    /// What a caller that has a session up to commit number `after` (0: nothing) lacks, or `None` if there is no
    /// such session.
    fn load(&self, session: &str, after: u64) -> impl Future<Output = Result<Option<Loaded>, StoreError>>;

    /// The commits from number `after + 1` on, at most `most` of them, in order and without a gap: the session's
    /// log, which no compaction shortens. Empty if there are none, or no such session.
    fn history(
        &self,
        session: &str,
        after: u64,
        most: usize,
    ) -> impl Future<Output = Result<Vec<Record>, StoreError>>;

    /// Makes a commit durable if its number follows the last one's, or says so if it is in already; else changes
    /// nothing. Without such a session the answer is [`CommitOutcome::Conflict`].
    ///
    /// A commit that returned [`CommitOutcome::Committed`] survives any crash from then on. After an error the
    /// commit may or may not be there, and may still arrive: repeating the call tells.
    fn commit(
        &self,
        session: &str,
        record: &Record,
    ) -> impl Future<Output = Result<CommitOutcome, StoreError>>;

    /// Offers a snapshot, so that loading need not replay what it holds. Loses no commit, and may do nothing.
    ///
    /// An error here takes nothing back: the caller may ignore it, for the next commit asks again.
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
