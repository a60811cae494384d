//! Push notifications from the host of the suite that this is part of, to a webhook: told at once, told again after
//! failures, and only where that may be.

use serde_json::{Value, json};

use crate::callers::{Caller, Session, text};
use crate::hook::Webhook;
use crate::party::{as_it_is, with_webhooks, without_push};

/// A task that the webhook is told of from the start.
pub(crate) fn ask(caller: &Caller, session: &Session, url: &str) -> String {
    let body = json!({
        "message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]},
        "configuration": {
            "returnImmediately": true,
            "taskPushNotificationConfig": {
                "url": url, "token": "t-1", "authentication": {"scheme": "Bearer", "credentials": "secret"},
            },
        },
    });
    let sent = caller.call("POST /message:send", &session.client, &body).ok();
    text(&sent["task"]["id"])
}

/// The member does something about it.
pub(crate) fn update(caller: &Caller, session: &Session, action: &str) {
    let member = &session.member;
    let listed = caller.coordinate(member, "requests:list", &json!({})).ok();
    let body = json!({"requestId": listed["requests"][0]["requestId"], "action": action, "note": "Yes."});
    caller.coordinate(member, "requests:update", &body).ok();
}

#[test]
fn a_webhook_is_told_at_once_and_again_when_it_fails_and_a_redirect_is_not_followed() {
    let party = with_webhooks();
    let webhook = Webhook::start();
    let task = ask(&party.caller, &party.session, &webhook.url);
    webhook.next().is_as_configured(&task);
    webhook
        .answers
        .lock()
        .unwrap()
        .push_back("307 Temporary Redirect");
    update(&party.caller, &party.session, "claim");
    assert_eq!(webhook.next().state(), "TASK_STATE_WORKING");
    update(&party.caller, &party.session, "complete");
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
fn without_leave_no_address_within_is_a_webhook() {
    let party = as_it_is();
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
    let off = without_push();
    let line = "GET /tasks/t/pushNotificationConfigs";
    let refused = off.caller.call(line, &off.session.client, &Value::Null);
    assert_eq!(refused.reason(), "PUSH_NOTIFICATION_NOT_SUPPORTED");
}
