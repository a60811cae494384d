//! The protocol's own conformance vectors, and those that its text names and its files lack.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test stops at what it does not expect"
)]

#[path = "support/vectors.rs"]
mod support;

use std::collections::BTreeSet;

use serde_json::Value;
use support::{FILES, Native, vector_step, vectors};

/// Members of `expected`, each checked by the one arm that knows it.
fn members(expected: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let object = expected.as_object().expect("an expectation is an object");
    object.iter().map(|(name, value)| (name.as_str(), value))
}

fn check_step(id: &str, expected: &Value, actual: &Value) {
    for (name, value) in members(expected) {
        match name {
            "ok" => assert_eq!(&actual["ok"], value, "{id}: {actual}"),
            "error" | "result" => {
                for (member, value) in members(value) {
                    assert_eq!(&actual[name][member], value, "{id}: {name}.{member}: {actual}");
                }
            }
            _ => panic!("{id}: unknown expectation {name} of a step"),
        }
    }
}

/// What the steps delivered, each delivery with the name of the step's message.
fn deliveries(verdicts: &[Value]) -> Vec<Value> {
    let mut all = Vec::new();
    for (index, verdict) in verdicts.iter().enumerate() {
        for delivery in verdict["result"]["deliveries"].as_array().into_iter().flatten() {
            let mut delivery = delivery.clone();
            delivery["message"] = format!("$s{}", index + 1).into();
            all.push(delivery);
        }
    }
    all
}

fn check_deliveries(id: &str, expected: &Value, mut actual: Vec<Value>) {
    let expected = expected.as_array().expect("deliveries are a list");
    for delivery in expected {
        let found = actual
            .iter()
            .position(|it| members(delivery).all(|(name, value)| it.get(name) == Some(value)));
        let found = found.unwrap_or_else(|| panic!("{id}: no delivery {delivery} among {actual:?}"));
        actual.remove(found);
    }
    assert!(
        actual.is_empty(),
        "{id}: deliveries beyond those expected: {actual:?}"
    );
}

/// Runs a vector and checks all it expects; how many steps it has.
fn run(vector: &Value) -> usize {
    let id = vector["id"].as_str().expect("a vector has an id");
    let steps = vector["when"].as_array().expect("a vector has steps");
    let verdicts: Vec<Value> = steps
        .iter()
        .map(|step| {
            let verdict = vector_step(&Native, &vector["given"], step);
            let verdict = verdict.unwrap_or_else(|| panic!("{id}: unknown operation in {step}"));
            serde_json::from_str(&verdict).expect("a verdict is JSON")
        })
        .collect();
    for (name, value) in members(&vector["then"]) {
        match name {
            "steps" => {
                let expected = value.as_array().expect("steps are a list");
                assert_eq!(expected.len(), verdicts.len(), "{id}");
                for (expected, actual) in expected.iter().zip(&verdicts) {
                    check_step(id, expected, actual);
                }
            }
            "deliveries" => check_deliveries(id, value, deliveries(&verdicts)),
            _ => panic!("{id}: unknown expectation {name}"),
        }
    }
    steps.len()
}

#[test]
fn every_vector_that_needs_no_host_holds() {
    let counts: Vec<(&str, usize, usize)> = FILES
        .iter()
        .map(|(name, file)| {
            let vectors = vectors(file);
            (*name, vectors.len(), vectors.iter().map(run).sum())
        })
        .collect();
    assert_eq!(
        counts,
        [
            ("work-ext", 13, 20),
            ("envelope-ext", 12, 12),
            ("projection", 24, 26),
            ("peers", 3, 10),
            ("written-from-the-seed", 3, 6),
        ]
    );
}

/// The ids that the text of work/v1 and of its placement names.
const NAMED: [&str; 19] = [
    "a2a.envelope-ext.refuses-metadata-over-64-kib",
    "a2a.work-ext.accepts-a-handoff-with-every-field",
    "a2a.work-ext.accepts-a-status-request",
    "a2a.work-ext.refuses-an-unknown-skill",
    "a2a.work-ext.refuses-a-handoff-without-a-title",
    "a2a.work-ext.refuses-a-title-over-200-bytes",
    "a2a.work-ext.refuses-a-multi-line-title",
    "a2a.work-ext.refuses-more-than-20-acceptance-criteria",
    "a2a.work-ext.refuses-a-criterion-over-500-bytes",
    "a2a.work-ext.refuses-a-multi-line-criterion",
    "a2a.work-ext.refuses-more-than-50-writes",
    "a2a.work-ext.refuses-a-write-outside-the-repository",
    "a2a.work-ext.refuses-a-write-over-512-bytes",
    "a2a.work-ext.refuses-an-unknown-priority",
    "a2a.work-ext.refuses-more-than-10-labels",
    "a2a.work-ext.refuses-a-request-that-is-not-an-object",
    "core.gates.task-proposal-is-raised-only-by-the-system",
    "core.gates.task-proposal-needs-a-deciding-answer",
    "core.gates.task-proposal-is-answered-with-approve-or-decline",
];

#[test]
fn every_vector_that_the_text_names_is_in_the_files() {
    let gates = include_str!("vectors/gates.task-proposal.json");
    let files = FILES.iter().map(|(_, file)| *file).chain([gates]);
    let ids: Vec<String> = files
        .flat_map(vectors)
        .map(|vector| vector["id"].as_str().expect("an id").to_owned())
        .collect();
    let unique: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    assert_eq!(unique.len(), ids.len(), "a vector stands twice");
    let missing: Vec<&&str> = NAMED.iter().filter(|id| !unique.contains(*id)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn an_operation_that_is_not_known_has_no_verdict() {
    for step in [
        serde_json::json!({"op": "a2a.inbound"}),
        serde_json::json!({"op": "a2a.validate", "extension": "gate", "raw": {}}),
        serde_json::json!({}),
    ] {
        assert_eq!(vector_step(&Native, &Value::Null, &step), None);
    }
}
