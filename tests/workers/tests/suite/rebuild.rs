//! An object that the platform has taken out of memory builds its session again from its storage.

use std::thread;
use std::time::{Duration, Instant};

use a2a_edge_workers_tests::Deployment;
use serde_json::{Value, json};

use crate::party::{Caller, PLATFORM, Party};

/// workerd evicts an object that was idle for 10 seconds.
const EVICTION: Duration = Duration::from_secs(15);

/// How often a session was read from storage.
fn loads(party: &Party) -> usize {
    let lines = party.lines();
    lines
        .iter()
        .filter(|line| line.contains("\"event\":\"load\""))
        .count()
}

/// A message so long that a few of them are worth a snapshot; gives its task.
fn long_question(party: &Party, number: usize) -> Value {
    let parts = json!([{"text": format!("Question {number}?")}, {"text": "x".repeat(40_000)}]);
    let message = json!({"messageId": format!("m-{number}"), "role": "ROLE_USER", "parts": parts});
    let body = json!({"message": message, "configuration": {"returnImmediately": true}});
    let opened = party
        .caller
        .call("POST /message:send", &party.session.client, &body);
    opened.ok()["task"].clone()
}

#[test]
fn an_evicted_object_goes_on_where_it_stopped() {
    let party = Party::new(&Deployment::default());
    let (caller, client) = (&party.caller, &party.session.client);
    let opened = caller.send(client, "m-1").ok();
    let before = loads(&party);
    caller.send(client, "m-2").ok();
    assert_eq!(loads(&party), before);
    thread::sleep(EVICTION);
    let task = format!("GET /tasks/{}", opened["task"]["id"].as_str().unwrap());
    assert_eq!(caller.call(&task, client, &Value::Null).ok(), opened["task"]);
    assert_eq!(loads(&party), before + 1, "{:?}", party.running.lines());
}

#[test]
fn a_long_session_is_compacted_by_the_alarm_and_read_from_its_snapshot() {
    let mut party = Party::new(&Deployment::default());
    let client = party.session.client.clone();
    let tasks: Vec<Value> = (0..4).map(|number| long_question(&party, number)).collect();
    let compacted = party.running.line_with(&["\"event\":\"compact\""]);
    assert!(compacted.is_some(), "{:?}", party.running.lines());
    // An answer waits for what was written before it, so the snapshot outlives the kill.
    party.caller.call("GET /tasks", &client, &Value::Null).ok();
    party.running.kill();
    party.running = PLATFORM
        .start(&Deployment::default(), party.place.path())
        .unwrap();
    party.caller = Caller::of(&party.running);
    for task in &tasks {
        let line = format!("GET /tasks/{}", task["id"].as_str().unwrap());
        assert_eq!(&party.caller.call(&line, &client, &Value::Null).ok(), task);
    }
    let loaded = party.running.line_with(&["\"event\":\"load\""]).unwrap();
    let loaded: Value = serde_json::from_str(&loaded).unwrap();
    assert!(loaded["snapshot"].as_u64().unwrap() > 3, "{loaded}");
    assert_eq!(loaded["commits"], 0, "{loaded}");
}

#[test]
fn commits_and_snapshots_that_no_row_could_hold_are_kept_in_pieces() {
    let mut party = Party::new(&Deployment::default());
    let member = party.session.member.clone();
    let update = |party: &Party, body: &Value| party.caller.coordinate(&member, "requests:update", body).ok();
    let asked = json!({"title": "Write it all down", "body": "At length.", "maxAssignees": 1});
    let created = party.caller.coordinate(&member, "requests:create", &asked).ok();
    let id = &created["request"]["requestId"];
    update(&party, &json!({"requestId": id, "action": "claim"}));
    let note = "x".repeat(16_000);
    for _ in 0..140 {
        update(
            &party,
            &json!({"requestId": id, "action": "progress", "note": note}),
        );
    }
    // The answer is kept for a repeat, so each of these commits holds every note.
    let keyed =
        |key: &str| json!({"requestId": id, "action": "progress", "note": note, "idempotencyKey": key});
    let answer = update(&party, &keyed("one"));
    assert!(answer.to_string().len() > 2 << 20);
    restart(&mut party);
    assert_eq!(update(&party, &keyed("one")), answer);
    // By now there is more to replay than any snapshot before holds.
    update(&party, &keyed("two"));
    let compacted = party.running.line_with(&["\"event\":\"compact\""]).unwrap();
    let compacted: Value = serde_json::from_str(&compacted).unwrap();
    assert!(compacted["bytes"].as_u64().unwrap() > 2 << 20, "{compacted}");
    assert_eq!(update(&party, &keyed("one")), answer);
    restart(&mut party);
    assert_eq!(update(&party, &keyed("one")), answer);
    let loaded = party.running.line_with(&["\"event\":\"load\""]).unwrap();
    let loaded: Value = serde_json::from_str(&loaded).unwrap();
    assert!(
        loaded["snapshot"].as_u64() >= compacted["seq"].as_u64(),
        "{loaded}"
    );
}

/// Kills the runtime and starts it on the same state.
fn restart(party: &mut Party) {
    party.running.kill();
    party.running = PLATFORM
        .start(&Deployment::default(), party.place.path())
        .unwrap();
    party.caller = Caller::of(&party.running);
}

#[test]
fn an_alarm_that_was_set_before_a_kill_compacts_after_it() {
    let mut party = Party::new(&Deployment::default());
    for number in 0..2 {
        long_question(&party, number);
    }
    restart(&mut party);
    assert!(party.running.line_with(&["\"event\":\"compact\""]).is_some());
}

#[test]
fn a_blocking_send_is_woken_by_the_answer() {
    let party = Party::new(&Deployment::default());
    let (caller, session) = (&party.caller, &party.session);
    let asking = json!({"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]}});
    let start = Instant::now();
    let answered = thread::scope(|scope| {
        let waiter = scope.spawn(|| caller.call("POST /message:send", &session.client, &asking).ok());
        let request = loop {
            let listed = caller
                .coordinate(&session.member, "requests:list", &json!({}))
                .ok();
            if let Some(request) = listed["requests"][0]["requestId"].as_str() {
                break request.to_owned();
            }
        };
        for action in ["claim", "complete"] {
            let update = json!({"requestId": request, "action": action, "note": "Yes."});
            let update = if action == "claim" {
                json!({"requestId": request, "action": action})
            } else {
                update
            };
            caller
                .coordinate(&session.member, "requests:update", &update)
                .ok();
        }
        waiter.join().unwrap()
    });
    assert_eq!(
        answered["task"]["status"]["state"], "TASK_STATE_COMPLETED",
        "{answered}"
    );
    assert!(start.elapsed() < Duration::from_secs(20));
}
