//! The store in a SQLite database: the suite of every store, and what becomes of it when statements fail.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "support/store_suite.rs"]
mod store_suite;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use a2a_edge::session::NewSession;
use a2a_edge::session::participant::Kind;
use a2a_edge::store::{
    CommitOutcome, Database, Loaded, Record, Snapshot, SqlValue, Sqlite, Store, StoreError,
};
use a2a_edge::time::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use store_suite::{block_on, check, record, record_of, snapshot};

/// When a statement fails, counted from the first.
#[derive(Clone, Copy, Debug)]
enum Failing {
    Never,
    /// Before it has done anything.
    Before(usize),
    /// After it has done everything: its answer is lost.
    After(usize),
}

/// A database in memory, whose statements are counted.
struct File {
    connection: Rc<Connection>,
    failing: Cell<Failing>,
    statements: Cell<usize>,
}

impl File {
    fn new(connection: &Rc<Connection>) -> Self {
        Self {
            connection: Rc::clone(connection),
            failing: Cell::new(Failing::Never),
            statements: Cell::new(0),
        }
    }
}

fn file() -> Rc<Connection> {
    Rc::new(Connection::open_in_memory().unwrap())
}

impl Database for &File {
    fn run(&self, statement: &str, values: Vec<SqlValue>) -> Result<Vec<Vec<SqlValue>>, StoreError> {
        assert!(values.len() <= 100, "{} values", values.len());
        let index = self.statements.replace(self.statements.get() + 1);
        let lost = || StoreError::Unavailable("the disk is full".to_owned());
        if matches!(self.failing.get(), Failing::Before(at) if at == index) {
            return Err(lost());
        }
        let mut prepared = self.connection.prepare(statement).unwrap();
        let columns = prepared.column_count();
        let values = values.into_iter().map(|value| match value {
            SqlValue::Null => Value::Null,
            SqlValue::Integer(number) => Value::Integer(number),
            SqlValue::Text(text) => Value::Text(text),
            SqlValue::Blob(bytes) => {
                assert!(bytes.len() <= 1 << 20, "{} bytes", bytes.len());
                Value::Blob(bytes)
            }
        });
        let mut rows = prepared.query(params_from_iter(values)).unwrap();
        let mut found = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let value = |column| match row.get(column).unwrap() {
                Value::Null => SqlValue::Null,
                Value::Integer(number) => SqlValue::Integer(number),
                Value::Text(text) => SqlValue::Text(text),
                Value::Blob(bytes) => SqlValue::Blob(bytes),
                Value::Real(_) => panic!("no statement yields a fraction"),
            };
            found.push((0..columns).map(value).collect());
        }
        if matches!(self.failing.get(), Failing::After(at) if at == index) {
            return Err(lost());
        }
        Ok(found)
    }
}

/// Sessions, each in a database of its own.
#[derive(Default)]
struct Files {
    files: RefCell<BTreeMap<String, Rc<Connection>>>,
}

impl Files {
    /// The store of a session, which has nothing in memory yet.
    fn with<T>(&self, session: &str, act: impl FnOnce(&Sqlite<&File>) -> T) -> T {
        let mut files = self.files.borrow_mut();
        let file = File::new(files.entry(session.to_owned()).or_insert_with(file));
        act(&Sqlite::new(&file, Some(session.to_owned())))
    }
}

impl Store for Files {
    async fn create(&self, session: &str, first: &Record) -> Result<bool, StoreError> {
        self.with(session, |store| block_on(store.create(session, first)))
    }

    async fn load(&self, session: &str, after: u64) -> Result<Option<Loaded>, StoreError> {
        self.with(session, |store| block_on(store.load(session, after)))
    }

    async fn history(&self, session: &str, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
        self.with(session, |store| block_on(store.history(session, after, most)))
    }

    async fn commit(&self, session: &str, record: &Record) -> Result<CommitOutcome, StoreError> {
        self.with(session, |store| block_on(store.commit(session, record)))
    }

    async fn compact(&self, session: &str, snapshot: &Snapshot) -> Result<(), StoreError> {
        self.with(session, |store| block_on(store.compact(session, snapshot)))
    }
}

/// With a store that has to read everything it knows.
mod opened_again_and_again {
    super::store_suite::store_suite!(Box::new(super::Files::default()));
}

fn is_committed(outcome: &Result<CommitOutcome, StoreError>) -> bool {
    matches!(outcome, Ok(CommitOutcome::Committed { .. }))
}

/// A session of six commits, two of them and its snapshots in pieces. Gives all of them, and those that were acknowledged.
fn work(store: &Sqlite<&File>) -> (Vec<Record>, Vec<Record>) {
    let length = |seq| if seq % 3 == 0 { 1 << 20 } else { 100 };
    let records: Vec<Record> = (1..=6).map(|seq| record_of(seq, "w", length(seq))).collect();
    let mut acknowledged = Vec::new();
    for record in &records {
        let kept = if record.seq == 1 {
            block_on(store.create("s", record)) == Ok(true)
        } else {
            is_committed(&block_on(store.commit("s", record)))
        };
        if !kept {
            break;
        }
        acknowledged.push(record.clone());
        if record.seq % 3 == 2 {
            // What it says is nobody's business: a snapshot may be refused.
            let _ = block_on(store.compact("s", &big(record.seq)));
        }
    }
    (records, acknowledged)
}

fn big(seq: u64) -> Snapshot {
    let bytes = vec![u8::try_from(seq).unwrap(); (1 << 20) + 7];
    Snapshot { seq, bytes }
}

/// Whatever statement fails, before or after it is done: what was acknowledged is there, a snapshot is whole or not
/// there, and who offers the same commits again has them all in.
#[test]
fn a_statement_that_fails_loses_nothing_and_leaves_nothing_half_done() {
    let counted = File::new(&file());
    let (records, _) = work(&Sqlite::new(&counted, Some("s".to_owned())));
    let statements = counted.statements.get();
    assert!(statements > 20, "{statements}");
    for at in 0..statements {
        for failing in [Failing::Before(at), Failing::After(at)] {
            let connection = file();
            let file = File::new(&connection);
            file.failing.set(failing);
            let (_, acknowledged) = work(&Sqlite::new(&file, Some("s".to_owned())));
            let again = File::new(&connection);
            let store = Sqlite::new(&again, Some("s".to_owned()));
            let kept = block_on(store.history("s", 0, usize::MAX)).unwrap();
            assert!(kept.starts_with(&acknowledged), "{failing:?}");
            assert!(records.starts_with(&kept), "{failing:?}");
            assert!(kept.len() <= acknowledged.len() + 1, "{failing:?}");
            match block_on(store.load("s", 0)).unwrap() {
                None => assert!(kept.is_empty(), "{failing:?}"),
                Some(loaded) => {
                    let from = loaded.snapshot.as_ref().map_or(0, |snapshot| snapshot.seq);
                    assert!(
                        loaded.snapshot.is_none_or(|snapshot| snapshot == big(from)),
                        "{failing:?}"
                    );
                    assert!(loaded.commits == kept[from as usize..], "{failing:?}");
                }
            }
            assert_eq!(block_on(store.create("s", &records[0])), Ok(true), "{failing:?}");
            for record in &records[1..] {
                assert!(is_committed(&block_on(store.commit("s", record))), "{failing:?}");
            }
            block_on(store.compact("s", &big(6))).unwrap();
            let loaded = block_on(store.load("s", 0)).unwrap().unwrap();
            assert!(
                loaded.snapshot == Some(big(6)) && loaded.commits.is_empty(),
                "{failing:?}"
            );
        }
    }
}

#[test]
fn a_store_that_is_not_told_its_session_is_told_by_the_session() {
    let connection = file();
    let database = File::new(&connection);
    let begun = NewSession {
        owner_name: "owner".to_owned(),
        owner_kind: Kind::Human,
    };
    let begun = begun.begin(Timestamp::from_millis(0), [7; 32]);
    let first = Record {
        seq: 1,
        nonce: "n".to_owned(),
        bytes: begun.commit.to_bytes(),
    };
    assert_eq!(Sqlite::new(&database, None).session(), "");
    let id = begun.session_id.as_str();
    let store = Sqlite::new(&database, Some(id.to_owned()));
    assert_eq!(block_on(store.create(id, &first)), Ok(true));
    let woken = Sqlite::new(&database, None);
    assert_eq!(woken.session(), id);
    assert_eq!(block_on(woken.history(id, 0, 2)), Ok(vec![first]));
}

#[test]
fn a_session_is_worth_a_snapshot_after_64_kib_of_commits_and_after_as_much_as_the_last() {
    let connection = file();
    let database = File::new(&connection);
    let store = Sqlite::new(&database, Some("s".to_owned()));
    let of = |seq, length: usize| Record {
        bytes: vec![b'x'; length],
        ..record(seq, "w")
    };
    let compact = |record: &Record| match block_on(store.commit("s", record)) {
        Ok(CommitOutcome::Committed { compact }) => {
            // Whoever asks later, or of what is in the database, is told the same.
            assert_eq!(store.wants_compaction(), Ok(compact));
            assert_eq!(
                Sqlite::new(&database, Some("s".to_owned())).wants_compaction(),
                Ok(compact)
            );
            compact
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(store.wants_compaction(), Ok(false));
    assert_eq!(block_on(store.create("s", &of(1, 32 << 10))), Ok(true));
    assert!(!compact(&of(2, 32 << 10)));
    assert!(compact(&of(3, 1)));
    assert!(compact(&of(4, 1)));
    let bytes = vec![b'y'; 100 << 10];
    block_on(store.compact("s", &Snapshot { seq: 4, bytes })).unwrap();
    assert!(!compact(&of(5, 100 << 10)));
    assert!(compact(&of(6, 1)));
}

#[test]
fn rows_that_are_none_of_the_store_s_are_corrupt() {
    for spoil in [
        "UPDATE commits SET bytes = 'text' WHERE seq = 2",
        "UPDATE commits SET nonce = x'00' WHERE seq = 2",
        "DELETE FROM commits WHERE seq > 1",
    ] {
        let connection = file();
        let database = File::new(&connection);
        let store = Sqlite::new(&database, Some("s".to_owned()));
        assert_eq!(block_on(store.create("s", &record(1, "w"))), Ok(true));
        assert!(is_committed(&block_on(store.commit("s", &record(2, "w")))));
        block_on(check(&store, "s", &[record(1, "w"), record(2, "w")]));
        connection.execute(spoil, []).unwrap();
        assert!(
            matches!(block_on(store.load("s", 0)), Err(StoreError::Corrupt(_))),
            "{spoil}"
        );
    }
}

#[test]
fn another_session_is_none_of_the_store_s() {
    let connection = file();
    let database = File::new(&connection);
    let store = Sqlite::new(&database, Some("s".to_owned()));
    assert_eq!(block_on(store.create("other", &record(1, "w"))), Ok(false));
    assert_eq!(block_on(store.create("s", &record(2, "w"))), Ok(false));
    // What was refused has left nothing behind.
    let tables = "SELECT count(*) FROM sqlite_master";
    assert_eq!(
        connection
            .query_row(tables, [], |row| row.get::<_, i64>(0))
            .unwrap(),
        0
    );
    assert_eq!(block_on(store.create("s", &record(1, "w"))), Ok(true));
    assert_eq!(block_on(store.load("other", 0)), Ok(None));
    assert_eq!(block_on(store.history("other", 0, 9)), Ok(vec![]));
    assert_eq!(
        block_on(store.commit("other", &record(2, "w"))),
        Ok(CommitOutcome::Conflict)
    );
    assert_eq!(block_on(store.compact("other", &snapshot(1))), Ok(()));
}
