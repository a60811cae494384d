//! Several calls in one request of JSON-RPC, and calls that nobody is to be answered.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "tests"
)]

#[path = "support/rpc.rs"]
mod rpc;
#[path = "support/desk.rs"]
mod support;

use rpc::{Caller, envelope, legal, message, notification, refusal};
use serde_json::{Value, json};

#[test]
fn a_batch_is_done_in_its_order_and_answered_call_by_call() {
    let caller = Caller::new();
    let task = json!({ "id": caller.task });
    let batch = json!([
        envelope(&json!("first"), "GetTask", &task),
        notification("CancelTask", &task),
        envelope(&json!(null), "GetTask", &task),
        {"jsonrpc": "2.0", "id": 3},
        envelope(&json!(4), "SubscribeToTask", &task),
        7,
        notification("NoSuchMethod", &json!({})),
        envelope(&json!(5.5), "CancelTask", &task),
    ]);
    let answers = caller.post("", &batch).ok();
    let answers = answers.as_array().unwrap();
    answers.iter().for_each(legal);
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(
        ids,
        [
            json!("first"),
            json!(null),
            json!(3),
            json!(4),
            json!(null),
            json!(5.5)
        ]
    );
    assert_eq!(answers[0]["result"]["status"]["state"], "TASK_STATE_SUBMITTED");
    assert_eq!(answers[1]["result"]["status"]["state"], "TASK_STATE_CANCELED");
    let codes: Vec<_> = answers[2..].iter().map(|answer| refusal(answer).0).collect();
    assert_eq!(codes, [-32600, -32004, -32600, -32002]);
}

#[test]
fn a_batch_is_one_call_at_least_and_fifty_at_most() {
    let caller = Caller::new();
    let batch = |length: usize| json!(vec![envelope(&json!(1), "ListTasks", &json!({})); length]);
    assert_eq!(caller.post("", &batch(50)).ok().as_array().unwrap().len(), 50);
    for length in [0, 51] {
        let refused = caller.post("", &batch(length)).ok();
        assert_eq!(
            (refusal(&refused).0, &refused["id"]),
            (-32600, &Value::Null),
            "{length}"
        );
    }
}

#[test]
fn a_notification_is_done_and_not_answered_and_waits_for_nothing() {
    let caller = Caller::new();
    let bench = &caller.bench;
    let count = || caller.call("ListTasks", &json!({})).ok()["result"]["totalSize"].clone();
    let blocking =
        json!({"message": {"messageId": "m-2", "role": "ROLE_USER", "parts": [{"text": "Please."}]}});
    let before = bench.now();
    for body in [
        notification("SendMessage", &blocking),
        notification("SendStreamingMessage", &message("m-3")),
        json!([
            notification("SendMessage", &message("m-4")),
            notification("SendMessage", &json!({}))
        ]),
        notification("SendMessage", &json!({})),
        notification("NoSuchMethod", &json!([])),
        notification("SubscribeToTask", &json!({ "id": caller.task })),
    ] {
        let reply = caller.post("", &body);
        assert_eq!((reply.status, &reply.body), (204, &Value::Null), "{body}");
        assert!(!reply.headers.contains_key("content-type"), "{body}");
    }
    assert_eq!(bench.now(), before);
    assert_eq!(count(), 4);
}

#[test]
fn the_calls_of_a_batch_together_wait_as_long_as_one() {
    let caller = Caller::new();
    let bench = &caller.bench;
    let sends = (2..6).map(|number| {
        let mut params = message(&format!("m-{number}"));
        params["configuration"] = json!({});
        envelope(&json!(number), "SendMessage", &params)
    });
    let batch: Vec<_> = sends.collect();
    let before = bench.now();
    let answers = caller.post("", &json!(batch)).ok();
    assert_eq!(bench.now().millis_since(before), 60_000);
    for answer in answers.as_array().unwrap() {
        assert_eq!(
            answer["result"]["task"]["status"]["state"],
            "TASK_STATE_SUBMITTED"
        );
    }
}

#[test]
fn what_is_called_behind_four_mebibytes_of_answers_is_not_done() {
    let caller = Caller::new();
    let mut long = message("m-long");
    long["message"]["parts"] = json!([{"text": "x".repeat(60_000)}]);
    let id = caller.call("SendMessage", &long).ok()["result"]["task"]["id"].clone();
    for number in 0..9 {
        let mut more = long.clone();
        more["message"]["messageId"] = json!(format!("m-long-{number}"));
        more["message"]["taskId"] = id.clone();
        caller.call("SendMessage", &more).ok();
    }
    let one = caller
        .call("GetTask", &json!({ "id": id }))
        .ok()
        .to_string()
        .len();
    let enough = (1 << 22) / one + 1;
    assert!(enough < 48, "{one}");
    let mut batch = vec![envelope(&json!(1), "GetTask", &json!({ "id": id })); enough];
    batch.push(envelope(&json!(2), "CancelTask", &json!({ "id": id })));
    let whole = caller.post("", &json!(batch[..enough - 1])).ok();
    assert!(
        whole
            .as_array()
            .unwrap()
            .iter()
            .all(|answer| answer.get("result").is_some())
    );
    let answers = caller.post("", &json!(batch)).ok();
    let last = answers.as_array().unwrap().last().unwrap();
    assert_eq!(
        (refusal(last), &last["id"]),
        ((-32603, "RESOURCE_EXHAUSTED".to_owned()), &json!(2))
    );
    let state = caller.call("GetTask", &json!({ "id": id })).ok()["result"]["status"]["state"].clone();
    assert_ne!(state, "TASK_STATE_CANCELED");
}
