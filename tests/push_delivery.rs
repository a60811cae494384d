//! What webhooks are sent: each change once and in order, tried again until it is taken or given up, whatever ends in
//! between.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/random.rs"]
mod random;
#[path = "support/desk.rs"]
mod support;
#[path = "support/webhook.rs"]
mod webhook;

use std::collections::BTreeMap;
use std::future::Future as _;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use a2a_edge::guard::Reach;
use a2a_edge::serve::{Body, Config, Desk, deliver, handle, next_due};
use a2a_edge::session::push::TRIES;
use http::Request;
use random::Random;
use serde_json::{Value, json};
use support::{Bench, OPERATOR, WORK};
use webhook::{HOOK, Process, Webhook};

fn bench() -> Bench {
    Bench::with(|config| config.webhooks = Some(Reach::Public))
}

/// A task of the client's, notified of from the start.
fn opened(bench: &Bench, extensions: &str, config: &Value) -> String {
    let body = json!({
        "message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]},
        "configuration": {"returnImmediately": true, "taskPushNotificationConfig": config},
    });
    let bytes = body.to_string();
    let sent = bench.request(
        "POST",
        "/message:send",
        &bench.client,
        extensions,
        bytes.as_bytes(),
    );
    sent.ok()["task"]["id"].as_str().unwrap().into()
}

fn set(bench: &Bench, token: &str, task: &str, config: &Value) {
    let path = format!("/tasks/{task}/pushNotificationConfigs");
    bench
        .request("POST", &path, token, "", config.to_string().as_bytes())
        .ok();
}

fn update(bench: &Bench, task: &str, action: &str, more: &Value) {
    let mut body = json!({"requestId": bench.state().task(task).unwrap().request_id, "action": action});
    let more = more.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(more);
    bench.coordinate(&bench.member, "requests:update", &body).ok();
}

/// All that happens to an ask until it is answered.
fn answered(bench: &Bench, task: &str) {
    update(bench, task, "claim", &json!({}));
    let artifacts = json!([
        {"artifactId": "log", "parts": [{"text": "all of it"}]},
        {"artifactId": "more", "parts": [{"data": {"n": 1}}]},
    ]);
    update(
        bench,
        task,
        "progress",
        &json!({"note": "Half.", "artifacts": artifacts}),
    );
    update(bench, task, "complete", &json!({"note": "Yes."}));
}

/// What a stream about a task tells of all its changes.
fn streamed(bench: &Bench, task: &str, extensions: &str) -> Vec<Value> {
    let request = Request::get(format!("/tasks/{task}:subscribe"))
        .header("a2a-version", "1.0")
        .header("a2a-extensions", extensions)
        .header("last-event-id", "0")
        .header("authorization", format!("Bearer {}", bench.client));
    let answer = handle(&bench.host, &bench.desk, request.body(Vec::new()).unwrap());
    let Body::Stream(mut stream) = pollster::block_on(answer).into_body() else {
        panic!("no stream");
    };
    let mut told = Vec::new();
    while let Some(bytes) = pollster::block_on(stream.next(&bench.host, &bench.desk)) {
        let text = String::from_utf8(bytes).unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        told.extend(data.map(|data| serde_json::from_str::<Value>(data).unwrap()));
    }
    told
}

fn states(webhook: &Webhook<'_>) -> Vec<String> {
    let state = |body: &Value| {
        body["statusUpdate"]["status"]["state"]
            .as_str()
            .map(str::to_owned)
    };
    webhook.taken().iter().filter_map(state).collect()
}

#[test]
fn a_webhook_is_told_what_a_stream_tells_each_change_once_and_in_order() {
    for extensions in ["", WORK] {
        let bench = bench();
        let task = opened(&bench, extensions, &json!({"url": HOOK}));
        let (process, webhook) = (Process::new(&bench), Webhook::default());
        process.deliver(&webhook);
        assert_eq!(states(&webhook), ["TASK_STATE_SUBMITTED"]);
        answered(&bench, &task);
        let before = bench.state().seq();
        process.deliver(&webhook);
        assert_eq!(
            bench.state().seq(),
            before + 1,
            "one commit for all that was taken"
        );
        assert_eq!(webhook.taken(), streamed(&bench, &task, extensions));
        assert!(
            webhook
                .taken()
                .iter()
                .any(|body| body["artifactUpdate"]["artifact"]["artifactId"] == "log")
        );
        assert_eq!(states(&webhook).last().unwrap(), "TASK_STATE_COMPLETED");
        process.deliver(&webhook);
        assert_eq!(bench.state().seq(), before + 1, "nothing more to do");
    }
}

#[test]
fn a_webhook_that_is_more_than_1000_changes_behind_is_told_those_that_are_kept() {
    let bench = bench();
    let task = opened(&bench, "", &json!({"url": HOOK}));
    update(&bench, &task, "claim", &json!({}));
    let log = json!({"artifactId": "log", "parts": [{"text": "once more"}]});
    for _ in 0..55 {
        update(
            &bench,
            &task,
            "progress",
            &json!({"artifacts": vec![log.clone(); 20]}),
        );
    }
    let (process, webhook) = (Process::new(&bench), Webhook::default());
    while process.next_due().is_some_and(|due| due <= bench.now()) {
        process.deliver(&webhook);
    }
    let last = bench.state().task(&task).unwrap().told();
    assert!(webhook.numbers().into_iter().eq(101..=last), "up to {last}");
}

#[test]
fn a_notification_carries_what_its_config_says() {
    let bench = bench();
    let config = json!({
        "id": "c", "url": "https://client.example:8443/a/b?c=d", "token": "t 1",
        "authentication": {"scheme": "Bearer", "credentials": "secret"},
    });
    let task = opened(&bench, WORK, &config);
    set(
        &bench,
        &bench.client,
        &task,
        &json!({"id": "d", "url": HOOK, "authentication": {"scheme": "Negotiate"}}),
    );
    let (process, webhook) = (Process::new(&bench), Webhook::default());
    process.deliver(&webhook);
    let sent = webhook.sent.borrow();
    let first = sent
        .iter()
        .find(|request| request.uri().port().is_some())
        .unwrap();
    assert_eq!(
        (first.method().as_str(), first.uri().to_string()),
        ("POST", config["url"].as_str().unwrap().to_owned())
    );
    let headers: BTreeMap<&str, &str> = first
        .headers()
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .collect();
    let key = format!("\"{task}-1\"");
    let agent = concat!("a2a-edge/", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        headers,
        BTreeMap::from([
            ("a2a-extensions", WORK),
            ("a2a-version", "1.0"),
            ("authorization", "Bearer secret"),
            ("content-type", "application/a2a+json"),
            ("idempotency-key", key.as_str()),
            ("user-agent", agent),
            ("x-a2a-notification-token", "t 1"),
        ])
    );
    let other = sent
        .iter()
        .find(|request| request.uri().port().is_none())
        .unwrap();
    assert_eq!(other.headers()["authorization"], "Negotiate");
    assert!(!other.headers().contains_key("x-a2a-notification-token"));
    assert!(!other.headers().contains_key("a2a-extensions"));
}

#[test]
fn a_config_that_is_set_later_begins_with_the_status_as_it_stands() {
    let bench = bench();
    let sent = bench.send(&bench.client, "", &json!({})).ok();
    let task = sent["task"]["id"].as_str().unwrap();
    update(&bench, task, "claim", &json!({}));
    let (process, webhook) = (Process::new(&bench), Webhook::default());
    set(&bench, &bench.client, task, &json!({"id": "c", "url": HOOK}));
    process.deliver(&webhook);
    assert_eq!(states(&webhook), ["TASK_STATE_WORKING"]);
    update(&bench, task, "complete", &json!({"note": "Yes."}));
    process.deliver(&webhook);
    assert_eq!(states(&webhook).last().unwrap(), "TASK_STATE_COMPLETED");
    let count = webhook.taken().len();
    // Of a task that has ended, too: who comes late learns how it ended.
    set(&bench, &bench.client, task, &json!({"id": "c", "url": HOOK}));
    process.deliver(&webhook);
    assert_eq!(states(&webhook).last().unwrap(), "TASK_STATE_COMPLETED");
    assert_eq!(webhook.taken().len(), count + 1);
}

#[test]
fn what_is_not_taken_is_tried_again_later_and_later_and_nothing_overtakes_it() {
    let bench = bench();
    let task = opened(&bench, "", &json!({"url": HOOK}));
    answered(&bench, &task);
    let (process, webhook) = (Process::new(&bench), Webhook::default());
    webhook.answer([Some(200), Some(500), None, Some(302), Some(404)]);
    let mut waits = Vec::new();
    process.deliver(&webhook);
    for _ in 0..3 {
        let sent = webhook.sent.borrow().len();
        let due = process.next_due().unwrap();
        waits.push(due.millis_since(bench.now()));
        process.deliver(&webhook);
        assert_eq!(webhook.sent.borrow().len(), sent, "not before it is due");
        process.wait_until(due);
        process.deliver(&webhook);
        assert_eq!(webhook.sent.borrow().len(), sent + 1);
    }
    assert!(
        waits.windows(2).all(|pair| pair[1] > pair[0] * 3 / 2),
        "{waits:?}"
    );
    assert_eq!(webhook.taken().len(), 1);
    process.wait_until(process.next_due().unwrap());
    process.deliver(&webhook);
    assert_eq!(webhook.taken(), streamed(&bench, &task, ""));
    assert_eq!(process.next_due(), None);
}

#[test]
fn after_so_many_tries_it_is_given_up_until_the_config_is_set_again() {
    let bench = bench();
    let task = opened(&bench, "", &json!({"id": "c", "url": HOOK}));
    let (process, webhook) = (Process::new(&bench), Webhook::default());
    webhook.answer(std::iter::repeat_n(Some(503), TRIES as usize));
    let mut tries = 0;
    while let Some(due) = process.next_due() {
        assert!(webhook.given_up.borrow().is_empty());
        process.wait_until(due);
        process.deliver(&webhook);
        tries += 1;
    }
    assert_eq!((tries, webhook.sent.borrow().len()), (TRIES, TRIES as usize));
    assert_eq!(
        webhook.given_up.borrow().as_slice(),
        [(task.clone(), "c".to_owned())]
    );
    assert!(
        bench
            .state()
            .pushes()
            .get(&task, "c")
            .unwrap()
            .given_up_at
            .is_some()
    );
    answered(&bench, &task);
    process.deliver(&webhook);
    assert_eq!(
        (process.next_due(), webhook.sent.borrow().len()),
        (None, TRIES as usize)
    );
    set(&bench, &bench.client, &task, &json!({"id": "c", "url": HOOK}));
    process.deliver(&webhook);
    assert_eq!(states(&webhook), ["TASK_STATE_COMPLETED"]);
}

#[test]
fn a_try_less_is_not_given_up() {
    let bench = bench();
    let task = opened(&bench, "", &json!({"id": "c", "url": HOOK}));
    let (process, webhook) = (Process::new(&bench), Webhook::default());
    webhook.answer(std::iter::repeat_n(Some(503), TRIES as usize - 1));
    while let Some(due) = process.next_due() {
        process.wait_until(due);
        process.deliver(&webhook);
    }
    assert_eq!(states(&webhook), ["TASK_STATE_SUBMITTED"]);
    // What was taken counts anew.
    update(&bench, &task, "claim", &json!({}));
    webhook.answer(std::iter::repeat_n(Some(503), TRIES as usize - 1));
    while let Some(due) = process.next_due() {
        process.wait_until(due);
        process.deliver(&webhook);
    }
    assert_eq!(states(&webhook), ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"]);
}

#[test]
fn a_webhook_that_is_gone_is_not_asked_again() {
    let bench = bench();
    opened(&bench, "", &json!({"url": HOOK}));
    let (process, webhook) = (Process::new(&bench), Webhook::default());
    webhook.answer([Some(410)]);
    process.deliver(&webhook);
    assert_eq!((process.next_due(), webhook.given_up.borrow().len()), (None, 1));
}

#[test]
fn nothing_is_lost_or_told_out_of_order_when_the_process_ends_at_any_point() {
    let bench = bench();
    let task = opened(&bench, "", &json!({"url": HOOK}));
    answered(&bench, &task);
    let expected = streamed(&bench, &task, "");
    // The process ends right before so many requests are answered.
    for survived in 0..=expected.len() {
        let bench = self::bench();
        let task = opened(&bench, "", &json!({"url": HOOK}));
        answered(&bench, &task);
        let webhook = Webhook::default();
        webhook.hang_after.set(Some(survived));
        {
            let process = Process::new(&bench);
            let mut delivery = pin!(deliver(&process, &bench.desk, &webhook, &bench.session));
            let polled = delivery.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert_eq!(polled.is_ready(), survived == expected.len());
        }
        webhook.hang_after.set(None);
        Process::new(&bench).deliver(&webhook);
        // What was taken and not recorded comes again; then all goes on.
        let again = if survived == expected.len() { 0 } else { survived };
        let numbers = webhook.numbers();
        let all: Vec<usize> = (1..=again).chain(1..=expected.len()).collect();
        assert_eq!(numbers, all);
    }
}

#[test]
fn a_webhook_that_does_not_answer_holds_up_no_other() {
    let bench = bench();
    let task = opened(&bench, "", &json!({"id": "slow", "url": "https://slow.example/"}));
    set(&bench, &bench.client, &task, &json!({"id": "quick", "url": HOOK}));
    let (process, webhook) = (Process::new(&bench), Webhook::default());
    webhook.hang_on.replace(Some("slow.example".into()));
    let mut delivery = pin!(deliver(&process, &bench.desk, &webhook, &bench.session));
    let context = &mut Context::from_waker(Waker::noop());
    assert!(delivery.as_mut().poll(context).is_pending());
    assert_eq!(states(&webhook), ["TASK_STATE_SUBMITTED"]);
    // Nor what comes to be due meanwhile.
    update(&bench, &task, "claim", &json!({}));
    process.ring();
    assert!(delivery.as_mut().poll(context).is_pending());
    assert_eq!(states(&webhook), ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"]);
    webhook.hang_on.replace(None);
    assert!(matches!(delivery.as_mut().poll(context), Poll::Ready(Ok(_))));
    assert_eq!(states(&webhook).len(), 4);
}

#[test]
fn what_is_deleted_while_it_is_on_its_way_is_sent_no_more() {
    let bench = bench();
    let task = opened(&bench, "", &json!({"id": "c", "url": HOOK}));
    answered(&bench, &task);
    let path = format!("/tasks/{task}/pushNotificationConfigs/c");
    let (process, webhook) = (Process::new(&bench), Webhook::default());
    webhook.meanwhile(|| drop(bench.request("DELETE", &path, &bench.client, "", b"").ok()));
    process.deliver(&webhook);
    assert_eq!(webhook.sent.borrow().len(), 1);
    assert_eq!(process.next_due(), None);
}

#[test]
fn what_comes_of_a_config_that_was_set_again_meanwhile_is_the_old_one_s() {
    let bench = bench();
    let task = opened(&bench, "", &json!({"id": "c", "url": HOOK}));
    let process = Process::new(&bench);
    let again = json!({"id": "c", "url": "https://new.example/"});
    let webhook = Webhook::default();
    webhook.meanwhile(|| set(&bench, &bench.client, &task, &again));
    webhook.answer([Some(410)]);
    process.deliver(&webhook);
    assert!(webhook.given_up.borrow().is_empty());
    let sent = webhook.sent.borrow();
    assert_eq!(sent.last().unwrap().uri().host(), Some("new.example"));
    assert_eq!(bench.state().pushes().get(&task, "c").unwrap().known, 1);
}

#[test]
fn what_time_alone_brings_about_is_sent_when_it_is_due() {
    let bench = bench();
    let asked = json!({"title": "Look into it", "expiresInSeconds": 60});
    let created = bench.coordinate(&bench.member, "requests:create", &asked).ok();
    let task = created["request"]["taskId"].as_str().unwrap();
    set(&bench, &bench.member, task, &json!({"url": HOOK}));
    let (process, webhook) = (Process::new(&bench), Webhook::default());
    process.deliver(&webhook);
    let due = process.next_due().unwrap();
    assert_eq!(due.millis_since(bench.now()), 60_000);
    process.wait_until(due);
    process.deliver(&webhook);
    assert_eq!(states(&webhook), ["TASK_STATE_SUBMITTED", "TASK_STATE_FAILED"]);
    assert_eq!(process.next_due(), None);
    assert_eq!(webhook.numbers(), [1, 2]);
}

#[test]
fn an_address_that_is_no_longer_allowed_is_not_called() {
    let mut bench = Bench::with(|config| config.webhooks = Some(Reach::Anywhere));
    opened(&bench, "", &json!({"url": "http://127.0.0.1:9/"}));
    let config = |webhooks| Config {
        operator_token: Some(OPERATOR.into()),
        webhooks,
        ..Config::default()
    };
    bench.desk = Desk::new(config(None)).unwrap();
    let webhook = Webhook::default();
    let outlook = Process::new(&bench).deliver(&webhook);
    assert_eq!(
        (outlook.due, webhook.sent.borrow().len()),
        (None, 0),
        "off, and nothing lost"
    );
    bench.desk = Desk::new(config(Some(Reach::Public))).unwrap();
    let process = Process::new(&bench);
    process.deliver(&webhook);
    assert_eq!((process.next_due(), webhook.sent.borrow().len()), (None, 0));
    assert_eq!(webhook.given_up.borrow().len(), 1);
}

#[test]
fn a_host_hears_when_something_is_due() {
    let bench = bench();
    let process = Process::new(&bench);
    let send = |config: Value| {
        let body = json!({
            "message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]},
            "configuration": config,
        });
        let request = Request::post("/message:send")
            .header("a2a-version", "1.0")
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", bench.client));
        let request = request.body(body.to_string().into_bytes()).unwrap();
        assert_eq!(
            pollster::block_on(handle(&process, &bench.desk, request)).status(),
            200
        );
    };
    send(json!({"returnImmediately": true}));
    assert!(process.told_due.borrow().is_empty());
    send(json!({"returnImmediately": true, "taskPushNotificationConfig": {"url": HOOK}}));
    assert_eq!(process.told_due.borrow().as_slice(), [bench.now()]);
    assert_eq!(pollster::block_on(next_due(&process, "nowhere")).unwrap(), None);
}

#[test]
fn many_webhooks_that_fail_at_random_all_get_everything_in_order() {
    for seed in 0..6 {
        let mut random = Random(seed);
        let bench = bench();
        let (mut tasks, webhook) = (BTreeMap::new(), Webhook::default());
        for count in 0..12 {
            let task = opened(
                &bench,
                "",
                &json!({"id": "a", "url": format!("https://h{count}.example/")}),
            );
            tasks.insert(task, 0);
        }
        let mut process = Process::new(&bench);
        for _ in 0..60 {
            let ids: Vec<String> = tasks.keys().cloned().collect();
            let task = random.pick(&ids).clone();
            match tasks[&task] {
                0 => update(&bench, &task, "claim", &json!({})),
                1 => update(
                    &bench,
                    &task,
                    "progress",
                    &json!({"artifacts": [{"artifactId": "x", "parts": [{"text": "x"}]}]}),
                ),
                2 => update(
                    &bench,
                    &task,
                    "progress",
                    &json!({"note": "Going on.", "stage": "review"}),
                ),
                3 => update(&bench, &task, "complete", &json!({"note": "Yes."})),
                _ => {}
            }
            let next = tasks[&task] + 1;
            tasks.insert(task, next);
            let answers = (0..random.below(6)).map(|_| if random.one_in(3) { Some(500) } else { Some(204) });
            webhook.answer(answers.collect::<Vec<_>>());
            process.deliver(&webhook);
            bench.wait(random.below(30) as i64);
            if random.one_in(5) {
                process = Process::new(&bench);
            }
        }
        webhook.answers.borrow_mut().clear();
        for _ in 0..3 {
            bench.wait(3_600);
            process.deliver(&webhook);
        }
        assert_eq!(process.next_due(), None);
        let taken = webhook.taken_by_task();
        for (task, numbers) in &taken {
            let all: Vec<usize> = (1..=bench.state().task(task).unwrap().changes.len()).collect();
            assert_eq!(*numbers, all, "seed {seed}: {task}");
        }
        assert_eq!(taken.len(), tasks.len());
    }
}
