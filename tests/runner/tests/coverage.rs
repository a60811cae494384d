//! What the stories show of session coordination: each operation's success, and each reason that its page names.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use a2a_edge::coordination::{PATH, catalogue};
use a2a_edge_stories::story::Step;
use a2a_edge_stories::{Story, directory};

const PAGE: &str = include_str!("../../../docs/extensions/session-coordination.md");

/// The operation that a step calls, if it calls one.
fn operation(step: &Step) -> Option<String> {
    let (_, behind) = step.call.split_once(&format!("/{PATH}/"))?;
    Some(behind.replacen(':', ".", 1))
}

fn steps() -> Vec<(String, Step)> {
    let stories = Story::read_all(&directory()).unwrap();
    let steps = stories.into_iter().flat_map(|story| story.steps);
    steps
        .filter_map(|step| operation(&step).map(|operation| (operation, step)))
        .collect()
}

/// The reasons in the first column of the page's table.
fn documented() -> BTreeSet<String> {
    let (_, table) = PAGE.split_once("\n## Reasons\n").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap_or((table, ""));
    let names = table
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let quoted = names.flat_map(|names| names.split('`').skip(1).step_by(2));
    quoted.map(str::to_owned).collect()
}

#[test]
fn every_operation_succeeds_in_a_story() {
    let shown: BTreeSet<String> = steps()
        .into_iter()
        .filter(|(_, step)| step.expect.status == 200)
        .map(|(operation, _)| operation)
        .collect();
    let all = catalogue::OPERATIONS.iter().map(|operation| operation.name);
    let missing: Vec<&str> = all.filter(|name| !shown.contains(*name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn every_reason_of_the_page_is_met_in_a_story_and_no_other_is() {
    let met: BTreeSet<String> = steps()
        .iter()
        .filter_map(|(_, step)| step.expect.error.as_ref())
        .map(|error| error.reason.clone())
        .collect();
    assert_eq!(documented(), met);
}

#[test]
fn there_are_stories_enough() {
    let count = Story::read_all(&directory()).unwrap().len();
    assert!(count >= 40, "{count}");
}
