//! Whatever JSON, and whatever text, comes in: nothing panics, every door gives a verdict, and both doors agree.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test stops at what it does not expect"
)]

use a2a_edge::a2a::{Artifact, Part};
use a2a_edge::dispatch::address::{self, Address};
use a2a_edge::dispatch::artifact::{self, WorkArtifact};
use a2a_edge::dispatch::facts::Facts;
use a2a_edge::dispatch::inbound::{self, inbound};
use a2a_edge::dispatch::projection::project;
use a2a_edge::dispatch::verdict::Fault;
use a2a_edge::dispatch::work::Handoffs;
use a2a_edge::dispatch::{ENVELOPE_URI, GATE_URI, WORK_URI};
use a2a_edge::dispatch::{delivery, draft, envelope, placement, projection, render, work};
use a2a_edge::json::compact_len;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Words that the contract gives a meaning to, so that chance meets its rules.
const NAMES: &[&str] = &[
    "skill",
    "title",
    "acceptance",
    "writes",
    "priority",
    "labels",
    "task",
    "to",
    "kind",
    "urgent",
    "wake",
    "replyTo",
    "blocking",
    "choices",
    "choice",
    "refs",
    "type",
    "at",
    "id",
    "body",
    "from",
    "data",
    "scope",
    "root",
    "answer",
    "openQuestions",
    "openGates",
    "openedAt",
    "rootDeliveries",
    "canceledAt",
    "declinedAt",
    "dropped",
    "status",
    "phase",
    "approved",
    "recipientTaskDropped",
    "client",
    "work",
    "pr",
    "url",
    "number",
    "diffstat",
    "evidence",
    "items",
    "perFile",
    "path",
    "files",
    "insertions",
    "deletions",
    "command",
    "exitCode",
    "durationMs",
    "summary",
    "messageId",
    "text",
    "raw",
    "parts",
    "filename",
    "channels",
    "members",
    "name",
    "workItems",
    "liveSession",
    WORK_URI,
    ENVELOPE_URI,
    GATE_URI,
];
const WORDS: &[&str] = &[
    "handoff",
    "status",
    "ask",
    "question",
    "answer",
    "message",
    "x-closed",
    "wake",
    "task-proposal",
    "held",
    "notified",
    "deleted",
    "other",
    "client",
    "draft",
    "ready",
    "review",
    "landed",
    "decline",
    "high",
    "task",
    "pr",
    "diffstat",
    "evidence",
    "2026-09-23T11:00:00.000Z",
    "https://a.example/x",
    "human:wyat",
    "a2a:acme",
    "channel:ops",
    "agent:dispatch",
    "m-1",
    "m-2",
    "..",
    "a\nb",
    "",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => proptest::sample::select(WORDS).prop_map(str::to_owned),
        1 => ".{0,12}",
        1 => (0..700_usize).prop_map(|count| "é".repeat(count)),
    ]
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..9_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        let name = prop_oneof![9 => proptest::sample::select(NAMES).prop_map(str::to_owned), 1 => ".{0,6}"];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            proptest::collection::vec((name, inner), 0..12)
                .prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

/// An object whose members are often of the right type, so that chance comes past the first checks.
fn facts() -> impl Strategy<Value = Value> {
    let note = json_value().prop_map(|value| match value {
        note @ Value::Object(_) => note,
        data => json!({"id": "m-1", "from": "agent:dispatch", "body": "b", "data": data}),
    });
    let note = note.boxed();
    let notes = proptest::collection::vec(note.clone(), 0..3);
    let gate = proptest::sample::select(WORDS)
        .prop_map(|word| json!({"id": "g", "type": word, "openedAt": "2026-09-23T11:00:00Z"}));
    let members = (
        proptest::option::of(note),
        notes.clone(),
        notes,
        proptest::collection::vec(gate, 0..3),
        proptest::sample::select(WORDS),
        any::<[bool; 4]>(),
    );
    members.prop_map(|(answer, scope, questions, gates, status, flags)| {
        let [handoff, approved, dropped, held] = flags;
        json!({"answer": answer, "scope": scope, "openQuestions": questions, "openGates": gates,
            "skill": if handoff { "handoff" } else { "ask" },
            "rootDeliveries": if held { json!(["held"]) } else { json!([]) },
            "dropped": if dropped { json!("other") } else { json!(null) },
            "task": {"id": "t", "title": "T", "status": status, "approved": approved}})
    })
}

/// A verdict, and what it says.
fn read(verdict: &str) -> Value {
    let value: Value = serde_json::from_str(verdict).expect("a verdict is JSON");
    let ok = value["ok"].as_bool().expect("a verdict is ok or not");
    assert_eq!(value.get("error").is_none(), ok, "{verdict}");
    if !ok {
        let error = &value["error"];
        let named =
            ["code", "field", "message"].map(|name| error[name].as_str().is_some_and(|it| !it.is_empty()));
        assert_eq!(named, [true; 3], "{verdict}");
    }
    value
}

fn agree<T>(typed: Result<T, Fault>, text: &str) {
    let text = read(text);
    match typed {
        Ok(_) => assert_eq!(text["ok"], true),
        Err(fault) => assert_eq!(
            text["error"],
            serde_json::to_value(&fault).expect("a fault is JSON")
        ),
    }
}

/// Every text door, with this text in each of its places.
fn every_door(text: &str) -> Vec<String> {
    vec![
        work::validate_json(text, Handoffs::Taken),
        work::validate_json(text, Handoffs::Refused),
        draft::shape_json(text),
        envelope::validate_json(text),
        envelope::opening_json(text, Handoffs::Taken),
        projection::project_json(text, ""),
        projection::project_json(text, text),
        placement::metadata_budget_json(text),
        placement::task_json(text, text, "[]", text),
        placement::task_json("{}", "", text, ""),
        artifact::validate_json(text),
        artifact::render_json(text, true),
        inbound::inbound_json(text),
        render::push_json(text),
        render::digest_json(text),
        address::parse_json(text),
        address::recipients_json(text),
        delivery::deliver_json(text, text, text),
        delivery::deliver_json("human:a", text, "{}"),
        delivery::deliver_json("human:a", r#"{"to":["channel:ops"]}"#, text),
    ]
}

proptest! {
    #[test]
    fn every_door_gives_a_verdict_on_any_json(value in json_value()) {
        for verdict in every_door(&value.to_string()) {
            read(&verdict);
        }
    }

    #[test]
    fn every_door_gives_a_verdict_on_any_text(text in "\\PC{0,60}|[\\[\\]{}\":,0-9a-z\\\\\u{0}-\u{20}]{0,60}") {
        for verdict in every_door(&text) {
            read(&verdict);
        }
    }

    #[test]
    fn both_doors_say_the_same(value in json_value()) {
        let text = value.to_string();
        agree(work::validate(Some(&value), Handoffs::Taken), &work::validate_json(&text, Handoffs::Taken));
        agree(envelope::validate(Some(&value)), &envelope::validate_json(&text));
        agree(Facts::read(&value), &projection::project_json(&text, ""));
        agree(WorkArtifact::read(&value, "artifact"), &artifact::validate_json(&text));
        agree(address::recipients(&value), &address::recipients_json(&text));
        if let Value::Object(metadata) = &value {
            agree(placement::metadata_budget(metadata), &placement::metadata_budget_json(&text));
        }
    }

    #[test]
    fn an_address_is_read_as_it_is_written(text in "(human|agent|task|run|channel|a2a|x)?:?[a-zA-Z0-9./_~é-]{0,45}") {
        let typed = Address::parse(&text).map_err(|expected| Fault::invalid("address", expected));
        if let Ok(address) = &typed {
            prop_assert_eq!(address.to_string(), text.clone());
        }
        agree(typed, &address::parse_json(&text));
    }

    #[test]
    fn any_facts_match_a_row_and_what_is_gated_is_not_told(facts in facts()) {
        if let Ok(read) = Facts::read(&facts) {
            let projection = project(&read, "agent:dispatch");
            prop_assert!((1..=12).contains(&projection.row));
            prop_assert!(!projection.text.is_empty());
            let source = projection.source.filter(|_| projection.row != 3);
            prop_assert!(!source.is_some_and(|note| projection::is_gate_traffic(note, &read)));
            prop_assert_eq!(projection.gates.is_empty(), projection.row != 8);
        }
    }

    #[test]
    fn any_parts_become_a_body_within_the_budget(contents in proptest::collection::vec(json_value(), 0..6)) {
        let parts: Vec<Part> = contents
            .into_iter()
            .map(|value| match value {
                Value::String(text) => Part::text(text),
                value => Part::data(value),
            })
            .collect();
        if let Ok(inbound) = inbound(&parts) {
            prop_assert!((1..=65_536).contains(&inbound.body.len()));
            prop_assert!(inbound.data.is_none_or(|data| data.get(ENVELOPE_URI).is_some()));
        }
    }
}

proptest! {
    // Each case renders some hundred kilobytes many times over.
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_artifact_fits_its_budget(
        texts in proptest::collection::vec((".{0,900}", "[\u{0}-\u{7F}]{0,900}"), 0..60),
        active in any::<bool>(),
    ) {
        let items = texts.iter().map(|(command, summary)| {
            json!({"command": command, "exitCode": 1, "durationMs": 2, "summary": summary})
        });
        let files = texts.iter().map(|(one, two)| json!({"path": format!("{one}{two}"), "insertions": 1, "deletions": 1}));
        let text: String = texts.iter().map(|(one, two)| format!("{one}{two}")).collect();
        for value in [
            json!({"kind": "evidence", "items": items.collect::<Vec<_>>()}),
            json!({"kind": "diffstat", "files": 1, "insertions": 1, "deletions": 1, "perFile": files.collect::<Vec<_>>()}),
            json!({"kind": "answer", "messageId": "m", "text": text, "choice": "c"}),
        ] {
            let artifact = WorkArtifact::read(&value, "artifact").expect("an artifact of the right shape");
            let rendered: Artifact = artifact.render(active);
            prop_assert!(compact_len(&rendered) <= 65_536);
            prop_assert_eq!(rendered.metadata.contains_key(WORK_URI), active);
        }
    }
}
