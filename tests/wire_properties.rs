//! Whatever comes over the wire, the desk answers it: no panic, no 500, JSON with an ErrorInfo where it refuses, and
//! never a secret.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/desk.rs"]
mod support;

use std::cell::Cell;

use a2a_edge::session::Token;
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use support::{Bench, COORDINATION, ENVELOPE, GATE, OPERATOR, Reply, WORK};

/// A request that the desk takes, to be spoiled.
#[derive(Clone, Debug)]
struct Sound {
    method: &'static str,
    path: String,
    token: String,
    extensions: String,
    body: Value,
}

/// A desk with a little of everything, the requests it takes, and what nobody is to be told.
struct Stage {
    bench: Bench,
    sound: Vec<Sound>,
    secrets: Vec<String>,
    sent: Cell<u32>,
}

const COORDINATION_PATH: &str = "/extensions/session-coordination/v1";

impl Stage {
    fn new() -> Self {
        let bench = Bench::new();
        let all = [WORK, ENVELOPE, GATE, COORDINATION].join(",");
        let handoff = json!({"metadata": {WORK: {"skill": "handoff", "title": "t", "acceptance": ["a"], "writes": ["src/**"],
            "priority": "high", "labels": ["l"]}}, "messageId": "FRESH1"});
        let task = |sent: Reply| sent.ok()["task"]["id"].as_str().unwrap().to_owned();
        let proposed = task(bench.send(&bench.client, WORK, &handoff));
        let asked = task(bench.send(&bench.client, "", &json!({})));
        let worked = task(bench.send(&bench.client, "", &json!({})));
        bench
            .operate(
                &bench.owner,
                "tasks:ask",
                &json!({"taskId": asked, "body": "Which?", "choices": ["east", "west"]}),
            )
            .ok();
        let request = bench.state().task(&worked).unwrap().request_id.clone().unwrap();
        bench
            .coordinate(
                &bench.member,
                "requests:update",
                &json!({"requestId": request, "action": "claim"}),
            )
            .ok();
        let envelope = json!({"to": [bench.address(&bench.owner)], "kind": "question", "replyTo": "m", "blocking": true,
            "choices": ["a"], "choice": "a", "refs": [{"type": "task", "id": proposed}]});
        let parts = json!([{"text": "Please.", "mediaType": "text/plain"}, {"data": {"a": [1, null]}},
            {"url": "https://example.com/a?b", "filename": "a", "metadata": {"k": 1}}]);
        let message = |more: Value| {
            let mut message =
                json!({"messageId": "FRESH1", "role": "ROLE_USER", "parts": parts, "extensions": [WORK]});
            message
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            json!({"message": message, "configuration": {"returnImmediately": true, "historyLength": 2, "acceptedOutputModes": ["text/plain"]}})
        };
        let artifacts = json!([
            {"artifactId": "pr", "parts": [{"text": "p"}], "metadata": {WORK: {"kind": "pr", "url": "https://e.com/7", "number": 7, "state": "open"}}},
            {"artifactId": "diffstat", "parts": [{"text": "d"}], "metadata": {WORK: {"kind": "diffstat", "files": 1, "insertions": 1, "deletions": 0,
                "perFile": [{"path": "a", "insertions": 1, "deletions": 0}]}}},
            {"artifactId": "evidence", "name": "e", "parts": [{"raw": "AA=="}], "metadata": {WORK: {"kind": "evidence", "items": [
                {"command": "c", "exitCode": 0, "durationMs": 1, "summary": "s"}]}}},
        ]);
        let client = bench.client.clone();
        let core = |method, path: &str, body: Value| Sound {
            method,
            path: path.to_owned(),
            token: client.clone(),
            extensions: all.clone(),
            body,
        };
        let within = |operation: &str, body: Value| Sound {
            token: bench.member.clone(),
            ..core("POST", &format!("{COORDINATION_PATH}/{operation}"), body)
        };
        let owner = |verb: &str, body: Value| Sound {
            token: bench.owner.clone(),
            ..core("POST", &format!("/operator/v1/{verb}"), body)
        };
        let update = |more: Value| {
            let mut body = json!({"requestId": request, "idempotencyKey": "FRESH2"});
            body.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            within("requests:update", body)
        };
        let list = "/tasks?contextId=c&status=TASK_STATE_WORKING&pageSize=3&pageToken=&historyLength=1\
                    &statusTimestampAfter=2026-01-01T00:00:00Z&includeArtifacts=true";
        let sound = vec![
            core(
                "POST",
                "/message:send",
                message(json!({"metadata": {ENVELOPE: envelope}})),
            ),
            core("POST", "/message:send", message(handoff)),
            core(
                "POST",
                "/message:send",
                message(json!({"metadata": {WORK: {"skill": "status", "task": proposed}}})),
            ),
            core(
                "POST",
                "/message:send",
                message(json!({"taskId": asked, "metadata": {ENVELOPE: {"choice": "west"}}})),
            ),
            core("GET", list, json!({})),
            core("GET", &format!("/tasks/{proposed}?historyLength=1"), json!({})),
            core(
                "POST",
                &format!("/tasks/{asked}:cancel"),
                json!({"metadata": {"a": 1}}),
            ),
            core("GET", "/.well-known/agent-card.json", json!({})),
            core("POST", "/message:stream", message(json!({}))),
            within(
                "requests:create",
                json!({"title": "t", "body": "b", "to": [], "maxAssignees": 2, "expiresInSeconds": 60,
                "priority": "low", "labels": ["l"], "acceptance": ["a"], "idempotencyKey": "FRESH3"}),
            ),
            within(
                "requests:list",
                json!({"state": "open", "assignee": "me", "createdBy": "me", "pageSize": 5}),
            ),
            within(
                "participants:list",
                json!({"includeOffline": false, "pageSize": 5}),
            ),
            within(
                "presence:announce",
                json!({"state": "idle", "activity": "a", "ttlSeconds": 60, "capabilities": ["c"],
                "client": {"name": "n", "version": "1"}, "renewClaims": true, "idempotencyKey": "FRESH4"}),
            ),
            within(
                "status:announce",
                json!({"status": "s", "blockedOn": "b", "resources": ["src/**", "pr:12"]}),
            ),
            within(
                "claims:check",
                json!({"resources": [{"resourceId": "src/**", "claimType": "shared"}]}),
            ),
            within(
                "claims:acquire",
                json!({"resourceId": "src/**", "claimType": "exclusive", "leaseSeconds": 60, "reason": "r",
                "idempotencyKey": "FRESH5"}),
            ),
            within("claims:release", json!({"claimId": "claim-nowhere"})),
            update(json!({"action": "progress", "note": "n", "stage": "review", "artifacts": artifacts})),
            update(json!({"action": "claim"})),
            Sound {
                token: bench.owner.clone(),
                ..update(json!({"action": "reassign", "assignee": "p-nobody"}))
            },
            owner(
                "participants:add",
                json!({"displayName": "n", "kind": "agent", "role": "client"}),
            ),
            owner("participants:revoke", json!({"participantId": "p-nobody"})),
            owner("participants:list", json!({})),
            owner("tasks:list", json!({"state": "all"})),
            owner("tasks:approve", json!({"taskId": "task-nowhere"})),
            owner("tasks:decline", json!({"taskId": "task-nowhere", "reason": "r"})),
            owner("tasks:drop", json!({"taskId": proposed, "reason": "r"})),
            owner(
                "tasks:ask",
                json!({"taskId": worked, "body": "b", "choices": ["a"]}),
            ),
            Sound {
                token: OPERATOR.into(),
                ..owner(
                    "sessions:create",
                    json!({"owner": {"displayName": "o", "kind": "human"}}),
                )
            },
        ];
        let secrets = secrets(&bench);
        Self {
            bench,
            sound,
            secrets,
            sent: Cell::new(0),
        }
    }

    /// Ids that must be new are called FRESH in what is to be sent.
    fn request(&self, sound: &Sound, body: &[u8]) -> Reply {
        self.sent.set(self.sent.get() + 1);
        let fresh = format!("{:05}", self.sent.get());
        let mut body = body.to_vec();
        while let Some(at) = body.windows(5).position(|bytes| bytes == b"FRESH") {
            body[at..at + 5].copy_from_slice(fresh.as_bytes());
        }
        let reply = self
            .bench
            .request(sound.method, &sound.path, &sound.token, &sound.extensions, &body);
        self.check(&reply, &sound.path);
        reply
    }

    /// What holds of every answer.
    fn check(&self, reply: &Reply, path: &str) {
        let text = format!("{:?}{}", reply.headers, reply.body);
        assert!(
            reply.status == 200 || (400..500).contains(&reply.status),
            "{} {text}",
            reply.status
        );
        for secret in &self.secrets {
            assert!(!text.contains(secret.as_str()), "{secret} in {text}");
        }
        // What a stream tells is looked at elsewhere.
        if (reply.status, reply.headers["content-type"].as_str()) == (200, "text/event-stream") {
            return;
        }
        assert!(reply.headers["content-type"].contains("json"), "{text}");
        if reply.status == 200 {
            assert!(reply.body.is_object(), "{text}");
            return;
        }
        let error = &reply.body["error"];
        let info = &error["details"][0];
        assert_eq!(
            info["@type"], "type.googleapis.com/google.rpc.ErrorInfo",
            "{text}"
        );
        for (of, member) in [
            (info, "reason"),
            (info, "domain"),
            (error, "status"),
            (error, "message"),
        ] {
            assert!(
                of[member].as_str().is_some_and(|text| !text.is_empty()),
                "{member}: {text}"
            );
        }
        for value in info
            .get("metadata")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            assert!(value.1.is_string(), "{text}");
        }
        let code = error["code"].as_u64().unwrap();
        assert!(code == u64::from(reply.status) || code <= 16, "{path} {text}");
        assert_eq!(
            reply.status == 401,
            reply.headers.contains_key("www-authenticate"),
            "{text}"
        );
        assert_eq!(reply.status == 405, reply.headers.contains_key("allow"), "{text}");
    }
}

/// Tokens and their secrets, what is kept of them, the seal of page tokens, and how the store calls things.
fn secrets(bench: &Bench) -> Vec<String> {
    let snapshot: Value = serde_json::from_slice(&bench.state().snapshot()).unwrap();
    let mut secrets = vec![
        OPERATOR.to_owned(),
        format!("a2a.{}", bench.session),
        "a2a.~".to_owned(),
    ];
    for token in [&bench.owner, &bench.member, &bench.client] {
        assert!(Token::parse(token).is_some());
        secrets.push(
            token
                .rsplit_once(&format!("{}_", bench.session))
                .unwrap()
                .1
                .to_owned(),
        );
    }
    let mut kept = vec![snapshot["pageKey"].clone()];
    for (id, credential) in snapshot["credentials"].as_object().unwrap() {
        secrets.push(id.clone());
        kept.push(credential["digest"].clone());
    }
    for bytes in kept {
        secrets.push(bytes.to_string());
        let hex = bytes
            .as_array()
            .unwrap()
            .iter()
            .map(|byte| format!("{:02x}", byte.as_u64().unwrap()));
        secrets.push(hex.collect());
    }
    secrets
}

fn any_json() -> impl Strategy<Value = Value> {
    let texts = [
        "",
        " ",
        "\u{feff}",
        "a\u{2028}b",
        "\u{0}",
        "é😀",
        "..",
        "x-y",
        "task:x",
        "human:x",
        "ROLE_USER",
        WORK,
        "handoff",
        "status",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        select(vec![-1, 0, 1, 50, 51, 100, 101]).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        select(texts.to_vec()).prop_map(Value::from),
        (0_usize..70_000).prop_map(|length| Value::from("x".repeat(length))),
    ];
    leaf.prop_recursive(6, 40, 8, |inner| {
        let name = prop_oneof![select(NAMES.to_vec()).prop_map(str::to_owned), ".{0,6}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

const NAMES: &[&str] = &[
    "message",
    "messageId",
    "message_id",
    "role",
    "parts",
    "text",
    "data",
    "url",
    "raw",
    "metadata",
    "extensions",
    "taskId",
    "contextId",
    "configuration",
    "tenant",
    "id",
    WORK,
    ENVELOPE,
    "skill",
    "title",
    "to",
    "kind",
    "refs",
    "type",
    "action",
    "requestId",
    "artifacts",
    "artifactId",
    "stage",
    "idempotencyKey",
    "owner",
];

/// How many values there are in a value, itself included.
fn count(value: &Value) -> usize {
    let inner: usize = match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    };
    inner + 1
}

/// The value at a place in the order of the text.
fn at<'a>(value: &'a mut Value, place: &mut usize) -> Option<&'a mut Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| at(item, place)),
        Value::Object(members) => members.values_mut().find_map(|item| at(item, place)),
        _ => None,
    }
}

#[derive(Clone, Debug)]
enum Spoil {
    Replace(Value),
    /// An entry of a list or a member of an object goes, or is there twice.
    Drop(Index),
    Repeat(Index, usize),
    Add(String, Value),
    Long(usize),
}

fn spoil() -> impl Strategy<Value = (Index, Spoil)> {
    let way = prop_oneof![
        3 => any_json().prop_map(Spoil::Replace),
        1 => any::<Index>().prop_map(Spoil::Drop),
        1 => (any::<Index>(), 1_usize..60).prop_map(|(index, times)| Spoil::Repeat(index, times)),
        1 => (select(NAMES.to_vec()), any_json()).prop_map(|(name, value)| Spoil::Add(name.to_owned(), value)),
        1 => select(vec![40, 64, 65, 200, 201, 255, 256, 280, 512, 513, 2_048, 16_385, 65_537]).prop_map(Spoil::Long),
    ];
    (any::<Index>(), way)
}

fn spoiled(body: &Value, (place, way): &(Index, Spoil)) -> Value {
    let mut body = body.clone();
    let mut place = place.index(count(&body));
    let Some(value) = at(&mut body, &mut place) else {
        return body;
    };
    match (way, &mut *value) {
        (Spoil::Replace(with), value) => *value = with.clone(),
        (Spoil::Drop(index), Value::Array(items)) if !items.is_empty() => {
            drop(items.remove(index.index(items.len())))
        }
        (Spoil::Drop(index), Value::Object(members)) if !members.is_empty() => {
            let name = members.keys().nth(index.index(members.len())).unwrap().clone();
            members.shift_remove(&name);
        }
        (Spoil::Repeat(index, times), Value::Array(items)) if !items.is_empty() => {
            let item = items[index.index(items.len())].clone();
            items.extend(std::iter::repeat_n(item, *times));
        }
        (Spoil::Add(name, with), Value::Object(members)) => drop(members.insert(name.clone(), with.clone())),
        (Spoil::Long(length), value) => *value = json!("é".repeat(*length)),
        _ => {}
    }
    body
}

fn runner(cases: u32) -> TestRunner {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    TestRunner::new(config)
}

#[test]
fn the_requests_to_be_spoiled_are_sound() {
    let stage = Stage::new();
    let refused = |sound: &&Sound| {
        sound.body.to_string().contains("nowhere") || sound.body.to_string().contains("nobody")
    };
    for sound in &stage.sound {
        let reply = stage.request(sound, sound.body.to_string().as_bytes());
        let expected = match sound.path.as_str() {
            "/operator/v1/tasks:drop" => 400,
            // The member has it already.
            _ if sound.body["action"] == "claim" => 400,
            _ if refused(&sound) => 404,
            _ => 200,
        };
        assert_eq!(reply.status, expected, "{}: {}", sound.path, reply.body);
    }
}

#[test]
fn no_json_whatsoever_as_a_body_breaks_anything() {
    let stage = Stage::new();
    let strategy = (0..stage.sound.len(), any_json());
    let outcome = runner(1500).run(&strategy, |(index, body)| {
        stage.request(&stage.sound[index], body.to_string().as_bytes());
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn no_spoiled_request_breaks_anything() {
    let stage = Stage::new();
    let strategy = (0..stage.sound.len(), prop::collection::vec(spoil(), 1..4));
    let outcome = runner(3000).run(&strategy, |(index, spoils)| {
        let sound = &stage.sound[index];
        let body = spoils
            .iter()
            .fold(sound.body.clone(), |body, one| spoiled(&body, one));
        let body = body.to_string();
        stage.request(sound, body.as_bytes());
        // Asked twice, in case the first left something behind.
        stage.request(sound, body.as_bytes());
        Ok(())
    });
    outcome.unwrap();
    // All of it was recorded, and can be read again.
    let bench = &stage.bench;
    assert!(bench.state().seq() > 300, "{}", bench.state().seq());
    let all = [WORK, ENVELOPE, GATE, COORDINATION].join(",");
    for extensions in ["", &all] {
        let list = "/tasks?pageSize=100&includeArtifacts=true";
        let tasks = bench.request("GET", list, &bench.client, extensions, b"").ok();
        assert!(
            tasks["totalSize"].as_u64().unwrap() > 50,
            "{}",
            tasks["totalSize"]
        );
    }
}

#[test]
fn no_bytes_as_a_body_break_anything() {
    let stage = Stage::new();
    let edit = (
        any::<Index>(),
        0_usize..8,
        prop::collection::vec(any::<u8>(), 0..6),
    );
    let strategy = (0..stage.sound.len(), prop::collection::vec(edit, 0..4));
    let outcome = runner(1500).run(&strategy, |(index, edits)| {
        let sound = &stage.sound[index];
        let mut bytes = sound.body.to_string().into_bytes();
        for (place, gone, new) in edits {
            let start = place.index(bytes.len() + 1);
            let end = (start + gone).min(bytes.len());
            bytes.splice(start..end, new);
        }
        stage.request(sound, &bytes);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn no_method_path_query_or_header_breaks_anything() {
    let stage = Stage::new();
    let session = stage.bench.session.clone();
    let pieces = prop_oneof![
        select(vec![
            "tasks",
            "message:send",
            ":cancel",
            "extensions",
            "session-coordination",
            "v1",
            "requests:list",
            "operator",
            "tasks:list",
            ".well-known",
            "agent-card.json",
            "..",
            ".",
            "%2F",
            "%00",
            "%ff",
            "%",
            "pushNotificationConfigs",
            "extendedAgentCard",
            "",
        ])
        .prop_map(str::to_owned),
        Just(session),
        "[!-~]{0,12}",
        "[a-z0-9-]{60,70}",
    ];
    let query = prop_oneof![
        select(vec![
            "pageSize",
            "pageToken",
            "status",
            "historyLength",
            "A2A-Version",
            "tenant",
            "id",
            "contextId",
            "includeArtifacts"
        ])
        .prop_map(str::to_owned),
        "[!-~]{0,6}",
    ];
    let header = (
        select(vec![
            "a2a-version",
            "a2a-extensions",
            "content-type",
            "authorization",
            "accept",
            "content-length",
            "x-other",
        ]),
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..24),
            select(vec![
                "1.0",
                "99.0",
                "application/json",
                "Bearer x",
                "Bearer a2ae_s_0123456789012345678901234567890123456789012",
                ",,,",
                WORK
            ])
            .prop_map(|text| text.as_bytes().to_vec()),
        ],
    );
    let strategy = (
        select(vec![
            "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "BREW",
        ]),
        prop::collection::vec(pieces, 0..6),
        prop::collection::vec((query, "[!-~]{0,8}"), 0..4),
        prop::collection::vec(header, 0..4),
        0_usize..4,
    );
    let outcome = runner(4000).run(&strategy, |(method, pieces, query, headers, who)| {
        let query: Vec<String> = query
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let path = format!("/{}?{}", pieces.join("/"), query.join("&"));
        let Ok(uri) = path.parse::<Uri>() else {
            return Ok(());
        };
        let mut request = Request::new(b"{}".to_vec());
        *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap();
        *request.uri_mut() = uri;
        let bench = &stage.bench;
        if let Some(token) = [&bench.owner, &bench.member, &bench.client].get(who) {
            let value = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
            request.headers_mut().insert("authorization", value);
            request
                .headers_mut()
                .insert("a2a-version", HeaderValue::from_static("1.0"));
        }
        for (name, value) in headers {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                request.headers_mut().append(HeaderName::from_static(name), value);
            }
        }
        stage.check(&bench.call(request), &path);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn what_a_caller_may_not_see_is_not_told_by_any_refusal_of_it() {
    let stage = Stage::new();
    let bench = &stage.bench;
    let stranger = bench.admit("client");
    let mine = bench.send(&bench.client, "", &json!({})).ok()["task"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for path in ["/tasks/ID", "/tasks/ID:cancel", "/tasks/ID:subscribe"] {
        let method = if path == "/tasks/ID" { "GET" } else { "POST" };
        let ask = |id: &str| {
            let reply = bench.request(method, &path.replace("ID", id), &stranger, "", b"{}");
            (reply.status, reply.body.to_string().replace(id, "ID"))
        };
        assert_eq!(ask(&mine), ask("task-nowhere"), "{path}");
    }
}
