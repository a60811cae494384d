//! Leases on sessions, over storage that fails and lies: of those who see one free one gets it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on should stop where it is"
)]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use a2a_edge::store::{
    Fault, Faulty, HeadSwap, KeyValue as _, LEASE_MS, Lease, Memory, Record, Store as _, StoreError,
};
use a2a_edge::time::Timestamp;

const KEY: &str = "a2a.s.lease";
const NOW: Timestamp = Timestamp::from_millis(1_784_250_000_000);

fn run<T>(future: impl Future<Output = T>) -> T {
    pollster::block_on(future)
}

fn take(memory: &Memory, holder: &str, now: Timestamp) -> Option<Lease> {
    run(HeadSwap::new(memory).take_lease("s", holder, now)).unwrap()
}

#[test]
fn a_lease_is_one_holders_until_it_lapses_or_is_given_up() {
    let (memory, lapses) = (Memory::default(), NOW.plus_millis(LEASE_MS));
    let store = HeadSwap::new(&memory);
    let first = take(&memory, "one", NOW).unwrap();
    assert_eq!(first.until(), lapses);
    assert_eq!(take(&memory, "two", lapses.plus_millis(-1)), None);
    let second = take(&memory, "two", lapses).unwrap();
    // Who has lost it neither renews it nor gives another's up.
    assert_eq!(run(store.renew_lease("s", &first, lapses)).unwrap(), None);
    run(store.give_up_lease("s", &first)).unwrap();
    assert_eq!(take(&memory, "three", lapses), None);
    let later = lapses.plus_millis(10_000);
    let renewed = run(store.renew_lease("s", &second, later)).unwrap().unwrap();
    assert_eq!(renewed.until(), later.plus_millis(LEASE_MS));
    assert_eq!(take(&memory, "three", second.until()), None);
    run(store.give_up_lease("s", &renewed)).unwrap();
    assert!(take(&memory, "three", later).is_some());
    // Another session's is another.
    assert!(run(store.take_lease("t", "one", later)).unwrap().is_some());
}

#[test]
fn a_lease_is_given_up_though_it_was_renewed_behind_its_holder_s_back() {
    let memory = created();
    let store = HeadSwap::new(&memory);
    let first = take(&memory, "one", NOW).unwrap();
    let later = NOW.plus_millis(10_000);
    // A renewal that was dropped before it could tell.
    assert!(run(store.renew_lease("s", &first, later)).unwrap().is_some());
    run(store.give_up_lease("s", &first)).unwrap();
    assert!(take(&memory, "two", later).is_some());
}

#[test]
fn a_clock_that_is_wrong_holds_nobody_off_for_long() {
    let memory = Memory::default();
    for (ahead, held) in [(LEASE_MS, true), (LEASE_MS + 1, false)] {
        run(memory.delete(KEY)).unwrap();
        take(&memory, "one", NOW.plus_millis(ahead)).unwrap();
        assert_eq!(take(&memory, "two", NOW).is_none(), held, "{ahead}");
    }
    for nothing in [&b""[..], b"x", b" one", b"99999999999999999999 one", b"\xff one"] {
        run(memory.put(KEY, nothing)).unwrap();
        assert!(take(&memory, "two", NOW).is_some(), "{nothing:?}");
    }
}

type Taking<'a> = Pin<Box<dyn Future<Output = Result<Option<Lease>, StoreError>> + 'a>>;

/// A session that was just created, and its lease with it.
fn created() -> Memory {
    let memory = Memory::default();
    let first = Record {
        seq: 1,
        nonce: "n".to_owned(),
        bytes: b"{}".to_vec(),
    };
    assert!(run(HeadSwap::new(&memory).create("s", &first)).unwrap());
    memory
}

/// Lets two take the first lease of a session, one step of one of them at a time as `turns` says, and gives who holds it.
fn both(turns: u32, fault: Option<(usize, Fault)>) -> usize {
    let memory = created();
    let stores: Vec<_> = (0..2)
        .map(|taker| {
            let faults = move |at: usize| fault.filter(|(when, _)| taker == 0 && *when == at).map(|it| it.1);
            HeadSwap::new(Faulty::new(&memory, faults))
        })
        .collect();
    let mut taken = Vec::new();
    let mut takers: Vec<Option<Taking<'_>>> = Vec::new();
    for (store, holder) in stores.iter().zip(["one", "two"]) {
        takers.push(Some(Box::pin(store.take_lease("s", holder, NOW))));
    }
    let mut context = Context::from_waker(Waker::noop());
    let mut turn = 0;
    while takers.iter().any(Option::is_some) {
        let next = (turns >> (turn % 32)) as usize % 2;
        turn += 1;
        let next = if takers[next].is_some() { next } else { 1 - next };
        let taker = takers[next].as_mut().unwrap();
        if let Poll::Ready(outcome) = taker.as_mut().poll(&mut context) {
            taken.extend(outcome.ok().flatten());
            takers[next] = None;
        }
    }
    if let [lease] = &taken[..] {
        // It is held indeed.
        let renewed = run(HeadSwap::new(&memory).renew_lease("s", lease, NOW));
        assert!(renewed.unwrap().is_some(), "{lease:?}");
    }
    taken.len()
}

#[test]
fn of_two_at_once_one_gets_it_in_whatever_order_they_go() {
    for turns in 0..1 << 12 {
        assert_eq!(both(turns, None), 1, "{turns:b}");
    }
}

#[test]
fn with_any_fault_at_any_operation_never_both_get_it() {
    for turns in 0..1 << 8 {
        for at in 0..4 {
            for fault in Fault::ALL {
                let taken = both(turns, Some((at, fault)));
                assert!(taken <= 1, "{turns:b} {at} {fault:?}");
            }
        }
    }
}

#[test]
fn what_a_swap_reports_decides_nothing() {
    let memory = created();
    let store = HeadSwap::new(Faulty::new(&memory, |at| {
        (at % 3 == 1).then_some(Fault::Misreported)
    }));
    let lease = run(store.take_lease("s", "one", NOW)).unwrap();
    assert!(lease.is_some());
}
