//! The driver over a store that keeps commits in line: one write serves many of them, nobody is told of anything that is
//! not durable yet, and what is lost takes with it all that was built on it.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/hosts.rs"]
#[allow(dead_code, reason = "each test uses its part of it")]
mod hosts;
#[path = "support/random.rs"]
#[allow(dead_code, reason = "each test uses its part of it")]
mod random;

use std::cell::{Cell, Ref, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use a2a_edge::session::{Commit, Session};
use a2a_edge::store::{CommitOutcome, HeadSwap, Loaded, Memory, Record, Snapshot, Store, StoreError};
use hosts::{Process, Reply, Tokens, World, settle};
use pollster::block_on;
use random::Random;
use serde_json::{Value, json};

type Outcome = Result<CommitOutcome, StoreError>;
type Answer = Rc<RefCell<Option<Outcome>>>;

/// What waits for the disk.
struct Write {
    session: String,
    record: Record,
    answer: Answer,
}

/// A store that writes when it is told to.
#[derive(Clone)]
struct Disk {
    kept: Rc<HeadSwap<Memory>>,
    line: Rc<RefCell<VecDeque<Write>>>,
    snapshots: Rc<Cell<usize>>,
    /// Whether every commit asks for a snapshot.
    asks: Rc<Cell<bool>>,
    /// Whether a snapshot that is begun does not end.
    busy: Rc<Cell<bool>>,
    /// What is kept, commit by commit.
    state: Rc<RefCell<Session>>,
}

impl Disk {
    fn new(memory: Memory) -> Self {
        Self {
            kept: Rc::new(HeadSwap::new(memory)),
            line: Rc::default(),
            snapshots: Rc::default(),
            asks: Rc::default(),
            busy: Rc::default(),
            state: Rc::default(),
        }
    }

    fn waiting(&self) -> usize {
        self.line.borrow().len()
    }

    /// Writes at most so much of what waits, all at once, and answers.
    fn write(&self, most: usize) {
        let batch = self.line.borrow().len().min(most);
        let batch: Vec<Write> = self.line.borrow_mut().drain(..batch).collect();
        let outcomes: Vec<Outcome> = batch.iter().map(|write| self.put(write)).collect();
        for (write, outcome) in batch.iter().zip(outcomes) {
            write.answer.replace(Some(outcome));
        }
    }

    /// Fails at the next `batch` of what waits: the first `kept` of them are in all the same, and nobody knows.
    fn fail(&self, batch: usize, kept: usize) {
        let batch = self.line.borrow().len().min(batch);
        let batch: Vec<Write> = self.line.borrow_mut().drain(..batch).collect();
        for write in batch.iter().take(kept) {
            let _ = self.put(write);
        }
        for write in batch {
            let why = StoreError::Unavailable("the disk failed".into());
            write.answer.replace(Some(Err(why)));
        }
    }

    fn put(&self, write: &Write) -> Outcome {
        let outcome = block_on(self.kept.commit(&write.session, &write.record))?;
        Ok(match outcome {
            CommitOutcome::Committed { .. } => CommitOutcome::Committed {
                compact: self.asks.get(),
            },
            CommitOutcome::Conflict => CommitOutcome::Conflict,
        })
    }

    /// The state by replaying what is kept.
    fn state(&self, session_id: &str) -> Ref<'_, Session> {
        let known = self.state.borrow().seq();
        let log = block_on(self.kept.history(session_id, known, usize::MAX)).unwrap();
        for record in log {
            let commit = Commit::read(&record.bytes).unwrap();
            assert!(self.state.borrow_mut().apply(&commit));
        }
        self.state.borrow()
    }
}

impl Store for Disk {
    fn is_exclusive(&self) -> bool {
        true
    }

    fn is_queue(&self) -> bool {
        true
    }

    async fn create(&self, session: &str, first: &Record) -> Result<bool, StoreError> {
        self.kept.create(session, first).await
    }

    async fn load(&self, session: &str, after: u64) -> Result<Option<Loaded>, StoreError> {
        self.kept.load(session, after).await
    }

    async fn history(&self, session: &str, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
        self.kept.history(session, after, most).await
    }

    async fn commit(&self, session: &str, record: &Record) -> Outcome {
        let answer = Answer::default();
        self.line.borrow_mut().push_back(Write {
            session: session.into(),
            record: record.clone(),
            answer: Rc::clone(&answer),
        });
        poll_fn(|_| answer.borrow_mut().take().map_or(Poll::Pending, Poll::Ready)).await
    }

    async fn compact(&self, session: &str, snapshot: &Snapshot) -> Result<(), StoreError> {
        assert_eq!(
            self.state(session).seq(),
            snapshot.seq,
            "all of a snapshot is kept"
        );
        poll_fn(|_| {
            if self.busy.get() {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
        self.snapshots.set(self.snapshots.get() + 1);
        self.kept.compact(session, snapshot).await
    }
}

/// Requests that are under way.
struct Under<'a> {
    all: Vec<Option<Pin<Box<dyn Future<Output = Reply> + 'a>>>>,
    replies: Vec<Option<Reply>>,
}

impl<'a> Under<'a> {
    fn new() -> Self {
        Self {
            all: Vec::new(),
            replies: Vec::new(),
        }
    }

    fn add(&mut self, request: impl Future<Output = Reply> + 'a) -> usize {
        self.all.push(Some(Box::pin(request)));
        self.replies.push(None);
        self.all.len() - 1
    }

    /// Lets each go on until none gets any further without the disk.
    fn settle(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..4 {
            for (one, reply) in self.all.iter_mut().zip(&mut self.replies) {
                if let Some(request) = one
                    && let Poll::Ready(ready) = request.as_mut().poll(&mut context)
                {
                    *reply = Some(ready);
                    *one = None;
                }
            }
        }
    }

    fn answered(&self) -> usize {
        self.replies.iter().flatten().count()
    }
}

fn settled(world: &World) -> (Disk, Tokens) {
    let memory = Memory::default();
    // In a world of its own, without a line.
    let host = Process::new(world, HeadSwap::new(memory.clone()));
    let tokens = block_on(settle(&host, 8, 2));
    (Disk::new(memory), tokens)
}

/// A request that nobody has taken.
fn open_request(host: &Process<'_, Disk>, disk: &Disk, tokens: &Tokens) -> Value {
    let mut under = Under::new();
    let body = json!({"title": "Look into it"});
    under.add(async move { host.coordinate(&tokens.owner, "requests:create", &body).await });
    under.settle();
    disk.write(1);
    under.settle();
    under.replies[0].as_ref().unwrap().ok()["request"]["requestId"].clone()
}

async fn claim(host: &Process<'_, Disk>, token: &str, request: Value) -> Reply {
    let body = json!({"requestId": request, "action": "claim"});
    host.coordinate(token, "requests:update", &body).await
}

#[test]
fn one_write_serves_all_who_stand_in_line_and_nobody_is_answered_before_it() {
    let world = World::new();
    let (disk, tokens) = settled(&world);
    let host = Process::new(&world, disk.clone());
    let mut under = Under::new();
    for number in 0..20 {
        let (host, client) = (&host, &tokens.clients[number % 2]);
        under.add(async move { host.send(client, &format!("m-{number}"), &json!({})).await });
    }
    under.settle();
    assert_eq!((disk.waiting(), under.answered()), (20, 0));
    disk.write(7);
    under.settle();
    assert_eq!((disk.waiting(), under.answered()), (13, 7));
    disk.write(usize::MAX);
    under.settle();
    assert_eq!(under.answered(), 20);
    let mut tasks: Vec<Value> = under
        .replies
        .iter()
        .flatten()
        .map(|it| it.ok()["task"]["id"].clone())
        .collect();
    tasks.sort_by_key(ToString::to_string);
    tasks.dedup();
    assert_eq!(tasks.len(), 20);
    assert_eq!(disk.state(&tokens.session).tasks().count(), 20);
}

#[test]
fn what_is_not_durable_is_built_on_and_told_to_nobody() {
    let world = World::new();
    let (disk, tokens) = settled(&world);
    let host = Process::new(&world, disk.clone());
    let request = open_request(&host, &disk, &tokens);
    let mut under = Under::new();
    let (host, all) = (&host, &tokens.members);
    let winner = under.add(claim(host, &all[0], request.clone()));
    let late = under.add(claim(host, &all[1], request.clone()));
    let again = under.add(claim(host, &all[0], request));
    let reader = under.add(async move { host.coordinate(&all[2], "requests:list", &json!({})).await });
    under.settle();
    // The refusals and the read know of the claim, and so wait for it.
    assert_eq!((disk.waiting(), under.answered()), (1, 0));
    disk.write(1);
    under.settle();
    let reply = |index: usize| under.replies[index].clone().unwrap();
    assert_eq!(reply(winner).status, 200);
    assert_eq!(reply(late).reason(), "REQUEST_AT_CAPACITY");
    assert_eq!(reply(again).reason(), "ALREADY_CLAIMED");
    assert_eq!(reply(reader).ok()["requests"][0]["state"], "claimed");
}

#[test]
fn what_is_lost_takes_with_it_all_that_was_built_on_it() {
    for kept in 0..=1 {
        let world = World::new();
        let (disk, tokens) = settled(&world);
        let host = Process::new(&world, disk.clone());
        let request = open_request(&host, &disk, &tokens);
        let mut under = Under::new();
        let (host, all) = (&host, &tokens.members);
        under.add(claim(host, &all[0], request.clone()));
        under.add(claim(host, &all[1], request.clone()));
        under.add(async move { host.coordinate(&all[2], "requests:list", &json!({})).await });
        under.settle();
        disk.fail(1, kept);
        under.settle();
        for reply in under.replies.iter().flatten() {
            assert_eq!((reply.status, reply.retry_after), (503, true), "{}", reply.text);
        }
        assert_eq!(under.answered(), 3);
        // The session is read again, and what is there counts.
        let next = under.add(claim(host, &all[1], request));
        under.settle();
        disk.write(1);
        under.settle();
        let reply = under.replies[next].clone().unwrap();
        if kept == 1 {
            assert_eq!(reply.reason(), "REQUEST_AT_CAPACITY");
        } else {
            assert_eq!(reply.status, 200, "{}", reply.text);
        }
    }
}

#[test]
fn who_stands_behind_a_lost_commit_is_decided_again() {
    let world = World::new();
    let (disk, tokens) = settled(&world);
    let host = Process::new(&world, disk.clone());
    let mut under = Under::new();
    for number in 0..3 {
        let (host, client) = (&host, &tokens.clients[0]);
        under.add(async move { host.send(client, &format!("m-{number}"), &json!({})).await });
    }
    under.settle();
    assert_eq!(disk.waiting(), 3);
    // The first is lost; the others, which are written after it, do not follow what is kept.
    disk.fail(1, 0);
    disk.write(2);
    under.settle();
    assert_eq!(under.replies[0].as_ref().unwrap().status, 503);
    assert_eq!(disk.waiting(), 2, "both stand in line again");
    disk.write(2);
    under.settle();
    assert!(
        under.replies[1..]
            .iter()
            .all(|reply| reply.as_ref().unwrap().status == 200)
    );
    assert_eq!(disk.state(&tokens.session).tasks().count(), 2);
}

#[test]
fn a_request_that_ends_in_line_leaves_the_session_sound() {
    let world = World::new();
    let (disk, tokens) = settled(&world);
    let host = Process::new(&world, disk.clone());
    let mut under = Under::new();
    let (host, client) = (&host, &tokens.clients[0]);
    let gone = under.add(async move { host.send(client, "m-0", &json!({})).await });
    under.settle();
    under.all[gone] = None;
    // It may be written all the same, before or after the session is read again.
    let next = under.add(async move { host.send(client, "m-1", &json!({})).await });
    under.settle();
    disk.write(usize::MAX);
    under.settle();
    disk.write(usize::MAX);
    under.settle();
    assert_eq!(under.replies[next].as_ref().unwrap().status, 200);
    assert_eq!(disk.state(&tokens.session).tasks().count(), 2);
}

#[test]
fn a_write_that_asks_for_a_snapshot_many_times_is_given_one() {
    let world = World::new();
    let (disk, tokens) = settled(&world);
    disk.asks.set(true);
    let host = Process::new(&world, disk.clone());
    let mut under = Under::new();
    for number in 0..10 {
        let (host, client) = (&host, &tokens.clients[0]);
        under.add(async move { host.send(client, &format!("m-{number}"), &json!({})).await });
    }
    under.settle();
    disk.write(usize::MAX);
    under.settle();
    assert_eq!((under.answered(), disk.snapshots.get()), (10, 1));
}

#[test]
fn who_only_looks_waits_for_what_is_seen_to_be_durable_and_not_for_a_snapshot() {
    let world = World::new();
    let (disk, tokens) = settled(&world);
    disk.asks.set(true);
    disk.busy.set(true);
    let host = Process::new(&world, disk.clone());
    let mut under = Under::new();
    let (host, client) = (&host, &tokens.clients[0]);
    let send = |id| async move { host.send(client, id, &json!({})).await };
    let look = || async move { host.call("GET", "/tasks", client, "", &Value::Null).await };
    let seen = |under: &Under<'_>, looker: usize| {
        under.replies[looker]
            .as_ref()
            .map(|it| it.ok()["totalSize"].clone())
    };
    let sender = under.add(send("m-1"));
    let early = under.add(look());
    under.settle();
    // The task is there, and told to nobody.
    assert_eq!((disk.waiting(), under.answered()), (1, 0));
    disk.write(1);
    under.settle();
    let beside = under.add(look());
    let changer = under.add(send("m-2"));
    under.settle();
    assert_eq!(
        (seen(&under, early), seen(&under, beside)),
        (Some(json!(1)), Some(json!(1)))
    );
    // Who changes something waits until the snapshot is made.
    assert!(under.replies[sender].is_none() && under.replies[changer].is_none());
    assert_eq!((disk.waiting(), disk.snapshots.get()), (0, 0));
    disk.busy.set(false);
    under.settle();
    assert_eq!((disk.waiting(), disk.snapshots.get()), (1, 1));
    disk.write(1);
    under.settle();
    let late = under.add(look());
    under.settle();
    assert_eq!((seen(&under, late), under.answered()), (Some(json!(2)), 5));
}

/// A crowd in one session on a disk that writes, fails and loses what was under way, at moments drawn from `seed`:
/// what was acknowledged is there at once, and each of it once.
fn crowd(seed: u64, fails: bool) -> usize {
    let world = World::new();
    let (disk, tokens) = settled(&world);
    let host = Process::new(&world, disk.clone());
    let mut random = Random(seed);
    let mut under = Under::new();
    let mut tasks = BTreeSet::new();
    let mut seen = 0;
    for step in 0..120 {
        if step < 80 {
            let (host, client) = (&host, &tokens.clients[step % 2]);
            under.add(async move { host.send(client, &format!("m-{step}"), &json!({})).await });
        }
        if random.one_in(2) {
            under.settle();
        }
        if fails && random.one_in(12) {
            let batch = random.below(5);
            disk.fail(batch, random.below(batch + 1));
        } else if step >= 80 || random.one_in(2) {
            disk.write(1 + random.below(6));
        }
        if under.answered() == seen {
            continue;
        }
        seen = under.answered();
        let state = disk.state(&tokens.session);
        for reply in under.replies.iter().flatten().filter(|reply| reply.status == 200) {
            let task = reply.ok()["task"]["id"].as_str().unwrap().to_owned();
            assert!(
                state.task(&task).is_some(),
                "acknowledged and not kept: {}",
                reply.text
            );
            tasks.insert(task);
        }
    }
    while under.answered() < under.replies.len() {
        let waited = disk.waiting();
        disk.write(usize::MAX);
        under.settle();
        assert!(
            waited > 0 || under.answered() == under.replies.len(),
            "somebody waits for ever"
        );
    }
    let done = under.replies.iter().flatten().filter(|reply| reply.status == 200);
    tasks.extend(
        done.clone()
            .map(|reply| reply.ok()["task"]["id"].as_str().unwrap().to_owned()),
    );
    assert_eq!(tasks.len(), done.count(), "each has a task of its own");
    tasks.len()
}

#[test]
fn a_crowd_gets_everything_through() {
    for seed in 0..10 {
        assert_eq!(crowd(seed, false), 80, "seed {seed}");
    }
}

#[test]
fn a_crowd_on_a_failing_disk_is_told_of_nothing_that_is_lost() {
    let through: usize = (100..120).map(|seed| crowd(seed, true)).sum();
    assert!(through > 20 * 30, "hardly anything got through: {through}");
}
