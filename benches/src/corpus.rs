//! What they are given.

use a2a_edge::dispatch::work::{
    ACCEPTANCE_MAX, CRITERION_BYTES, LABEL_BYTES, LABELS_MAX, TASK_ID_BYTES, TITLE_BYTES, WRITE_BYTES,
    WRITES_MAX,
};
use serde_json::{Map, Value, json};

/// The least that is a handoff.
#[must_use]
pub fn minimal() -> Vec<u8> {
    json!({"skill": "handoff", "title": "Fix it"})
        .to_string()
        .into_bytes()
}

/// A handoff with every member at its limit: about 36 KB.
#[must_use]
pub fn full_size() -> Vec<u8> {
    Value::from(full()).to_string().into_bytes()
}

fn full() -> Map<String, Value> {
    let members = [
        ("skill", json!("handoff")),
        ("title", text(TITLE_BYTES)),
        ("acceptance", list(ACCEPTANCE_MAX, CRITERION_BYTES)),
        ("writes", list(WRITES_MAX, WRITE_BYTES)),
        ("priority", json!("high")),
        ("labels", list(LABELS_MAX, LABEL_BYTES)),
    ];
    members
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// So many bytes of words, in ASCII.
fn text(bytes: usize) -> Value {
    "export the rate limits "
        .chars()
        .cycle()
        .take(bytes.saturating_sub(1))
        .chain(['.'])
        .collect::<String>()
        .into()
}

fn list(length: usize, bytes: usize) -> Value {
    vec![text(bytes); length].into()
}

/// Requests on both sides of every rule, on which all contenders must agree.
#[must_use]
pub fn requests() -> Vec<Vec<u8>> {
    let mut all: Vec<Value> = vec![
        json!(null),
        json!(true),
        json!(1),
        json!("handoff"),
        json!([]),
        json!({}),
        json!({"skill": null}),
        json!({"skill": "deploy"}),
        json!({"skill": "handoff"}),
        json!({"skill": "status"}),
        json!({"skill": "status", "title": 1, "writes": 1}),
    ];
    for task in [
        text(TASK_ID_BYTES),
        text(TASK_ID_BYTES.saturating_add(1)),
        json!(""),
        json!(null),
        json!(1),
    ] {
        all.push(json!({"skill": "status", "task": task}));
    }
    let members: [(&str, Vec<Value>); 6] = [
        ("extra", vec![json!(null), json!({"a": [1]})]),
        ("title", lines(TITLE_BYTES)),
        ("acceptance", lists(ACCEPTANCE_MAX, CRITERION_BYTES)),
        (
            "writes",
            lists(WRITES_MAX, WRITE_BYTES)
                .into_iter()
                .chain(paths())
                .collect(),
        ),
        (
            "priority",
            ["urgent", "high", "medium", "low", "none", "p0", ""]
                .map(Value::from)
                .into(),
        ),
        ("labels", lists(LABELS_MAX, LABEL_BYTES)),
    ];
    for (name, values) in members {
        for value in values.into_iter().chain([json!(null), json!(1), json!({})]) {
            let mut request = full();
            request.insert(name.to_owned(), value);
            all.push(request.into());
        }
    }
    let broken: [&[u8]; 4] = [b"", b"{", b"{} {}", b"\"\xFF\""];
    let texts = all.iter().map(|request| request.to_string().into_bytes());
    texts
        .chain(broken.map(<[u8]>::to_vec))
        .chain([minimal(), full_size()])
        .collect()
}

/// Lines of ASCII about a limit, and with what a line may not be or contain. Multi-byte characters stay short of the
/// limit, where bytes and characters are one to a schema.
fn lines(bytes: usize) -> Vec<Value> {
    let mut lines = vec![
        text(bytes),
        text(bytes.saturating_add(1)),
        json!("é\u{200B}"),
        json!(" a "),
    ];
    for c in "\t\u{A}\u{B}\u{C}\u{D}\u{1F} \u{85}\u{A0}\u{200B}\u{2028}\u{2029}\u{3000}\u{FEFF}".chars() {
        lines.push(json!(format!("{c}")));
        lines.push(json!(format!("a{c}b")));
    }
    lines.push(json!(""));
    lines
}

fn lists(length: usize, bytes: usize) -> Vec<Value> {
    let mut lists = vec![
        json!([]),
        list(length, 1),
        list(length.saturating_add(1), 1),
        json!("a"),
        json!(["a", 1]),
    ];
    lists.extend(lines(bytes).into_iter().map(|line| json!(["a", line])));
    lists
}

fn paths() -> impl Iterator<Item = Value> {
    let paths = [
        "./x",
        "~/x",
        "a//b",
        "src/",
        "**",
        "...",
        "a..b",
        "ab:c",
        "src/C:/x",
        "file:///x",
        " /x",
        "/x",
        "a\\b",
        "C:/x",
        "a:b",
        "..",
        "../x",
        "x/..",
        "x/../y",
        "..x",
        "x..",
    ];
    paths.into_iter().map(|path| json!([path]))
}

/// What JSON Schema cannot say of work/v1: a request, whether the contract takes it, and the rule. The schema judges
/// each of these the other way.
#[must_use]
pub fn beyond_schema() -> Vec<(Vec<u8>, bool, &'static str)> {
    let title = |title: &str| {
        json!({"skill": "handoff", "title": title})
            .to_string()
            .into_bytes()
    };
    vec![
        (
            title(&"é".repeat(101)),
            false,
            "a limit is in bytes of UTF-8; maxLength counts characters",
        ),
        (
            br#"{"skill":"handoff","title":"a","title":"b"}"#.to_vec(),
            false,
            "a member stands once; to a schema the last one wins, the parser having dropped the others",
        ),
        (
            format!(r#"{{"skill":"status","x":{}{}}}"#, "[".repeat(64), "]".repeat(64)).into_bytes(),
            false,
            "nesting ends at 64 levels; a schema without recursion does not look",
        ),
    ]
}

/// Facts that each row of the projection's table decides, by the row's number.
#[must_use]
pub fn rows() -> Vec<(u8, String)> {
    let item = |status: &str, approved: bool| json!({"id": "t-1", "title": "Limit", "status": status, "approved": approved});
    let note = |from: &str, body: &str| json!({"id": "m-1", "thread": "m-0", "from": from, "body": body});
    let facts = [
        (1, json!({"canceledAt": "2026-01-02T03:04:05.678Z"})),
        (2, json!({"declinedAt": "2026-01-02T03:04:05.678Z"})),
        (3, json!({"recipientTaskDropped": true})),
        (4, json!({"skill": "handoff", "task": "deleted"})),
        (5, json!({"answer": note("human:ada", "Yes, 100 a minute.")})),
        (6, json!({"skill": "handoff", "task": item("landed", true)})),
        (
            7,
            json!({"openQuestions": [note("human:ada", "Which region first?")]}),
        ),
        (
            8,
            json!({"openGates": [{"id": "m-2", "type": "task-proposal", "openedAt": "2026-01-02T03:04:05.678Z"}]}),
        ),
        (
            9,
            json!({"skill": "handoff", "task": item("review", true), "scope": [note("run:r-1", "Nearly there.")]}),
        ),
        (10, json!({"skill": "handoff", "task": item("ready", true)})),
        (
            11,
            json!({"root": {"to": ["task:t-1"]}, "rootDeliveries": ["held"]}),
        ),
        (12, json!({"scope": [note("human:ada", "Looking into it.")]})),
    ];
    facts.map(|(row, facts)| (row, facts.to_string())).into()
}
