//! The embedded store: the suite of every store, and what a file adds.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "../../../tests/support/store_suite.rs"]
mod store_suite;

use std::fs;
use std::future::Future;
use std::ops::Deref;
use std::path::PathBuf;
use std::pin::Pin;
use std::thread;

use a2a_edge::store::{CommitOutcome, Record, Store};
use a2a_edge_native::store::{Embedded, OpenError};
use tempfile::TempDir;

use store_suite::{block_on, check, record, record_of, snapshot, store_suite, together};

/// A store in a folder that goes when it does.
struct Scratch {
    store: Embedded,
    _folder: TempDir,
}

impl Deref for Scratch {
    type Target = Embedded;

    fn deref(&self) -> &Embedded {
        &self.store
    }
}

fn scratch() -> Scratch {
    let (folder, path) = place();
    Scratch {
        store: Embedded::open(&path).unwrap(),
        _folder: folder,
    }
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.redb");
    (folder, path)
}

fn fill(store: &Embedded, session: &str, range: impl IntoIterator<Item = u64>) -> Vec<Record> {
    let records: Vec<Record> = range.into_iter().map(|seq| record(seq, session)).collect();
    for record in &records {
        let kept = if record.seq == 1 {
            block_on(store.create(session, record)).unwrap()
        } else {
            block_on(store.commit(session, record)).unwrap() != CommitOutcome::Conflict
        };
        assert!(kept);
    }
    records
}

store_suite!(scratch());

#[test]
fn of_eight_creators_one_wins() {
    let store = scratch();
    let firsts: Vec<Record> = (0..8).map(|writer| record(1, &format!("w{writer}"))).collect();
    let creators = firsts
        .iter()
        .map(|it| Box::pin(store.create("s", it)) as Pin<Box<dyn Future<Output = _>>>);
    let created = block_on(together(creators));
    assert_eq!(created.iter().filter(|created| **created == Ok(true)).count(), 1);
}

#[test]
fn a_store_opened_again_has_everything() {
    let (_folder, path) = place();
    let mut records = Vec::new();
    for round in 0..4_u64 {
        let store = Embedded::open(&path).unwrap();
        records.extend(fill(&store, "s", round * 30 + 1..=round * 30 + 30));
        block_on(check(&store, "s", &records));
        if round == 1 {
            block_on(store.compact("s", &snapshot(50))).unwrap();
        }
    }
    let store = Embedded::open(&path).unwrap();
    block_on(check(&store, "s", &records));
    assert_eq!(
        block_on(store.load("s", 0)).unwrap().unwrap().snapshot,
        Some(snapshot(50))
    );
}

#[test]
fn dropping_the_store_first_makes_what_was_asked_for() {
    let (_folder, path) = place();
    let store = Embedded::open(&path).unwrap();
    fill(&store, "s", [1]);
    let records: Vec<Record> = (2..=200).map(|seq| record(seq, "s")).collect();
    let mut asked: Vec<_> = records.iter().map(|it| Box::pin(store.commit("s", it))).collect();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for commit in &mut asked {
        // Polled once, it is asked for; nobody waits for the answer.
        let _ = commit.as_mut().poll(&mut context);
    }
    drop(asked);
    drop(store);
    let store = Embedded::open(&path).unwrap();
    assert_eq!(block_on(store.history("s", 0, usize::MAX)).unwrap().len(), 200);
}

#[test]
fn commits_that_come_together_share_transactions() {
    const SESSIONS: u64 = 40;
    const COMMITS: u64 = 50;
    let store = scratch();
    let write = async |session: String| {
        for seq in 1..=COMMITS {
            let record = record(seq, &session);
            let kept = match seq {
                1 => store.create(&session, &record).await.unwrap(),
                _ => store.commit(&session, &record).await.unwrap() != CommitOutcome::Conflict,
            };
            assert!(kept);
        }
    };
    thread::scope(|scope| {
        for half in [0..SESSIONS / 2, SESSIONS / 2..SESSIONS] {
            scope.spawn(|| {
                let writers = half
                    .map(|index| Box::pin(write(format!("s{index}"))) as Pin<Box<dyn Future<Output = ()>>>);
                block_on(together(writers));
            });
        }
    });
    let transactions = store.transactions();
    assert!(
        transactions <= SESSIONS * COMMITS / 4,
        "{transactions} transactions"
    );
    assert!(
        transactions >= COMMITS,
        "{transactions} transactions are too few to be true"
    );
    for index in 0..SESSIONS {
        let session = format!("s{index}");
        let expected: Vec<Record> = (1..=COMMITS).map(|seq| record(seq, &session)).collect();
        assert_eq!(
            block_on(store.history(&session, 0, usize::MAX)).unwrap(),
            expected
        );
    }
}

#[test]
fn writers_of_one_batch_conflict_with_each_other() {
    let store = scratch();
    fill(&store, "s", [1]);
    let before = store.transactions();
    let tries: Vec<Record> = (0..64).map(|writer| record(2, &format!("w{writer}"))).collect();
    let commits = tries
        .iter()
        .map(|it| Box::pin(store.commit("s", it)) as Pin<Box<dyn Future<Output = _>>>);
    let outcomes = block_on(together(commits));
    assert_eq!(
        outcomes
            .iter()
            .filter(|it| **it != Ok(CommitOutcome::Conflict))
            .count(),
        1
    );
    assert_eq!(
        store.transactions() - before,
        1,
        "conflicts alone are not written"
    );
}

#[test]
fn a_snapshot_is_asked_for_when_replaying_grows_long() {
    let store = scratch();
    let asked = |seq, length| {
        let record = record_of(seq, "w", length);
        block_on(store.commit("s", &record)).unwrap() == CommitOutcome::Committed { compact: true }
    };
    fill(&store, "s", [1]);
    assert!(!asked(2, 60_000));
    assert!(asked(3, 6_000));
    block_on(store.compact("s", &snapshot(3))).unwrap();
    assert!(!asked(4, 60_000));
    assert!(asked(5, 6_000));
}

#[test]
fn old_snapshots_take_no_space() {
    let (_folder, path) = place();
    let store = Embedded::open(&path).unwrap();
    for seq in 1..=60 {
        fill(&store, "s", [seq]);
        let big = a2a_edge::store::Snapshot {
            seq,
            bytes: vec![b'x'; 1 << 20],
        };
        block_on(store.compact("s", &big)).unwrap();
    }
    drop(store);
    let length = fs::metadata(&path).unwrap().len();
    assert!(length < 16 << 20, "{length} bytes");
}

#[test]
fn a_store_in_use_says_so() {
    let (_folder, path) = place();
    let store = Embedded::open(&path).unwrap();
    let refused = Embedded::open(&path).unwrap_err();
    assert!(
        matches!(&refused, OpenError::InUse(of) if *of == path),
        "{refused}"
    );
    assert_eq!(
        refused.to_string(),
        format!("{} is in use by another process", path.display())
    );
    drop(store);
    Embedded::open(&path).unwrap();
}

#[test]
fn a_file_that_is_no_store_says_so_and_stays_as_it_is() {
    let (_folder, path) = place();
    let texts: [&[u8]; 3] = [b"x", b"{\"not\": \"a store\"}", &[7; 100_000]];
    for text in texts {
        fs::write(&path, text).unwrap();
        let refused = Embedded::open(&path).unwrap_err();
        assert!(matches!(refused, OpenError::Corrupt(..)), "{refused}");
        assert!(fs::read(&path).unwrap() == text);
    }
}

#[test]
fn a_file_in_a_folder_that_is_not_there_says_so() {
    let (folder, _) = place();
    let refused = Embedded::open(&folder.path().join("nowhere/sessions.redb")).unwrap_err();
    assert!(matches!(refused, OpenError::Io(..)), "{refused}");
    let refused = Embedded::open(folder.path()).unwrap_err();
    assert!(matches!(refused, OpenError::Io(..)), "{refused}");
}

#[test]
fn damage_to_the_file_is_refused_or_harmless() {
    let (folder, path) = place();
    let store = Embedded::open(&path).unwrap();
    let records = fill(&store, "s", 1..=200);
    block_on(store.compact("s", &snapshot(150))).unwrap();
    drop(store);
    let sound = fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged.redb");
    let mut refused = 0;
    for index in 0..120 {
        let mut bytes = sound.clone();
        if index < 20 {
            bytes.truncate(bytes.len() * index / 20);
        } else {
            let at = (index - 20) * bytes.len() / 100;
            let end = (at + 600).min(bytes.len());
            bytes[at..end].fill(0xa5);
        }
        if bytes.is_empty() {
            continue;
        }
        fs::write(&damaged, bytes).unwrap();
        match Embedded::open(&damaged) {
            Err(OpenError::Corrupt(..)) => refused += 1,
            Err(other) => panic!("{other}"),
            Ok(store) => block_on(check(&store, "s", &records)),
        }
    }
    assert!(refused > 0);
}

#[cfg(unix)]
#[test]
fn the_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = place();
    let _store = Embedded::open(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}
