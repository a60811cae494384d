//! Push notifications from an object to a webhook: told at once, told again after failures, and nothing lost with the
//! runtime.

use std::net::TcpListener;

use a2a_edge_workers_tests::Deployment;
use serde_json::{Value, json};

use crate::hook::Webhook;
use crate::party::{Caller, PLATFORM, Party, text};

fn local() -> Deployment {
    Deployment::default().with("A2A_EDGE_PUSH", "local")
}

/// A task that the webhook is told of from the start.
fn ask(party: &Party, url: &str) -> String {
    let body = json!({
        "message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]},
        "configuration": {
            "returnImmediately": true,
            "taskPushNotificationConfig": {
                "url": url, "token": "t-1", "authentication": {"scheme": "Bearer", "credentials": "secret"},
            },
        },
    });
    let sent = party
        .caller
        .call("POST /message:send", &party.session.client, &body)
        .ok();
    text(&sent["task"]["id"])
}

fn update(party: &Party, action: &str) {
    let member = &party.session.member;
    let listed = party.caller.coordinate(member, "requests:list", &json!({})).ok();
    let body = json!({"requestId": listed["requests"][0]["requestId"], "action": action, "note": "Yes."});
    party.caller.coordinate(member, "requests:update", &body).ok();
}

fn restart(party: &mut Party) {
    party.running.kill();
    party.running = PLATFORM.start(&local(), party.place.path()).unwrap();
    party.caller = Caller::of(&party.running);
}

#[test]
fn a_webhook_is_told_at_once_and_again_when_it_fails_and_a_redirect_is_not_followed() {
    let party = Party::new(&local());
    let webhook = Webhook::start();
    let task = ask(&party, &webhook.url);
    let first = webhook.next();
    assert_eq!(first.body["statusUpdate"]["taskId"], task);
    assert!(
        first.head.starts_with("POST /hook?a=b HTTP/1.1\r\n"),
        "{}",
        first.head
    );
    let head = first.head.to_ascii_lowercase();
    for line in [
        "authorization: bearer secret\r\n",
        "x-a2a-notification-token: t-1\r\n",
        "content-type: application/a2a+json\r\n",
        "a2a-version: 1.0\r\n",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
    webhook
        .answers
        .lock()
        .unwrap()
        .push_back("307 Temporary Redirect");
    update(&party, "claim");
    assert_eq!(webhook.next().state(), "TASK_STATE_WORKING");
    update(&party, "complete");
    let again = webhook.next();
    assert_eq!(again.state(), "TASK_STATE_WORKING");
    assert!(again.head.starts_with("POST /hook?a=b "), "{}", again.head);
    let artifact = webhook.next().body;
    assert!(
        artifact["artifactUpdate"].is_object(),
        "{artifact} {:?}",
        party.lines()
    );
    assert_eq!(webhook.next().state(), "TASK_STATE_COMPLETED");
    for line in party.lines() {
        assert!(!line.contains("secret") && !line.contains("t-1"), "{line}");
    }
}

#[test]
fn nothing_is_lost_with_the_runtime() {
    // A port that nothing listens at.
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut party = Party::new(&local());
    ask(&party, &format!("http://{deaf}/"));
    update(&party, "claim");
    assert!(party.running.line_with(&["\"event\":\"webhook\""]).is_some());
    restart(&mut party);
    let awake = Webhook::at(deaf);
    // Whoever comes next wakes the object, where its alarm did not.
    update(&party, "complete");
    let told: Vec<Value> = (0..4).map(|_| awake.next().body).collect();
    let states: Vec<&Value> = told
        .iter()
        .map(|body| &body["statusUpdate"]["status"]["state"])
        .collect();
    assert_eq!(
        states,
        [
            &json!("TASK_STATE_SUBMITTED"),
            &json!("TASK_STATE_WORKING"),
            &Value::Null,
            &json!("TASK_STATE_COMPLETED")
        ]
    );
}

#[test]
fn without_leave_no_address_within_is_a_webhook() {
    let party = Party::new(&Deployment::default());
    for url in ["http://127.0.0.1:1/", "https://127.0.0.1/", "https://localhost/"] {
        let body = json!({
            "message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]},
            "configuration": {"taskPushNotificationConfig": {"url": url}},
        });
        let refused = party
            .caller
            .call("POST /message:send", &party.session.client, &body);
        assert_eq!(refused.status, 400, "{}", refused.body);
    }
    let off = Party::new(&Deployment::default().with("A2A_EDGE_PUSH", "off"));
    let line = "GET /tasks/t/pushNotificationConfigs";
    let refused = off.caller.call(line, &off.session.client, &Value::Null);
    assert_eq!(refused.reason(), "PUSH_NOTIFICATION_NOT_SUPPORTED");
}
