//! What every [`Store`] must do. A host includes this file by path and calls `store_suite!` with an expression
//! that dereferences to a fresh store; each case becomes a test.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it is"
)]

use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use a2a_edge::store::{CommitOutcome, Loaded, Record, Snapshot, Store};

macro_rules! store_suite {
    ($store:expr) => {
        $crate::store_suite::store_suite! { $store;
            a_session_is_created_once
            a_session_that_is_not_there_is_not_found
            loading_after_a_commit_gives_what_follows_it
            a_commit_that_does_not_follow_the_last_changes_nothing
            a_commit_repeated_is_kept_once
            of_eight_writers_one_wins_each_number
            compaction_loses_no_commit
            a_snapshot_saves_loading_what_it_holds
            a_snapshot_that_is_older_or_ahead_is_not_taken
            the_history_comes_in_pages
            commits_of_megabytes_are_kept
            a_snapshot_of_a_megabyte_is_kept
            sessions_do_not_mix
            anything_names_a_session
        }
    };
    ($store:expr; $($case:ident)*) => { $(
        #[test]
        fn $case() {
            $crate::store_suite::block_on($crate::store_suite::$case(&*$store));
        }
    )* };
}
pub(crate) use store_suite;

/// Runs a future to its end on this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// Runs futures side by side.
pub(crate) async fn together<'a, T>(
    futures: impl IntoIterator<Item = Pin<Box<dyn Future<Output = T> + 'a>>>,
) -> Vec<T> {
    let mut running: Vec<_> = futures.into_iter().map(|future| (future, None)).collect();
    poll_fn(|context| {
        for (future, value) in running.iter_mut().filter(|(_, value)| value.is_none()) {
            if let Poll::Ready(ready) = future.as_mut().poll(context) {
                *value = Some(ready);
            }
        }
        if running.iter().all(|(_, value)| value.is_some()) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    running.into_iter().filter_map(|(_, value)| value).collect()
}

/// Commit number `seq` by `writer`.
pub(crate) fn record(seq: u64, writer: &str) -> Record {
    record_of(seq, writer, 100)
}

/// The same with about so many bytes.
pub(crate) fn record_of(seq: u64, writer: &str, length: usize) -> Record {
    let nonce = format!("{writer}-{seq}");
    let filler: String = nonce.chars().cycle().take(length).collect();
    Record {
        seq,
        bytes: format!(r#"{{"seq":{seq},"filler":"{filler}"}}"#).into_bytes(),
        nonce,
    }
}

/// The state after commit `seq`.
pub(crate) fn snapshot(seq: u64) -> Snapshot {
    Snapshot {
        seq,
        bytes: format!(r#"{{"after":{seq}}}"#).into_bytes(),
    }
}

async fn filled(store: &impl Store, session: &str, commits: u64) -> Vec<Record> {
    let records: Vec<Record> = (1..=commits).map(|seq| record(seq, "w")).collect();
    assert!(store.create(session, &records[0]).await.unwrap());
    for record in &records[1..] {
        assert!(is_committed(store.commit(session, record).await.unwrap()));
    }
    records
}

fn is_committed(outcome: CommitOutcome) -> bool {
    matches!(outcome, CommitOutcome::Committed { .. })
}

/// Checks that what was loaded after commit `after` brings a caller from there to the end of `records`, and gives
/// the number of commits that need not be replayed.
pub(crate) fn check_loaded(loaded: &Loaded, after: u64, records: &[Record]) -> Result<u64, String> {
    let start = match &loaded.snapshot {
        Some(found) if *found != snapshot(found.seq) => return Err(format!("no such snapshot: {found:?}")),
        Some(found) if found.seq <= after => return Err(format!("a useless snapshot: {found:?}")),
        Some(found) => found.seq,
        None => after,
    };
    let rest: Vec<&Record> = records.iter().filter(|record| record.seq > start).collect();
    if loaded.commits.iter().eq(rest) {
        Ok(start - after)
    } else {
        Err(format!(
            "other commits after {start}: {:?}",
            loaded.commits.iter().map(|it| it.seq).collect::<Vec<_>>()
        ))
    }
}

/// Checks everything that can be read of a session.
pub(crate) async fn check(store: &impl Store, session: &str, records: &[Record]) {
    assert!(
        store.history(session, 0, usize::MAX).await.unwrap() == records,
        "the history is another"
    );
    for after in 0..=records.len() as u64 + 1 {
        let loaded = store.load(session, after).await.unwrap().unwrap();
        check_loaded(&loaded, after, records).unwrap();
    }
}

pub(crate) async fn a_session_is_created_once(store: &impl Store) {
    assert!(store.create("s", &record(1, "a")).await.unwrap());
    assert!(!store.create("s", &record(1, "b")).await.unwrap());
    check(store, "s", &[record(1, "a")]).await;
    assert!(
        store.create("s", &record(1, "a")).await.unwrap(),
        "its own creator may ask again"
    );
    assert!(is_committed(store.commit("s", &record(2, "a")).await.unwrap()));
    assert!(!store.create("s", &record(1, "b")).await.unwrap());
    check(store, "s", &[record(1, "a"), record(2, "a")]).await;
}

pub(crate) async fn a_session_that_is_not_there_is_not_found(store: &impl Store) {
    assert_eq!(store.load("s", 0).await, Ok(None));
    assert_eq!(store.load("s", 7).await, Ok(None));
    assert_eq!(store.history("s", 0, 10).await, Ok(Vec::new()));
    assert_eq!(
        store.commit("s", &record(1, "a")).await,
        Ok(CommitOutcome::Conflict)
    );
    assert_eq!(
        store.commit("s", &record(2, "a")).await,
        Ok(CommitOutcome::Conflict)
    );
    assert_eq!(store.compact("s", &snapshot(1)).await, Ok(()));
    assert_eq!(store.load("s", 0).await, Ok(None));
}

pub(crate) async fn loading_after_a_commit_gives_what_follows_it(store: &impl Store) {
    let records = filled(store, "s", 20).await;
    check(store, "s", &records).await;
    let loaded = store.load("s", 17).await.unwrap().unwrap();
    assert_eq!(
        loaded,
        Loaded {
            snapshot: None,
            commits: records[17..].to_vec()
        }
    );
    assert_eq!(store.load("s", 20).await, Ok(Some(Loaded::default())));
    assert_eq!(store.load("s", u64::MAX).await, Ok(Some(Loaded::default())));
}

pub(crate) async fn a_commit_that_does_not_follow_the_last_changes_nothing(store: &impl Store) {
    let records = filled(store, "s", 5).await;
    for seq in [0, 1, 4, 5, 7, 8, u64::MAX] {
        assert_eq!(
            store.commit("s", &record(seq, "late")).await,
            Ok(CommitOutcome::Conflict),
            "{seq}"
        );
        assert_eq!(
            store.commit("s", &record_of(seq, "late", 1 << 20)).await,
            Ok(CommitOutcome::Conflict),
            "{seq}"
        );
    }
    check(store, "s", &records).await;
}

pub(crate) async fn a_commit_repeated_is_kept_once(store: &impl Store) {
    let records = filled(store, "s", 300).await;
    for seq in [1, 2, 150, 300] {
        assert!(
            is_committed(store.commit("s", &record(seq, "w")).await.unwrap()),
            "{seq}"
        );
    }
    store.compact("s", &snapshot(300)).await.unwrap();
    for seq in [1, 2, 150, 300] {
        assert!(
            is_committed(store.commit("s", &record(seq, "w")).await.unwrap()),
            "{seq}"
        );
    }
    check(store, "s", &records).await;
}

pub(crate) async fn of_eight_writers_one_wins_each_number(store: &impl Store) {
    let mut kept = vec![record(1, "first")];
    assert!(store.create("s", &kept[0]).await.unwrap());
    for seq in 2..=40 {
        let length = if seq % 10 == 0 { 100_000 } else { 100 };
        let tries: Vec<Record> = (0..8)
            .map(|writer| record_of(seq, &format!("w{writer}"), length))
            .collect();
        let outcomes = together(
            tries
                .iter()
                .map(|it| Box::pin(store.commit("s", it)) as Pin<Box<dyn Future<Output = _>>>),
        )
        .await;
        let won = |outcome: &Result<CommitOutcome, _>| is_committed(*outcome.as_ref().unwrap());
        assert_eq!(outcomes.iter().filter(|outcome| won(outcome)).count(), 1, "{seq}");
        kept.extend(
            tries
                .into_iter()
                .zip(&outcomes)
                .filter(|(_, outcome)| won(outcome))
                .map(|(it, _)| it),
        );
    }
    check(store, "s", &kept).await;
}

pub(crate) async fn compaction_loses_no_commit(store: &impl Store) {
    let mut records = filled(store, "s", 1).await;
    for seq in 2..=400 {
        records.push(record(seq, "w"));
        if is_committed(store.commit("s", records.last().unwrap()).await.unwrap()) && seq % 37 == 0 {
            store.compact("s", &snapshot(seq)).await.unwrap();
        }
    }
    check(store, "s", &records).await;
}

pub(crate) async fn a_snapshot_saves_loading_what_it_holds(store: &impl Store) {
    let mut records = filled(store, "s", 100).await;
    store.compact("s", &snapshot(90)).await.unwrap();
    let loaded = store.load("s", 0).await.unwrap().unwrap();
    assert_eq!(check_loaded(&loaded, 0, &records), Ok(90));
    records.extend((101..=200).map(|seq| record(seq, "w")));
    for record in &records[100..] {
        assert!(is_committed(store.commit("s", record).await.unwrap()));
    }
    store.compact("s", &snapshot(200)).await.unwrap();
    let loaded = store.load("s", 0).await.unwrap().unwrap();
    assert_eq!(
        loaded,
        Loaded {
            snapshot: Some(snapshot(200)),
            commits: Vec::new()
        }
    );
    check(store, "s", &records).await;
}

pub(crate) async fn a_snapshot_that_is_older_or_ahead_is_not_taken(store: &impl Store) {
    let records = filled(store, "s", 100).await;
    for seq in [0, 101, u64::MAX] {
        store.compact("s", &snapshot(seq)).await.unwrap();
        check(store, "s", &records).await;
    }
    for seq in [80, 60, 80] {
        store.compact("s", &snapshot(seq)).await.unwrap();
        let loaded = store.load("s", 0).await.unwrap().unwrap();
        assert_eq!(check_loaded(&loaded, 0, &records), Ok(80));
    }
}

pub(crate) async fn the_history_comes_in_pages(store: &impl Store) {
    let records = filled(store, "s", 150).await;
    store.compact("s", &snapshot(140)).await.unwrap();
    for most in [1, 7, 64, 150, 151] {
        let mut pages = Vec::new();
        while let page = store.history("s", pages.len() as u64, most).await.unwrap()
            && !page.is_empty()
        {
            assert!(page.len() <= most);
            pages.extend(page);
        }
        assert!(pages == records, "in pages of {most}");
    }
    assert_eq!(store.history("s", 3, 0).await, Ok(Vec::new()));
    assert_eq!(store.history("s", u64::MAX, 9).await, Ok(Vec::new()));
}

pub(crate) async fn commits_of_megabytes_are_kept(store: &impl Store) {
    let lengths = [
        10,
        3 << 20,
        10,
        32 << 10,
        33 << 10,
        256 << 10,
        10,
        5 << 20,
        1 << 20,
    ];
    let records: Vec<Record> = (1..)
        .zip(lengths)
        .map(|(seq, length)| record_of(seq, "w", length))
        .collect();
    assert!(store.create("s", &records[0]).await.unwrap());
    for record in &records[1..] {
        assert!(is_committed(store.commit("s", record).await.unwrap()));
    }
    assert!(store.history("s", 0, usize::MAX).await.unwrap() == records);
    store.compact("s", &snapshot(6)).await.unwrap();
    check(store, "s", &records).await;
    let first = record_of(1, "w", 1 << 20);
    assert!(store.create("begins big", &first).await.unwrap());
    check(store, "begins big", &[first]).await;
}

pub(crate) async fn a_snapshot_of_a_megabyte_is_kept(store: &impl Store) {
    let records: Vec<Record> = (1..=30).map(|seq| record_of(seq, "w", 50_000)).collect();
    assert!(store.create("s", &records[0]).await.unwrap());
    for record in &records[1..] {
        assert!(is_committed(store.commit("s", record).await.unwrap()));
    }
    let big = Snapshot {
        seq: 30,
        bytes: (0..300_000_u32).flat_map(u32::to_le_bytes).collect(),
    };
    store.compact("s", &big).await.unwrap();
    let loaded = store.load("s", 29).await.unwrap().unwrap();
    assert!(
        loaded
            == Loaded {
                snapshot: Some(big),
                commits: Vec::new()
            }
            || loaded.commits == records[29..]
    );
    assert!(store.history("s", 0, usize::MAX).await.unwrap() == records);
}

pub(crate) async fn sessions_do_not_mix(store: &impl Store) {
    let names: Vec<String> = (0..50).map(|index| format!("session-{index}")).collect();
    for seq in 1..=10 {
        for name in &names {
            let record = record(seq, name);
            if seq == 1 {
                assert!(store.create(name, &record).await.unwrap());
            } else {
                assert!(is_committed(store.commit(name, &record).await.unwrap()));
            }
        }
        store.compact(&names[seq as usize], &snapshot(seq)).await.unwrap();
    }
    for name in &names {
        let records: Vec<Record> = (1..=10).map(|seq| record(seq, name)).collect();
        check(store, name, &records).await;
    }
}

pub(crate) async fn anything_names_a_session(store: &impl Store) {
    let long = "long ".repeat(100);
    let names = [
        "",
        " ",
        ".",
        "..",
        "/",
        "a/b",
        "a.head",
        "a",
        "A",
        "~",
        "é",
        "e\u{301}",
        "\0",
        "a\0",
        "\n",
        "%00",
        "*",
        "a:b",
        "{}",
        "\u{10ffff}",
        "head",
        long.as_str(),
        long.trim_end(),
    ];
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for name in names {
        assert_eq!(store.load(name, 0).await, Ok(None), "{name:?}");
        assert!(store.create(name, &record(1, name)).await.unwrap(), "{name:?}");
        assert!(
            is_committed(store.commit(name, &record_of(2, name, 70_000)).await.unwrap()),
            "{name:?}"
        );
    }
    for name in names {
        check(store, name, &[record(1, name), record_of(2, name, 70_000)]).await;
    }
}
