//! Calls every function that the component exports, and the HTTP surface, with what nobody should send.
//!
//! A case is a number: from it a [`Random`] draws what to send, beginning with a value or a request of the conformance
//! vectors and stories ([`Corpus`]) and spoiling it. So a finding is told by its target and its number, on every machine.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::missing_panics_doc,
    clippy::should_implement_trait,
    dead_code,
    missing_docs,
    reason = "a harness stops at what it does not expect"
)]

mod corpus;
#[path = "../../tests/support/desk.rs"]
mod desk;
mod functions;
#[path = "../../tests/support/random.rs"]
mod random;
mod spoil;
#[path = "../../tests/support/story_bench.rs"]
mod story_bench;
mod surface;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

pub use corpus::Corpus;
pub use random::Random;

/// What is called.
pub trait Target {
    /// Its name, by which a finding is told.
    fn name(&self) -> &str;

    /// Makes one case and holds what comes of it to what must hold of every answer.
    ///
    /// # Errors
    /// What does not hold, with what was sent.
    fn run(&self, corpus: &Corpus, random: &mut Random) -> Result<(), String>;
}

/// All targets.
#[must_use]
pub fn targets() -> Vec<Box<dyn Target>> {
    let mut targets = functions::targets();
    targets.extend(surface::targets());
    targets
}

/// Runs one case of a target.
///
/// # Errors
/// What does not hold, or that it panicked.
pub fn case(target: &dyn Target, corpus: &Corpus, number: u64) -> Result<(), String> {
    let run = AssertUnwindSafe(|| target.run(corpus, &mut Random(number)));
    let outcome = catch_unwind(run).unwrap_or_else(|_| Err("it panicked".to_owned()));
    outcome.map_err(|why| format!("{} --case {number}: {why}", target.name()))
}

/// Runs cases of a target from a number on, for so long. How many it were.
///
/// # Errors
/// The first finding.
pub fn run(target: &dyn Target, corpus: &Corpus, first: u64, time: Duration) -> Result<u64, String> {
    let start = Instant::now();
    let mut cases = 0;
    while start.elapsed() < time {
        case(target, corpus, first.wrapping_add(cases))?;
        cases += 1;
    }
    Ok(cases)
}
