//! Prints how long each contender takes, what that is in megabytes a second, and how many times the Rust API's time.
//!
//! The contenders take turns in short batches, and the median of their batches counts, so that what else the machine
//! does meanwhile hurts all of them alike: the ratios are worth more than the times. `--quick` takes fewer turns; `--corpus FILE` also writes what those in Node are given.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use a2a_edge_benches::claims::Acquiring;
use a2a_edge_benches::contenders::{Component, Schema, native_projects, native_takes};
use a2a_edge_benches::corpus::{beyond_schema, full_size, minimal, requests, rows};
use a2a_edge_benches::digest::Subject;

/// How long a digest of a session with 10,000 records may take.
const DIGEST: Duration = Duration::from_millis(10);

/// How many times as long it may take to acquire a claim among 10,000 as among 10.
const AMONG_MANY: f64 = 2.0;

/// How long a batch should take: long beside the clock's steps, short beside the machine's moods.
const BATCH: Duration = Duration::from_millis(2);

fn main() -> Result<(), Box<dyn Error>> {
    let turns = if std::env::args().any(|argument| argument == "--quick") {
        5
    } else {
        101
    };
    let corpus = std::env::args()
        .skip_while(|argument| argument != "--corpus")
        .nth(1);
    if let Some(path) = corpus {
        std::fs::write(path, node_corpus().to_string())?;
    }
    let (mut component, schema) = (Component::new()?, Schema::new()?);
    agree(&mut component, &schema)?;

    println!(
        "\n{:<34} {:>12} {:>10} {:>8}",
        "a handoff, validated from bytes", "ns", "MB/s", "ratio"
    );
    for (name, request) in [("minimal", minimal()), ("full-size", full_size())] {
        let mut contest = Contest::new(format!("{name}, {} bytes", request.len()), request.len());
        contest.enter("native", || native_takes(black_box(&request)));
        contest.enter("component", || {
            component.takes(black_box(&request)).unwrap_or_default()
        });
        contest.enter("jsonschema", || schema.takes(black_box(&request)));
        contest.run(turns);
    }

    println!(
        "\n{:<34} {:>12} {:>10} {:>8}",
        "facts, projected from text", "ns", "MB/s", "ratio"
    );
    for (row, facts) in rows() {
        let mut contest = Contest::new(format!("row {row}, {} bytes", facts.len()), facts.len());
        contest.enter("native", || native_projects(black_box(&facts)).len());
        contest.enter("component", || {
            component
                .projects(black_box(&facts))
                .map_or(0, |answer| answer.len())
        });
        contest.run(turns);
    }

    digests(turns)?;
    claims(turns)?;

    println!("\nWhat JSON Schema cannot say, and the other two hold to:");
    for (_, _, rule) in beyond_schema() {
        println!("- {rule}");
    }
    Ok(())
}

/// What the contenders in Node are given: every request that is text, and the two that are measured, by name.
fn node_corpus() -> serde_json::Value {
    let text = |request: &Vec<u8>| String::from_utf8(request.clone()).ok();
    let requests: Vec<String> = requests().iter().filter_map(text).collect();
    let (minimal, full) = (text(&minimal()), text(&full_size()));
    serde_json::json!({"requests": requests, "measured": {"minimal": minimal, "full-size": full}})
}

/// Digests of a large session, which must be quick enough.
fn digests(turns: usize) -> Result<(), Box<dyn Error>> {
    println!(
        "\n{:<34} {:>12} {:>10} {:>8}",
        "a digest of 10,000 records", "ns", "MB/s", "ratio"
    );
    let subject = Subject::new()?;
    for most in [50, 200] {
        let length = subject.digest(most)?.len();
        let mut contest = Contest::new(format!("{most} of each kind, {length} bytes"), length);
        contest.enter("native", || subject.digest(most).map_or(0, |answer| answer.len()));
        for nanos in contest.run(turns) {
            if nanos > DIGEST.as_secs_f64() * 1e9 {
                return Err(format!("a digest takes longer than {DIGEST:?}").into());
            }
        }
    }
    Ok(())
}

/// Claims acquired among live ones, which must not cost more for their number.
fn claims(turns: usize) -> Result<(), Box<dyn Error>> {
    println!(
        "\n{:<34} {:>12} {:>10} {:>8}",
        "claims.acquire, decided and applied", "ns", "MB/s", "ratio"
    );
    let title = |held: &str| format!("{held}, {} bytes", Acquiring::REQUEST_BYTES);
    for (held, holders) in [("held by 50 members", 50), ("all the caller's own", 1)] {
        let (few, many) = (Acquiring::among(10, holders)?, Acquiring::among(10_000, holders)?);
        let mut contest = Contest::new(title(held), Acquiring::REQUEST_BYTES);
        contest.enter_timed("among 10", |runs| few.time(runs));
        contest.enter_timed("among 10,000", |runs| many.time(runs));
        if let [few, many] = *contest.run(turns)
            && many > few * AMONG_MANY
        {
            return Err(format!("a claim among 10,000 takes over {AMONG_MANY} times as long").into());
        }
    }
    Ok(())
}

/// Holds the contenders to one judgement of every request, and to one projection of every row's facts.
fn agree(component: &mut Component, schema: &Schema) -> Result<(), Box<dyn Error>> {
    let requests = requests();
    for request in &requests {
        let takes = native_takes(request);
        if component.takes(request)? != takes || schema.takes(request) != takes {
            return Err(format!("the contenders disagree on {}", String::from_utf8_lossy(request)).into());
        }
    }
    for (row, facts) in rows() {
        if component.projects(&facts)? != native_projects(&facts) {
            return Err(format!("the component projects row {row} in its own way").into());
        }
    }
    println!("All contenders agree on {} requests and 12 rows.", requests.len());
    Ok(())
}

/// One who takes part, and how long a single run took in each of its batches.
struct Contender<'c> {
    name: &'static str,
    batch: Box<dyn FnMut(u32) -> Duration + 'c>,
    runs: u32,
    times: Vec<f64>,
}

/// Several ways to do one thing to so many bytes.
struct Contest<'c> {
    title: String,
    bytes: usize,
    contenders: Vec<Contender<'c>>,
}

impl<'c> Contest<'c> {
    fn new(title: String, bytes: usize) -> Self {
        Self {
            title,
            bytes,
            contenders: Vec::new(),
        }
    }

    fn enter<T>(&mut self, name: &'static str, mut once: impl FnMut() -> T + 'c) {
        let batch = move |runs| {
            let begun = Instant::now();
            for _ in 0..runs {
                black_box(once());
            }
            begun.elapsed()
        };
        self.enter_timed(name, batch);
    }

    /// One who measures so many runs itself.
    fn enter_timed(&mut self, name: &'static str, batch: impl FnMut(u32) -> Duration + 'c) {
        self.contenders.push(Contender {
            name,
            batch: Box::new(batch),
            runs: 1,
            times: Vec::new(),
        });
    }

    /// Lets each have its turns, prints a line for each, and gives its median. The first to enter is the measure of the
    /// others.
    fn run(mut self, turns: usize) -> Vec<f64> {
        self.contenders.iter_mut().for_each(Contender::warm_up);
        for _ in 0..turns {
            self.contenders.iter_mut().for_each(Contender::turn);
        }
        println!("{}", self.title);
        let medians: Vec<f64> = self.contenders.iter_mut().map(Contender::median).collect();
        let measure = medians.first().copied().unwrap_or(f64::NAN);
        #[allow(clippy::cast_precision_loss, reason = "a few thousand bytes")]
        let bytes = self.bytes as f64;
        for (contender, nanos) in self.contenders.iter().zip(&medians) {
            let (rate, ratio) = (bytes * 1e3 / nanos, nanos / measure);
            println!(
                "  {:<32} {nanos:>12.0} {rate:>10.1} {ratio:>7.2}×",
                contender.name
            );
        }
        medians
    }
}

impl Contender<'_> {
    /// Doubles the runs of a batch until it takes long enough.
    fn warm_up(&mut self) {
        while (self.batch)(self.runs) < BATCH && self.runs < u32::MAX / 2 {
            self.runs = self.runs.saturating_mul(2);
        }
    }

    fn turn(&mut self) {
        let time = (self.batch)(self.runs);
        self.times.push(time.as_secs_f64() * 1e9 / f64::from(self.runs));
    }

    fn median(&mut self) -> f64 {
        self.times.sort_by(f64::total_cmp);
        let middle = self.times.len() / 2;
        self.times.get(middle).copied().unwrap_or(f64::NAN)
    }
}
