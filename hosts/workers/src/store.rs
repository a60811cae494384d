//! A session in its object's SQLite storage: its commits and its last snapshot, each in pieces that rows can hold.
//!
//! Each change is one statement, or an order of statements that is whole after every one of them: an error takes
//! nothing back that was written before it. The platform holds an answer back until what was written before it is
//! durable.

use std::cell::Cell;
use std::fmt::Display;
use std::rc::Rc;

use a2a_edge::session::{Commit, Event};
use a2a_edge::store::{CommitOutcome, Loaded, Record, Snapshot, Store, StoreError};
use serde_json::json;
use worker::{SqlStorageValue as Sql, Storage, console_log};

use crate::alarm::Alarm;

/// All pieces of a commit are there, or none; of a snapshot, `last` marks the piece that makes it whole.
const TABLES: [&str; 2] = [
    "CREATE TABLE IF NOT EXISTS commits (seq INTEGER, part INTEGER, nonce TEXT NOT NULL, bytes BLOB NOT NULL, \
     PRIMARY KEY (seq, part)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS snapshots (seq INTEGER, part INTEGER, last INTEGER NOT NULL, bytes BLOB NOT NULL, \
     PRIMARY KEY (seq, part))",
];

/// So many bytes of commits are replayed without a snapshot being worth its while.
const WORTH_A_SNAPSHOT: u64 = 64 << 10;
/// The longest piece, in bytes; the platform takes rows of up to 2 MB.
const PIECE: usize = 1 << 20;
/// How long compaction is put off, in milliseconds, so that a burst of commits is compacted once.
const PUT_OFF_MS: i64 = 1_000;

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
    fn wants_compaction(self) -> bool {
        self.fresh > WORTH_A_SNAPSHOT.max(self.snapshot)
    }
}

/// The storage of one object, and so of one session.
pub struct ObjectStore {
    storage: Storage,
    session: String,
    /// `None`: it is read when it is needed.
    head: Cell<Option<Head>>,
    alarm: Rc<Alarm>,
}

type Done<T> = Result<T, StoreError>;

impl ObjectStore {
    /// The storage of the session of this name. An object that its alarm wakes may not be told its name; then it is
    /// the session that is in it.
    pub fn new(storage: Storage, name: Option<String>, alarm: Rc<Alarm>) -> Self {
        let mut store = Self {
            storage,
            session: String::new(),
            head: Cell::new(None),
            alarm,
        };
        store.session = name.or_else(|| store.found()).unwrap_or_default();
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

    /// The session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Runs a statement to its end and gives its rows.
    fn run(&self, statement: &str, values: Vec<Sql>) -> Done<Vec<Vec<Sql>>> {
        let cursor = self.storage.sql().exec(statement, values).map_err(unavailable)?;
        cursor.raw().collect::<Result<_, _>>().map_err(unavailable)
    }

    /// A statement's only number, 0 if it has none.
    fn number(&self, statement: &str, values: Vec<Sql>) -> Done<u64> {
        let rows = self.run(statement, values)?;
        Ok(rows.first().and_then(|row| row.first()).map_or(0, count))
    }

    /// Whether this object is a session at all. It leaves no trace of one that it is not.
    fn exists(&self, session: &str) -> Done<bool> {
        const TABLE: &str = "SELECT count(*) FROM sqlite_master WHERE name = 'commits'";
        Ok(session == self.session && self.number(TABLE, vec![])? > 0)
    }

    /// The last commit's number and what follows the snapshot, or `None` without such a session.
    fn head(&self, session: &str) -> Done<Option<Head>> {
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
        let since = vec![number(whole)];
        const FRESH: &str = "SELECT sum(length(bytes)) FROM commits WHERE seq > ?";
        const KEPT: &str = "SELECT sum(length(bytes)) FROM snapshots WHERE seq = ?";
        let head = Head {
            seq,
            fresh: self.number(FRESH, since.clone())?,
            snapshot: self.number(KEPT, since)?,
        };
        self.head.set(Some(head));
        Ok(Some(head))
    }

    /// The number of the last whole snapshot, or 0.
    fn snapshot_seq(&self) -> Done<u64> {
        self.number("SELECT max(seq) FROM snapshots WHERE last = 1", vec![])
    }

    /// Adds a commit whose number is the next, in one statement.
    fn append(&self, record: &Record, head: Head) -> Done<CommitOutcome> {
        let pieces: Vec<&[u8]> = record.bytes.chunks(PIECE).collect();
        let rows = vec!["(?, ?, ?, ?)"; pieces.len()].join(", ");
        let row = |(part, piece): (u64, &&[u8])| {
            let nonce = Sql::String(record.nonce.clone());
            [number(record.seq), number(part), nonce, Sql::Blob(piece.to_vec())]
        };
        let values = (0..).zip(&pieces).flat_map(row).collect();
        // Until the statement has ended, what is in storage is not known.
        self.head.set(None);
        self.run(
            &format!("INSERT INTO commits (seq, part, nonce, bytes) VALUES {rows}"),
            values,
        )?;
        self.head.set(Some(Head {
            seq: record.seq,
            fresh: head.fresh.saturating_add(length(&record.bytes)),
            ..head
        }));
        Ok(CommitOutcome::Committed { compact: false })
    }

    /// Whether this very record is in already.
    fn find(&self, record: &Record) -> Done<CommitOutcome> {
        const SAME: &str = "SELECT count(*) FROM commits WHERE seq = ? AND nonce = ?";
        let values = vec![number(record.seq), Sql::String(record.nonce.clone())];
        Ok(match self.number(SAME, values)? {
            0 => CommitOutcome::Conflict,
            _ => CommitOutcome::Committed { compact: false },
        })
    }

    /// At most so many commits behind a number.
    fn records(&self, after: u64, most: u64) -> Done<Vec<Record>> {
        const ROWS: &str =
            "SELECT seq, nonce, bytes FROM commits WHERE seq > ? AND seq <= ? ORDER BY seq, part";
        let mut records: Vec<Record> = Vec::new();
        for row in self.run(ROWS, vec![number(after), number(after.saturating_add(most))])? {
            let piece = record(row)?;
            match records.last_mut() {
                Some(record) if record.seq == piece.seq => record.bytes.extend(piece.bytes),
                _ => records.push(piece),
            }
        }
        Ok(records)
    }

    fn snapshot(&self, seq: u64) -> Done<Snapshot> {
        const PIECES: &str = "SELECT bytes FROM snapshots WHERE seq = ? ORDER BY part";
        let mut bytes = Vec::new();
        for row in self.run(PIECES, vec![number(seq)])? {
            match row.into_iter().next() {
                Some(Sql::Blob(piece)) => bytes.extend(piece),
                _ => return Err(corrupt("a snapshot has a piece without bytes")),
            }
        }
        Ok(Snapshot { seq, bytes })
    }

    /// Whether replaying has become more work than reading the last snapshot.
    pub fn wants_compaction(&self) -> Done<bool> {
        Ok(self.head(&self.session)?.is_some_and(Head::wants_compaction))
    }

    /// Sees to it that the session is compacted soon, where that is wanted.
    async fn put_off_compaction(&self) {
        if self.head.get().is_some_and(Head::wants_compaction) {
            self.alarm.ring_by(crate::now().plus_millis(PUT_OFF_MS)).await;
        }
    }
}

impl Store for ObjectStore {
    /// The platform runs one object of a name at a time, and lets no other write to its storage.
    fn is_exclusive(&self) -> bool {
        true
    }

    async fn create(&self, session: &str, first: &Record) -> Done<bool> {
        if session != self.session || first.seq != 1 {
            return Ok(false);
        }
        for table in TABLES {
            self.run(table, vec![])?;
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

    async fn load(&self, session: &str, after: u64) -> Done<Option<Loaded>> {
        let Some(head) = self.head(session)? else {
            return Ok(None);
        };
        let whole = self.snapshot_seq()?;
        let snapshot = (whole > after).then(|| self.snapshot(whole)).transpose()?;
        let commits = self.records(after.max(whole), u64::MAX)?;
        let line = json!({"event": "load", "session": session, "snapshot": whole, "commits": commits.len()});
        console_log!("{line}");
        let reached = commits.last().map_or(after.max(whole), |record| record.seq);
        if reached < head.seq {
            return Err(corrupt("the last commits are missing"));
        }
        Ok(Some(Loaded { snapshot, commits }))
    }

    async fn history(&self, session: &str, after: u64, most: usize) -> Done<Vec<Record>> {
        if !self.exists(session)? {
            return Ok(Vec::new());
        }
        self.records(after, u64::try_from(most).unwrap_or(u64::MAX))
    }

    async fn commit(&self, session: &str, record: &Record) -> Done<CommitOutcome> {
        let outcome = match self.head(session)? {
            None => CommitOutcome::Conflict,
            Some(head) if head.seq.checked_add(1) == Some(record.seq) => self.append(record, head)?,
            Some(_) => self.find(record)?,
        };
        self.put_off_compaction().await;
        Ok(outcome)
    }

    async fn compact(&self, session: &str, snapshot: &Snapshot) -> Done<()> {
        let kept = match self.head(session)? {
            None => return Ok(()),
            Some(head) if snapshot.seq > head.seq => return Ok(()),
            Some(_) => self.snapshot_seq()?,
        };
        if snapshot.seq <= kept {
            return Ok(());
        }
        const CLEAR: &str = "DELETE FROM snapshots WHERE seq <> ?";
        const INSERT: &str = "INSERT OR REPLACE INTO snapshots (seq, part, last, bytes) VALUES (?, ?, ?, ?)";
        self.run(CLEAR, vec![number(kept)])?;
        let mut pieces = (0_u64..).zip(snapshot.bytes.chunks(PIECE)).peekable();
        while let Some((part, piece)) = pieces.next() {
            let last = number(u64::from(pieces.peek().is_none()));
            let values = vec![
                number(snapshot.seq),
                number(part),
                last,
                Sql::Blob(piece.to_vec()),
            ];
            self.run(INSERT, values)?;
        }
        self.run(CLEAR, vec![number(snapshot.seq)])?;
        self.head.set(None);
        let line = json!({"event": "compact", "session": session, "seq": snapshot.seq, "bytes": snapshot.bytes.len()});
        console_log!("{line}");
        Ok(())
    }
}

/// A row of commits: a commit, or a piece of one.
fn record(row: Vec<Sql>) -> Done<Record> {
    match <[Sql; 3]>::try_from(row) {
        Ok([seq, Sql::String(nonce), Sql::Blob(bytes)]) => Ok(Record {
            seq: count(&seq),
            nonce,
            bytes,
        }),
        _ => Err(corrupt("a commit has other columns than it must")),
    }
}

/// Numbers stay far below 2^53, up to which JavaScript keeps them exactly.
fn number(value: u64) -> Sql {
    Sql::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

fn count(value: &Sql) -> u64 {
    match value {
        Sql::Integer(value) => u64::try_from(*value).unwrap_or_default(),
        _ => 0,
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn unavailable(error: impl Display) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt(what.to_owned())
}
