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

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use a2a_edge_spin_tests::Deployment;
use a2a_edge_stories::server::Running;
use callers::{Caller, Session, text};
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
    println!("\n| records | read, warm | write, warm | read, cold instance |");
    println!("|---|---|---|---|");
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
        rate(&running, |caller, _| {
            drop(caller.call(CARD, "", &Value::Null).ok())
        }),
        rate(&running, |caller, _| {
            drop(caller.call(&read, client, &Value::Null).ok())
        }),
        rate(&running, |caller, number| {
            drop(caller.send(client, &format!("r-{number}")).ok())
        }),
    ]
}

fn rate(running: &Running, call: impl Fn(&Caller, usize) + Sync) -> u64 {
    let (over, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                let caller = Caller::of(running);
                while !over.load(Ordering::Relaxed) {
                    call(&caller, done.fetch_add(1, Ordering::Relaxed));
                }
            });
        }
        thread::sleep(SPAN);
        over.store(true, Ordering::Relaxed);
    });
    let per_second = done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
    per_second as u64
}

/// What a request costs as its session grows, by one instance on a store in memory.
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
        let read = |_| drop(caller.call(&line, client, &Value::Null).ok());
        let read = median(read, TIMES);
        let write = |number| drop(caller.send(client, &format!("w-{size}-{number}")).ok());
        let write = median(write, TIMES);
        // Longer than an instance without a request lives.
        thread::sleep(Duration::from_millis(1_500));
        let start = Instant::now();
        caller.call(&line, client, &Value::Null).ok();
        let cold = start.elapsed();
        let [read_first, write_first] = *first.get_or_insert([read, write]);
        let times = |now: Duration, then: Duration| now.as_secs_f64() / then.as_secs_f64();
        println!(
            "| {size} | {} ({:.1}) | {} ({:.1}) | {} |",
            shown(read),
            times(read, read_first),
            shown(write),
            times(write, write_first),
            shown(cold)
        );
    }
}
