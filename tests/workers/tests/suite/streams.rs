//! Streams from an object: told at once, gone on with after a kill, and cheap while nothing happens.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use a2a_edge_stories::Http;
use a2a_edge_workers_tests::Deployment;
use serde_json::{Value, json};

use crate::party::{Caller, PLATFORM, Party};
use crate::reading::{EVENTS, Reading};

fn ask() -> Value {
    json!({"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]}})
}

/// The id of the only request there is.
fn only_request(party: &Party) -> Value {
    let listed = party
        .caller
        .coordinate(&party.session.member, "requests:list", &json!({}));
    listed.ok()["requests"][0]["requestId"].clone()
}

fn update(party: &Party, body: &Value) {
    let member = &party.session.member;
    party.caller.coordinate(member, "requests:update", body).ok();
}

fn say(party: &Party, status: &str) {
    let member = &party.session.member;
    let body = json!({ "status": status });
    party.caller.coordinate(member, "status:announce", &body).ok();
}

#[test]
fn each_event_arrives_before_the_next_happens() {
    let party = Party::new(&Deployment::default());
    let http = Http::new(party.running.url());
    let mut stream = Reading::open(
        &http,
        "POST",
        "/message:stream",
        &party.session.client,
        "",
        &ask(),
    );
    assert!(stream.until("TASK_STATE_SUBMITTED"));
    let request = only_request(&party);
    update(&party, &json!({"requestId": request, "action": "claim"}));
    assert!(stream.until("TASK_STATE_WORKING"));
    update(
        &party,
        &json!({"requestId": request, "action": "complete", "note": "Yes."}),
    );
    assert!(stream.until("TASK_STATE_COMPLETED"));
    assert!(!stream.until("nothing more"), "{}", stream.text);
}

#[test]
fn a_stream_goes_on_after_a_kill() {
    let mut party = Party::new(&Deployment::default());
    let client = party.session.client.clone();
    let http = Http::new(party.running.url());
    let mut stream = Reading::open(&http, "POST", "/message:stream", &client, "", &ask());
    assert!(stream.until("\n\n"));
    let (_, rest) = stream.text.split_once("\"id\":\"").unwrap();
    let task = rest.split('"').next().unwrap().to_owned();
    let request = only_request(&party);
    update(&party, &json!({"requestId": request, "action": "claim"}));
    party.running.kill();
    party.running = PLATFORM
        .start(&Deployment::default(), party.place.path())
        .unwrap();
    party.caller = Caller::of(&party.running);
    let http = Http::new(party.running.url());
    let path = format!("/tasks/{task}:subscribe");
    let mut stream = Reading::open(&http, "GET", &path, &client, "1", &Value::Null);
    assert!(stream.until("\n\n"));
    assert!(stream.text.starts_with("id: 2\n"), "{}", stream.text);
    update(
        &party,
        &json!({"requestId": request, "action": "complete", "note": "Yes."}),
    );
    assert!(stream.until("id: 4\n"), "{}", stream.text);
    assert!(!stream.until("nothing more"));
    assert_eq!(stream.text.matches("id: ").count(), 3, "{}", stream.text);
}

#[test]
fn a_trap_ends_the_streams_of_its_instance() {
    let party = Party::new(&Deployment::default().trapping());
    let http = Http::new(party.running.url());
    let mut stream = Reading::open(&http, "GET", EVENTS, &party.session.member, "", &Value::Null);
    assert!(stream.until("\n\n"));
    let start = Instant::now();
    party.caller.call("POST /arm", "", &Value::Null);
    let trapped = party.caller.send(&party.session.client, "trapped");
    assert_eq!(trapped.status, 500);
    assert!(!stream.until("nothing more"));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let mut again = Reading::open(&http, "GET", EVENTS, &party.session.member, "", &Value::Null);
    say(&party, "after");
    assert!(again.until("after"));
}

/// What a process has used of the processor, in hundredths of a second, and of memory, in KiB.
fn used(pid: u32) -> (u64, u64) {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    (ticks, line.split_whitespace().nth(1).unwrap().parse().unwrap())
}

const SUBSCRIBERS: usize = 200;
const IDLE: Duration = Duration::from_secs(5);

#[test]
fn two_hundred_idle_subscribers_of_one_object_are_all_told_of_the_next_event() {
    let party = Party::new(&Deployment::default());
    let http = Http::new(party.running.url());
    let pid = party.running.pid();
    let (_, before) = used(pid);
    let open = |_| Reading::open(&http, "GET", EVENTS, &party.session.member, "", &Value::Null);
    let mut streams: Vec<Reading<'_>> = (0..SUBSCRIBERS).map(open).collect();
    assert!(streams.iter_mut().all(|stream| stream.until("\n\n")));
    let (ticks, with) = used(pid);
    thread::sleep(IDLE);
    let idle = used(pid).0 - ticks;
    let start = Instant::now();
    say(&party, "news");
    assert!(streams.iter_mut().all(|stream| stream.until("news")));
    println!(
        "{SUBSCRIBERS} subscribers: {} KiB, {idle} hundredths of a second of processor in {IDLE:?}, all told in {:?}",
        with.saturating_sub(before),
        start.elapsed()
    );
    // Half a second of processor: far more than the few timers of a quiet object need.
    assert!(idle < 50, "{idle}");
    drop(streams);
    say(&party, "the session goes on without them");
}
