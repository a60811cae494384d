//! `cargo xtask bench --spin`: the tables of `docs/performance.md`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    dead_code,
    reason = "a measurement that cannot go on should stop where it is"
)]

#[path = "../../support/party.rs"]
mod callers;
#[path = "../../support/desk.rs"]
mod desk;
#[path = "../tests/suite/party.rs"]
mod party;

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use a2a_edge_spin_tests::Deployment;
use a2a_edge_stories::server::Running;
use callers::{Caller, Reply, Session, text};
use party::{Redis, sqlite, start};
use serde_json::Value;
use tempfile::TempDir;

const CARD: &str = "GET /.well-known/agent-card.json";

/// How many connections call at once.
const CONNECTIONS: usize = 16;

/// How long each rate is measured.
const SPAN: Duration = Duration::from_secs(3);

/// How many records a session has before it is measured.
const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];

/// How often a request is made for its median.
const TIMES: usize = 101;

/// How many requests four instances serve.
const LIVES: usize = 512;

fn main() {
    let place = || TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (files, redis) = (place(), Redis::start(place()));
    let stores = [
        ("memory", Deployment::on("memory")),
        ("SQLite on disk", sqlite(&files)),
        ("Redis, appendfsync always", redis.deployment()),
    ];
    println!("| store | first byte, cold instance | card/s | reads/s | sends/s |");
    println!("|---|---|---|---|---|");
    for (name, deployment) in &stores {
        let cold = cold(deployment);
        let [cards, reads, sends] = rates(deployment);
        println!("| {name} | {} | {cards} | {reads} | {sends} |", shown(cold));
    }
    println!("\n| records | read, median | mean | send, median | mean | first read of an instance |");
    println!("|---|---|---|---|---|---|");
    growth();
}

fn shown(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1e3)
}

fn median(mut run: impl FnMut(usize), times: usize) -> Duration {
    let mut took: Vec<Duration> = (0..times)
        .map(|number| {
            let start = Instant::now();
            run(number);
            start.elapsed()
        })
        .collect();
    took.sort_unstable();
    took[times / 2]
}

/// The first byte from an instance that is made for the request.
fn cold(deployment: &Deployment) -> Duration {
    let running = start(&deployment.clone().with("requests", "1"));
    let caller = Caller::of(&running);
    let card = |_| drop(caller.call(CARD, "", &Value::Null).ok());
    card(0);
    median(card, TIMES)
}

/// Requests a second over some connections: the card, reading a task, sending.
fn rates(deployment: &Deployment) -> [u64; 3] {
    let running = start(deployment);
    let caller = Caller::of(&running);
    let session = Session::create(&caller);
    let task = caller.send(&session.client, "first").ok();
    let read = format!("GET /tasks/{}", text(&task["task"]["id"]));
    let client = &session.client;
    [
        rate(&running, |caller, _| caller.call(CARD, "", &Value::Null)),
        rate(&running, |caller, _| caller.call(&read, client, &Value::Null)),
        rate(&running, |caller, number| {
            caller.send(client, &format!("r-{number}"))
        }),
    ]
}

/// Answers a second. A send that is told to try again, for others were quicker, does not count.
fn rate(running: &Running, call: impl Fn(&Caller, usize) -> Reply + Sync) -> u64 {
    let (over, begun, done) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                let caller = Caller::of(running);
                while !over.load(Ordering::Relaxed) {
                    let reply = call(&caller, begun.fetch_add(1, Ordering::Relaxed));
                    if reply.status != 503 {
                        reply.ok();
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        thread::sleep(SPAN);
        over.store(true, Ordering::Relaxed);
    });
    let (begun, done) = (begun.into_inner(), done.into_inner());
    if done < begun {
        eprintln!("{} of {begun} were told to try again", begun - done);
    }
    (done as f64 / start.elapsed().as_secs_f64()) as u64
}

/// What a request costs as its session grows, by one instance on a store in memory: processor time, which does not depend on
/// what else the machine does. The median is what a warm instance takes; the mean has in it what comes now and then, such
/// as reading the session anew, which each instance does once.
fn growth() {
    let deployment = Deployment::on("memory")
        .with("instances", "1")
        .with("limits", "open-requests=20000");
    let running = start(&deployment);
    let caller = Caller::of(&running);
    let session = Session::create(&caller);
    let (client, mut records) = (&session.client, 0);
    let mut first: Option<[Duration; 2]> = None;
    for size in SIZES {
        while records < size {
            caller.send(client, &format!("g-{records}")).ok();
            records += 1;
        }
        let task = caller.send(client, &format!("g-{records}")).ok();
        records += 1;
        let line = format!("GET /tasks/{}", text(&task["task"]["id"]));
        let read = Cost::of(&running, |_| drop(caller.call(&line, client, &Value::Null).ok()));
        let write = Cost::of(&running, |number| {
            drop(caller.send(client, &format!("w-{size}-{number}")).ok());
        });
        // Longer than an instance without a request lives.
        thread::sleep(Duration::from_millis(1_500));
        let start = used(&running);
        caller.call(&line, client, &Value::Null).ok();
        let cold = used(&running).saturating_sub(start);
        let firsts = *first.get_or_insert([read.median, write.median]);
        let [read, write] = [(read, firsts[0]), (write, firsts[1])].map(|(cost, first)| {
            let times = cost.median.as_secs_f64() / first.as_secs_f64();
            format!("{} ({times:.1}) | {}", shown(cost.median), shown(cost.mean))
        });
        println!("| {size} | {read} | {write} | {} |", shown(cold));
    }
}

/// Processor time of the server for a request.
struct Cost {
    median: Duration,
    mean: Duration,
}

impl Cost {
    /// Of as many requests as a few instances serve, one after the other.
    fn of(running: &Running, request: impl Fn(usize)) -> Self {
        let mut each: Vec<Duration> = (0..LIVES)
            .map(|number| {
                let start = used(running);
                request(number);
                used(running).saturating_sub(start)
            })
            .collect();
        let sum: Duration = each.iter().sum();
        each.sort_unstable();
        Self {
            median: each[LIVES / 2],
            mean: sum / u32::try_from(LIVES).unwrap(),
        }
    }
}

/// The processor time that the threads of the server have used, as Linux's scheduler counts it: in nanoseconds.
fn used(running: &Running) -> Duration {
    let threads = fs::read_dir(format!("/proc/{}/task", running.pid())).unwrap();
    let times = threads.filter_map(|thread| {
        // A thread may end meanwhile.
        let counted = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        counted.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(times.sum())
}
