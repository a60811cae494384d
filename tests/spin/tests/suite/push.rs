//! Push notifications by instances that have no time of their own: behind the requests that found them due, by one at a
//! time, and by another where that one died.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use a2a_edge_spin_tests::Deployment;
use a2a_edge_stories::server::Running;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::callers::{Caller, Session, scratch};
use crate::crowds::all_find_room;
use crate::hook::{Notified, Webhook};
use crate::notifications::{ask, update};
use crate::party::{Party, Redis, sqlite, start};

/// How many changes each of four tasks goes through.
const CHANGES: usize = 12;

/// How long a lease is good for.
const LEASE: Duration = Duration::from_secs(30);

/// Opens a task that the webhook is told of; gives its request.
fn open(caller: &Caller, session: &Session, number: usize, url: &str) -> String {
    let body = json!({
        "message": {"messageId": format!("m-{number}"), "role": "ROLE_USER", "parts": [{"text": "Now?"}]},
        "configuration": {"returnImmediately": true, "taskPushNotificationConfig": {"url": url}},
    });
    let sent = caller.call("POST /message:send", &session.client, &body).ok();
    let task = sent["task"]["id"].clone();
    let listed = caller
        .coordinate(&session.member, "requests:list", &json!({}))
        .ok();
    let mut requests = listed["requests"].as_array().unwrap().iter();
    let request = requests.find(|request| request["taskId"] == task).unwrap();
    request["requestId"].as_str().unwrap().to_owned()
}

fn step(caller: &Caller, session: &Session, request: &str, action: &str) {
    let body = json!({"requestId": request, "action": action, "note": "On it."});
    caller.coordinate(&session.member, "requests:update", &body).ok();
}

/// Four tasks at once, whose every change is told once and in order whatever instance was asked.
fn four_at_once(deployment: &Deployment) {
    let party = Party::new(&deployment.clone().with_local_webhooks());
    let (caller, session) = (&party.caller, &party.session);
    let webhook = Webhook::start();
    let requests: Vec<String> = (0..4)
        .map(|number| open(caller, session, number, &webhook.url))
        .collect();
    thread::scope(|scope| {
        for request in &requests {
            scope.spawn(move || {
                step(caller, session, request, "claim");
                (2..CHANGES).for_each(|_| step(caller, session, request, "progress"));
                step(caller, session, request, "complete");
            });
        }
    });
    let mut told: BTreeMap<String, Vec<Notified>> = BTreeMap::new();
    let mut ended = 0;
    while ended < requests.len() {
        let notified = webhook.next();
        ended += usize::from(notified.state() == "TASK_STATE_COMPLETED");
        told.entry(notified.key().0).or_default().push(notified);
    }
    // Whatever would come twice has come by then.
    thread::sleep(Duration::from_millis(500));
    assert_eq!(webhook.rest().len(), 0);
    assert_eq!(told.len(), requests.len());
    for notified in told.values() {
        let numbers: Vec<usize> = notified.iter().map(|notified| notified.key().1).collect();
        assert!(numbers.len() > CHANGES, "{numbers:?}");
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    }
}

#[test]
fn four_instances_tell_every_change_once_and_in_order_on_a_store_in_memory() {
    four_at_once(&Deployment::on("memory"));
}

#[test]
fn four_instances_tell_every_change_once_and_in_order_on_sqlite() {
    let place = scratch();
    four_at_once(&sqlite(&place));
}

#[test]
fn four_instances_tell_every_change_once_and_in_order_on_redis() {
    let redis = Redis::start(scratch());
    four_at_once(&redis.deployment());
}

#[test]
fn an_instance_for_each_request_tells_every_change_once_and_in_order() {
    four_at_once(&Deployment::on("memory").with("requests", "1"));
}

#[test]
fn what_was_not_taken_is_sent_again_without_another_request() {
    let deployment = Deployment::on("memory")
        .with("requests", "1")
        .with_local_webhooks();
    let party = Party::new(&deployment);
    let webhook = Webhook::start();
    let answers = ["503 Service Unavailable", "410 Gone"];
    webhook.answers.lock().unwrap().extend(answers);
    ask(&party.caller, &party.session, &webhook.url);
    let (first, again) = (webhook.next(), webhook.next());
    assert_eq!(first.key(), again.key());
    let given_up = party.running.line_with(&["\"event\":\"webhook-given-up\""]);
    assert!(given_up.is_some(), "{:?}", party.lines());
    update(&party.caller, &party.session, "claim");
    thread::sleep(Duration::from_millis(500));
    assert_eq!(webhook.rest().len(), 0);
}

#[test]
fn without_leave_of_the_manifest_nobody_is_called() {
    let deployment = Deployment::on("memory").with("push", "local");
    let party = Party::new(&deployment);
    let webhook = Webhook::start();
    ask(&party.caller, &party.session, &webhook.url);
    let line = party.running.line_with(&["\"event\":\"webhook\"", "127.0.0.1"]);
    assert!(line.is_some(), "{:?}", party.lines());
    assert_eq!(webhook.rest().len(), 0);
}

/// Two processes with an instance each, on one store.
fn two(place: &TempDir) -> [Running; 2] {
    let deployment = sqlite(place).with("instances", "1").with_local_webhooks();
    [start(&deployment), start(&deployment)]
}

#[test]
fn what_an_instance_was_killed_over_another_sends_once_the_lease_has_lapsed() {
    let place = TempDir::new_in(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let [mut killed, other] = two(&place);
    let session = Session::create(&Caller::of(&killed));
    let webhook = Webhook::start();
    webhook.answers.lock().unwrap().push_back("");
    let begun = Instant::now();
    ask(&Caller::of(&killed), &session, &webhook.url);
    let first = webhook.next();
    killed.kill();
    let seen = Caller::of(&other).call("GET /tasks", &session.client, &Value::Null);
    assert_eq!(seen.status, 200);
    let again = webhook.next();
    assert_eq!(first.key(), again.key());
    let waited = begun.elapsed();
    assert!(waited > LEASE - Duration::from_secs(1), "{waited:?}");
    update(&Caller::of(&other), &session, "claim");
    assert_eq!(webhook.next().state(), "TASK_STATE_WORKING");
}

#[test]
fn what_is_asked_for_while_an_instance_ends_its_sending_is_sent_all_the_same() {
    let party = Party::new(
        &Deployment::on("memory")
            .with("instances", "1")
            .with_local_webhooks(),
    );
    let (slow, quick) = (Webhook::start(), Webhook::start());
    slow.answers.lock().unwrap().extend([""; 20]);
    let begun = Instant::now();
    // Half a minute after the first nothing more would be begun, but the last that was is still waited for.
    for (number, (second, webhook)) in [(0, &slow), (8, &slow), (31, &quick)].into_iter().enumerate() {
        thread::sleep(Duration::from_secs(second).saturating_sub(begun.elapsed()));
        open(&party.caller, &party.session, number, &webhook.url);
    }
    assert_eq!(quick.next().state(), "TASK_STATE_SUBMITTED");
}

#[test]
fn notifications_that_are_tried_again_and_again_leave_requests_their_room() {
    let party = Party::new(
        &Deployment::on("memory")
            .with("instances", "1")
            .with_local_webhooks(),
    );
    let webhook = Webhook::start();
    webhook
        .answers
        .lock()
        .unwrap()
        .extend(["503 Service Unavailable"; 500]);
    let sessions: Vec<Session> = (0..36).map(|_| Session::create(&party.caller)).collect();
    for session in &sessions {
        ask(&party.caller, session, &webhook.url);
    }
    // After two tries each.
    thread::sleep(Duration::from_secs(18));
    all_find_room(&party, 0);
}

#[test]
fn an_instance_makes_way_before_it_has_no_room_for_swaps() {
    let deployment = Deployment::on("memory")
        .with("instances", "1")
        .with("requests", "100000");
    let party = Party::new(&deployment.with_local_webhooks());
    let webhook = Webhook::start();
    ask(&party.caller, &party.session, &webhook.url);
    for number in 0..400 {
        party
            .caller
            .send(&party.session.client, &format!("m-{number}"))
            .ok();
    }
    update(&party.caller, &party.session, "claim");
    let told = [webhook.next(), webhook.next()];
    assert_eq!(told[1].state(), "TASK_STATE_WORKING");
}
