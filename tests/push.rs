//! Push notification configs, over the wire: who has them, what they may hold, and that they are gone when they are.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/desk.rs"]
mod support;

use a2a_edge::guard::Reach;
use a2a_edge::session::Session;
use serde_json::{Value, json};
use support::{Bench, Reply, WORK};

const HOOK: &str = "https://client.example/hook";

fn bench() -> Bench {
    Bench::with(|config| config.webhooks = Some(Reach::Public))
}

/// A task that a client opens.
fn opened(bench: &Bench) -> String {
    let sent = bench.send(&bench.client, "", &json!({})).ok();
    sent["task"]["id"].as_str().unwrap().into()
}

fn call(bench: &Bench, token: &str, line: &str, body: &Value) -> Reply {
    let (method, path) = line.split_once(' ').unwrap();
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    bench.request(method, path, token, "", body.as_bytes())
}

fn set(bench: &Bench, task: &str, body: &Value) -> Reply {
    let line = format!("POST /tasks/{task}/pushNotificationConfigs");
    call(bench, &bench.client, &line, body)
}

fn listed(bench: &Bench, task: &str, query: &str) -> Value {
    let line = format!("GET /tasks/{task}/pushNotificationConfigs{query}");
    call(bench, &bench.client, &line, &Value::Null).ok()
}

fn one(bench: &Bench, method: &str, task: &str, id: &str) -> Reply {
    let line = format!("{method} /tasks/{task}/pushNotificationConfigs/{id}");
    call(bench, &bench.client, &line, &Value::Null)
}

#[test]
fn a_config_is_kept_as_it_was_set_until_it_is_deleted() {
    let bench = bench();
    let task = opened(&bench);
    let whole = json!({
        "id": "c 1/é", "taskId": task, "url": HOOK, "token": "t-1",
        "authentication": {"scheme": "Bearer", "credentials": "secret one"},
    });
    assert_eq!(set(&bench, &task, &whole).ok(), whole);
    assert_eq!(one(&bench, "GET", &task, "c%201%2F%C3%A9").ok(), whole);
    let made = set(&bench, &task, &json!({"url": HOOK})).ok();
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("push-"), "{made}");
    assert_eq!(made, json!({"id": id, "taskId": task, "url": HOOK}));
    assert_eq!(listed(&bench, &task, ""), json!({"configs": [whole, made]}));
    let instead = json!({"id": id, "taskId": task, "url": "https://other.example/"});
    assert_eq!(set(&bench, &task, &instead).ok(), instead);
    assert_eq!(listed(&bench, &task, ""), json!({"configs": [whole, instead]}));
    for _ in 0..2 {
        assert_eq!(one(&bench, "DELETE", &task, id).ok(), json!({}));
    }
    let seq = bench.state().seq();
    one(&bench, "DELETE", &task, "never").ok();
    assert_eq!(bench.state().seq(), seq, "nothing changed");
    let gone = one(&bench, "GET", &task, id);
    assert_eq!((gone.status, gone.refused().1.as_str()), (404, "TASK_NOT_FOUND"));
    assert_eq!(gone.body["error"]["details"][0]["metadata"]["configId"], id);
    assert_eq!(listed(&bench, &task, ""), json!({"configs": [whole]}));
}

#[test]
fn both_spellings_are_read_and_nulls_are_absence() {
    let bench = bench();
    let task = opened(&bench);
    let body = json!({"task_id": "another", "url": HOOK, "id": "c", "token": null, "authentication": null, "tenant": ""});
    let expected = json!({"id": "c", "taskId": task, "url": HOOK});
    assert_eq!(
        set(&bench, &task, &body).ok(),
        expected,
        "the path names the task"
    );
}

#[test]
fn a_task_that_has_ended_has_configs_like_any_other() {
    let bench = bench();
    let task = opened(&bench);
    call(
        &bench,
        &bench.client,
        &format!("POST /tasks/{task}:cancel"),
        &json!({}),
    )
    .ok();
    let config = json!({"id": "c", "taskId": task, "url": HOOK});
    assert_eq!(set(&bench, &task, &config).ok(), config);
    assert_eq!(one(&bench, "GET", &task, "c").ok(), config);
    one(&bench, "DELETE", &task, "c").ok();
    assert_eq!(one(&bench, "GET", &task, "c").status, 404);
}

#[test]
fn nobody_but_the_task_s_client_knows_of_them() {
    let bench = bench();
    let task = opened(&bench);
    set(&bench, &task, &json!({"id": "c", "url": HOOK})).ok();
    let stranger = bench.admit("client");
    for token in [&stranger, &bench.member, &bench.owner] {
        for line in ["POST ", "GET ", "GET /c", "DELETE /c"] {
            let (method, id) = line.split_once(' ').unwrap();
            for task in [task.as_str(), "task-nowhere"] {
                let line = format!("{method} /tasks/{task}/pushNotificationConfigs{id}");
                let body = if method == "POST" {
                    json!({"url": HOOK})
                } else {
                    Value::Null
                };
                let refused = call(&bench, token, &line, &body).refused();
                assert_eq!((refused.0, refused.1.as_str()), (404, "TASK_NOT_FOUND"), "{line}");
            }
        }
    }
    assert_eq!(listed(&bench, &task, "")["configs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_task_of_the_session_is_its_author_s_though_others_see_it() {
    let bench = bench();
    let made = bench
        .coordinate(&bench.member, "requests:create", &json!({"title": "t"}))
        .ok();
    let task = made["request"]["taskId"].as_str().unwrap();
    let line = format!("POST /tasks/{task}/pushNotificationConfigs");
    call(&bench, &bench.member, &line, &json!({"url": HOOK})).ok();
    bench.task(&bench.owner, "", task).ok();
    assert_eq!(
        call(&bench, &bench.owner, &line, &json!({"url": HOOK})).status,
        404
    );
}

#[test]
fn they_go_with_the_client_s_access() {
    let bench = bench();
    let task = opened(&bench);
    set(&bench, &task, &json!({"id": "c", "url": HOOK})).ok();
    let address = bench.address(&bench.client);
    let body = json!({"participantId": address.split_once(':').unwrap().1});
    bench.operate(&bench.owner, "participants:revoke", &body).ok();
    assert!(bench.state().pushes().get(&task, "c").is_none());
    assert_eq!(bench.state().pushes().next_due(), None);
}

#[test]
fn lists_are_read_page_by_page_in_the_order_of_their_ids() {
    let bench = bench();
    let task = opened(&bench);
    for id in ["b", "d", "a", "c"] {
        set(&bench, &task, &json!({"id": id, "url": HOOK})).ok();
    }
    let (mut seen, mut page) = (Vec::new(), String::new());
    for _ in 0..2 {
        let list = listed(&bench, &task, &format!("?pageSize=2&pageToken={page}"));
        let ids = list["configs"].as_array().unwrap().iter();
        seen.extend(ids.map(|config| config["id"].as_str().unwrap().to_owned()));
        page = list["nextPageToken"].as_str().unwrap_or_default().to_owned();
    }
    assert_eq!((seen.join(""), page.as_str()), ("abcd".to_owned(), ""));
    let token = listed(&bench, &task, "?pageSize=1")["nextPageToken"].clone();
    let token = token.as_str().unwrap();
    for (query, field) in [
        ("pageSize=0".to_owned(), "pageSize"),
        ("pageSize=101".into(), "pageSize"),
        ("pageToken=x".into(), "pageToken"),
        (format!("pageToken={}x", token), "pageToken"),
    ] {
        let line = format!("GET /tasks/{task}/pushNotificationConfigs?{query}");
        let refused = call(&bench, &bench.client, &line, &Value::Null).refused();
        assert_eq!((refused.0, refused.2.as_str()), (400, field), "{query}");
    }
    let other = opened(&bench);
    let line = format!("GET /tasks/{other}/pushNotificationConfigs?pageToken={token}");
    assert_eq!(
        call(&bench, &bench.client, &line, &Value::Null).status,
        400,
        "another list's"
    );
    listed(&bench, &task, "?pageSize=100");
}

#[test]
fn each_field_takes_its_last_value_and_refuses_the_next() {
    let bench = bench();
    let task = opened(&bench);
    let x = |count: usize| "x".repeat(count);
    let auth = |scheme: &str, credentials: &str| json!({"scheme": scheme, "credentials": credentials});
    for (field, good, bad) in [
        ("id", json!("é".repeat(128)), json!("é".repeat(128) + "x")),
        ("id", json!("a b"), json!("a\nb")),
        ("id", json!("\u{200b}"), json!(" \u{a0}")),
        ("id", json!("1"), json!(1)),
        (
            "url",
            json!(format!("{HOOK}/{}", x(2020))),
            json!(format!("{HOOK}/{}", x(2021))),
        ),
        (
            "url",
            json!("HTTPS://client.example:65535"),
            json!("https://client.example:65536"),
        ),
        ("url", json!(HOOK), json!("http://client.example/hook")),
        ("url", json!(HOOK), json!("https://127.0.0.1/hook")),
        ("url", json!(HOOK), json!("https://localhost/hook")),
        ("url", json!(HOOK), json!("https://2130706433/hook")),
        ("url", json!(HOOK), json!("")),
        ("url", json!(HOOK), Value::Null),
        ("token", json!(x(1024)), json!(x(1025))),
        ("token", json!("a b~!"), json!("a\u{7f}b")),
        ("token", json!("é".len().to_string()), json!("é")),
        ("token", json!("a"), json!("a ")),
        ("token", json!("a"), json!("\ta")),
        ("authentication.scheme", auth(&x(64), "c"), auth(&x(65), "c")),
        (
            "authentication.scheme",
            auth("A1!#$%&'*+-.^_`|~", "c"),
            auth("Bearer:", "c"),
        ),
        (
            "authentication.scheme",
            json!({"scheme": "Negotiate"}),
            json!({"credentials": "c"}),
        ),
        (
            "authentication.credentials",
            auth("Basic", &x(8192)),
            auth("Basic", &x(8193)),
        ),
        (
            "authentication.credentials",
            auth("Digest", "a=\"b\", c"),
            auth("Digest", "a\r\nb: c"),
        ),
    ] {
        let member = field.split('.').next().unwrap();
        let with = |value: &Value| {
            let mut body = json!({"id": "c", "url": HOOK});
            body[member] = value.clone();
            body
        };
        set(&bench, &task, &with(&good)).ok();
        one(&bench, "DELETE", &task, "c").ok();
        let refused = set(&bench, &task, &with(&bad)).refused();
        assert_eq!((refused.0, refused.2.as_str()), (400, field), "{bad}");
        let body = json!({
            "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Now?"}]},
            "configuration": {"taskPushNotificationConfig": with(&bad)},
        });
        let refused = call(&bench, &bench.client, "POST /message:send", &body).refused();
        let path = format!("configuration.taskPushNotificationConfig.{field}");
        assert_eq!((refused.0, refused.2), (400, path), "{bad}");
    }
}

#[test]
fn a_task_takes_so_many_and_one_that_is_set_again_is_no_other() {
    let bench = Bench::with(|config| {
        config.webhooks = Some(Reach::Public);
        config.limits.set("push-configs=2").unwrap();
    });
    let (task, other) = (opened(&bench), opened(&bench));
    for id in ["a", "b", "a"] {
        set(&bench, &task, &json!({"id": id, "url": HOOK})).ok();
    }
    for body in [json!({"id": "c", "url": HOOK}), json!({"url": HOOK})] {
        let full = set(&bench, &task, &body);
        assert_eq!((full.status, full.refused().1.as_str()), (429, "SESSION_LIMIT"));
        assert_eq!(
            full.body["error"]["details"][0]["metadata"]["kind"],
            "push configs"
        );
    }
    set(&bench, &other, &json!({"id": "c", "url": HOOK})).ok();
    one(&bench, "DELETE", &task, "a").ok();
    set(&bench, &task, &json!({"id": "c", "url": HOOK})).ok();
}

/// A message with a config inline.
fn inline(id: &str, more: &Value, config: &Value) -> Value {
    let mut message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": "Now?"}]});
    let more = more.as_object().unwrap().clone();
    message.as_object_mut().unwrap().extend(more);
    let configuration = json!({"returnImmediately": true, "taskPushNotificationConfig": config});
    json!({"message": message, "configuration": configuration})
}

#[test]
fn a_message_brings_a_config_for_the_task_that_it_opens_or_continues() {
    let bench = bench();
    let send = |body: &Value, extensions: &str| {
        bench.request(
            "POST",
            "/message:send",
            &bench.client,
            extensions,
            body.to_string().as_bytes(),
        )
    };
    let body = inline("m-1", &json!({}), &json!({"id": "c", "url": HOOK, "taskId": ""}));
    let seq = bench.state().seq();
    let sent = send(&body, WORK).ok();
    assert_eq!(bench.state().seq(), seq + 1, "both or neither");
    let task = sent["task"]["id"].as_str().unwrap();
    assert!(sent.to_string().find(HOOK).is_none(), "{sent}");
    let config = json!({"id": "c", "taskId": task, "url": HOOK});
    assert_eq!(listed(&bench, task, ""), json!({"configs": [config]}));
    let record = bench.state().pushes().get(task, "c").unwrap().clone();
    assert_eq!((record.known, record.extensions), (0, vec![WORK.to_owned()]));
    // A repeat is answered, and sets nothing anew.
    one(&bench, "DELETE", task, "c").ok();
    assert_eq!(send(&body, WORK).ok()["task"]["id"], task);
    assert_eq!(listed(&bench, task, ""), json!({"configs": []}));
    let on = json!({"taskId": task});
    send(
        &inline("m-2", &on, &json!({"id": "d", "url": HOOK, "taskId": task})),
        "",
    )
    .ok();
    assert_eq!(one(&bench, "GET", task, "d").status, 200);
    for (more, named) in [(on, "task-other"), (json!({}), task)] {
        let refused = send(&inline("m-3", &more, &json!({"url": HOOK, "taskId": named})), "").refused();
        assert_eq!(refused.2, "configuration.taskPushNotificationConfig.taskId");
    }
    let seq = bench.state().seq();
    let full = Bench::with(|config| {
        config.webhooks = Some(Reach::Public);
        config.limits.push_configs = 0;
    });
    let refused = call(
        &full,
        &full.client,
        "POST /message:send",
        &inline("m", &json!({}), &json!({"url": HOOK})),
    );
    assert_eq!(refused.status, 429);
    assert_eq!(full.state().tasks().count(), 0, "both or neither");
    assert_eq!(bench.state().seq(), seq);
}

#[test]
fn a_message_that_opens_no_task_has_nothing_to_notify_of() {
    let bench = bench();
    let status = json!({"metadata": {WORK: {"skill": "status"}}});
    let body = inline("m-1", &status, &json!({"url": HOOK}));
    let bytes = body.to_string();
    let answer = bench
        .request("POST", "/message:send", &bench.client, WORK, bytes.as_bytes())
        .ok();
    assert!(answer["message"].is_object(), "{answer}");
    assert_eq!(bench.state().pushes().next_due(), None);
}

#[test]
fn an_agent_without_push_notifications_says_so_everywhere() {
    let bench = Bench::new();
    let card = |bench: &Bench| {
        bench
            .request("GET", "/.well-known/agent-card.json", "", "", b"")
            .ok()
    };
    assert_eq!(card(&bench)["capabilities"]["pushNotifications"], false);
    let task = opened(&bench);
    let config = json!({"url": HOOK});
    for (line, body) in [
        ("POST ", &config),
        ("GET ", &Value::Null),
        ("GET /c", &Value::Null),
        ("DELETE /c", &Value::Null),
    ] {
        let (method, id) = line.split_once(' ').unwrap();
        let line = format!("{method} /tasks/{task}/pushNotificationConfigs{id}");
        let refused = call(&bench, &bench.client, &line, body).refused();
        assert_eq!(
            (refused.0, refused.1.as_str()),
            (400, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
            "{line}"
        );
    }
    let body = inline("m", &json!({}), &config);
    let refused = call(&bench, &bench.client, "POST /message:send", &body).refused();
    assert_eq!(
        (refused.0, refused.1.as_str()),
        (400, "PUSH_NOTIFICATION_NOT_SUPPORTED")
    );
    assert_eq!(card(&self::bench())["capabilities"]["pushNotifications"], true);
}

#[test]
fn in_development_webhooks_are_anywhere() {
    let bench = Bench::with(|config| config.webhooks = Some(Reach::Anywhere));
    let task = opened(&bench);
    set(&bench, &task, &json!({"url": "http://127.0.0.1:8080/hook"})).ok();
    set(&bench, &task, &json!({"url": "http://localhost/"})).ok();
    let refused = set(&bench, &task, &json!({"url": "http://u@localhost/"})).refused();
    assert_eq!((refused.0, refused.2.as_str()), (400, "url"));
}

#[test]
fn a_snapshot_knows_what_is_due() {
    let bench = bench();
    for _ in 0..3 {
        let task = opened(&bench);
        set(&bench, &task, &json!({"url": HOOK})).ok();
    }
    let session = bench.state();
    let restored = Session::restore(&session.snapshot()).unwrap();
    assert_eq!(format!("{restored:?}"), format!("{session:?}"));
    assert_eq!(restored.pushes().due(bench.now()).count(), 3);
}
