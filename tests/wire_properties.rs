//! Whatever comes over the wire, the desk answers it: no panic, no 500, JSON with an ErrorInfo where it refuses, and
//! never a secret.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/spoil.rs"]
mod spoil;
#[path = "support/stage.rs"]
mod stage;
#[path = "support/desk.rs"]
mod support;

use http::{HeaderName, HeaderValue, Method, Request, Uri};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use spoil::{any_json, spoil, spoiled};
use stage::{Sound, Stage};
use support::{COORDINATION, ENVELOPE, GATE, WORK};

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
            "if-none-match",
            "if-modified-since",
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
