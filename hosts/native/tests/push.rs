//! Push notifications from the built server to a real webhook: told at once, told again after failures, and nothing
//! lost when the power fails.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "../../../tests/support/hook.rs"]
mod hook;
mod support;

use std::net::TcpListener;

use a2a_edge_stories::{Http, Target as _};
use hook::{Notified, Webhook};
use http::Request;
use serde_json::{Value, json};
use support::{Desk, Scratch};

fn call(desk: &Desk, token: &str, line: &str, body: &Value) -> (u16, Value) {
    let (method, path) = line.split_once(' ').unwrap();
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("a2a-version", "1.0")
        .header("content-type", "application/json")
        .header(
            "a2a-extensions",
            "https://j5a2a.com/extensions/session-coordination/v1",
        )
        .header("authorization", format!("Bearer {token}"));
    let body = if body.is_null() {
        Vec::new()
    } else {
        body.to_string().into_bytes()
    };
    let answer = Http::new(desk.url()).call(request.body(body).unwrap()).unwrap();
    (
        answer.status().as_u16(),
        serde_json::from_slice(answer.body()).unwrap(),
    )
}

fn ok(desk: &Desk, token: &str, line: &str, body: &Value) -> Value {
    let (status, answer) = call(desk, token, line, body);
    assert_eq!(status, 200, "{line}: {answer}");
    answer
}

/// A task that the webhook is told of from the start.
fn ask(desk: &Desk, client: &str, url: &str) -> String {
    let body = json!({
        "message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]},
        "configuration": {
            "returnImmediately": true,
            "taskPushNotificationConfig": {
                "url": url, "token": "t-1", "authentication": {"scheme": "Bearer", "credentials": "secret"},
            },
        },
    });
    let sent = ok(desk, client, "POST /message:send", &body);
    sent["task"]["id"].as_str().unwrap().to_owned()
}

fn update(desk: &Desk, member: &str, action: &str) {
    let path = "POST /extensions/session-coordination/v1/requests";
    let listed = ok(desk, member, &format!("{path}:list"), &json!({}));
    let request = &listed["requests"][0]["requestId"];
    let body = json!({"requestId": request, "action": action, "note": "Yes."});
    ok(desk, member, &format!("{path}:update"), &body);
}

#[test]
fn a_webhook_is_told_at_once_with_what_it_asked_for() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--allow-local-webhooks"]);
    let webhook = Webhook::start();
    let task = ask(&desk, desk.token("client"), &webhook.url);
    webhook.next().is_as_configured(&task);
    update(&desk, desk.token("member"), "claim");
    assert_eq!(webhook.next().state(), "TASK_STATE_WORKING");
    update(&desk, desk.token("member"), "complete");
    assert!(webhook.next().body["artifactUpdate"].is_object());
    assert_eq!(webhook.next().state(), "TASK_STATE_COMPLETED");
    let log = desk.stop();
    assert!(!log.contains("secret") && !log.contains("t-1"), "{log}");
}

#[test]
fn what_was_not_taken_comes_again_a_redirect_is_not_followed_and_order_is_kept() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--allow-local-webhooks"]);
    let webhook = Webhook::start();
    webhook
        .answers
        .lock()
        .unwrap()
        .push_back("307 Temporary Redirect");
    ask(&desk, desk.token("client"), &webhook.url);
    assert_eq!(webhook.next().state(), "TASK_STATE_SUBMITTED");
    update(&desk, desk.token("member"), "claim");
    let again = webhook.next();
    assert_eq!(again.state(), "TASK_STATE_SUBMITTED");
    assert!(again.head.starts_with("POST /hook?a=b "), "{}", again.head);
    assert_eq!(webhook.next().state(), "TASK_STATE_WORKING");
    assert!(desk.stop().contains("warn webhook host=127.0.0.1 status=307"));
}

#[test]
fn nothing_is_lost_when_the_power_fails() {
    let scratch = Scratch::new();
    let webhook = Webhook::start();
    // A port that nothing listens at.
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let desk = Desk::start(&scratch.data(), &["--allow-local-webhooks"]);
    let (client, member) = (desk.token("client").to_owned(), desk.token("member").to_owned());
    let task = ask(&desk, &client, &format!("http://{deaf}/"));
    update(&desk, &member, "claim");
    update(&desk, &member, "complete");
    let configs = format!("/tasks/{task}/pushNotificationConfigs");
    let listed = ok(&desk, &client, &format!("GET {configs}"), &Value::Null);
    let mut config = listed["configs"][0].clone();
    desk.kill();
    // The desk finds by itself what it has not sent: the webhook listens where it had been told.
    let awake = Webhook::at(deaf);
    let desk = Desk::start(&scratch.data(), &["--allow-local-webhooks"]);
    let told: Vec<Notified> = (0..4).map(|_| awake.next()).collect();
    let states: Vec<&str> = told
        .iter()
        .map(Notified::state)
        .filter(|state| !state.is_empty())
        .collect();
    assert_eq!(
        states,
        [
            "TASK_STATE_SUBMITTED",
            "TASK_STATE_WORKING",
            "TASK_STATE_COMPLETED"
        ]
    );
    config["url"] = json!(webhook.url);
    assert_eq!(ok(&desk, &client, &format!("POST {configs}"), &config), config);
    assert_eq!(webhook.next().state(), "TASK_STATE_COMPLETED");
    // What was recorded as sent is not sent again; a desk that is stopped records it before it ends.
    desk.stop();
    let desk = Desk::start(&scratch.data(), &["--allow-local-webhooks"]);
    let task = ask(&desk, &client, &webhook.url);
    assert_eq!(webhook.next().body["statusUpdate"]["taskId"], task);
    desk.stop();
}

#[test]
fn without_leave_nothing_is_sent_within() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &[]);
    let webhook = Webhook::start();
    let config = |url: &str| {
        json!({
            "message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]},
            "configuration": {"taskPushNotificationConfig": {"url": url}},
        })
    };
    for url in [webhook.url.as_str(), "https://127.0.0.1/", "https://localhost/"] {
        let (status, answer) = call(&desk, desk.token("client"), "POST /message:send", &config(url));
        assert_eq!(status, 400, "{url}: {answer}");
    }
    desk.stop();
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--no-push"]);
    let (status, answer) = call(
        &desk,
        desk.token("client"),
        "POST /message:send",
        &config("https://a.example/"),
    );
    let reason = &answer["error"]["details"][0]["reason"];
    assert_eq!((status, reason), (400, &json!("PUSH_NOTIFICATION_NOT_SUPPORTED")));
    desk.stop();
}
