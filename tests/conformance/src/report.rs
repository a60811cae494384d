//! What came of the runs, as tables.

use std::fmt::Write as _;

use crate::fault::Fault;
use crate::kit::{Level, Ran, Result, Test};

/// Why the kit leaves tests out that are for other bindings or capabilities than the desk has in a run.
const RIGHTLY: [&str; 8] = [
    "Transport '",
    "gRPC transport not configured",
    "JSON-RPC transport not configured",
    "HTTP+JSON transport not configured",
    "Agent does not support",
    "Agent card does not declare",
    "Agent supports ",
    "No requirements at this level",
];

/// Whether a test was left out for a reason that is no fault of the desk's.
fn rightly_skipped(test: &Test) -> bool {
    RIGHTLY.iter().any(|reason| test.reason.starts_with(reason))
}

/// The requirements of one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Met.
    pub passed: usize,
    /// Not met for faults of the kit alone.
    pub own: usize,
    /// Not met.
    pub failed: usize,
}

/// What came of a run.
#[derive(Debug)]
pub struct Judged {
    /// What was run: the host, its configuration, the binding.
    pub title: [String; 3],
    /// By level.
    pub counts: [(Level, Count); 3],
    /// The tests that fail by faults of the kit.
    pub own: Vec<Test>,
    /// The tests that fail, or were left out because of what the desk did.
    pub failing: Vec<Test>,
}

/// Tells the kit's own faults from others.
#[must_use]
pub fn judge(title: [String; 3], ran: &Ran, faults: &[Fault]) -> Judged {
    let is_own = |id: &str| faults.iter().any(|fault| fault.names(id));
    let bad = ran.tests.iter().filter(|test| match test.outcome {
        Result::Passed => false,
        Result::Failed => test.level != Some(Level::May),
        Result::Skipped => !rightly_skipped(test),
    });
    let (own, failing): (Vec<Test>, Vec<Test>) = bad.cloned().partition(|test| is_own(&test.id));
    let failed = |id: &String| {
        let mut tests = ran.tests.iter();
        tests.any(|test| test.id == *id && test.outcome == Result::Failed)
    };
    let count = |level: Level| {
        let mut count = Count::default();
        for requirement in ran.requirements.values().filter(|it| it.level == level) {
            let of = match requirement.status.as_str() {
                "PASS" => &mut count.passed,
                "FAIL"
                    if requirement
                        .test_ids
                        .iter()
                        .filter(|id| failed(id))
                        .all(|id| is_own(id)) =>
                {
                    &mut count.own
                }
                "FAIL" => &mut count.failed,
                _ => continue,
            };
            *of = of.saturating_add(1);
        }
        (level, count)
    };
    Judged {
        title,
        counts: [Level::Must, Level::Should, Level::May].map(count),
        own,
        failing,
    }
}

/// The table of all runs: for each level how many requirements are met, are not for the kit's own faults, and are not.
#[must_use]
pub fn table(runs: &[Judged]) -> String {
    let mut table =
        "| host | configuration | binding | MUST | SHOULD | MAY | failing |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    for run in runs {
        let [must, should, may] = run.counts.map(|(_, count)| cell(count));
        let [host, configuration, binding] = &run.title;
        let _ = writeln!(
            table,
            "| {host} | {configuration} | {binding} | {must} | {should} | {may} | {} |",
            run.failing.len()
        );
    }
    table
}

fn cell(count: Count) -> String {
    let mut cell = format!("{} met", count.passed);
    for (number, what) in [(count.own, "the kit's fault"), (count.failed, "not met")] {
        if number > 0 {
            let _ = write!(cell, ", {number} {what}");
        }
    }
    cell
}

/// The tests of all runs that did not pass, each with the reason.
#[must_use]
pub fn details(runs: &[Judged]) -> String {
    let mut text = String::new();
    for run in runs {
        for (heading, tests) in [("the kit's own fault", &run.own), ("FAILS", &run.failing)] {
            for test in tests {
                let last = test.reason.lines().rev().find(|line| !line.trim().is_empty());
                let _ = writeln!(
                    text,
                    "{}: {heading}: {}\n    {}",
                    run.title.join(" "),
                    test.id,
                    last.unwrap_or_default()
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::kit::Requirement;

    fn test(id: &str, level: Level, outcome: Result, reason: &str) -> Test {
        Test {
            id: id.to_owned(),
            level: Some(level),
            outcome,
            reason: reason.to_owned(),
        }
    }

    fn requirement(level: Level, status: &str, ids: &[&str]) -> Requirement {
        Requirement {
            level,
            status: status.to_owned(),
            test_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        }
    }

    #[test]
    fn a_requirement_is_the_kit_s_fault_only_if_all_its_failures_are() {
        let ran = Ran {
            tests: vec![
                test("t.py::own", Level::Must, Result::Failed, "x"),
                test("t.py::ours", Level::Must, Result::Failed, "x"),
                test("t.py::soft", Level::Should, Result::Failed, "x"),
                test("t.py::may", Level::May, Result::Failed, "x"),
                test(
                    "t.py::left",
                    Level::Must,
                    Result::Skipped,
                    "Agent supports streaming",
                ),
                test(
                    "t.py::lost",
                    Level::Must,
                    Result::Skipped,
                    "send_message failed: no",
                ),
            ],
            requirements: BTreeMap::from([
                ("A".to_owned(), requirement(Level::Must, "FAIL", &["t.py::own"])),
                (
                    "B".to_owned(),
                    requirement(Level::Must, "FAIL", &["t.py::own", "t.py::ours"]),
                ),
                ("C".to_owned(), requirement(Level::Must, "PASS", &[])),
                ("D".to_owned(), requirement(Level::Should, "SKIPPED", &[])),
            ]),
        };
        let fault = Fault {
            tests: vec!["t.py::own".to_owned()],
            kit: String::new(),
            section: String::new(),
            specification: String::new(),
            upstream: None,
        };
        let judged = judge(["h".into(), "c".into(), "b".into()], &ran, &[fault]);
        let count = |passed, own, failed| Count { passed, own, failed };
        assert_eq!(
            judged.counts.map(|(_, count)| count),
            [count(1, 1, 1), count(0, 0, 0), count(0, 0, 0)]
        );
        let ids = |tests: &[Test]| tests.iter().map(|test| test.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&judged.own), ["t.py::own"]);
        assert_eq!(ids(&judged.failing), ["t.py::ours", "t.py::soft", "t.py::lost"]);
        assert_eq!(
            table(&[judged]).lines().last(),
            Some("| h | c | b | 1 met, 1 the kit's fault, 1 not met | 0 met | 0 met | 3 |")
        );
    }
}
