//! Whatever is posted to the JSON-RPC endpoint, the desk answers it with legal envelopes, or with none where none is due.
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

use a2a_edge::extension::Method;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use rpc::{Caller, envelope, legal, message, notification};
use serde_json::{Value, json};
use support::Reply;

/// Whatever comes to a body: an envelope, an array of them, or nothing at all.
fn check(reply: &Reply, text: &str) {
    if reply
        .headers
        .get("content-type")
        .is_some_and(|it| it == "text/event-stream")
    {
        return;
    }
    assert!([200, 204].contains(&reply.status), "{} {text}", reply.status);
    match &reply.body {
        Value::Null => assert_eq!(reply.status, 204, "{text}"),
        Value::Array(answers) => {
            assert!((1..=50).contains(&answers.len()), "{text}");
            answers.iter().for_each(legal);
        }
        answer => legal(answer),
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        select(vec![
            "2.0",
            "task-1",
            "ListTasks",
            "message/send",
            "",
            "é\u{2028}"
        ])
        .prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        (250_usize..260).prop_map(|length| Value::from("x".repeat(length))),
    ];
    let members = vec![
        "jsonrpc", "id", "method", "params", "message", "parts", "text", "tenant", "pageSize", "x",
    ];
    leaf.prop_recursive(4, 30, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((select(members.clone()), inner), 0..6).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

/// An envelope with any of its members replaced or gone.
fn any_call() -> impl Strategy<Value = Value> {
    let method = select(Method::ALL.map(Method::name).to_vec());
    let spoiled = || prop::option::weighted(0.15, prop::option::of(any_json()));
    let params =
        prop_oneof![2 => Just(message("m-any")), 1 => Just(json!({"id": "task-1"})), 3 => any_json()];
    (method, params, [spoiled(), spoiled(), spoiled(), spoiled()]).prop_map(|(method, params, spoiled)| {
        let mut call = envelope(&json!(1), method, &params);
        for (name, spoil) in ["jsonrpc", "id", "method", "params"].into_iter().zip(spoiled) {
            match spoil {
                Some(Some(value)) => call[name] = value,
                Some(None) => drop(call.as_object_mut().unwrap().shift_remove(name)),
                None => {}
            }
        }
        call
    })
}

fn run<T: std::fmt::Debug>(cases: u32, strategy: &impl Strategy<Value = T>, test: impl Fn(T)) {
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let outcome = proptest::test_runner::TestRunner::new(config).run(strategy, |value| {
        test(value);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn no_json_breaks_anything() {
    let caller = Caller::new();
    let call = prop_oneof![
        3 => any_call(),
        2 => prop::collection::vec(any_call(), 0..5).prop_map(Value::from),
        1 => any_json(),
    ];
    run(1500, &call, |call| {
        check(&caller.post("", &call), &call.to_string())
    });
}

#[test]
fn no_bytes_break_anything() {
    let caller = Caller::new();
    let bench = &caller.bench;
    let sound = json!([
        envelope(&json!("a"), "SendMessage", &message("m-any")),
        notification("ListTasks", &json!({}))
    ]);
    let edit = (
        any::<Index>(),
        0_usize..8,
        prop::collection::vec(any::<u8>(), 0..6),
    );
    let strategy = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..64),
        prop::collection::vec(edit, 0..4).prop_map(move |edits| {
            let mut bytes = sound.to_string().into_bytes();
            for (place, gone, new) in edits {
                let start = place.index(bytes.len() + 1);
                let end = (start + gone).min(bytes.len());
                bytes.splice(start..end, new);
            }
            bytes
        }),
    ];
    run(1500, &strategy, |bytes| {
        let reply = bench.request("POST", "/rpc", &bench.client, "", &bytes);
        check(&reply, &String::from_utf8_lossy(&bytes));
    });
}
