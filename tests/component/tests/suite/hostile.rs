//! Whatever a stranger sends, no call traps, the component answers as the Rust API does, and the instance goes on.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::doors::{DOORS, door};
use crate::instance;

const MIB: usize = 1 << 20;

#[test]
fn texts_that_are_no_json_are_answered() {
    let mut instance = instance();
    for text in [
        "",
        "\0",
        "nul",
        "{",
        "[1,]",
        "{\"a\":1,\"a\":2}",
        "1e999",
        "-",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\u{1}\"",
        "\u{FEFF}{}",
        "{}{}",
    ] {
        for door in &DOORS {
            let answer = door.agree(&mut instance, text);
            assert!(
                answer.starts_with("{\"ok\":false,"),
                "{} of {text:?}: {answer}",
                door.name
            );
        }
    }
}

#[test]
fn deep_texts_are_answered() {
    let mut instance = instance();
    for depth in [63, 64, 65, 1_000, 1_000_000] {
        let lists = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        for text in [lists, objects, "[".repeat(depth), "{\"a\":".repeat(depth)] {
            for door in &DOORS {
                door.agree(&mut instance, &text);
            }
        }
    }
}

#[test]
fn huge_texts_are_answered() {
    let mut instance = instance();
    let long = "é".repeat(MIB / 4);
    let texts = [
        json!(long),
        json!({"skill": "handoff", "title": long, "to": [long], "id": long, "metadata": {long.as_str(): 1}}),
        json!({"skill": "handoff", "title": "t", "labels": vec!["l"; 10_000], "to": vec!["human:a"; 10_000]}),
        json!({"parts": vec![json!({"text": "t"}); 5_000], "scope": vec![json!({"body": "b"}); 5_000]}),
        json!({"kind": "evidence", "items":
            vec![json!({"command": long, "exitCode": 0, "durationMs": 1, "summary": "s"}); 3]}),
    ];
    for text in texts
        .iter()
        .map(Value::to_string)
        .chain(["9".repeat(100_000), "[".to_owned() + &"1,".repeat(MIB / 16)])
    {
        for door in &DOORS {
            door.agree(&mut instance, &text);
        }
    }
}

#[test]
fn an_instance_goes_on_after_the_worst_of_it() {
    let mut instance = instance();
    for text in [
        "[".repeat(MIB),
        "\"".to_owned() + &"\\u0000".repeat(MIB),
        String::new(),
    ] {
        for door in &DOORS {
            door.component(&mut instance, &text);
        }
    }
    let answer = door("work.validate-json").component(&mut instance, r#"{"skill":"status"}"#);
    assert_eq!(answer, r#"{"ok":true}"#);
}

/// JSON of any shape whose members often have the names and values that the core looks for.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "skill",
        "handoff",
        "status",
        "title",
        "acceptance",
        "writes",
        "priority",
        "high",
        "labels",
        "task",
        "urgent",
        "wake",
        "request",
        "to",
        "human:ada",
        "a2a:acme",
        "channel:ops",
        "kind",
        "question",
        "x-own",
        "replyTo",
        "blocking",
        "choices",
        "choice",
        "refs",
        "type",
        "message",
        "at",
        "id",
        "facts",
        "root",
        "scope",
        "answer",
        "openQuestions",
        "openGates",
        "openedAt",
        "2026-01-02T03:04:05.678Z",
        "canceledAt",
        "declinedAt",
        "deleted",
        "dropped",
        "other",
        "phase",
        "review",
        "approved",
        "work",
        "pr",
        "url",
        "http://a.example/",
        "number",
        "diffstat",
        "files",
        "insertions",
        "deletions",
        "perFile",
        "path",
        "evidence",
        "items",
        "command",
        "exitCode",
        "durationMs",
        "summary",
        "parts",
        "text",
        "data",
        "raw",
        "body",
        "from",
        "rootDeliveries",
        "held",
        "decline",
        "messageId",
        "channels",
        "name",
        "members",
        "workItems",
        "liveSession",
        "run:r-1",
        "https://dispatch.foo/a2a/ext/work/v1",
        "https://dispatch.foo/a2a/ext/envelope/v1",
    ])
    .prop_map(str::to_owned);
    let text = prop_oneof![4 => word.clone(), 1 => any::<String>()];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..300_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            3 => prop::collection::vec((text.clone(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

#[test]
fn any_json_and_any_text_get_the_answers_of_the_rust_api() {
    let instance = std::cell::RefCell::new(instance());
    let agree = |text: &str| {
        for door in &DOORS {
            door.agree(&mut instance.borrow_mut(), text);
        }
    };
    proptest!(|(value in any_json(), text in any::<String>())| {
        agree(&value.to_string());
        agree(&text);
    });
}
