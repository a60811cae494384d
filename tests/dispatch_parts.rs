//! What comes in as parts and goes out as artifacts: every limit from both sides, in bytes of UTF-8.

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

use a2a_edge::a2a::{Artifact, Content, Part};
use a2a_edge::dispatch::artifact::{self, Diffstat, Evidence, EvidenceItem, FileStat, WorkArtifact};
use a2a_edge::dispatch::inbound::{self, Inbound, inbound};
use a2a_edge::dispatch::verdict::Fault;
use a2a_edge::dispatch::{ENVELOPE_URI, WORK_URI};
use a2a_edge::json::compact_len;
use serde_json::{Map, Value, json};
use support::{said, text_of};

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

fn state(artifact: &Artifact) -> &Value {
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
    let breaks = (0..3)
        .find(|breaks| (rest - 5 * breaks).is_multiple_of(3))
        .unwrap();
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
        (json!({"kind": "evidence"}), Some("items")),
        (json!({"kind": "evidence", "items": []}), None),
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
            json!({"kind": "diffstat", "files": 0, "insertions": 0, "deletions": 0}),
            Some("perFile"),
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

/// An artifact as a member hands it in, with this under the work/v1 URI.
fn handed_in(id: &str, state: Option<Value>) -> Artifact {
    Artifact {
        artifact_id: id.to_owned(),
        name: None,
        description: None,
        parts: vec![Part::text("one"), Part::data(json!(1)), Part::text("two")],
        metadata: state
            .map(|state| (WORK_URI.to_owned(), state))
            .into_iter()
            .collect::<Map<_, _>>(),
        extensions: Vec::new(),
    }
}

#[test]
fn an_artifact_of_the_four_kinds_says_so_and_the_hosts_own_says_nothing() {
    let of = |id, state| WorkArtifact::of(&handed_in(id, state), "artifacts[2]");
    let pr = json!({"kind": "pr", "url": "https://a/1", "number": 1});
    let answer = of(
        "answer",
        Some(json!({"kind": "answer", "messageId": "m", "text": "ignored"})),
    )
    .unwrap();
    let Some(WorkArtifact::Answer(answer)) = answer else {
        panic!("an answer is expected")
    };
    assert_eq!(answer.text, "one\n\ntwo");
    // A member can't know what the message that carries its answer will be called.
    let unnamed = of("answer", Some(json!({"kind": "answer"}))).unwrap();
    assert_eq!(unnamed.unwrap().kind(), "answer");
    assert_eq!(of("screenshot", None), Ok(None));
    assert_eq!(of("pr", Some(pr.clone())).unwrap().unwrap().kind(), "pr");
    assert_eq!(said(of("pr", None)), "invalid artifacts[2].artifactId");
    assert_eq!(said(of("my-pr", Some(pr))), "invalid artifacts[2].artifactId");
    let bad = of(
        "pr",
        Some(json!({"kind": "pr", "url": "https://a/1", "number": 0})),
    );
    assert_eq!(
        said(bad),
        format!("invalid artifacts[2].metadata[{WORK_URI}].number")
    );
}

#[test]
fn artifacts_stand_in_their_order_after_the_hosts_own() {
    let results = artifact::Results {
        pr: Some(artifact::Pr {
            url: "https://a/1".into(),
            number: 1,
            state: Some(artifact::PrState::Open),
        }),
        diffstat: Some(diffstat(1, 1)),
        evidence: Some(evidence(1, 1)),
    };
    let answer = artifact::Answer {
        message_id: "m".into(),
        text: "t".into(),
        choice: None,
    };
    let all = artifact::artifacts(vec![handed_in("log", None)], Some(&answer), &results, true);
    let ids: Vec<&str> = all.iter().map(|artifact| artifact.artifact_id.as_str()).collect();
    assert_eq!(ids, ["log", "answer", "pr", "diffstat", "evidence"]);
    assert_eq!(all[1].parts, [Part::text("t")], "no data part without a choice");
    assert_eq!(all[2].parts[1], Part::text("Pull request #1 (open)"));
}
