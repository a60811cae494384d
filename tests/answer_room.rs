//! How long an answer may get: lists of long items come in shorter pages, and leave nothing out.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    dead_code,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/desk.rs"]
mod support;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use support::{Bench, WORK};

const TASKS: usize = 80;

/// The most bytes of an answer: of 4 MiB and an item.
const MOST: usize = (4 << 20) + (100 << 10);

/// A session with long requests, about 5 MiB of them.
fn bench() -> Bench {
    let bench = Bench::new();
    for number in 0..TASKS {
        let text = number.to_string().repeat(65_000 / number.to_string().len());
        let message =
            json!({"messageId": format!("m-{number}"), "role": "ROLE_USER", "parts": [{"text": text}]});
        bench.send(&bench.client, WORK, &message).ok();
    }
    bench
}

/// Walks a list: how many items each page has, once all of them were seen.
fn pages(list: &str, id: &str, mut ask: impl FnMut(&str) -> Value) -> Vec<usize> {
    let (mut token, mut seen, mut pages) = (String::new(), BTreeSet::new(), Vec::new());
    loop {
        let answer = ask(&token);
        let length = answer.to_string().len();
        assert!(length <= MOST, "{list}: {length}");
        let items = answer[list].as_array().unwrap();
        for item in items {
            assert!(
                seen.insert(item[id].as_str().unwrap().to_owned()),
                "{list}: twice"
            );
        }
        pages.push(items.len());
        answer["nextPageToken"].as_str().unwrap().clone_into(&mut token);
        if token.is_empty() {
            assert!(seen.len() >= TASKS, "{list}: {seen:?}");
            return pages;
        }
    }
}

#[test]
fn lists_of_long_items_come_in_shorter_pages_and_leave_none_out() {
    let bench = bench();
    let tasks = pages("tasks", "id", |token| {
        let path = format!("/tasks?pageSize=100&historyLength=10&pageToken={token}");
        let answer = bench.request("GET", &path, &bench.client, WORK, &[]).ok();
        assert_eq!(answer["totalSize"], json!(TASKS));
        answer
    });
    let requests = pages("requests", "requestId", |token| {
        let body = json!({"pageSize": 100, "pageToken": token});
        bench.coordinate(&bench.member, "requests:list", &body).ok()
    });
    let events = pages("events", "eventId", |token| {
        let body = json!({"pageSize": 100, "pageToken": token});
        bench.coordinate(&bench.member, "events:list", &body).ok()
    });
    for found in [tasks, requests, events] {
        assert!(found.len() >= 2 && found[0] < TASKS, "{found:?}");
    }
}

#[test]
fn a_digest_shows_the_newest_of_long_records_and_says_that_there_is_more() {
    let bench = bench();
    let body = json!({"maxItems": 200});
    let answer = bench.coordinate(&bench.member, "digest:get", &body).ok();
    let digest = &answer["digest"];
    let open = digest["openRequests"].as_array().unwrap();
    assert!((1..TASKS).contains(&open.len()), "{}", open.len());
    let all = bench.coordinate(&bench.member, "requests:list", &json!({"pageSize": 100}));
    let first = &all.ok()["requests"][0]["requestId"];
    assert!(open.iter().all(|request| request["requestId"] != *first));
    assert!(
        digest["more"]
            .as_array()
            .unwrap()
            .contains(&json!("openRequests"))
    );
    assert!(answer.to_string().len() <= MOST);
}
