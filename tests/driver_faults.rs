//! The whole driver over a store that fails, lies and dies: what was acknowledged over HTTP is there afterwards, once
//! and in order; nothing is doubled, and nobody is told of what is lost.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/fleet.rs"]
mod fleet;
#[path = "support/hosts.rs"]
mod hosts;
#[path = "support/random.rs"]
mod random;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use a2a_edge::store::{
    CommitOutcome, Fault, Faulty, HeadSwap, Loaded, Memory, Record, Snapshot, Store, StoreError,
};
use fleet::{CREATE, Fleet, Journal, log, settled, store, verify, whole_story};
use hosts::{COORDINATION, OPERATOR, Process, Running, WORK, World, run, yield_once};
use pollster::block_on;
use random::Random;
use serde_json::json;

/// One story whose operations on the store go as `fault` says; gives the number of operations.
fn alone(fault: impl Fn(usize) -> Option<Fault> + Copy) -> usize {
    let world = World::new();
    let (memory, tokens) = settled(&world, 1, 1);
    let journal = Journal::default();
    let used = Cell::new(0);
    // Only the first process meets the fault; the one that takes its place is well.
    let lives = Cell::new(0);
    let faulty = Faulty::new(memory.clone(), |index| {
        used.set(index + 1);
        fault(index)
    });
    let well = Faulty::new(memory.clone(), |_| None);
    let replace = || {
        lives.set(lives.get() + 1);
        let keys: &dyn Keys = if lives.get() == 1 { &faulty } else { &well };
        store(Either(keys))
    };
    let fleet = Fleet::new(&world, 1, 1, 3, replace);
    block_on(whole_story(&fleet, &journal, &tokens, 0));
    assert_eq!(journal.borrow().len(), 6);
    assert!(
        journal.borrow().iter().all(|asked| asked.reply.is_some()),
        "{:?}",
        journal.borrow()
    );
    verify(&memory, &tokens.session, &journal);
    used.get()
}

/// A key-value store behind a pointer, so that processes of one test can have different ones.
trait Keys {
    fn get<'a>(&'a self, key: &'a str) -> Boxed<'a, Option<Vec<u8>>>;
    fn put<'a>(&'a self, key: &'a str, value: &'a [u8]) -> Boxed<'a, ()>;
    fn delete<'a>(&'a self, key: &'a str) -> Boxed<'a, ()>;
    fn swap<'a>(&'a self, key: &'a str, current: &'a [u8], new: &'a [u8]) -> Boxed<'a, bool>;
}

type Boxed<'a, T> = std::pin::Pin<Box<dyn Future<Output = Result<T, StoreError>> + 'a>>;

impl<K: a2a_edge::store::KeyValue> Keys for K {
    fn get<'a>(&'a self, key: &'a str) -> Boxed<'a, Option<Vec<u8>>> {
        Box::pin(K::get(self, key))
    }

    fn put<'a>(&'a self, key: &'a str, value: &'a [u8]) -> Boxed<'a, ()> {
        Box::pin(K::put(self, key, value))
    }

    fn delete<'a>(&'a self, key: &'a str) -> Boxed<'a, ()> {
        Box::pin(K::delete(self, key))
    }

    fn swap<'a>(&'a self, key: &'a str, current: &'a [u8], new: &'a [u8]) -> Boxed<'a, bool> {
        Box::pin(K::swap(self, key, current, new))
    }
}

struct Either<'a>(&'a dyn Keys);

impl a2a_edge::store::KeyValue for Either<'_> {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.get(key).await
    }

    async fn put(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.0.put(key, value).await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.0.delete(key).await
    }

    async fn swap(&self, key: &str, current: &[u8], new: &[u8]) -> Result<bool, StoreError> {
        self.0.swap(key, current, new).await
    }
}

#[test]
fn any_fault_at_any_operation_of_the_store_loses_and_doubles_nothing() {
    let operations = alone(|_| None);
    assert!(operations > 30, "{operations}");
    for fault in Fault::ALL {
        for index in 0..operations {
            alone(|operation| (operation == index).then_some(fault));
        }
    }
}

/// Eight stories at once on four hosts, whose steps come in an order drawn from `seed`.
fn crowd(seed: u64, one_in: usize) -> usize {
    let world = World::new();
    let (memory, tokens) = settled(&world, 4, 3);
    let journal = Journal::default();
    let lives = Cell::new(0_u64);
    let replace = || {
        lives.set(lives.get() + 1);
        let life = lives.get();
        store(Faulty::new(memory.clone(), move |index| {
            let mut draw = Random(seed ^ (life << 40) ^ ((index as u64) << 8));
            draw.one_in(one_in).then(|| *draw.pick(&Fault::ALL))
        }))
    };
    let fleet = Fleet::new(&world, 4, seed, 12, replace);
    let stories = (0..8).map(|actor| Box::pin(whole_story(&fleet, &journal, &tokens, actor)) as Running<'_>);
    run(&mut Random(seed), stories.collect());
    verify(&memory, &tokens.session, &journal);
    let journal = journal.into_inner();
    journal.iter().filter(|asked| asked.reply.is_some()).count()
}

#[test]
fn a_crowd_on_several_hosts_gets_everything_through_in_any_order() {
    for seed in 0..25 {
        assert_eq!(crowd(seed, usize::MAX), 8 * 6, "seed {seed}");
    }
}

#[test]
fn a_crowd_on_several_hosts_loses_and_doubles_nothing_whatever_fails() {
    let acknowledged: usize = (100..125).map(|seed| crowd(seed, 40)).sum();
    assert!(
        acknowledged > 25 * 30,
        "hardly anything got through: {acknowledged}"
    );
}

#[test]
fn of_sixteen_concurrent_claimants_on_four_hosts_exactly_one_wins_the_only_slot() {
    for seed in 0..60 {
        let world = World::new();
        let (memory, tokens) = settled(&world, 16, 0);
        let hosts: Vec<_> = (0..4)
            .map(|_| Process::new(&world, store(Faulty::new(memory.clone(), |_| None))))
            .collect();
        let created =
            block_on(hosts[0].coordinate(&tokens.members[0], "requests:create", &json!({"title": "t"}))).ok();
        let claim = json!({"requestId": created["request"]["requestId"], "action": "claim"});
        let outcomes = RefCell::new(Vec::new());
        let claims = tokens.members.iter().enumerate().map(|(index, token)| {
            let (host, claim, outcomes) = (&hosts[index % 4], &claim, &outcomes);
            Box::pin(async move {
                let reply = host.coordinate(token, "requests:update", claim).await;
                outcomes.borrow_mut().push((reply.status, reply.reason()));
            }) as Running<'_>
        });
        run(&mut Random(seed), claims.collect());
        let won = outcomes
            .borrow()
            .iter()
            .filter(|(status, _)| *status == 200)
            .count();
        let full = (400, "REQUEST_AT_CAPACITY".to_owned());
        let lost = outcomes
            .borrow()
            .iter()
            .filter(|outcome| **outcome == full)
            .count();
        assert_eq!((won, lost), (1, 15), "seed {seed}: {outcomes:?}");
        let (_, session) = log(&memory, &tokens.session);
        assert_eq!(session.requests().next().unwrap().assignees.len(), 1);
    }
}

#[test]
fn nothing_is_done_by_somebody_after_their_credential_was_revoked() {
    let mut refused = 0;
    for seed in 0..120 {
        let world = World::new();
        let (memory, tokens) = settled(&world, 2, 0);
        let hosts: Vec<_> = (0..2)
            .map(|_| Process::new(&world, store(Faulty::new(memory.clone(), |_| None))))
            .collect();
        let (_, session) = log(&memory, &tokens.session);
        let token = a2a_edge::session::Token::parse(&tokens.members[1]).unwrap();
        let member = session.authenticate(&token).unwrap().participant_id;
        let revoke = json!({ "participantId": member });
        let reply = RefCell::new(None);
        let actors: Vec<Running<'_>> = vec![
            Box::pin(async {
                hosts[0]
                    .operate(&tokens.owner, "participants:revoke", &revoke)
                    .await
                    .ok();
            }),
            Box::pin(async {
                let create = json!({"title": "t"});
                let answer = hosts[1]
                    .coordinate(&tokens.members[1], "requests:create", &create)
                    .await;
                reply.replace(Some(answer.status));
            }),
        ];
        run(&mut Random(seed), actors);
        let (commits, session) = log(&memory, &tokens.session);
        let revoked = commits
            .iter()
            .position(|it| it.by.as_ref() != Some(&member) && it.seq > 3)
            .unwrap();
        let after = commits[revoked..]
            .iter()
            .filter(|commit| commit.by.as_ref() == Some(&member));
        assert_eq!(after.count(), 0, "seed {seed}");
        let done = session.requests().count();
        assert_eq!(
            (reply.into_inner(), done),
            if done == 1 { (Some(200), 1) } else { (Some(401), 0) }
        );
        refused += usize::from(done == 0);
    }
    assert!(refused > 20 && refused < 110, "the order should vary: {refused}");
}

/// A store whose commits are in the way of each other, or stop when they are in.
struct Staged<'a> {
    inner: HeadSwap<Memory>,
    /// How many commits lose to another.
    conflicts: &'a Cell<u32>,
    /// Whether commits and creations answer at all: each is done, and then nothing more is heard.
    silent: &'a Cell<bool>,
    exclusive: bool,
}

impl Staged<'_> {
    async fn hush(&self) {
        while self.silent.get() {
            yield_once().await;
        }
    }
}

impl Store for Staged<'_> {
    fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    async fn create(&self, session: &str, first: &Record) -> Result<bool, StoreError> {
        self.inner.create(session, first).await
    }

    async fn load(&self, session: &str, after: u64) -> Result<Option<Loaded>, StoreError> {
        self.inner.load(session, after).await
    }

    async fn history(&self, session: &str, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
        self.inner.history(session, after, most).await
    }

    async fn commit(&self, session: &str, record: &Record) -> Result<CommitOutcome, StoreError> {
        if let Some(left) = self.conflicts.get().checked_sub(1) {
            self.conflicts.set(left);
            return Ok(CommitOutcome::Conflict);
        }
        let outcome = self.inner.commit(session, record).await;
        self.hush().await;
        outcome
    }

    async fn compact(&self, session: &str, snapshot: &Snapshot) -> Result<(), StoreError> {
        self.inner.compact(session, snapshot).await
    }
}

#[test]
fn lost_races_are_won_at_last_and_after_64_it_is_503_and_nothing_is_done() {
    let (world, conflicts, silent) = (World::new(), Cell::new(0), Cell::new(false));
    let (memory, tokens) = settled(&world, 1, 1);
    let staged = Staged {
        inner: store(memory.clone()),
        conflicts: &conflicts,
        silent: &silent,
        exclusive: false,
    };
    let host = Process::new(&world, staged);
    let send = |id: &str| block_on(host.send(&tokens.clients[0], id, &json!({})));
    conflicts.set(63);
    send("m-63").ok();
    let (commits, _) = log(&memory, &tokens.session);
    conflicts.set(64);
    let lost = send("m-64");
    assert_eq!(
        (lost.status, lost.reason().as_str(), lost.retry_after),
        (503, "UNAVAILABLE", true),
        "{}",
        lost.text
    );
    assert_eq!(log(&memory, &tokens.session).0.len(), commits.len());
    conflicts.set(64);
    let lost = block_on(host.coordinate(&tokens.members[0], "requests:create", &json!({"title": "t"})));
    assert_eq!(
        (
            lost.status,
            lost.body()["error"]["code"].clone(),
            lost.retry_after
        ),
        (503, json!(14), true)
    );
    conflicts.set(64);
    let params =
        json!({"message": {"messageId": "m-64", "role": "ROLE_USER", "parts": [{"text": "Please."}]}});
    let envelope = json!({"jsonrpc": "2.0", "id": "m-64", "method": "SendMessage", "params": params});
    let lost = block_on(host.call("POST", "/rpc", &tokens.clients[0], WORK, &envelope));
    let body = lost.body();
    assert_eq!(
        (lost.status, &body["id"], &body["error"]["code"], lost.retry_after),
        (503, &json!("m-64"), &json!(-32603), true)
    );
    send("m-64").ok();
}

#[test]
fn a_request_that_ends_while_its_commit_is_under_way_leaves_nothing_stale_in_memory() {
    for exclusive in [false, true] {
        let (world, conflicts, silent) = (World::new(), Cell::new(0), Cell::new(false));
        let (memory, tokens) = settled(&world, 1, 1);
        let staged = Staged {
            inner: store(memory.clone()),
            conflicts: &conflicts,
            silent: &silent,
            exclusive,
        };
        let host = Process::new(&world, staged);
        let list = || block_on(host.coordinate(&tokens.members[0], "requests:list", &json!({}))).ok();
        assert_eq!(list()["requests"], json!([]));
        silent.set(true);
        {
            let create = json!({"title": "t"});
            let mut creating = pin!(host.coordinate(&tokens.members[0], "requests:create", &create));
            let mut context = Context::from_waker(Waker::noop());
            for _ in 0..50 {
                assert!(creating.as_mut().poll(&mut context).is_pending());
            }
        }
        silent.set(false);
        assert_eq!(log(&memory, &tokens.session).1.requests().count(), 1);
        assert_eq!(list()["requests"][0]["title"], "t", "exclusive: {exclusive}");
    }
}

#[test]
fn a_session_is_created_once_though_the_store_loses_the_answer() {
    for index in 0..4 {
        for fault in [Fault::Unanswered, Fault::Lost, Fault::Late, Fault::Misreported] {
            let (world, memory) = (World::new(), Memory::default());
            let faulty = Faulty::new(memory.clone(), |operation| (operation == index).then_some(fault));
            let host = Process::new(&world, store(&faulty));
            block_on(host.operate(OPERATOR, "sessions:create", &json!({}))).ok();
            let heads = memory
                .entries()
                .into_keys()
                .filter(|key| key.ends_with("head"))
                .count();
            assert_eq!(heads, 1, "{fault:?} at {index}");
        }
    }
}

#[test]
fn without_a_key_an_unknown_outcome_is_told_as_503_and_is_in_once_at_most() {
    let run_at = |at: Option<(usize, Fault)>| {
        let world = World::new();
        let (memory, tokens) = settled(&world, 1, 0);
        let used = Cell::new(0);
        let faulty = Faulty::new(memory.clone(), |operation| {
            used.set(operation + 1);
            // From there on nothing is answered: offering the commit again does not help either.
            at.filter(|(index, _)| operation >= *index)
                .map(|(_, fault)| fault)
        });
        let host = Process::new(&world, store(&faulty));
        let reply = block_on(host.coordinate(&tokens.members[0], "requests:create", &json!({"title": "t"})));
        let kept = log(&memory, &tokens.session).1.requests().count();
        match reply.status {
            200 => assert_eq!(kept, 1, "{at:?}"),
            503 => assert!(kept <= 1 && reply.retry_after, "{at:?}"),
            _ => panic!("{at:?}: {}", reply.text),
        }
        used.get()
    };
    let operations = run_at(None);
    for fault in [Fault::Lost, Fault::Unanswered, Fault::Late, Fault::CrashAfter] {
        for index in 0..operations {
            run_at(Some((index, fault)));
        }
    }
}

#[test]
fn what_one_host_acknowledged_every_other_shows_at_once() {
    let world = World::new();
    let (memory, tokens) = settled(&world, 2, 1);
    let hosts: Vec<_> = (0..3)
        .map(|_| Process::new(&world, store(memory.clone())))
        .collect();
    let mut random = Random(3);
    for round in 1..=30 {
        let writer = random.below(3);
        let body = json!({"title": format!("r{round}")});
        let create = hosts[writer].call("POST", CREATE, &tokens.members[round % 2], COORDINATION, &body);
        let made = block_on(create).ok()["request"].clone();
        for host in &hosts {
            let list =
                block_on(host.coordinate(&tokens.members[0], "requests:list", &json!({"pageSize": 100})))
                    .ok();
            assert_eq!(list["requests"].as_array().unwrap().len(), round);
            assert_eq!(list["requests"][round - 1], made);
        }
    }
}
