//! Those who wait, in one instance, for what is done in another.

use std::thread;
use std::time::{Duration, Instant};

use a2a_edge_spin_tests::Deployment;
use a2a_edge_stories::Http;
use serde_json::{Value, json};

use crate::callers::{Caller, scratch};
use crate::party::{Party, sqlite, start};
use crate::reading::{EVENTS, Reading};

/// What another instance has committed shows within this.
const BOUND: Duration = Duration::from_millis(250);

/// What a test on a busy machine adds to it, for the request that commits and the bytes that arrive.
const SLACK: Duration = Duration::from_millis(150);

fn say(caller: &Caller, party: &Party, status: &str) {
    let body = json!({ "status": status });
    caller
        .coordinate(&party.session.member, "status:announce", &body)
        .ok();
}

#[test]
fn what_another_process_commits_shows_within_the_bound() {
    let place = scratch();
    let deployment = sqlite(&place).with("instances", "1");
    let party = Party::new(&deployment);
    let other = start(&deployment);
    let other = Caller::of(&other);
    let http = Http::new(party.running.url());
    let mut stream = Reading::open(&http, "GET", EVENTS, &party.session.member, "", &Value::Null);
    assert!(stream.until("\n\n"));
    say(&other, &party, "warm");
    assert!(stream.until("warm"));
    let mut slowest = Duration::ZERO;
    for round in 0..20 {
        // Silence of different lengths, so that the pauses between two looks are at all of theirs.
        thread::sleep(Duration::from_millis(round * 37));
        say(&other, &party, &format!("round-{round}-over"));
        let committed = Instant::now();
        assert!(stream.until(&format!("round-{round}-over")));
        slowest = slowest.max(committed.elapsed());
    }
    println!("the slowest of 20 showed after {slowest:?}");
    assert!(slowest < BOUND + SLACK, "{slowest:?}");
}

#[test]
fn a_blocking_send_is_answered_by_what_another_instance_does() {
    let party = Party::new(&Deployment::on("memory"));
    let ask = json!({"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]}});
    let answer = thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let caller = Caller::of(&party.running);
            caller
                .call("POST /message:send", &party.session.client, &ask)
                .ok()
        });
        let member = &party.session.member;
        let start = Instant::now();
        let request = loop {
            let listed = party.caller.coordinate(member, "requests:list", &json!({})).ok();
            if let Some(request) = listed["requests"].get(0) {
                break request["requestId"].clone();
            }
            assert!(start.elapsed() < Duration::from_secs(20));
        };
        for body in [
            json!({"requestId": request, "action": "claim"}),
            json!({"requestId": request, "action": "complete", "note": "Yes."}),
        ] {
            party.caller.coordinate(member, "requests:update", &body).ok();
        }
        waiting.join().unwrap()
    });
    assert_eq!(
        answer["task"]["status"]["state"], "TASK_STATE_COMPLETED",
        "{answer}"
    );
}

#[test]
fn a_blocking_send_is_over_at_its_limit() {
    let party = Party::new(&Deployment::on("memory").with("wait_limit", "1"));
    let ask = json!({"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]}});
    let start = Instant::now();
    let answer = party
        .caller
        .call("POST /message:send", &party.session.client, &ask)
        .ok();
    assert_eq!(
        answer["task"]["status"]["state"], "TASK_STATE_SUBMITTED",
        "{answer}"
    );
    let took = start.elapsed();
    assert!(
        Duration::from_secs(1) <= took && took < Duration::from_secs(4),
        "{took:?}"
    );
}

#[test]
fn a_stream_goes_on_after_a_kill() {
    let place = scratch();
    let deployment = sqlite(&place);
    let mut party = Party::new(&deployment);
    let http = Http::new(party.running.url());
    let mut stream = Reading::open(&http, "GET", EVENTS, &party.session.member, "", &Value::Null);
    say(&party.caller, &party, "before");
    assert!(stream.until("before") && stream.until("\n\n"));
    let last = stream
        .text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("id: "))
        .unwrap()
        .to_owned();
    party.running.kill();
    assert!(!stream.until("nothing more"));
    party.running = start(&deployment);
    party.caller = Caller::of(&party.running);
    say(&party.caller, &party, "between");
    let http = Http::new(party.running.url());
    let mut stream = Reading::open(&http, "GET", EVENTS, &party.session.member, &last, &Value::Null);
    assert!(stream.until("between"));
    assert!(!stream.text.contains("before"), "{}", stream.text);
    say(&party.caller, &party, "after");
    assert!(stream.until("after"));
}

#[test]
fn one_instance_holds_streams_and_answers_others() {
    let party = Party::new(&Deployment::on("memory").with("instances", "1"));
    let http = Http::new(party.running.url());
    let open = |_| Reading::open(&http, "GET", EVENTS, &party.session.member, "", &Value::Null);
    let mut streams: Vec<Reading<'_>> = (0..12).map(open).collect();
    assert!(streams.iter_mut().all(|stream| stream.until("\n\n")));
    say(&party.caller, &party, "news");
    assert!(streams.iter_mut().all(|stream| stream.until("news")));
}
