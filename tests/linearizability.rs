//! 10,000 histories of eight clients at once, on several hosts over the compare-and-swap store, whose operations are
//! delayed, misreported, lost and cut short by crashes: every answer is one that a plain object gives when its calls
//! come one after another. On a store that swaps without comparing the same check finds histories that nothing explains.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/broken.rs"]
#[allow(dead_code, reason = "only one of its stores is needed here")]
mod broken;
#[path = "support/hosts.rs"]
#[allow(dead_code, reason = "only part of it is needed here")]
mod hosts;
#[path = "support/linear/mod.rs"]
mod linear;
#[path = "support/random.rs"]
mod random;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use a2a_edge::store::{Fault, Faulty, HeadSwap, KeyValue, Limits, Memory};
use broken::Careless;
use hosts::{Process, Running, World, admit, run, settle, yield_once};
use linear::capacity::CapacityTrial;
use linear::claims::ClaimsTrial;
use linear::keys::KeysTrial;
use linear::knowledge::KnowledgeTrial;
use linear::trial::{Ask, Settled, Trial};
use linear::versions::VersionsTrial;
use linear::{Call, Object, linearized};
use pollster::block_on;
use random::Random;
use serde_json::Value;

/// Of each of the five objects.
const HISTORIES: u64 = 2_000;
const CLIENTS: usize = 8;
const HOSTS: usize = 3;

/// So small that the store compacts in most histories.
const LIMITS: Limits = Limits {
    value: 200_000,
    inline: 2_000,
    tail_bytes: 20_000,
    tail_commits: 12,
    segment: 8_000,
    segments: 2,
};

/// How a history is disturbed.
#[derive(Clone, Copy)]
struct Mood {
    /// One operation of the store in so many is faulty.
    one_in: usize,
    faults: &'static [Fault],
    /// One call in so many is given up by its client before it is answered.
    hang_ups: usize,
}

const CALM: Mood = Mood {
    one_in: usize::MAX,
    faults: &[],
    hang_ups: usize::MAX,
};

const MOODS: [Mood; 4] = [
    CALM,
    Mood {
        one_in: 8,
        faults: &[
            Fault::Refused,
            Fault::Misreported,
            Fault::Unanswered,
            Fault::Late,
            Fault::Doubled,
        ],
        hang_ups: usize::MAX,
    },
    Mood {
        one_in: 30,
        faults: &[Fault::CrashBefore, Fault::CrashAfter],
        hang_ups: 12,
    },
    Mood {
        one_in: 20,
        faults: &Fault::ALL,
        hang_ups: 30,
    },
];

/// A session that every history of a trial begins with.
struct Stage {
    world: World,
    entries: BTreeMap<String, Vec<u8>>,
    tokens: Vec<String>,
    prepared: Value,
    now: i64,
    drawn: u64,
}

impl Stage {
    fn set<T: Trial>() -> Self {
        let world = World {
            step: 0,
            ..World::new()
        };
        let memory = Memory::default();
        let host = Process::new(&world, HeadSwap::with_limits(memory.clone(), LIMITS));
        let settled = Settled {
            tokens: block_on(settle(&host, 0, 0)),
            host,
        };
        let admit = |_| block_on(admit(&settled.host, &settled.tokens.owner, T::ROLE));
        let tokens = (0..T::PARTICIPANTS).map(admit).collect();
        let prepared = T::prepare(&settled);
        block_on(a2a_edge::serve::compact(&settled.host, &settled.tokens.session)).unwrap();
        let (now, drawn) = (world.now.get(), world.drawn.get());
        drop(settled);
        Self {
            world,
            entries: memory.entries(),
            tokens,
            prepared,
            now,
            drawn,
        }
    }
}

/// Lets a future go on for so many steps, then drops it.
async fn given_up_after<F: Future>(steps: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = steps;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

/// What is going on in a history.
struct Scene<'a, T: Trial, S> {
    stage: &'a Stage,
    trial: T,
    mood: Mood,
    hosts: RefCell<Vec<Rc<Process<'a, S>>>>,
    /// A host in the place of one that has died.
    replace: &'a dyn Fn() -> S,
    /// How many times a call has begun or ended.
    instant: Cell<usize>,
    /// Every time that the clock said.
    clock: RefCell<Vec<i64>>,
    calls: RefCell<Vec<Call<T::Object>>>,
    seen: RefCell<BTreeMap<String, usize>>,
}

impl<T: Trial, S: a2a_edge::store::Store> Scene<'_, T, S> {
    fn next_instant(&self) -> usize {
        self.instant.set(self.instant.get() + 1);
        self.instant.get()
    }

    /// A client that makes some calls, each after the one before has come to an end.
    async fn client(&self, client: usize, mut random: Random) {
        let who = client % T::PARTICIPANTS;
        for _ in 0..2 + random.below(2) {
            for _ in 0..random.below(30) {
                yield_once().await;
            }
            self.call(client, who, &mut random).await;
        }
    }

    async fn call(&self, client: usize, who: usize, random: &mut Random) {
        let op = self.trial.draw(random, who);
        let Ask {
            name,
            path,
            extensions,
            body,
        } = self.trial.ask(&op);
        let host = random.below(HOSTS);
        let process = Rc::clone(&self.hosts.borrow()[host]);
        let steps = if random.one_in(self.mood.hang_ups) {
            random.below(15)
        } else {
            usize::MAX
        };
        let from = self.next_instant();
        let earliest = self.clock.borrow().len() - 1;
        let call = process.call("POST", &path, &self.stage.tokens[who], extensions, &body);
        let reply = given_up_after(steps, call).await;
        let answer = match reply {
            Some(reply) if reply.status != 503 => Some(self.trial.read(&op, &reply)),
            // What became of it nobody knows, and whatever was the matter with that host, another takes its place.
            Some(_) => {
                self.hosts.borrow_mut()[host] = Rc::new(Process::new(&self.stage.world, (self.replace)()));
                None
            }
            None => None,
        };
        let came_to = match &answer {
            Some(Ok(_)) => name,
            Some(Err(refused)) => &refused.reason,
            None => "unknown",
        };
        *self.seen.borrow_mut().entry(came_to.to_owned()).or_default() += 1;
        self.calls.borrow_mut().push(Call {
            client,
            op,
            answer,
            from,
            to: self.next_instant(),
            clock: self.clock.borrow()[earliest..].to_vec(),
        });
    }

    /// Lets leases lapse and requests expire at any step.
    async fn tick(&self, mut random: Random) {
        for _ in 0..5 {
            for _ in 0..random.below(60) {
                yield_once().await;
            }
            let now = self.stage.world.now.get() + *random.pick(&[1, 9_000, 20_000, 30_000]);
            self.stage.world.now.set(now);
            self.clock.borrow_mut().push(now);
        }
    }
}

/// A history of calls, and how often they came to what.
struct History<O: Object> {
    start: O,
    calls: Vec<Call<O>>,
    seen: BTreeMap<String, usize>,
}

fn history<T: Trial, K: KeyValue + Clone>(
    stage: &Stage,
    seed: u64,
    mood: Mood,
    keys: impl Fn(Memory) -> K,
) -> History<T::Object> {
    stage.world.now.set(stage.now);
    stage.world.drawn.set(stage.drawn);
    let memory = Memory::default();
    for (key, value) in &stage.entries {
        block_on(memory.put(key, value)).unwrap();
    }
    let keys = keys(memory);
    let lives = Cell::new(0_u64);
    let replace = || {
        lives.set(lives.get() + 1);
        let life = lives.get();
        let fault = move |index: usize| {
            let mut draw = Random(seed ^ (life << 40) ^ ((index as u64) << 20));
            draw.one_in(mood.one_in).then(|| *draw.pick(mood.faults))
        };
        HeadSwap::with_limits(Faulty::new(keys.clone(), fault), LIMITS)
    };
    let (trial, start) = T::begin(&stage.prepared);
    let hosts = (0..HOSTS).map(|_| Rc::new(Process::new(&stage.world, replace())));
    let scene = Scene {
        stage,
        trial,
        mood,
        hosts: RefCell::new(hosts.collect()),
        replace: &replace,
        instant: Cell::new(0),
        clock: RefCell::new(vec![stage.now]),
        calls: RefCell::default(),
        seen: RefCell::default(),
    };
    let random = |actor: usize| Random(seed ^ (actor as u64 + 1) << 48);
    let clients = (0..CLIENTS).map(|it| Box::pin(scene.client(it, random(it))) as Running<'_>);
    let mut running: Vec<Running<'_>> = clients.collect();
    running.push(Box::pin(scene.tick(random(CLIENTS))));
    run(&mut Random(seed), running);
    History {
        start,
        calls: scene.calls.into_inner(),
        seen: scene.seen.into_inner(),
    }
}

/// A history for people.
fn told<O: Object>(calls: &[Call<O>], order: &[usize]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let place = order.iter().position(|it| *it == index);
        let place = place.map_or("-".to_owned(), |place| (place + 1).to_string());
        lines.push(format!(
            "{place:>3}  {:>3}–{:<3} client {}: {:?} -> {:?}",
            call.from, call.to, call.client, call.op, call.answer
        ));
    }
    lines.join("\n")
}

fn is_linearizable<T: Trial>() {
    let stage = Stage::set::<T>();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut overlaps = 0;
    for seed in 0..HISTORIES {
        let mood = MOODS[seed as usize % MOODS.len()];
        let history = history::<T, _>(&stage, seed, mood, |memory| memory);
        if let Err(order) = linearized(&history.start, &history.calls) {
            panic!("seed {seed}: no order explains\n{}", told(&history.calls, &order));
        }
        let calls = &history.calls;
        let during = |one: &Call<T::Object>| calls.iter().any(|it| it.from < one.from && one.from < it.to);
        overlaps += calls.iter().filter(|one| during(one)).count();
        for (what, times) in history.seen {
            *seen.entry(what).or_default() += times;
        }
    }
    let times = |what: &str| seen.get(what).copied().unwrap_or_default();
    let all: usize = seen.values().sum();
    assert!(
        overlaps * 2 > all,
        "hardly any calls overlap: {overlaps} of {all}"
    );
    assert!(
        times("unknown") * 50 > all && times("unknown") * 4 < all,
        "{seen:?}"
    );
    for what in T::COMES_TO {
        assert!(
            times(what) as u64 * 50 > HISTORIES,
            "{what} is too rare: {seen:?}"
        );
    }
}

/// On a store that swaps without comparing.
fn is_caught_without_comparing<T: Trial>() {
    let stage = Stage::set::<T>();
    let explained = |seed: u64| {
        let history = history::<T, _>(&stage, seed, CALM, Careless);
        linearized(&history.start, &history.calls).is_ok()
    };
    let caught = (0..40).filter(|seed| !explained(*seed)).count();
    assert!(caught >= 4, "of 40 broken histories {caught} are caught");
}

macro_rules! trials {
    ($($name:ident, $broken:ident: $trial:ty;)*) => {
        $(
            #[test]
            fn $name() {
                is_linearizable::<$trial>();
            }

            #[test]
            fn $broken() {
                is_caught_without_comparing::<$trial>();
            }
        )*

        const _: () = assert!(HISTORIES * [$(stringify!($trial)),*].len() as u64 == 10_000);
    };
}

trials! {
    claims_are_as_if_one_called_after_another, claims_without_comparing_are_not: ClaimsTrial;
    capacity_is_as_if_one_called_after_another, capacity_without_comparing_is_not: CapacityTrial;
    keys_are_as_if_one_called_after_another, keys_without_comparing_are_not: KeysTrial;
    versions_are_as_if_one_called_after_another, versions_without_comparing_are_not: VersionsTrial;
    knowledge_is_as_if_one_called_after_another, knowledge_without_comparing_is_not: KnowledgeTrial;
}

/// A register, to try the checker on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Register(i64);

#[derive(Debug)]
enum Access {
    Read,
    Write(i64),
    WriteTheTime,
}

impl Object for Register {
    type Op = Access;
    type Good = i64;

    fn run(&mut self, op: &Access, now: i64) -> linear::Answer<i64> {
        match op {
            Access::Read => {}
            Access::Write(value) => self.0 = *value,
            Access::WriteTheTime => self.0 = now,
        }
        Ok(self.0)
    }
}

/// Calls as (operation, value answered or not, from, to), with the clock at 7 and 8.
fn explained(calls: Vec<(Access, Option<i64>, usize, usize)>) -> bool {
    let calls: Vec<Call<Register>> = calls
        .into_iter()
        .map(|(op, answer, from, to)| Call {
            client: 0,
            op,
            answer: answer.map(Ok),
            from,
            to,
            clock: vec![7, 8],
        })
        .collect();
    linearized(&Register(0), &calls).is_ok()
}

#[test]
fn the_checker_tells_histories_apart() {
    use Access::{Read, Write, WriteTheTime};
    // A write and a read at once: both values may be read, but no value again that was written over.
    for (first, second, expected) in [(0, 0, true), (0, 1, true), (1, 1, true), (1, 0, false)] {
        let calls = vec![
            (Write(1), Some(1), 1, 6),
            (Read, Some(first), 2, 3),
            (Read, Some(second), 4, 5),
        ];
        assert_eq!(explained(calls), expected, "{first}, {second}");
    }
    // What was answered before another began comes before it.
    assert!(!explained(vec![(Write(1), Some(1), 1, 2), (Read, Some(0), 3, 4)]));
    assert!(explained(vec![(Write(1), Some(1), 1, 3), (Read, Some(0), 2, 4)]));
    // A lost write happened before, later, much later, or never; but once.
    let lost = |reads: &[i64]| {
        let mut calls = vec![(Write(1), None, 1, 2)];
        for (index, value) in reads.iter().enumerate() {
            calls.push((Read, Some(*value), 3 + 2 * index, 4 + 2 * index));
        }
        explained(calls)
    };
    assert!(lost(&[0, 0]) && lost(&[0, 1]) && lost(&[1, 1]) && !lost(&[1, 0]));
    // The clock is read while the call lasts.
    for (time, expected) in [(6, false), (7, true), (8, true), (9, false)] {
        let calls = vec![(WriteTheTime, None, 1, 2), (Read, Some(time), 3, 4)];
        assert_eq!(explained(calls), expected, "{time}");
    }
}

#[test]
fn the_checker_comes_to_an_end_on_many_calls_at_once() {
    // Twelve writes at once have 12! orders, and no order explains the last read.
    let mut calls: Vec<_> = (1..=12)
        .map(|value| (Access::Write(value), Some(value), 1, 2))
        .collect();
    calls.push((Access::Read, Some(13), 3, 4));
    assert!(!explained(calls));
}
