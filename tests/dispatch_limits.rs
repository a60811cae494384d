//! For every limit of the three extensions the last value that is taken and the first that is refused, in bytes of
//! UTF-8, through both doors.

use a2a_edge::a2a::{Content, Part};
use a2a_edge::dispatch::artifact::{self, Diffstat, Evidence, EvidenceItem, FileStat, WorkArtifact};
use a2a_edge::dispatch::inbound::{self, Inbound, inbound};
use a2a_edge::dispatch::verdict::{Fault, FaultCode};
use a2a_edge::dispatch::work::Handoffs;
use a2a_edge::dispatch::{ENVELOPE_URI, WORK_URI, envelope, placement, work};
use a2a_edge::json::compact_len;
use serde_json::{Map, Value, json};

/// A text of exactly so many bytes, most of them of characters of two, three and four bytes.
fn text_of(bytes: usize) -> String {
    let mut text = String::new();
    for c in ['€', '𝄞', 'é'].into_iter().cycle() {
        if text.len() + c.len_utf8() > bytes {
            break;
        }
        text.push(c);
    }
    let rest = "x".repeat(bytes - text.len());
    text + &rest
}

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

fn said<T>(outcome: Result<T, Fault>) -> String {
    match outcome {
        Ok(_) => "ok".to_owned(),
        Err(fault) => {
            let code = match fault.code {
                FaultCode::Invalid => "invalid",
                FaultCode::Forbidden => "forbidden",
                FaultCode::NotFound => "not-found",
                FaultCode::Unsupported => "unsupported",
            };
            format!("{code} {}", fault.field)
        }
    }
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

fn parts(contents: impl IntoIterator<Item = Content>) -> Vec<Part> {
    contents.into_iter().map(Part::new).collect()
}

fn taken(contents: impl IntoIterator<Item = Content>) -> Result<Inbound, Fault> {
    inbound(&parts(contents))
}

#[test]
fn a_body_is_taken_up_to_64_kib() {
    let text = |bytes| taken([Content::Text(text_of(bytes))]);
    assert_eq!(text(65_536).unwrap().body.len(), 65_536);
    assert_eq!(said(text(65_537)), "invalid body");
    let joined = |bytes| taken([Content::Text("a".into()), Content::Text(text_of(bytes))]);
    assert_eq!(
        joined(65_533).unwrap().body.len(),
        65_536,
        "the blank line counts"
    );
    assert_eq!(said(joined(65_534)), "invalid body");
}

#[test]
fn data_of_64_kib_is_kept_and_more_is_dropped_with_a_word_about_it() {
    let data = |bytes: usize| Content::Data(text_of(bytes - 2).into());
    let kept = taken([data(65_536)]).unwrap();
    assert_eq!(kept.body, "(no text)");
    assert_eq!(kept.data.unwrap()[ENVELOPE_URI].as_str().unwrap().len(), 65_534);
    let dropped = taken([data(65_537)]).unwrap();
    assert_eq!(dropped.body, "(no text)\n\n(data part over 64 KiB omitted)");
    assert_eq!(dropped.data, None);
    // Two of them stand in a list, whose three signs count.
    let two = |bytes| taken([Content::Text("a".into()), data(32_766), data(bytes)]).unwrap();
    assert!(two(32_767).data.is_some());
    assert_eq!(two(32_768).body, "a\n\n(data part over 64 KiB omitted)");
}

#[test]
fn twenty_urls_are_taken_each_up_to_2048_bytes() {
    let url = |bytes: usize| Content::Url(format!("https://{}", text_of(bytes - 8)));
    let urls = |count, bytes| taken(vec![url(bytes); count]);
    let twenty = urls(20, 2048).unwrap().body;
    let links: Vec<&str> = twenty.split("\n\n").collect();
    assert_eq!(links.len(), 20);
    assert!(
        links
            .iter()
            .all(|link| link.starts_with("[https://€𝄞é") && link.contains("…](https://€𝄞é"))
    );
    assert_eq!(said(urls(21, 2048)), "invalid parts");
    assert_eq!(said(urls(1, 2049)), "invalid parts[0].url");
    assert_eq!(said(urls(21, 2049)), "invalid parts", "the number first");
    let second = taken([Content::Text("a".into()), Content::Url("ftp://a".into())]);
    assert_eq!(said(second), "invalid parts[1].url");
}

#[test]
fn parts_become_a_body_and_wrapped_data() {
    let text = |text: &str| Content::Text(text.into());
    let both = taken([
        Content::Url("https://a.example/x".into()),
        text("one\n"),
        text(" "),
        Content::Data(json!({"type": "wake"})),
        text("two"),
        Content::Data(json!(null)),
    ])
    .unwrap();
    assert_eq!(
        both.body,
        "one\n\n\ntwo\n\n[https://a.example/x](https://a.example/x)"
    );
    assert_eq!(both.data, Some(json!({ENVELOPE_URI: [{"type": "wake"}, null]})));
    assert_eq!(said(taken([text(" \u{FEFF}")])), "invalid body");
    assert_eq!(said(taken([])), "invalid body");
    let raw = taken([text("a"), Content::Raw("AAAA".into())]);
    assert_eq!(said(raw.clone()), "unsupported parts[1]");
    assert_eq!(
        raw.unwrap_err().to_refusal().reason(),
        Some("CONTENT_TYPE_NOT_SUPPORTED")
    );
    let one = taken([Content::Data(json!([1]))]).unwrap();
    assert_eq!(
        one.data,
        Some(json!({ENVELOPE_URI: [1]})),
        "one value is kept as it is"
    );
}

#[test]
fn the_text_door_of_inbound_reads_a_message() {
    for (message, verdict) in [
        (
            r#"{"parts":[{"text":"hi"}]}"#,
            r#"{"ok":true,"result":{"body":"hi"}}"#,
        ),
        (
            r#"{"parts":[{"url":"https://a/","filename":"the [plan].md"}]}"#,
            r#"{"ok":true,"result":{"body":"[the \\[plan\\].md](https://a/)"}}"#,
        ),
        (
            r#"{"parts":[]}"#,
            r#"{"ok":false,"error":{"code":"invalid","field":"message.parts","message":"expected a list of at least one part"}}"#,
        ),
        (
            "[]",
            r#"{"ok":false,"error":{"code":"invalid","field":"message","message":"expected an object"}}"#,
        ),
    ] {
        assert_eq!(inbound::inbound_json(message), verdict);
    }
}

fn evidence(count: usize, summary: usize) -> Evidence {
    let item = EvidenceItem {
        command: "cargo test".into(),
        exit_code: 0,
        duration_ms: 1,
        summary: text_of(summary),
    };
    Evidence {
        items: vec![item; count],
    }
}

fn diffstat(count: usize, path: usize) -> Diffstat {
    let file = FileStat {
        path: text_of(path),
        insertions: 1,
        deletions: 2,
    };
    Diffstat {
        files: count as u64,
        insertions: count as u64,
        deletions: 2 * count as u64,
        per_file: vec![file; count],
    }
}

fn state(artifact: &a2a_edge::a2a::Artifact) -> &Value {
    &artifact.metadata[WORK_URI]
}

#[test]
fn two_hundred_files_and_fifty_items_are_shown_and_that_is_no_truncation() {
    for (files, shown) in [(200, 200), (201, 200), (0, 0)] {
        let artifact = diffstat(files, 4).render(true);
        assert_eq!(state(&artifact)["perFile"].as_array().unwrap().len(), shown);
        assert_eq!(state(&artifact)["files"], files, "totals are those of all files");
        assert_eq!(artifact.metadata.get("truncated"), None);
    }
    for (items, shown) in [(50, 50), (51, 50), (0, 0)] {
        let artifact = evidence(items, 4).render(true);
        assert_eq!(state(&artifact)["items"].as_array().unwrap().len(), shown);
        assert_eq!(artifact.metadata.get("truncated"), None);
    }
}

/// Evidence of one item that takes exactly so many bytes as an artifact with metadata.
fn evidence_of(bytes: usize) -> Evidence {
    let mut evidence = evidence(1, 0);
    let rest = bytes - compact_len(&evidence.render(true));
    // A letter stands three times, in data, text and metadata; a line break takes two bytes in two of them and is a
    // space in the text.
    let breaks = (0..3).find(|breaks| (rest - 5 * breaks) % 3 == 0).unwrap();
    evidence.items[0].summary = text_of((rest - 5 * breaks) / 3) + &"\n".repeat(breaks);
    evidence
}

#[test]
fn an_artifact_of_64_kib_is_whole_and_one_byte_more_cuts_it() {
    for bytes in 65_531..=65_536 {
        let whole = evidence_of(bytes).render(true);
        assert_eq!(compact_len(&whole), bytes);
        assert_eq!(whole.metadata.get("truncated"), None);
    }
    for active in [true, false] {
        let cut = evidence_of(65_537).render(active);
        assert_eq!(cut.parts, [Part::data(json!({"items": []}))]);
        assert_eq!(cut.metadata["truncated"], true);
    }
}

#[test]
fn as_many_entries_as_fit_are_kept_and_the_totals_stay() {
    for path in [301, 700, 2_000, 40_000] {
        let all = diffstat(190, path);
        let mut none = all.clone();
        none.per_file.clear();
        let (base, entry) = (compact_len(&none.render(true)), compact_len(&all.per_file[0]));
        // In the data and in the metadata; a comma stands before every entry but the first.
        let size_of = |count: usize| base + 2 * (count * entry + count.saturating_sub(1));
        let truncated = r#","truncated":true"#.len();
        let fit = (0..190)
            .rev()
            .find(|count| size_of(*count) + truncated <= 65_536)
            .unwrap();
        let artifact = all.render(true);
        assert_eq!(
            state(&artifact)["perFile"].as_array().unwrap().len(),
            fit,
            "{path}"
        );
        assert_eq!(compact_len(&artifact), size_of(fit) + truncated);
        assert_eq!(artifact.metadata["truncated"], true);
        assert_eq!(
            (&state(&artifact)["files"], &state(&artifact)["deletions"]),
            (&json!(190), &json!(380))
        );
    }
}

#[test]
fn the_parts_are_the_same_without_activation() {
    let answer = artifact::Answer {
        message_id: "m-1".into(),
        text: text_of(70_000),
        choice: Some("west".into()),
    };
    let pr = artifact::Pr {
        url: "https://a.example/1".into(),
        number: 1,
        state: None,
    };
    for artifact in [
        WorkArtifact::Answer(answer),
        WorkArtifact::Pr(pr),
        WorkArtifact::Diffstat(diffstat(200, 500)),
        WorkArtifact::Evidence(evidence(40, 1_000)),
    ] {
        let (active, plain) = (artifact.render(true), artifact.render(false));
        assert!(compact_len(&active) <= 65_536);
        assert_eq!(active.parts, plain.parts);
        assert_eq!(active.extensions, [WORK_URI]);
        assert_eq!(state(&active)["kind"], artifact.kind());
        assert_eq!(
            (active.artifact_id.as_str(), active.name.as_deref()),
            (artifact.kind(), Some(artifact.kind()))
        );
        let (mut stripped, extensions) = (active.clone(), Vec::new());
        stripped.metadata.shift_remove(WORK_URI);
        stripped.extensions = extensions;
        assert_eq!(stripped, plain);
        let truncated = artifact.kind() != "pr";
        assert_eq!(
            plain.metadata.contains_key("truncated"),
            truncated,
            "{}",
            artifact.kind()
        );
    }
}

#[test]
fn what_a_member_hands_in_is_checked() {
    let pr = |url: &str, number: Value| json!({"kind": "pr", "url": url, "number": number});
    let long = |bytes: usize| format!("https://a/{}", text_of(bytes - 10));
    for (value, field) in [
        (pr("https://a/1", json!(1)), None),
        (pr("http://a/1", json!(1.0)), None),
        (pr(&long(2048), json!(9_007_199_254_740_991_i64)), None),
        (pr(&long(2049), json!(1)), Some("url")),
        (pr("ftp://a/1", json!(1)), Some("url")),
        (pr("https://a/1", json!(0)), Some("number")),
        (pr("https://a/1", json!(-1)), Some("number")),
        (pr("https://a/1", json!(1.5)), Some("number")),
        (pr("https://a/1", json!("1")), Some("number")),
        (
            pr("https://a/1", json!(9_007_199_254_740_992_i64)),
            Some("number"),
        ),
        (
            json!({"kind": "pr", "url": "https://a", "number": 1, "state": "merged"}),
            None,
        ),
        (
            json!({"kind": "pr", "url": "https://a", "number": 1, "state": "closed"}),
            Some("state"),
        ),
        (json!({"kind": "branch", "name": "main"}), Some("kind")),
        (json!({}), Some("kind")),
        (
            json!({"kind": "answer", "messageId": "m", "text": "t", "choice": "c"}),
            None,
        ),
        (json!({"kind": "answer", "text": "t"}), Some("messageId")),
        (
            json!({"kind": "answer", "messageId": "m", "choice": null}),
            Some("choice"),
        ),
        (json!({"kind": "evidence"}), None),
        (json!({"kind": "evidence", "items": {}}), Some("items")),
        (
            json!({"kind": "evidence", "items": [{"command": "c", "exitCode": -1, "durationMs": -1, "summary": ""}]}),
            Some("items[0].durationMs"),
        ),
        (
            json!({"kind": "evidence", "items": [{"command": "c", "exitCode": -1, "durationMs": 0, "summary": ""}]}),
            None,
        ),
        (
            json!({"kind": "diffstat", "files": 0, "insertions": 0, "deletions": 0, "perFile": []}),
            None,
        ),
        (
            json!({"kind": "diffstat", "files": -1, "insertions": 0, "deletions": 0}),
            Some("files"),
        ),
        (
            json!({"kind": "diffstat", "files": 1, "insertions": 0, "deletions": 0, "perFile": [{"path": "a", "insertions": 1}]}),
            Some("perFile[0].deletions"),
        ),
    ] {
        let expected = match field {
            None => "ok".to_owned(),
            Some(field) => format!("invalid artifact.{field}"),
        };
        assert_eq!(said(WorkArtifact::read(&value, "artifact")), expected, "{value}");
        let text = artifact::validate_json(&value.to_string());
        assert_eq!(text.contains(r#""ok":true"#), field.is_none(), "{text}");
    }
}
