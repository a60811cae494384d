//! One session in a SQLite database of its own: its commits and its last snapshot, each in pieces that rows can hold.
//!
//! Each change is one statement, or an order of statements that is whole after every one of them: an error takes
//! nothing back that was written before it.

use std::cell::Cell;

use super::codec::corrupt;
use super::{CommitOutcome, Loaded, Record, Snapshot, Store, StoreError};
use crate::session::{Commit, Event};

/// All pieces of a commit are there, or none; of a snapshot, `last` marks the piece that makes it whole.
const TABLES: [&str; 2] = [
    "CREATE TABLE IF NOT EXISTS commits (seq INTEGER, part INTEGER, nonce TEXT NOT NULL, bytes BLOB NOT NULL, \
     PRIMARY KEY (seq, part)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS snapshots (seq INTEGER, part INTEGER, last INTEGER NOT NULL, bytes BLOB NOT NULL, \
     PRIMARY KEY (seq, part))",
];

/// So many bytes of commits are replayed without a snapshot being worth its while.
const WORTH_A_SNAPSHOT: u64 = 64 << 10;

/// The longest piece, in bytes: half of what a row may have on the platforms that say so.
const PIECE: usize = 1 << 20;

/// A value of a statement or a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlValue {
    /// None.
    Null,
    /// A whole number.
    Integer(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// A SQLite database that nobody else writes to.
///
/// What a statement changed is durable before anybody is told of it: when [`run`](Self::run) returns, or when the host
/// lets the answer leave that was made after it.
pub trait Database {
    /// Runs one statement, with its values for `?` in their order, and gives its rows. It changes everything that it
    /// says, or nothing. At most 100 values come with one, each of at most 1 MiB.
    ///
    /// # Errors
    /// Why it did not, or may not have.
    fn run(&self, statement: &str, values: Vec<SqlValue>) -> Result<Vec<Vec<SqlValue>>, StoreError>;

    /// Hears that the session was read: with the snapshot after this commit (0: none) and so many commits.
    fn loaded(&self, session: &str, snapshot: u64, commits: usize) {
        let _ = (session, snapshot, commits);
    }

    /// Hears that a snapshot was kept.
    fn compacted(&self, session: &str, snapshot: &Snapshot) {
        let _ = (session, snapshot);
    }
}

/// What would otherwise be counted before every commit.
#[derive(Clone, Copy, Debug)]
struct Head {
    /// The last commit's number.
    seq: u64,
    /// Bytes of the commits that no snapshot holds.
    fresh: u64,
    /// Bytes of the snapshot.
    snapshot: u64,
}

impl Head {
    /// Whether replaying has become more work than reading the last snapshot.
    fn wants_compaction(self) -> bool {
        self.fresh > WORTH_A_SNAPSHOT.max(self.snapshot)
    }
}

/// A [`Store`] of one session. A commit has at most 25 MiB; the log is never shortened.
///
/// For places that run one thing at a time: no call waits for anything, so each is over before the next begins.
#[derive(Debug)]
pub struct Sqlite<D> {
    database: D,
    session: String,
    /// `None`: it is read when it is needed.
    head: Cell<Option<Head>>,
}

impl<D: Database> Sqlite<D> {
    /// The database of the session of this name. Whoever does not know it, as a place that an alarm has woken, is told by
    /// the session that is in it.
    pub fn new(database: D, session: Option<String>) -> Self {
        let mut store = Self {
            database,
            session: String::new(),
            head: Cell::new(None),
        };
        store.session = session.or_else(|| store.found()).unwrap_or_default();
        store
    }

    /// The session that is kept here: its first commit says so.
    fn found(&self) -> Option<String> {
        if !self.exists("").ok()? {
            return None;
        }
        let first = self.records(0, 1).ok()?.into_iter().next()?;
        match Commit::read(&first.bytes).ok()?.events.into_iter().next()? {
            Event::SessionCreated { session_id, .. } => Some(session_id),
            _ => None,
        }
    }

    /// The session; empty where none is known.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Whether the session is worth a snapshot: what a commit asked for, for whoever did not do it then.
    ///
    /// # Errors
    /// What the database says.
    pub fn wants_compaction(&self) -> Result<bool, StoreError> {
        Ok(self.head(&self.session)?.is_some_and(Head::wants_compaction))
    }

    /// A statement's only number, 0 if it has none.
    fn number(&self, statement: &str, values: Vec<SqlValue>) -> Result<u64, StoreError> {
        let rows = self.database.run(statement, values)?;
        Ok(rows.first().and_then(|row| row.first()).map_or(0, count))
    }

    /// Whether the database has a session at all. It leaves no trace of one that it has not.
    fn exists(&self, session: &str) -> Result<bool, StoreError> {
        const TABLE: &str = "SELECT count(*) FROM sqlite_master WHERE name = 'commits'";
        Ok(session == self.session && self.number(TABLE, vec![])? > 0)
    }

    /// The last commit's number and what follows the snapshot, or `None` without such a session.
    fn head(&self, session: &str) -> Result<Option<Head>, StoreError> {
        const FRESH: &str = "SELECT sum(length(bytes)) FROM commits WHERE seq > ?";
        const KEPT: &str = "SELECT sum(length(bytes)) FROM snapshots WHERE seq = ?";
        if let Some(head) = self.head.get().filter(|_| session == self.session) {
            return Ok(Some(head));
        }
        if !self.exists(session)? {
            return Ok(None);
        }
        let seq = self.number("SELECT max(seq) FROM commits", vec![])?;
        if seq == 0 {
            return Ok(None);
        }
        let whole = self.snapshot_seq()?;
        let head = Head {
            seq,
            fresh: self.number(FRESH, vec![number(whole)])?,
            snapshot: self.number(KEPT, vec![number(whole)])?,
        };
        self.head.set(Some(head));
        Ok(Some(head))
    }

    /// The number of the last whole snapshot, or 0.
    fn snapshot_seq(&self) -> Result<u64, StoreError> {
        self.number("SELECT max(seq) FROM snapshots WHERE last = 1", vec![])
    }

    /// Adds a commit whose number is the next, in one statement.
    fn append(&self, record: &Record, head: Head) -> Result<CommitOutcome, StoreError> {
        let pieces: Vec<&[u8]> = record.bytes.chunks(PIECE).collect();
        let rows = vec!["(?, ?, ?, ?)"; pieces.len()].join(", ");
        let row = |(part, piece): (u64, &&[u8])| {
            let nonce = SqlValue::Text(record.nonce.clone());
            [
                number(record.seq),
                number(part),
                nonce,
                SqlValue::Blob(piece.to_vec()),
            ]
        };
        let values = (0..).zip(&pieces).flat_map(row).collect();
        // Until the statement has ended, what is in the database is not known.
        self.head.set(None);
        self.database.run(
            &format!("INSERT INTO commits (seq, part, nonce, bytes) VALUES {rows}"),
            values,
        )?;
        let head = Head {
            seq: record.seq,
            fresh: head.fresh.saturating_add(length(&record.bytes)),
            ..head
        };
        self.head.set(Some(head));
        Ok(CommitOutcome::Committed {
            compact: head.wants_compaction(),
        })
    }

    /// Whether this very record is in already.
    fn find(&self, record: &Record) -> Result<CommitOutcome, StoreError> {
        const SAME: &str = "SELECT count(*) FROM commits WHERE seq = ? AND nonce = ?";
        let values = vec![number(record.seq), SqlValue::Text(record.nonce.clone())];
        Ok(match self.number(SAME, values)? {
            0 => CommitOutcome::Conflict,
            _ => CommitOutcome::Committed { compact: false },
        })
    }

    /// At most so many commits behind a number.
    fn records(&self, after: u64, most: u64) -> Result<Vec<Record>, StoreError> {
        const ROWS: &str =
            "SELECT seq, nonce, bytes FROM commits WHERE seq > ? AND seq <= ? ORDER BY seq, part";
        self.whole(ROWS, vec![number(after), number(after.saturating_add(most))])
    }

    fn snapshot(&self, seq: u64) -> Result<Option<Snapshot>, StoreError> {
        const PIECES: &str = "SELECT seq, '', bytes FROM snapshots WHERE seq = ? ORDER BY part";
        let whole = self.whole(PIECES, vec![number(seq)])?.pop();
        Ok(whole.map(|Record { seq, bytes, .. }| Snapshot { seq, bytes }))
    }

    /// What a statement finds of numbers, nonces and pieces, with the pieces of each number put together.
    fn whole(&self, statement: &str, values: Vec<SqlValue>) -> Result<Vec<Record>, StoreError> {
        let mut records: Vec<Record> = Vec::new();
        for row in self.database.run(statement, values)? {
            let piece = piece(row)?;
            match records.last_mut() {
                Some(record) if record.seq == piece.seq => record.bytes.extend(piece.bytes),
                _ => records.push(piece),
            }
        }
        Ok(records)
    }
}

impl<D: Database> Store for Sqlite<D> {
    fn is_exclusive(&self) -> bool {
        true
    }

    async fn create(&self, session: &str, first: &Record) -> Result<bool, StoreError> {
        if session != self.session || first.seq != 1 {
            return Ok(false);
        }
        for table in TABLES {
            self.database.run(table, vec![])?;
        }
        let none = Head {
            seq: 0,
            fresh: 0,
            snapshot: 0,
        };
        let outcome = match self.head(session)? {
            None => self.append(first, none)?,
            Some(_) => self.find(first)?,
        };
        Ok(outcome != CommitOutcome::Conflict)
    }

    async fn load(&self, session: &str, after: u64) -> Result<Option<Loaded>, StoreError> {
        let Some(head) = self.head(session)? else {
            return Ok(None);
        };
        let kept = self.snapshot_seq()?;
        let snapshot = if kept > after { self.snapshot(kept)? } else { None };
        let commits = self.records(after.max(kept), u64::MAX)?;
        self.database.loaded(session, kept, commits.len());
        let reached = commits.last().map_or(after.max(kept), |record| record.seq);
        if reached < head.seq {
            return Err(corrupt("the last commits are missing"));
        }
        Ok(Some(Loaded { snapshot, commits }))
    }

    async fn history(&self, session: &str, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
        if !self.exists(session)? {
            return Ok(Vec::new());
        }
        self.records(after, u64::try_from(most).unwrap_or(u64::MAX))
    }

    async fn commit(&self, session: &str, record: &Record) -> Result<CommitOutcome, StoreError> {
        match self.head(session)? {
            None => Ok(CommitOutcome::Conflict),
            Some(head) if head.seq.checked_add(1) == Some(record.seq) => self.append(record, head),
            Some(_) => self.find(record),
        }
    }

    async fn compact(&self, session: &str, snapshot: &Snapshot) -> Result<(), StoreError> {
        const CLEAR: &str = "DELETE FROM snapshots WHERE seq <> ?";
        const INSERT: &str = "INSERT OR REPLACE INTO snapshots (seq, part, last, bytes) VALUES (?, ?, ?, ?)";
        let kept = match self.head(session)? {
            Some(head) if snapshot.seq <= head.seq => self.snapshot_seq()?,
            _ => return Ok(()),
        };
        if snapshot.seq <= kept {
            return Ok(());
        }
        // A snapshot that was never finished goes; the last whole one stays until there is another.
        self.database.run(CLEAR, vec![number(kept)])?;
        let mut pieces = (0_u64..).zip(snapshot.bytes.chunks(PIECE)).peekable();
        while let Some((part, piece)) = pieces.next() {
            let last = u64::from(pieces.peek().is_none());
            let [seq, part, last] = [snapshot.seq, part, last].map(number);
            self.database
                .run(INSERT, vec![seq, part, last, SqlValue::Blob(piece.to_vec())])?;
        }
        self.database.run(CLEAR, vec![number(snapshot.seq)])?;
        self.head.set(None);
        self.database.compacted(session, snapshot);
        Ok(())
    }
}

/// A row with a number, a nonce and a piece.
fn piece(row: Vec<SqlValue>) -> Result<Record, StoreError> {
    match <[SqlValue; 3]>::try_from(row) {
        Ok([seq, SqlValue::Text(nonce), SqlValue::Blob(bytes)]) => Ok(Record {
            seq: count(&seq),
            nonce,
            bytes,
        }),
        _ => Err(corrupt("a row has other columns than it must")),
    }
}

/// A number, or what is above every number: hosts in JavaScript keep none exactly that is greater.
fn number(value: u64) -> SqlValue {
    const MOST: i64 = (1 << 53) - 1;
    SqlValue::Integer(i64::try_from(value).unwrap_or(MOST).min(MOST))
}

fn count(value: &SqlValue) -> u64 {
    match value {
        SqlValue::Integer(value) => u64::try_from(*value).unwrap_or_default(),
        _ => 0,
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
