//! For every limit of a request the last value that is taken and the first that is refused, in bytes of UTF-8,
//! through both doors.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test stops at what it does not expect"
)]

#[path = "support/limits.rs"]
mod support;

use a2a_edge::dispatch::work::Handoffs;
use a2a_edge::dispatch::{WORK_URI, artifact, envelope, inbound, placement, work};
use a2a_edge::json::compact_len;
use serde_json::{Map, Value, json};
use support::{said, text_of};

/// What a request is read as.
#[derive(Clone, Copy)]
enum Reader {
    Work,
    Envelope,
}

/// The fault of a request as `code field`, or `ok`: what both doors say.
fn verdict(reader: Reader, request: &Value) -> String {
    let (typed, text) = match reader {
        Reader::Work => (
            work::validate(Some(request), Handoffs::Taken).map(|_| ()),
            work::validate_json(&request.to_string(), Handoffs::Taken),
        ),
        Reader::Envelope => (
            envelope::validate(Some(request)).map(|_| ()),
            envelope::validate_json(&request.to_string()),
        ),
    };
    let expected = match &typed {
        Ok(()) => json!({"ok": true}),
        Err(fault) => json!({"ok": false, "error": fault}),
    };
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    said(typed)
}

fn handoff(member: &str, value: Value) -> Value {
    let mut request = json!({"skill": "handoff", "title": "T"});
    request[member] = value;
    request
}

fn one_member(member: &str, value: Value) -> Value {
    json!({member: value})
}

/// A place where one line stands: how its text becomes a request, its limit, and its path.
type LinePlace = (Reader, fn(Value) -> Value, usize, &'static str);

const LINES: [LinePlace; 11] = [
    (Reader::Work, |line| handoff("title", line), 200, "work.title"),
    (
        Reader::Work,
        |line| handoff("acceptance", json!(["a", line])),
        500,
        "work.acceptance[1]",
    ),
    (
        Reader::Work,
        |line| handoff("writes", json!(["a", line])),
        512,
        "work.writes[1]",
    ),
    (
        Reader::Work,
        |line| handoff("labels", json!([line])),
        50,
        "work.labels[0]",
    ),
    (
        Reader::Work,
        |line| json!({"skill": "status", "task": line}),
        512,
        "work.task",
    ),
    (
        Reader::Envelope,
        |line| one_member("to", json!(["a", "b", line])),
        512,
        "to[2]",
    ),
    (
        Reader::Envelope,
        |line| one_member("replyTo", line),
        512,
        "replyTo",
    ),
    (
        Reader::Envelope,
        |line| one_member("choices", json!([line])),
        200,
        "choices[0]",
    ),
    (Reader::Envelope, |line| one_member("choice", line), 200, "choice"),
    (
        Reader::Envelope,
        |line| json!({"refs": [{"type": "task", "id": line}]}),
        512,
        "refs[0].id",
    ),
    (
        Reader::Envelope,
        |line| json!({"refs": [{"type": "message", "id": line}]}),
        512,
        "refs[0].id",
    ),
];

#[test]
fn a_line_is_taken_up_to_its_limit_in_bytes() {
    for (reader, request, limit, path) in LINES {
        let line = |bytes| request(text_of(bytes).into());
        assert_eq!(text_of(limit).len(), limit);
        assert_eq!(verdict(reader, &line(limit)), "ok", "{path}");
        assert_eq!(verdict(reader, &line(limit + 1)), format!("invalid {path}"));
        // Fewer characters than the limit, more bytes.
        let euros = "€".repeat(limit / 3 + 1);
        assert_eq!(verdict(reader, &request(euros.into())), format!("invalid {path}"));
    }
}

#[test]
fn a_line_has_no_break_and_is_not_blank() {
    for (reader, request, _, path) in LINES {
        for bad in [
            "a\nb",
            "a\u{B}",
            "\u{C}a",
            "a\rb",
            "a\u{85}b",
            "a\u{2028}b",
            "a\u{2029}",
            "",
            " ",
            "\t",
            "\u{FEFF}",
            "\u{A0}\u{3000}",
        ] {
            assert_eq!(
                verdict(reader, &request(bad.into())),
                format!("invalid {path}"),
                "{bad:?}"
            );
        }
        for good in [" a ", "\u{0}", "a\tb", "\u{200B}", "\u{1B}", "…"] {
            assert_eq!(verdict(reader, &request(good.into())), "ok", "{path} {good:?}");
        }
        for bad in [json!(null), json!(7), json!(["a"]), json!({}), json!(true)] {
            assert_eq!(verdict(reader, &request(bad)), format!("invalid {path}"));
        }
    }
}

#[test]
fn a_list_is_taken_up_to_its_length_and_judged_before_its_entries() {
    let line = json!("a");
    let reference = json!({"type": "task", "id": "t"});
    type ListPlace<'a> = (
        Reader,
        fn(&str, Value) -> Value,
        &'a str,
        &'a Value,
        usize,
        &'a str,
    );
    let lists: [ListPlace<'_>; 6] = [
        (Reader::Work, handoff, "acceptance", &line, 20, "work.acceptance"),
        (Reader::Work, handoff, "writes", &line, 50, "work.writes"),
        (Reader::Work, handoff, "labels", &line, 10, "work.labels"),
        (Reader::Envelope, one_member, "to", &line, 50, "to"),
        (Reader::Envelope, one_member, "choices", &line, 20, "choices"),
        (Reader::Envelope, one_member, "refs", &reference, 50, "refs"),
    ];
    for (reader, request, member, entry, most, path) in lists {
        let of = |entry: &Value, count| request(member, Value::Array(vec![entry.clone(); count]));
        assert_eq!(verdict(reader, &of(entry, 0)), "ok", "an empty list, {path}");
        assert_eq!(verdict(reader, &of(entry, most)), "ok", "doubled entries, {path}");
        assert_eq!(verdict(reader, &of(entry, most + 1)), format!("invalid {path}"));
        assert_eq!(
            verdict(reader, &of(&json!(7), most + 1)),
            format!("invalid {path}")
        );
        assert_eq!(
            verdict(reader, &of(&json!(7), most)),
            format!("invalid {path}[0]")
        );
        for bad in [json!(null), json!("a"), json!({"0": "a"}), json!(1)] {
            assert_eq!(verdict(reader, &request(member, bad)), format!("invalid {path}"));
        }
    }
}

#[test]
fn a_request_is_an_object_or_none() {
    for (reader, path) in [(Reader::Work, "work"), (Reader::Envelope, "envelope")] {
        for bad in [
            json!(["handoff"]),
            json!("handoff"),
            json!(1),
            json!(true),
            json!(false),
        ] {
            assert_eq!(verdict(reader, &bad), format!("invalid {path}"));
        }
        assert_eq!(verdict(reader, &json!(null)), "ok");
    }
    assert_eq!(work::validate(None, Handoffs::Taken), Ok(None));
    assert_eq!(envelope::validate(None), Ok(None));
    assert_eq!(verdict(Reader::Envelope, &json!({})), "ok");
}

#[test]
fn a_skill_is_handoff_or_status() {
    for bad in [
        json!({}),
        json!({"skill": null}),
        json!({"skill": "Status"}),
        json!({"skill": ["status"]}),
    ] {
        assert_eq!(verdict(Reader::Work, &bad), "invalid work.skill");
    }
    let status = json!({"skill": "status", "title": "", "labels": 7});
    assert_eq!(verdict(Reader::Work, &status), "ok", "all else is ignored");
    let handoff = json!({"skill": "handoff", "title": "T", "task": null, "risk": "low"});
    assert_eq!(
        verdict(Reader::Work, &handoff),
        "ok",
        "unknown members are ignored"
    );
    let refused = |request: &Value| said(work::validate(Some(request), Handoffs::Refused));
    assert_eq!(refused(&handoff), "invalid work.skill");
    assert_eq!(
        refused(&json!({"skill": "handoff"})),
        "invalid work.skill",
        "before its title"
    );
    assert_eq!(refused(&status), "ok");
}

#[test]
fn a_write_stays_in_the_repository() {
    for (write, taken) in [
        ("./x", true),
        ("~/x", true),
        ("a//b", true),
        ("src/", true),
        ("**", true),
        ("...", true),
        ("a..b", true),
        ("ab:c", true),
        ("src/C:/x", true),
        ("file:///x", true),
        (" /x", true),
        ("é:x", true),
        ("1:x", true),
        (".", true),
        ("..x/x..", true),
        ("/x", false),
        ("/", false),
        ("C:/x", false),
        ("a:b", false),
        ("z:", false),
        ("a\\b", false),
        ("\\", false),
        ("..", false),
        ("../x", false),
        ("x/..", false),
        ("a/../b", false),
        ("a/..//", false),
    ] {
        let expected = if taken { "ok" } else { "invalid work.writes[0]" };
        assert_eq!(
            verdict(Reader::Work, &handoff("writes", json!([write]))),
            expected,
            "{write}"
        );
    }
}

#[test]
fn words_are_taken_letter_by_letter() {
    for priority in ["urgent", "high", "medium", "low", "none"] {
        assert_eq!(verdict(Reader::Work, &handoff("priority", priority.into())), "ok");
    }
    for bad in [
        json!("High"),
        json!("p0"),
        json!(""),
        json!(null),
        json!(1),
        json!(["low"]),
    ] {
        assert_eq!(
            verdict(Reader::Work, &handoff("priority", bad)),
            "invalid work.priority"
        );
    }
    for kind in ["message", "question", "answer", "handoff", "notice"] {
        assert_eq!(verdict(Reader::Envelope, &one_member("kind", kind.into())), "ok");
    }
    for bad in [
        json!("Message"),
        json!("shout"),
        json!("X-a"),
        json!(""),
        json!(null),
        json!(1),
    ] {
        assert_eq!(
            verdict(Reader::Envelope, &one_member("kind", bad)),
            "invalid kind"
        );
    }
    assert_eq!(
        verdict(Reader::Envelope, &one_member("kind", "x-".into())),
        "forbidden kind"
    );
}

#[test]
fn urgent_and_wake_are_forbidden_in_one_value_each() {
    for (request, expected) in [
        (json!({"urgent": true}), "forbidden urgent"),
        (json!({"urgent": false}), "ok"),
        (json!({"urgent": "true"}), "ok"),
        (json!({"urgent": null, "wake": null}), "ok"),
        (json!({"wake": "request"}), "forbidden wake"),
        (json!({"wake": "never"}), "ok"),
        (json!({"wake": true}), "ok"),
        (json!({"from": 1, "id": [], "thread": {}}), "ok"),
    ] {
        assert_eq!(verdict(Reader::Envelope, &request), expected, "{request}");
    }
}

#[test]
fn blocking_is_true_or_false() {
    for (blocking, expected) in [
        (json!(true), "ok"),
        (json!(false), "ok"),
        (json!(null), "invalid blocking"),
        (json!("true"), "invalid blocking"),
        (json!(1), "invalid blocking"),
    ] {
        assert_eq!(
            verdict(Reader::Envelope, &one_member("blocking", blocking)),
            expected
        );
    }
}

#[test]
fn a_reference_has_a_type_no_anchor_and_an_id() {
    for (reference, expected) in [
        (json!("t"), "invalid refs[0]"),
        (json!(null), "invalid refs[0]"),
        (json!({"id": "t"}), "invalid refs[0].type"),
        (json!({"type": "file", "at": 1, "id": ""}), "invalid refs[0].type"),
        (
            json!({"type": "task", "at": null, "id": ""}),
            "invalid refs[0].at",
        ),
        (
            json!({"type": "task", "at": "x", "id": "t"}),
            "invalid refs[0].at",
        ),
        (json!({"type": "task"}), "invalid refs[0].id"),
        (json!({"type": "task", "id": "t", "line": 7}), "ok"),
    ] {
        let request = json!({"refs": [reference]});
        assert_eq!(verdict(Reader::Envelope, &request), expected, "{request}");
    }
}

/// Takes the members away in the order in which they must be judged; the next one is then the first at fault.
fn faults_in_order(reader: Reader, mut request: Value, order: &[&str], expected: &[&str]) {
    for (member, fault) in order.iter().zip(expected) {
        assert_eq!(verdict(reader, &request), *fault);
        request.as_object_mut().unwrap().shift_remove(*member);
    }
    assert_eq!(verdict(reader, &request), "ok");
}

#[test]
fn one_fault_is_named_the_first_in_the_order_of_the_checks() {
    let work = json!({"labels": 1, "priority": 1, "writes": ["/"], "acceptance": [""], "title": "", "skill": "handoff"});
    let mut without_title = work.clone();
    assert_eq!(verdict(Reader::Work, &work), "invalid work.title");
    without_title["title"] = "T".into();
    faults_in_order(
        Reader::Work,
        without_title,
        &["acceptance", "writes", "priority", "labels"],
        &[
            "invalid work.acceptance[0]",
            "invalid work.writes[0]",
            "invalid work.priority",
            "invalid work.labels",
        ],
    );
    faults_in_order(
        Reader::Envelope,
        json!({"refs": 1, "choice": 1, "choices": 1, "blocking": 1, "replyTo": 1, "kind": 1, "to": 1,
            "wake": "request", "urgent": true}),
        &[
            "urgent", "wake", "to", "kind", "replyTo", "blocking", "choices", "choice", "refs",
        ],
        &[
            "forbidden urgent",
            "forbidden wake",
            "invalid to",
            "invalid kind",
            "invalid replyTo",
            "invalid blocking",
            "invalid choices",
            "invalid choice",
            "invalid refs",
        ],
    );
    let refs = json!({"refs": [{"type": "task", "id": "t"}, {"type": "task", "id": ""}, 7]});
    assert_eq!(verdict(Reader::Envelope, &refs), "invalid refs[1].id");
}

#[test]
fn bad_json_is_a_verdict_too() {
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    for bad in [
        "",
        "{",
        "{\"skill\":\"status\",\"skill\":\"status\"}",
        "\u{1F600}",
        "{} {}",
        &deep,
    ] {
        for (verdict, whole) in [
            (work::validate_json(bad, Handoffs::Taken), "work"),
            (envelope::validate_json(bad), "envelope"),
            (placement::metadata_budget_json(bad), "message.metadata"),
            (artifact::validate_json(bad), "artifact"),
            (inbound::inbound_json(bad), "message"),
        ] {
            let start = format!(
                r#"{{"ok":false,"error":{{"code":"invalid","field":"{whole}","message":"expected JSON: "#
            );
            assert!(verdict.starts_with(&start), "{verdict}");
        }
    }
}

#[test]
fn the_metadata_of_a_message_is_taken_up_to_64_kib_all_keys_counted() {
    let metadata = |bytes: usize| {
        let mut map = Map::new();
        map.insert(WORK_URI.into(), json!({"skill": "status"}));
        map.insert("other".into(), "".into());
        let room = bytes - compact_len(&map);
        map.insert("other".into(), text_of(room).into());
        assert_eq!(compact_len(&map), bytes);
        map
    };
    assert_eq!(said(placement::metadata_budget(&metadata(65_536))), "ok");
    assert_eq!(
        said(placement::metadata_budget(&metadata(65_537))),
        "invalid message.metadata"
    );
}

#[test]
fn the_largest_requests_fit_the_budget_of_metadata() {
    let line = |bytes| Value::from(text_of(bytes));
    let work = json!({"skill": "handoff", "title": line(200), "acceptance": vec![line(500); 20],
        "writes": vec![line(512); 50], "priority": "medium", "labels": vec![line(50); 10]});
    assert_eq!(verdict(Reader::Work, &work), "ok");
    assert!(
        (36_000..37_500).contains(&compact_len(&work)),
        "{}",
        compact_len(&work)
    );
}

#[test]
fn a_member_is_found_among_few_and_among_many() {
    for others in [0, 14, 15, 200] {
        let mut request: Map<String, Value> = (0..others)
            .map(|number| (format!("x{number}"), json!(number)))
            .collect();
        request.insert("skill".to_owned(), json!("handoff"));
        let absent = work::validate(Some(&request.clone().into()), Handoffs::Taken).map(|_| ());
        assert_eq!(absent.unwrap_err().field, "work.title", "{others}");
        request.insert("title".to_owned(), json!("Fix it"));
        assert!(
            work::validate(Some(&request.into()), Handoffs::Taken).is_ok(),
            "{others}"
        );
    }
}
