//! The compare-and-swap store on storage that fails, lies and dies, at every operation and in seeded disorder.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/broken.rs"]
mod broken;
#[path = "support/store_suite.rs"]
#[allow(
    dead_code,
    unused_macros,
    unused_imports,
    reason = "only its helpers are used here"
)]
mod store_suite;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};

use a2a_edge::store::{
    CommitOutcome, Fault, Faulty, HeadSwap, KeyValue, Limits, Memory, Record, Store, StoreError,
};

use broken::{Careless, Forgetful, Haunted, Opposite, Random, SESSION};
use store_suite::{block_on, check_loaded, record_of, snapshot};

/// So small that every few commits something is split, merged and indexed.
const LIMITS: Limits = Limits {
    value: 2000,
    inline: 150,
    tail_bytes: 500,
    tail_commits: 3,
    segment: 400,
    segments: 2,
};

/// Compaction is hardly ever asked for, so that full heads are compacted by whoever commits next.
const CRAMPED: Limits = Limits {
    value: 700,
    tail_commits: 20,
    tail_bytes: 5000,
    segments: 1,
    ..LIMITS
};

/// What the writers tried, and what they were told.
#[derive(Default)]
struct Journal {
    tried: BTreeMap<(u64, String), Record>,
    acknowledged: BTreeSet<(u64, String)>,
}

impl Journal {
    fn tries(&mut self, record: &Record) {
        self.tried
            .insert((record.seq, record.nonce.clone()), record.clone());
    }

    fn acknowledges(&mut self, record: &Record) {
        assert!(self.acknowledged.insert((record.seq, record.nonce.clone())));
    }
}

fn record(seq: u64, writer: &str, attempt: usize) -> Record {
    let length = if (seq + attempt as u64).is_multiple_of(5) {
        2500
    } else {
        40
    };
    record_of(seq, &format!("{writer}.{attempt}"), length)
}

/// Repeats a call until it has an answer, as the driver does; `None` if the store stays away.
async fn answer<T, F: Future<Output = Result<T, StoreError>>>(call: impl Fn() -> F) -> Option<T> {
    for _ in 0..4 {
        match call().await {
            Ok(answer) => return Some(answer),
            Err(StoreError::Unavailable(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    None
}

async fn create(store: &impl Store, journal: &RefCell<Journal>) {
    let first = record(1, "first", 0);
    journal.borrow_mut().tries(&first);
    if let Some(created) = answer(|| store.create(SESSION, &first)).await {
        assert!(created, "nobody else creates it");
        journal.borrow_mut().acknowledges(&first);
    }
}

/// Loads, commits what follows, and compacts when asked, `commits` times or until the store stays away.
async fn write(store: &impl Store, journal: &RefCell<Journal>, writer: &str, commits: usize) {
    for attempt in 0..commits {
        let Some(loaded) = answer(|| store.load(SESSION, 0)).await else {
            return;
        };
        let Some(loaded) = loaded else { return };
        let last = loaded.commits.last().map(|record| record.seq);
        let last = last.or(loaded.snapshot.map(|snapshot| snapshot.seq)).unwrap();
        let next = record(last + 1, writer, attempt);
        journal.borrow_mut().tries(&next);
        match answer(|| store.commit(SESSION, &next)).await {
            Some(CommitOutcome::Committed { compact }) => {
                journal.borrow_mut().acknowledges(&next);
                if compact {
                    let _optional = store.compact(SESSION, &snapshot(last + 1)).await;
                }
            }
            Some(CommitOutcome::Conflict) => {}
            None => return,
        }
    }
}

/// Whether the store holds what it must, by what the journal says. `tidy`: and nothing else after a sweep.
fn verify(memory: &Memory, journal: &Journal, tidy: bool) -> Result<(), String> {
    let store = HeadSwap::with_limits(memory.clone(), LIMITS);
    let history = kept(&store, memory, journal)?;
    block_on(store.sweep(SESSION)).map_err(|error| error.to_string())?;
    let entries = memory.entries();
    let named: BTreeSet<String> = block_on(store.keys(SESSION)).unwrap().into_iter().collect();
    if tidy && !history.is_empty() && !entries.keys().eq(&named) {
        let left: Vec<_> = entries.keys().filter(|key| !named.contains(*key)).collect();
        return Err(format!("the sweep left {left:?}"));
    }
    if kept(&store, memory, journal)? != history {
        return Err("the sweep changed the history".to_owned());
    }
    if let Some(last) = history.last() {
        let next = record(last.seq + 1, "afterwards", 0);
        let outcome = block_on(store.commit(SESSION, &next)).map_err(|error| error.to_string())?;
        if !matches!(outcome, CommitOutcome::Committed { .. }) {
            return Err("nothing can be committed afterwards".to_owned());
        }
    }
    Ok(())
}

fn kept(store: &HeadSwap<Memory>, memory: &Memory, journal: &Journal) -> Result<Vec<Record>, String> {
    let history =
        block_on(store.history(SESSION, 0, usize::MAX)).map_err(|error| format!("history: {error}"))?;
    let mut acknowledged = journal.acknowledged.clone();
    for (seq, record) in (1..).zip(&history) {
        let name = (record.seq, record.nonce.clone());
        acknowledged.remove(&name);
        if record.seq != seq || journal.tried.get(&name) != Some(record) {
            return Err(format!("{name:?} is kept as commit {seq}"));
        }
    }
    if !acknowledged.is_empty() {
        return Err(format!("acknowledged and lost: {acknowledged:?}"));
    }
    for after in (0..history.len() as u64).step_by(4) {
        let loaded = block_on(store.load(SESSION, after)).map_err(|error| format!("load: {error}"))?;
        check_loaded(&loaded.ok_or("no session")?, after, &history)?;
    }
    let named = block_on(store.keys(SESSION)).map_err(|error| format!("keys: {error}"))?;
    let entries = memory.entries();
    match named.iter().find(|key| !entries.contains_key(*key)) {
        Some(key) => Err(format!("{key} is missing")),
        None => Ok(history),
    }
}

/// One writer, whose operations go as `fault` says, and what it did; gives the number of operations.
fn alone(fault: impl Fn(usize) -> Option<Fault>) -> (Memory, Journal, usize) {
    let memory = Memory::default();
    let journal = RefCell::new(Journal::default());
    let faulty = Faulty::new(memory.clone(), fault);
    let store = HeadSwap::with_limits(&faulty, LIMITS);
    block_on(async {
        create(&store, &journal).await;
        write(&store, &journal, "w", 25).await;
    });
    let operations = faulty.operations();
    (memory, journal.into_inner(), operations)
}

#[test]
fn without_faults_all_is_acknowledged_and_tidy() {
    let (memory, journal, operations) = alone(|_| None);
    assert_eq!(journal.acknowledged.len(), 26);
    assert_eq!(journal.tried.len(), 26);
    assert!(operations > 200, "{operations}");
    verify(&memory, &journal, true).unwrap();
    let keys = memory.entries();
    for kind in ["segment", "snapshot", "index"] {
        assert!(
            keys.keys().any(|key| key.contains(kind)),
            "the workload makes no {kind}"
        );
    }
    assert!(keys.values().all(|value| value.len() <= LIMITS.value));
    assert!(keys.keys().all(|key| key.len() < 256));
}

#[test]
fn any_fault_at_any_operation_loses_nothing_and_doubles_nothing() {
    let (.., operations) = alone(|_| None);
    for fault in Fault::ALL {
        for index in 0..operations {
            let (memory, journal, _) = alone(|operation| (operation == index).then_some(fault));
            let result = verify(&memory, &journal, true);
            assert_eq!(result, Ok(()), "{fault:?} at operation {index}");
            let crash = matches!(fault, Fault::CrashBefore | Fault::CrashAfter);
            assert!(
                crash || journal.acknowledged.len() == 26,
                "{fault:?} at {index} stops the writer"
            );
        }
    }
}

#[test]
fn a_store_that_always_reports_the_opposite_of_a_swap_is_served() {
    let memory = Memory::default();
    let journal = RefCell::new(Journal::default());
    let store = HeadSwap::with_limits(Opposite(memory.clone()), LIMITS);
    block_on(create(&store, &journal));
    block_on(write(&store, &journal, "w", 25));
    assert_eq!(journal.borrow().acknowledged.len(), 26);
    verify(&memory, &journal.into_inner(), true).unwrap();
}

#[test]
fn a_crash_after_any_crash_loses_nothing() {
    let mut random = Random(7);
    for run in 0..500 {
        let memory = Memory::default();
        let journal = RefCell::new(Journal::default());
        for life in 0..6 {
            let dies_at = random.below(60);
            let fault = if random.next().is_multiple_of(2) {
                Fault::CrashBefore
            } else {
                Fault::CrashAfter
            };
            let faulty = Faulty::new(memory.clone(), |index| (index == dies_at).then_some(fault));
            let store = HeadSwap::with_limits(&faulty, LIMITS);
            block_on(async {
                if journal.borrow().acknowledged.is_empty() {
                    create(&store, &journal).await;
                }
                write(&store, &journal, &format!("life{life}"), 12).await;
            });
        }
        assert_eq!(verify(&memory, &journal.into_inner(), true), Ok(()), "run {run}");
    }
}

#[test]
fn a_writer_that_sleeps_at_any_operation_does_no_harm() {
    for pause in 0.. {
        let memory = Memory::default();
        let journal = RefCell::new(Journal::default());
        let faulty = Faulty::new(memory.clone(), |_| None);
        let store = HeadSwap::with_limits(&faulty, LIMITS);
        block_on(create(&HeadSwap::with_limits(memory.clone(), LIMITS), &journal));
        let mut sleeper = Box::pin(write(&store, &journal, "sleeper", 12));
        let mut context = Context::from_waker(Waker::noop());
        while faulty.operations() < pause {
            if sleeper.as_mut().poll(&mut context).is_ready() {
                assert!(pause > 100, "{pause} operations are too few");
                return;
            }
        }
        block_on(write(
            &HeadSwap::with_limits(memory.clone(), LIMITS),
            &journal,
            "other",
            15,
        ));
        block_on(sleeper);
        assert!(journal.borrow().acknowledged.len() >= 27);
        assert_eq!(
            verify(&memory, &journal.into_inner(), true),
            Ok(()),
            "asleep after {pause} operations"
        );
    }
}

/// Which faults a run injects.
#[derive(Clone, Copy)]
struct Mood {
    /// One operation in so many is faulty.
    one_in: usize,
    faults: &'static [Fault],
    /// Whether someone sweeps all the time.
    sweeps: bool,
    limits: Limits,
}

const CALM: Mood = Mood {
    one_in: usize::MAX,
    faults: &Fault::ALL,
    sweeps: false,
    limits: LIMITS,
};

/// Three writers on `base`, whose operations come in an order drawn from `seed`.
fn disorder<K: KeyValue + Clone>(
    seed: u64,
    base: &K,
    memory: &Memory,
    mood: Mood,
) -> Result<Journal, String> {
    let journal = RefCell::new(Journal::default());
    block_on(create(
        &HeadSwap::with_limits(memory.clone(), mood.limits),
        &journal,
    ));
    let handles: Vec<_> = (0..4_u64)
        .map(|handle| {
            Faulty::new(base.clone(), move |index| {
                let mut draw = Random(seed ^ (handle << 56) ^ ((index as u64) << 32));
                (draw.below(mood.one_in) == 1).then(|| mood.faults[draw.below(mood.faults.len())])
            })
        })
        .collect();
    let stores: Vec<_> = handles
        .iter()
        .map(|faulty| HeadSwap::with_limits(faulty, mood.limits))
        .collect();
    let (sweeper, writers) = stores.split_last().unwrap();
    let mut running: Vec<Pin<Box<dyn Future<Output = ()> + '_>>> = Vec::new();
    for (index, store) in writers.iter().enumerate() {
        let journal = &journal;
        running.push(Box::pin(async move {
            write(store, journal, &format!("w{index}"), 10).await
        }));
    }
    if mood.sweeps {
        running.push(Box::pin(async {
            for _ in 0..20 {
                let _optional = sweeper.sweep(SESSION).await;
            }
        }));
    }
    let mut random = Random(seed);
    let mut context = Context::from_waker(Waker::noop());
    while !running.is_empty() {
        let index = random.below(running.len());
        if running[index].as_mut().poll(&mut context).is_ready() {
            drop(running.swap_remove(index));
        }
    }
    drop(running);
    Ok(journal.into_inner())
}

fn disordered_runs(mood: Mood, seeds: u64, tidy: bool) {
    let mut acknowledged = 0;
    for seed in 0..seeds {
        let memory = Memory::default();
        let result = disorder(seed, &memory, &memory, mood).and_then(|journal| {
            acknowledged += journal.acknowledged.len();
            verify(&memory, &journal, tidy)
        });
        assert_eq!(result, Ok(()), "seed {seed}");
    }
    assert!(
        acknowledged as u64 > seeds * 5,
        "hardly anything was committed: {acknowledged}"
    );
}

#[test]
fn writers_in_any_order_lose_nothing() {
    disordered_runs(CALM, 600, true);
}

#[test]
fn writers_in_any_order_on_swaps_that_lie_or_come_late_lose_nothing() {
    let faults = &[Fault::Misreported, Fault::Late, Fault::Doubled, Fault::Refused];
    disordered_runs(
        Mood {
            one_in: 6,
            faults,
            ..CALM
        },
        400,
        false,
    );
}

#[test]
fn writers_in_any_order_with_every_fault_lose_nothing() {
    disordered_runs(Mood { one_in: 40, ..CALM }, 400, false);
}

#[test]
fn a_sweep_at_any_time_takes_nothing_that_is_needed() {
    disordered_runs(Mood { sweeps: true, ..CALM }, 300, true);
    disordered_runs(
        Mood {
            one_in: 40,
            sweeps: true,
            ..CALM
        },
        400,
        false,
    );
}

#[test]
fn compactions_that_cross_lose_nothing() {
    disordered_runs(
        Mood {
            limits: CRAMPED,
            ..CALM
        },
        300,
        true,
    );
    disordered_runs(
        Mood {
            one_in: 40,
            sweeps: true,
            limits: CRAMPED,
            ..CALM
        },
        300,
        false,
    );
}

#[test]
fn swaps_that_come_again_much_later_hit_no_later_head() {
    for seed in 0..200 {
        let memory = Memory::default();
        let haunted = Haunted::new(memory.clone(), seed);
        let mood = Mood { sweeps: true, ..CALM };
        let result =
            disorder(seed, &haunted, &memory, mood).and_then(|journal| verify(&memory, &journal, true));
        assert_eq!(result, Ok(()), "seed {seed}");
    }
}

#[test]
fn the_head_stays_small_whatever_dies() {
    let memory = Memory::default();
    let journal = RefCell::new(Journal::default());
    block_on(create(&HeadSwap::with_limits(memory.clone(), LIMITS), &journal));
    for life in 0..600 {
        let faulty = Faulty::new(memory.clone(), |index| {
            (index == 7 + life % 40).then_some(Fault::CrashAfter)
        });
        let store = HeadSwap::with_limits(&faulty, LIMITS);
        block_on(write(&store, &journal, &format!("life{life}"), 9));
        let head = memory.entries().get("a2a.s.head").unwrap().len();
        assert!(head <= LIMITS.value, "{head} bytes");
    }
    let journal = journal.into_inner();
    assert!(
        journal.acknowledged.len() > 1000,
        "{}",
        journal.acknowledged.len()
    );
    let history = kept(&HeadSwap::with_limits(memory.clone(), LIMITS), &memory, &journal).unwrap();
    let entries = memory.entries().len();
    assert!(
        entries < history.len() * 2,
        "{entries} entries for {} commits",
        history.len()
    );
    verify(&memory, &journal, true).unwrap();
}

#[test]
fn crashes_that_repeat_at_one_big_commit_do_not_fill_the_head() {
    let memory = Memory::default();
    let journal = RefCell::new(Journal::default());
    block_on(create(&HeadSwap::with_limits(memory.clone(), LIMITS), &journal));
    let big = record_of(2, "big", 2500);
    for life in 0..300 {
        let faulty = Faulty::new(memory.clone(), |index| {
            (index == 2 + life % 4).then_some(Fault::CrashAfter)
        });
        let store = HeadSwap::with_limits(&faulty, LIMITS);
        assert!(
            block_on(store.commit(SESSION, &big)).is_err(),
            "it dies before the commit"
        );
        let entries = memory.entries();
        assert!(
            entries["a2a.s.head"].len() <= LIMITS.value && entries.len() < 60,
            "life {life}"
        );
    }
    let journal = journal.into_inner();
    assert_eq!(verify(&memory, &journal, true), Ok(()));
}

#[test]
fn a_caller_that_is_up_to_date_reads_the_head_alone() {
    let (memory, journal, _) = alone(|_| None);
    let last = journal.acknowledged.len() as u64;
    let faulty = Faulty::new(memory, |_| None);
    let store = HeadSwap::with_limits(&faulty, LIMITS);
    block_on(store.load(SESSION, last)).unwrap().unwrap();
    assert_eq!(faulty.operations(), 1);
    let next = record(last + 1, "w", 1);
    assert!(next.bytes.len() < LIMITS.inline);
    block_on(store.commit(SESSION, &next)).unwrap();
    assert_eq!(faulty.operations(), 4, "read, swap, read again");
    let loaded = block_on(store.load(SESSION, last)).unwrap().unwrap();
    assert_eq!(loaded.commits, [next]);
    assert_eq!(faulty.operations(), 5);
}

/// How many of 200 disordered runs on a broken store are found out.
fn found_out<K: KeyValue + Clone>(broken: impl Fn(Memory) -> K) -> usize {
    (0..200)
        .filter(|seed| {
            let memory = Memory::default();
            let run = || {
                disorder(*seed, &broken(memory.clone()), &memory, CALM)
                    .and_then(|journal| verify(&memory, &journal, false))
            };
            // The writers notice some of it themselves.
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_ok_and(|result| result.is_ok())
        })
        .count()
        .abs_diff(200)
}

#[test]
fn these_tests_find_out_a_store_that_swaps_without_comparing() {
    assert!(found_out(Careless) > 190);
}

#[test]
fn these_tests_find_out_a_store_that_forgets_writes() {
    assert!(found_out(|memory| Forgetful(memory, Rc::default())) > 100);
}

#[test]
fn no_damage_to_any_entry_panics_or_goes_unnoticed() {
    let (memory, journal, _) = alone(|_| None);
    let history = kept(&HeadSwap::with_limits(memory.clone(), LIMITS), &memory, &journal).unwrap();
    let mut noticed = 0;
    for (key, value) in memory.entries() {
        let mut damaged: Vec<Option<Vec<u8>>> = vec![None];
        damaged.extend([0, 1, value.len() / 2, value.len() - 1].map(|length| Some(value[..length].to_vec())));
        damaged.push(Some([value.as_slice(), b"x"].concat()));
        damaged.extend((0..value.len()).step_by(7).map(|index| {
            let mut value = value.clone();
            value[index] ^= 0x55;
            Some(value)
        }));
        for damaged in damaged {
            let copy = Memory::default();
            for (key, value) in memory.entries() {
                block_on(copy.put(&key, &value)).unwrap();
            }
            block_on(async {
                match &damaged {
                    Some(value) => copy.put(&key, value).await.unwrap(),
                    None => copy.delete(&key).await.unwrap(),
                }
                let store = HeadSwap::with_limits(copy, LIMITS);
                let fine = match store.history(SESSION, 0, usize::MAX).await {
                    Err(StoreError::Corrupt(_)) => false,
                    other => {
                        let expected: &[Record] = if key.ends_with("head") { &[] } else { &history };
                        assert_eq!(other.as_deref(), Ok(expected), "{key}");
                        true
                    }
                };
                let loaded = store.load(SESSION, 0).await;
                assert!(!matches!(loaded, Err(StoreError::Unavailable(_))), "{loaded:?}");
                noticed += usize::from(!fine || loaded.is_err());
                let next = record(history.len() as u64 + 1, "w", 0);
                let _any_answer = store.commit(SESSION, &next).await;
                let _any_answer = store.compact(SESSION, &snapshot(history.len() as u64)).await;
                let _any_answer = store.sweep(SESSION).await;
            });
        }
    }
    assert!(noticed > 500, "{noticed}");
}
