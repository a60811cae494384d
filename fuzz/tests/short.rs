//! A short run of every target, the same each time.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::time::Duration;

use a2a_edge_fuzz::{Corpus, Random, Target, case, run, targets};

/// Panics when it draws an even number.
struct Even;

impl Target for Even {
    fn name(&self) -> &'static str {
        "even"
    }

    fn run(&self, _: &Corpus, random: &mut Random) -> Result<(), String> {
        assert_ne!(random.next() % 2, 0);
        Ok(())
    }
}

#[test]
fn a_finding_is_told_by_its_target_and_number_and_comes_again() {
    let corpus = Corpus::new();
    let found = run(&Even, &corpus, 0, Duration::from_secs(60)).unwrap_err();
    let number = found
        .strip_prefix("even --case ")
        .and_then(|rest| rest.split_once(": "));
    let (number, why) = number.unwrap();
    assert_eq!(why, "it panicked");
    assert_eq!(case(&Even, &corpus, number.parse().unwrap()), Err(found.clone()));
}

/// How many cases each function has, and how many each target that plays a story.
const CASES: (u64, u64) = (400, 20);

#[test]
fn nothing_is_found_in_a_few_cases_of_every_target() {
    let corpus = Corpus::new();
    let mut findings = Vec::new();
    for target in targets() {
        let plays = ["http", "session.restore", "session.apply"].contains(&target.name());
        let cases = if plays { CASES.1 } else { CASES.0 };
        findings.extend((0..cases).find_map(|number| case(target.as_ref(), &corpus, number).err()));
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
