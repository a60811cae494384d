//! Those who write until the host is gone, and what was acknowledged.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::callers::{Caller, text};

/// What was acknowledged: ids of messages, and of the tasks that they opened.
pub(crate) type Kept = Mutex<Vec<(String, String)>>;

/// Sends until the host is gone or it is over, and keeps what was acknowledged.
pub(crate) fn write(
    caller: &Caller,
    token: &str,
    name: &str,
    kept: &Kept,
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
        // Nor does a host that can't reach its store.
        if reply.status == 503 {
            continue;
        }
        let task = reply.ok();
        kept.lock().unwrap().push((id, text(&task["task"]["id"])));
        done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The ids of all tasks that a client sees.
pub(crate) fn tasks(caller: &Caller, token: &str) -> BTreeSet<String> {
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

/// That all that was acknowledged is there.
pub(crate) fn check(life: usize, caller: &Caller, token: &str, kept: &Kept) {
    let seen = tasks(caller, token);
    for (message, task) in kept.lock().unwrap().iter() {
        assert!(
            seen.contains(task),
            "life {life}: {message} was acknowledged as {task}"
        );
    }
}
