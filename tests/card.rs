//! The agent's card over HTTP: what it says, to whom, and what of it may be kept (A2A 1.0, §3.1.11 and §8).

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

#[path = "support/desk.rs"]
mod support;

use a2a_edge::agent::card::Document;
use http::Request;
use serde_json::{Value, json};
use support::{Bench, Reply};

const CARD: &str = "/.well-known/agent-card.json";

fn get(bench: &Bench, path: &str, headers: &[(&str, &str)]) -> Reply {
    let request = headers.iter().fold(Request::get(path), |request, (name, value)| {
        request.header(*name, *value)
    });
    bench.call(request.body(Vec::new()).unwrap())
}

#[test]
fn a_card_that_is_another_has_another_tag() {
    let mut bench = Bench::new();
    let of_session = format!("/{}{CARD}", bench.session);
    let tag = |bench: &Bench, path: &str| get(bench, path, &[]).headers["etag"].clone();
    let (plain, session) = (tag(&bench, CARD), tag(&bench, &of_session));
    assert_ne!(plain, session);
    assert_eq!(tag(&bench, CARD), plain);
    bench.wait(3_600);
    assert_eq!(tag(&bench, CARD), plain);
    let kept = [("if-none-match", plain.as_str())];
    assert_eq!(get(&bench, CARD, &kept).status, 304);
    assert_eq!(get(&bench, &of_session, &kept).status, 200);
    bench.reconfigure(|config| config.name = "another".to_owned());
    assert_ne!(tag(&bench, CARD), plain);
    assert_eq!(get(&bench, CARD, &kept).ok()["name"], "another");
}

#[test]
fn a_card_that_holds_is_not_sent_again() {
    let bench = Bench::new();
    let whole = get(&bench, CARD, &[]);
    assert_eq!(whole.headers["last-modified"], "Fri, 17 Jul 2026 01:00:00 GMT");
    assert_eq!(whole.headers["cache-control"], "public, max-age=300");
    let unchanged = get(
        &bench,
        CARD,
        &[("if-modified-since", "Fri, 17 Jul 2026 01:00:00 GMT")],
    );
    assert_eq!((unchanged.status, unchanged.body.is_null()), (304, true));
    let names: Vec<&str> = unchanged.headers.keys().map(String::as_str).collect();
    assert_eq!(names, ["cache-control", "etag"]);
    assert_eq!(unchanged.headers["etag"], whole.headers["etag"]);
}

#[test]
fn without_a_time_of_its_last_change_a_card_tells_none() {
    let mut bench = Bench::new();
    bench.reconfigure(|config| config.card_modified = None);
    let since = [("if-modified-since", "Fri, 31 Dec 9999 00:00:00 GMT")];
    let card = get(&bench, CARD, &since);
    assert_eq!(card.status, 200);
    assert!(!card.headers.contains_key("last-modified"), "{card:?}");
}

#[test]
fn what_is_no_card_is_not_kept() {
    let bench = Bench::new();
    let missing = get(&bench, &format!("/nowhere{CARD}"), &[("if-none-match", "*")]);
    assert_eq!(missing.status, 404);
    for header in ["etag", "last-modified", "cache-control"] {
        assert!(!missing.headers.contains_key(header), "{missing:?}");
    }
}

/// A desk whose card says what a document says.
fn with(document: &Value) -> Bench {
    let mut bench = Bench::new();
    let document = Document::parse(document.to_string().as_bytes()).unwrap();
    bench.reconfigure(|config| config.card = document);
    bench
}

fn skill(id: &str, name: &str) -> Value {
    json!({"id": id, "name": name, "description": "d", "tags": ["t"]})
}

fn extended(bench: &Bench, token: &str) -> Reply {
    bench.request("GET", "/extendedAgentCard", token, "", b"")
}

#[test]
fn a_card_says_what_its_document_says() {
    let document = json!({
        "name": "Our desk", "description": "Ours.", "version": "7.1",
        "provider": {"organization": "Us", "url": "https://us.example"},
        "documentationUrl": "https://us.example/docs", "iconUrl": "https://us.example/icon.svg",
        "skills": [skill("bake", "Bake")],
    });
    let bench = with(&document);
    for path in [CARD.to_owned(), format!("/{}{CARD}", bench.session)] {
        let card = get(&bench, &path, &[]).ok();
        for (member, value) in document.as_object().unwrap() {
            assert_eq!(&card[member], value, "{member}");
        }
        assert!(card["capabilities"].get("extendedAgentCard").is_none(), "{card}");
    }
    // What it leaves out the desk says.
    let card = get(&with(&json!({"name": "Our desk"})), CARD, &[]).ok();
    assert_eq!(card["name"], "Our desk");
    assert_eq!(card["skills"].as_array().unwrap().len(), 3);
    assert!(
        card.get("provider").is_none() && card.get("iconUrl").is_none(),
        "{card}"
    );
}

#[test]
fn those_with_a_credential_are_shown_more() {
    let bench = with(&json!({
        "skills": [skill("bake", "Bake")],
        "extended": {"description": "For us.", "skills": [skill("brew", "Brew"), skill("bake", "Bake at night")]},
    }));
    let public = get(&bench, CARD, &[]).ok();
    assert_eq!(public["capabilities"]["extendedAgentCard"], true);
    assert_eq!(public["skills"], json!([skill("bake", "Bake")]));
    for token in [&bench.owner, &bench.member, &bench.client] {
        let card = extended(&bench, token).ok();
        assert_eq!(card["description"], "For us.");
        assert_eq!(
            card["skills"],
            json!([skill("bake", "Bake at night"), skill("brew", "Brew")])
        );
        assert_eq!(card["supportedInterfaces"][0]["tenant"], json!(bench.session));
        assert_eq!(card["name"], public["name"]);
    }
    let of_session = format!("/{}/extendedAgentCard", bench.session);
    bench.request("GET", &of_session, &bench.client, "", b"").ok();
    assert_eq!(extended(&bench, "x").status, 401);
    assert_eq!(
        get(&bench, "/extendedAgentCard", &[("a2a-version", "1.0")]).status,
        401
    );
}

#[test]
fn an_extended_card_that_is_not_there_is_not_offered() {
    let bench = Bench::new();
    let refused = extended(&bench, &bench.client).refused();
    assert_eq!((refused.0, refused.1.as_str()), (400, "UNSUPPORTED_OPERATION"));
    // One that is spoken of and has nothing to say is another matter (A2A 1.0, §3.3.4).
    let bench = with(&json!({"extended": {}}));
    assert_eq!(
        get(&bench, CARD, &[]).ok()["capabilities"]["extendedAgentCard"],
        true
    );
    let refused = extended(&bench, &bench.client).refused();
    assert_eq!(
        (refused.0, refused.1.as_str()),
        (400, "EXTENDED_AGENT_CARD_NOT_CONFIGURED")
    );
}

#[test]
fn more_media_types_can_be_taken() {
    let mut bench = Bench::new();
    bench.reconfigure(|config| {
        config.input_modes = vec!["text/markdown".into(), "image/*".into(), "text/plain".into()]
    });
    let card = get(&bench, CARD, &[]).ok();
    assert_eq!(
        card["defaultInputModes"],
        json!(["text/plain", "application/json", "text/markdown", "image/*"])
    );
    assert_eq!(
        card["defaultOutputModes"],
        json!(["text/plain", "application/json"])
    );
    let send = |part: Value| bench.send(&bench.client, "", &json!({ "parts": [part] })).status;
    assert_eq!(
        send(json!({"text": "*a*", "mediaType": "Text/Markdown; variant=GFM"})),
        200
    );
    assert_eq!(
        send(json!({"url": "https://e.example/x.png", "mediaType": "image/png"})),
        200
    );
    for other in ["text/html", "video/png", "image", "*/*"] {
        assert_eq!(send(json!({"text": "a", "mediaType": other})), 400, "{other}");
    }
}
