//! Who does one thing in how long, beside others.
//!
//! The contenders take turns in short batches, and the median of their batches counts, so that what else the machine
//! does meanwhile hurts all of them alike: the ratios are worth more than the times.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long a batch should take: long beside the clock's steps, short beside the machine's moods.
const BATCH: Duration = Duration::from_millis(2);

/// How many turns each contender gets: fewer where the command line says `--quick`.
#[must_use]
pub fn turns() -> usize {
    let quick = std::env::args().any(|argument| argument == "--quick");
    if quick { 5 } else { 101 }
}

/// The head of a table of such things.
pub fn head(what: &str) {
    println!("\n{what:<34} {:>12} {:>10} {:>8}", "ns", "MB/s", "ratio");
}

/// One who takes part, and how long a single run took in each of its batches.
struct Contender<'c> {
    name: &'static str,
    batch: Box<dyn FnMut(u32) -> Duration + 'c>,
    runs: u32,
    times: Vec<f64>,
}

/// Several ways to do one thing to so many bytes.
pub struct Contest<'c> {
    title: String,
    bytes: usize,
    contenders: Vec<Contender<'c>>,
}

impl<'c> Contest<'c> {
    /// Nobody takes part yet.
    #[must_use]
    pub fn new(title: String, bytes: usize) -> Self {
        Self {
            title,
            bytes,
            contenders: Vec::new(),
        }
    }

    /// One who does it once.
    pub fn enter<T>(&mut self, name: &'static str, mut once: impl FnMut() -> T + 'c) {
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
    pub fn enter_timed(&mut self, name: &'static str, batch: impl FnMut(u32) -> Duration + 'c) {
        self.contenders.push(Contender {
            name,
            batch: Box::new(batch),
            runs: 1,
            times: Vec::new(),
        });
    }

    /// Lets each have its turns, prints a line for each, and gives its median. The first to enter is the measure of the
    /// others.
    pub fn run(mut self, turns: usize) -> Vec<f64> {
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
