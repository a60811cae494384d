//! Idempotency keys cost a session next to nothing: what a repeat is answered is read from the log.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/desk.rs"]
mod desk;

use desk::Bench;
use serde_json::{Value, json};

fn announce(bench: &Bench, number: usize) -> Value {
    let body = json!({"status": format!("at {number}"), "idempotencyKey": format!("k-{number}")});
    bench.coordinate(&bench.member, "status:announce", &body).ok()
}

#[test]
fn the_state_holds_no_answers() {
    let bench = Bench::new();
    let answer = announce(&bench, 0);
    let event = answer["event"]["eventId"].as_str().unwrap();
    let snapshot = String::from_utf8(bench.state().snapshot()).unwrap();
    assert!(snapshot.contains("k-0"));
    assert!(!snapshot.contains(event), "{snapshot}");
}

#[test]
fn a_repeat_is_answered_the_same_however_much_has_happened_since() {
    let bench = Bench::new();
    // More than the tail of a head holds: the first are in segments by now.
    let answers: Vec<Value> = (0..200).map(|number| announce(&bench, number)).collect();
    let seq = bench.state().seq();
    for number in [0, 1, 63, 64, 65, 199] {
        assert_eq!(announce(&bench, number).to_string(), answers[number].to_string());
    }
    assert_eq!(bench.state().seq(), seq, "repeats are no events");
}

#[test]
fn a_key_is_forgotten_a_day_after_its_use() {
    let bench = Bench::new();
    let first = announce(&bench, 0);
    bench.wait(86_400);
    assert_eq!(announce(&bench, 0), first);
    bench.wait(1);
    announce(&bench, 1);
    assert_ne!(announce(&bench, 0), first);
}
