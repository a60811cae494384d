//! The runtime is killed in the middle of its work: what it has acknowledged is there afterwards.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use a2a_edge_workers_tests::Deployment;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::party::{Caller, PLATFORM, Session, text};

const KILLS: usize = 20;
const WRITERS: usize = 4;
/// Acknowledged writes of a life before it ends.
const WRITES: usize = 25;

/// Sends until the runtime is gone, and keeps what was acknowledged: the message's id and the task that it opened.
fn write(
    caller: &Caller,
    token: &str,
    name: &str,
    kept: &Mutex<Vec<(String, String)>>,
    over: &AtomicBool,
    done: &AtomicUsize,
) {
    for number in 0.. {
        if over.load(Ordering::Relaxed) {
            return;
        }
        let id = format!("{name}-{number}");
        let message =
            json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": format!("Question {id}?")}]});
        let body = json!({"message": message, "configuration": {"returnImmediately": true}});
        // No answer says nothing: the write may be there or not.
        let Ok(reply) = caller.try_call("POST /message:send", token, &body) else {
            return;
        };
        let task = reply.ok();
        kept.lock().unwrap().push((id, text(&task["task"]["id"])));
        done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The ids of all tasks that a client sees.
fn tasks(caller: &Caller, token: &str) -> BTreeSet<String> {
    let (mut seen, mut page) = (BTreeSet::new(), String::new());
    loop {
        let line = format!("GET /tasks?pageSize=100&pageToken={page}");
        let listed = caller.call(&line, token, &Value::Null).ok();
        seen.extend(
            listed["tasks"]
                .as_array()
                .unwrap()
                .iter()
                .map(|task| text(&task["id"])),
        );
        page = text(&listed["nextPageToken"]);
        if page.is_empty() {
            return seen;
        }
    }
}

#[test]
fn every_acknowledged_write_survives_20_kills_under_load() {
    // On disk: this is about durability.
    let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let deployment = Deployment::default();
    let mut running = PLATFORM.start(&deployment, place.path()).unwrap();
    let session = Session::create(&Caller::of(&running));
    let kept = Mutex::new(Vec::new());
    for life in 0..KILLS {
        let (over, done) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (caller, name) = (Caller::of(&running), format!("m-{life}-{writer}"));
                let (token, kept, over, done) = (&session.client, &kept, &over, &done);
                scope.spawn(move || write(&caller, token, &name, kept, over, done));
            }
            while done.load(Ordering::Relaxed) < WRITES {
                thread::sleep(Duration::from_millis(1));
            }
            running.kill();
            over.store(true, Ordering::Relaxed);
        });
        running = PLATFORM.start(&deployment, place.path()).unwrap();
        let seen = tasks(&Caller::of(&running), &session.client);
        for (message, task) in kept.lock().unwrap().iter() {
            assert!(
                seen.contains(task),
                "life {life}: {message} was acknowledged as {task}"
            );
        }
    }
    assert!(kept.lock().unwrap().len() >= KILLS * WRITES);
}
