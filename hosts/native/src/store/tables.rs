//! What is in the file, and the transactions on it.

use a2a_edge::store::{CommitOutcome, Loaded, Record, Snapshot, StoreError};
use redb::{
    Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable, Table, TableDefinition,
    WriteTransaction,
};

/// The format of the file, under [`FORMAT_KEY`].
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
const FORMAT_KEY: &str = "format";
const FORMAT: u64 = 3;

type Commits = TableDefinition<'static, (&'static str, u64), (&'static str, &'static [u8])>;

/// By session and number: nonce and bytes.
const COMMITS: Commits = TableDefinition::new("commits");

/// By session: number and bytes.
const SNAPSHOTS: TableDefinition<'_, &str, (u64, &[u8])> = TableDefinition::new("snapshots");

/// By session: number of the last commit, bytes of the commits after the snapshot, bytes of the snapshot.
const HEADS: TableDefinition<'_, &str, (u64, u64, u64)> = TableDefinition::new("heads");

/// So many bytes of commits are replayed without asking for a snapshot.
const WORTH_A_SNAPSHOT: u64 = 64 << 10;

/// A caller who lacks no more commits than this gets them rather than a snapshot.
const FEW: u64 = 64;

/// What is to be changed in a session.
pub(super) enum Change {
    Create(Record),
    Commit(Record),
    Compact(Snapshot),
}

/// Makes the tables of a new file, and refuses a file in another format.
pub(super) fn prepare(database: &Database) -> Result<(), StoreError> {
    let transaction = database.begin_write().map_err(failed)?;
    {
        let mut meta = transaction.open_table(META).map_err(failed)?;
        let found = meta.get(FORMAT_KEY).map_err(failed)?.map(|format| format.value());
        match found {
            Some(FORMAT) => {}
            Some(other) => {
                return Err(StoreError::Corrupt(format!(
                    "its format is {other}, expected {FORMAT}"
                )));
            }
            None => drop(meta.insert(FORMAT_KEY, FORMAT).map_err(failed)?),
        }
    }
    Tables::open(&transaction)?;
    transaction.commit().map_err(failed)
}

/// Makes all changes in one transaction, in order. Gives their outcomes, and whether anything was written.
pub(super) fn change<'a>(
    database: &Database,
    changes: impl Iterator<Item = (&'a str, &'a Change)>,
) -> Result<(Vec<CommitOutcome>, bool), StoreError> {
    let transaction = database.begin_write().map_err(failed)?;
    let mut tables = Tables::open(&transaction)?;
    let outcomes = changes
        .map(|(session, change)| tables.change(session, change))
        .collect::<Result<_, _>>()?;
    let written = tables.written;
    drop(tables);
    if written {
        transaction.commit().map_err(failed)?;
    } else {
        transaction.abort().map_err(failed)?;
    }
    Ok((outcomes, written))
}

/// What is kept of a session in [`HEADS`].
#[derive(Clone, Copy, Default)]
struct Head {
    seq: u64,
    fresh: u64,
    snapshot: u64,
}

struct Tables<'t> {
    commits: Table<'t, (&'static str, u64), (&'static str, &'static [u8])>,
    snapshots: Table<'t, &'static str, (u64, &'static [u8])>,
    heads: Table<'t, &'static str, (u64, u64, u64)>,
    written: bool,
}

impl<'t> Tables<'t> {
    fn open(transaction: &'t WriteTransaction) -> Result<Self, StoreError> {
        Ok(Self {
            commits: transaction.open_table(COMMITS).map_err(failed)?,
            snapshots: transaction.open_table(SNAPSHOTS).map_err(failed)?,
            heads: transaction.open_table(HEADS).map_err(failed)?,
            written: false,
        })
    }

    fn change(&mut self, session: &str, change: &Change) -> Result<CommitOutcome, StoreError> {
        let head = self
            .heads
            .get(session)
            .map_err(failed)?
            .map(|head| head_of(head.value()));
        match (change, head) {
            (Change::Create(first), None) if first.seq == 1 => self.append(session, first, Head::default()),
            (Change::Commit(record), Some(head)) if head.seq.checked_add(1) == Some(record.seq) => {
                self.append(session, record, head)
            }
            (Change::Create(record) | Change::Commit(record), Some(head)) => self.find(session, record, head),
            (Change::Create(_) | Change::Commit(_), None) => Ok(CommitOutcome::Conflict),
            (Change::Compact(snapshot), Some(head)) => self.compact(session, snapshot, head),
            (Change::Compact(_), None) => Ok(CommitOutcome::Committed { compact: false }),
        }
    }

    fn append(&mut self, session: &str, record: &Record, head: Head) -> Result<CommitOutcome, StoreError> {
        let head = Head {
            seq: record.seq,
            fresh: head.fresh.saturating_add(length(&record.bytes)),
            ..head
        };
        let value = (record.nonce.as_str(), record.bytes.as_slice());
        self.commits
            .insert((session, record.seq), value)
            .map_err(failed)?;
        self.put_head(session, head)?;
        Ok(committed(head))
    }

    /// Whether this very record is in already.
    fn find(&self, session: &str, record: &Record, head: Head) -> Result<CommitOutcome, StoreError> {
        let kept = self.commits.get((session, record.seq)).map_err(failed)?;
        let same = kept.is_some_and(|kept| kept.value().0 == record.nonce);
        Ok(if same {
            committed(head)
        } else {
            CommitOutcome::Conflict
        })
    }

    fn compact(
        &mut self,
        session: &str,
        snapshot: &Snapshot,
        head: Head,
    ) -> Result<CommitOutcome, StoreError> {
        let kept = self
            .snapshots
            .get(session)
            .map_err(failed)?
            .map_or(0, |kept| kept.value().0);
        if snapshot.seq > kept && snapshot.seq <= head.seq {
            let value = (snapshot.seq, snapshot.bytes.as_slice());
            self.snapshots.insert(session, value).map_err(failed)?;
            let mut fresh = 0_u64;
            let after = (session, snapshot.seq.saturating_add(1))..=(session, u64::MAX);
            for entry in self.commits.range(after).map_err(failed)? {
                fresh = fresh.saturating_add(length(entry.map_err(failed)?.1.value().1));
            }
            self.put_head(
                session,
                Head {
                    seq: head.seq,
                    fresh,
                    snapshot: length(&snapshot.bytes),
                },
            )?;
        }
        Ok(CommitOutcome::Committed { compact: false })
    }

    fn put_head(&mut self, session: &str, head: Head) -> Result<(), StoreError> {
        self.written = true;
        self.heads
            .insert(session, (head.seq, head.fresh, head.snapshot))
            .map_err(failed)?;
        Ok(())
    }
}

fn head_of((seq, fresh, snapshot): (u64, u64, u64)) -> Head {
    Head { seq, fresh, snapshot }
}

/// A snapshot is asked for when replaying has become more work than reading the last one, so that snapshots at most
/// double what is written.
fn committed(head: Head) -> CommitOutcome {
    CommitOutcome::Committed {
        compact: head.fresh > WORTH_A_SNAPSHOT.max(head.snapshot),
    }
}

/// What a caller lacks who has a session up to commit number `after`.
pub(super) fn load(database: &Database, session: &str, after: u64) -> Result<Option<Loaded>, StoreError> {
    let transaction = database.begin_read().map_err(failed)?;
    let heads = transaction.open_table(HEADS).map_err(failed)?;
    let Some(head) = heads
        .get(session)
        .map_err(failed)?
        .map(|head| head_of(head.value()))
    else {
        return Ok(None);
    };
    let snapshots = transaction.open_table(SNAPSHOTS).map_err(failed)?;
    let snapshot = snapshots.get(session).map_err(failed)?.and_then(|kept| {
        let (seq, bytes) = kept.value();
        let near = after > 0 && head.seq.saturating_sub(after) <= FEW;
        (seq > after && !near).then(|| Snapshot {
            seq,
            bytes: bytes.to_vec(),
        })
    });
    let start = snapshot.as_ref().map_or(after, |snapshot| snapshot.seq);
    let commits = records(&commits(&transaction)?, session, start, usize::MAX)?;
    let end = commits.last().map_or(start, |record| record.seq);
    if end != head.seq.max(start) {
        return Err(StoreError::Corrupt(format!(
            "the commits end at {end}, expected {}",
            head.seq
        )));
    }
    Ok(Some(Loaded { snapshot, commits }))
}

/// The ids of all sessions.
pub(super) fn sessions(database: &Database) -> Result<Vec<String>, StoreError> {
    let transaction = database.begin_read().map_err(failed)?;
    let heads = transaction.open_table(HEADS).map_err(failed)?;
    let ids = heads.iter().map_err(failed)?;
    ids.map(|head| head.map(|(id, _)| id.value().to_owned()).map_err(failed))
        .collect()
}

/// At most `most` commits from `after + 1` on.
pub(super) fn history(
    database: &Database,
    session: &str,
    after: u64,
    most: usize,
) -> Result<Vec<Record>, StoreError> {
    let transaction = database.begin_read().map_err(failed)?;
    records(&commits(&transaction)?, session, after, most)
}

type CommitsRead = ReadOnlyTable<(&'static str, u64), (&'static str, &'static [u8])>;

fn commits(transaction: &ReadTransaction) -> Result<CommitsRead, StoreError> {
    transaction.open_table(COMMITS).map_err(failed)
}

fn records(commits: &CommitsRead, session: &str, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
    let Some(first) = after.checked_add(1) else {
        return Ok(Vec::new());
    };
    let range = commits
        .range((session, first)..=(session, u64::MAX))
        .map_err(failed)?;
    let mut records = Vec::new();
    for (seq, entry) in (first..=u64::MAX).zip(range.take(most)) {
        let (key, value) = entry.map_err(failed)?;
        if key.value().1 != seq {
            return Err(StoreError::Corrupt(format!("commit {seq} is missing")));
        }
        let (nonce, bytes) = value.value();
        records.push(Record {
            seq,
            nonce: nonce.to_owned(),
            bytes: bytes.to_vec(),
        });
    }
    Ok(records)
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn failed(error: impl Into<redb::Error>) -> StoreError {
    match error.into() {
        redb::Error::Corrupted(why) => StoreError::Corrupt(why),
        other @ (redb::Error::TableTypeMismatch { .. } | redb::Error::TableIsMultimap(_)) => {
            StoreError::Corrupt(other.to_string())
        }
        other => StoreError::Unavailable(other.to_string()),
    }
}
