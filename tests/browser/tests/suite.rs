//! What must hold of the npm package, of the playground and of the form: each test runs a script of `js/`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test stops at what it does not expect"
)]

#[path = "../../support/vectors.rs"]
mod support;

use std::cell::RefCell;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use a2a_edge::dispatch::{artifact, draft, envelope, gate, inbound, placement, render, work::Handoffs};
use a2a_edge::doors::{activation, coordination};
use a2a_edge_browser_tests::Project;
use serde_json::{Value, json};
use support::{Doors, FILES, Native, vector_step, vectors};

/// Built and installed once, with every call that the scripts make and what the Rust API answers.
static PROJECT: LazyLock<Project> = LazyLock::new(|| {
    let project = Project::prepare().unwrap();
    let mut calls = Recorder::default().vectors();
    calls.extend(others());
    assert!(calls.len() > 100, "only {} calls", calls.len());
    fs::write(project.file("calls.json"), Value::from(calls).to_string()).unwrap();
    project
});

fn run(script: &str) {
    PROJECT.run(script).unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn node_and_chromium_answer_as_the_rust_api_does() {
    run("answers.test.mjs");
}

#[test]
fn the_component_answers_as_the_rust_api_does_in_node() {
    run("component.test.mjs");
}

#[test]
fn the_component_runs_in_python() {
    let component = xtask::component::build(xtask::component::VALIDATORS).unwrap();
    let python = xtask::pip::install("examples/python", "example-python").unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/python/validate.py");
    let judge = |request: &str| {
        let mut run = Command::new(&python);
        run.arg(script)
            .arg(&component)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut run = run.spawn().unwrap();
        run.stdin.take().unwrap().write_all(request.as_bytes()).unwrap();
        let output = run.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(judge(r#"{"skill":"status"}"#).trim(), "right");
    let refused = judge(r#"{"skill":"handoff","title":"Fix it","writes":["../up"]}"#);
    assert!(
        refused.starts_with("invalid: work.writes[0]: expected a path"),
        "{refused}"
    );
}

#[test]
fn the_types_agree_with_what_the_functions_give() {
    run("types.test.mjs");
}

#[test]
fn the_package_is_in_order() {
    run("package.test.mjs");
}

#[test]
fn the_pages_show_what_is_wrong_and_where() {
    run("pages.test.mjs");
}

/// The doors of the Rust API, each call of them noted: `{"door","arguments","answer"}`.
#[derive(Default)]
struct Recorder(RefCell<Vec<Value>>);

impl Recorder {
    /// The calls that the conformance vectors make.
    fn vectors(self) -> Vec<Value> {
        for vector in FILES.iter().flat_map(|(_, text)| vectors(text)) {
            for step in vector["when"].as_array().unwrap() {
                vector_step(&self, &vector["given"], step).unwrap();
            }
        }
        self.0.into_inner()
    }

    fn note(&self, door: &str, arguments: Value, answer: String) -> String {
        self.0.borrow_mut().push(call(door, arguments, &answer));
        answer
    }
}

fn call(door: &str, arguments: Value, answer: &str) -> Value {
    json!({"door": door, "arguments": arguments, "answer": answer})
}

fn handoffs(taken: bool) -> &'static str {
    if taken { "taken" } else { "refused" }
}

impl Doors for Recorder {
    fn validate_work(&self, request: &str, taken: bool) -> String {
        let answer = Native.validate_work(request, taken);
        self.note("work.validateJson", json!([request, handoffs(taken)]), answer)
    }

    fn validate_envelope(&self, request: &str) -> String {
        self.note(
            "envelope.validateJson",
            json!([request]),
            Native.validate_envelope(request),
        )
    }

    fn metadata_budget(&self, metadata: &str) -> String {
        let answer = Native.metadata_budget(metadata);
        self.note("shaping.metadataBudgetJson", json!([metadata]), answer)
    }

    fn project(&self, facts: &str, system: &str) -> String {
        let answer = placement::task_json(facts, system, "[]", "m");
        self.note("shaping.taskJson", json!([facts, system, "[]", "m"]), answer);
        let answer = Native.project(facts, system);
        self.note("projection.projectJson", json!([facts, system]), answer)
    }

    fn parse_address(&self, address: &str) -> String {
        let answer = Native.parse_address(address);
        self.note("envelope.parseAddressJson", json!([address]), answer)
    }

    fn recipients(&self, message: &str) -> String {
        self.note(
            "envelope.recipientsJson",
            json!([message]),
            Native.recipients(message),
        )
    }

    fn deliver(&self, sender: &str, message: &str, directory: &str) -> String {
        let answer = Native.deliver(sender, message, directory);
        self.note(
            "envelope.deliverJson",
            json!([sender, message, directory]),
            answer,
        )
    }
}

/// What the vectors do not reach: doors beside theirs, and texts that are hard to carry across.
fn others() -> Vec<Value> {
    let mut calls = Vec::new();
    let texts = [
        "",
        "{",
        "null",
        "[]",
        "{}",
        "{} {}",
        r#"{"a":1,"a":2}"#,
        "\u{FEFF}{}",
        r#"{"skill":"handoff","title":"é€😀 \u2028"}"#,
        r#"{"skill":"handoff","title":"\ud83d\ude00","labels":["API","é","API"],"priority":"urgent"}"#,
        r#"{"skill":"status","task":"😀"}"#,
        r#"{"to":["human:ada"],"kind":"x-mine"}"#,
        r#"{"kind":"pr","url":"https://example.org/7","number":7}"#,
        r#"{"kind":"diffstat","files":1,"insertions":2,"deletions":0,"perFile":[{"path":"é","insertions":2,"deletions":0}]}"#,
        r#"{"kind":"evidence","items":[{"command":"cargo test","exitCode":-1,"durationMs":9007199254740993,"summary":"ok"}]}"#,
        r#"{"kind":"answer","messageId":"m","text":"ja","choice":"😀"}"#,
        r#"{"parts":[{"text":"é"},{"url":"https://example.org/(x)"},{"data":{"x":1.0,"y":1e400}}]}"#,
        r#"{"parts":[{"text":"é"},{"data":[1.0,-0.0,12345678901234567890]}]}"#,
        r#"{"parts":[{"raw":"AA=="}]}"#,
        r#"{"id":"m-1","from":"human:wyat","kind":"question","body":"a\nb","choices":["x"],"data":{"type":"wake"}}"#,
        r#"{"id":"m-2","thread":"m-1","replyTo":"m-1","from":"human:wyat","kind":"answer","blocking":true,"choices":["a"],"choice":"a","refs":[{"type":"task","id":"t"}]}"#,
        r#"{"type":"x-closed"}"#,
        r#"{"https://dispatch.foo/a2a/ext/work/v1":{"skill":"handoff","title":"T"}}"#,
    ];
    for text in texts {
        let work = |taken| a2a_edge::dispatch::work::validate_json(text, taken);
        let answers = [
            ("work.validateJson", json!([text, "taken"]), work(Handoffs::Taken)),
            (
                "work.validateJson",
                json!([text, "refused"]),
                work(Handoffs::Refused),
            ),
            ("work.shapeDraftJson", json!([text]), draft::shape_json(text)),
            (
                "envelope.validateJson",
                json!([text]),
                envelope::validate_json(text),
            ),
            (
                "envelope.openingJson",
                json!([text, "taken"]),
                envelope::opening_json(text, Handoffs::Taken),
            ),
            (
                "envelope.openingJson",
                json!([text, "refused"]),
                envelope::opening_json(text, Handoffs::Refused),
            ),
            (
                "envelope.writeBackJson",
                json!([text]),
                envelope::write_back_json(text),
            ),
            (
                "shaping.validateArtifactJson",
                json!([text]),
                artifact::validate_json(text),
            ),
            (
                "shaping.artifactJson",
                json!([text, true]),
                artifact::render_json(text, true),
            ),
            (
                "shaping.artifactJson",
                json!([text, false]),
                artifact::render_json(text, false),
            ),
            ("shaping.inboundJson", json!([text]), inbound::inbound_json(text)),
            ("shaping.pushJson", json!([text]), render::push_json(text)),
            ("shaping.digestJson", json!([text]), render::digest_json(text)),
        ];
        calls.extend(answers.map(|(door, arguments, answer)| call(door, arguments, &answer)));
    }
    calls.extend(typed());
    for operation in a2a_edge::coordination::catalogue::OPERATIONS {
        for text in [
            "{}",
            "[]",
            r#"{"idempotencyKey":""}"#,
            r#"{"resourceId":"/x","leaseSeconds":29,"title":"\u2028","artifacts":[{}]}"#,
        ] {
            for (door, answer) in [
                ("validateJson", coordination::validate_json(operation.name, text)),
                (
                    "fingerprintJson",
                    coordination::fingerprint_json(operation.name, text),
                ),
            ] {
                let door = format!("coordination.{door}");
                calls.push(call(&door, json!([operation.name, text]), &answer));
            }
        }
    }
    for (one, other) in [
        ("src/**", "src/é.rs"),
        ("src/*.rs", "tests/*.rs"),
        ("pr:1", "pr:1"),
        ("/x", "y"),
        ("y", "a/../b"),
    ] {
        let answer = coordination::overlap_json(one, other);
        calls.push(call("coordination.overlapJson", json!([one, other]), &answer));
    }
    calls
}

/// Functions that take and give objects alone, their answers as verdicts.
fn typed() -> Vec<Value> {
    let text = |value: &Value| value.to_string();
    let mut calls = Vec::new();
    for data in [
        json!({"type": "wake"}),
        json!({"type": "x-closed"}),
        json!([]),
        json!(null),
    ] {
        let answer = gate::is_gate_data_json(&text(&data));
        calls.push(call("gate.isGateData", json!([data]), &answer));
    }
    let lists = [json!([]), json!(["a, b", "é,a", ""]), json!(["b"]), json!(["a"])];
    for one in &lists {
        let answer = activation::parse_header_json(&text(one));
        calls.push(call("activation.parseHeader", json!([one]), &answer));
        let answer = activation::format_header_json(&text(one));
        calls.push(call("activation.formatHeader", json!([one]), &answer));
        for other in &lists {
            let answer = activation::requested_json(&text(one), &text(other));
            calls.push(call("activation.requested", json!([one, other]), &answer));
            let answer = activation::activate_json(&text(one), &text(other));
            calls.push(call("activation.activate", json!([one, other]), &answer));
        }
    }
    let declared = json!([{"uri": "a", "required": true}, {"uri": "b", "params": {"p": 1}}]);
    for requested in &lists {
        let answer = activation::required_missing_json(&text(&declared), &text(requested));
        calls.push(call(
            "activation.requiredMissing",
            json!([declared, requested]),
            &answer,
        ));
    }
    for card in [
        json!({}),
        json!({"name": "é", "capabilities": {"extensions": [{"uri": "a"}]}}),
        json!([]),
    ] {
        let answer = activation::declare_on_card_json(&text(&card), &text(&declared));
        calls.push(call("activation.declareOnCard", json!([card, declared]), &answer));
    }
    calls
}
