//! The card of a server as its operator wants it: a document of its own, a signature that others can check, and one
//! client that needs no token.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it is"
)]

mod support;

use a2a_edge_stories::{Http, Target as _};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::Request;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};
use support::{Desk, Scratch, run_with};

const CARD: &str = "/.well-known/agent-card.json";

/// The private key of RFC 6979, A.2.5, between what SEC 1 puts around one.
const PRIVATE: &str = "30310201010420C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721\
                       A00A06082A8648CE3D030107";

/// Its public key, as that document has it.
const PUBLIC: &str = "0460FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6\
                      7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299";

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex
        .as_bytes()
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

/// Writes a file beside the data directory and gives its path.
fn write(scratch: &Scratch, name: &str, text: &str) -> String {
    let path = scratch.0.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn call(desk: &Desk, line: &str, token: &str, body: &Value) -> (u16, Value) {
    let (method, path) = line.split_once(' ').unwrap();
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("a2a-version", "1.0")
        .header("content-type", "application/json");
    if !token.is_empty() {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let answer = Http::new(desk.url()).call(request.body(body.into_bytes()).unwrap());
    let answer = answer.unwrap();
    let body = serde_json::from_slice(answer.body()).unwrap();
    (answer.status().as_u16(), body)
}

fn card(desk: &Desk, path: &str, token: &str) -> Value {
    let (status, card) = call(desk, &format!("GET {path}"), token, &Value::Null);
    assert_eq!(status, 200, "{card}");
    card
}

/// Whether a card's only signature is good, by another implementation of each step.
fn is_signed(card: &Value) -> bool {
    let signatures = card["signatures"].as_array().unwrap();
    assert_eq!(signatures.len(), 1);
    let part = |name: &str| signatures[0][name].as_str().unwrap().to_owned();
    let mut unsigned = card.clone();
    unsigned.as_object_mut().unwrap().remove("signatures");
    let payload = serde_json_canonicalizer::to_vec(&unsigned).unwrap();
    let signed = format!("{}.{}", part("protected"), URL_SAFE_NO_PAD.encode(payload));
    let signature = URL_SAFE_NO_PAD.decode(part("signature")).unwrap();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, bytes(PUBLIC));
    key.verify(signed.as_bytes(), &signature).is_ok()
}

#[test]
fn whoever_has_the_public_key_can_check_a_card() {
    let scratch = Scratch::new();
    let der = STANDARD.encode(bytes(PRIVATE));
    let (line, rest) = der.split_at(64);
    let pem = format!("-----BEGIN EC PRIVATE KEY-----\n{line}\n{rest}\n-----END EC PRIVATE KEY-----\n");
    let key = write(&scratch, "key.pem", &pem);
    let document = json!({"name": "Désk \u{1F600}", "extended": {"description": "For us."}});
    let file = write(&scratch, "card.json", &document.to_string());
    let desk = Desk::start(&scratch.data(), &["--card-key", &key, "--card", &file]);
    let session = desk.welcome["sessionId"].as_str().unwrap().to_owned();
    let public = card(&desk, CARD, "");
    let header = URL_SAFE_NO_PAD.decode(public["signatures"][0]["protected"].as_str().unwrap());
    let header: Value = serde_json::from_slice(&header.unwrap()).unwrap();
    assert_eq!(
        (&header["alg"], &header["typ"]),
        (&json!("ES256"), &json!("JOSE"))
    );
    assert_eq!(header["kid"].as_str().map(str::len), Some(43));
    // The same card has the same signature, and so the same tag.
    assert_eq!(card(&desk, CARD, ""), public);
    let of_session = card(&desk, &format!("/{session}{CARD}"), "");
    let extended = card(&desk, "/extendedAgentCard", desk.token("client"));
    assert_eq!(extended["description"], "For us.");
    for signed in [&public, &of_session, &extended] {
        assert!(is_signed(signed), "{signed}");
        let mut altered = signed.clone();
        altered["name"] = json!("Another desk");
        assert!(!is_signed(&altered));
    }
    assert_ne!(public["signatures"], of_session["signatures"]);
    desk.stop();
}

#[test]
fn without_a_key_a_card_has_no_signature() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &[]);
    assert!(card(&desk, CARD, "").get("signatures").is_none());
    desk.stop();
}

#[test]
fn what_a_file_says_of_the_card_is_shown_and_the_command_line_comes_before_it() {
    let scratch = Scratch::new();
    let skill = json!({"id": "bake", "name": "Bake", "description": "Bread.", "tags": ["bread"]});
    let document = json!({"name": "Bakery", "description": "Bakes.", "skills": [skill]});
    let file = write(&scratch, "card.json", &document.to_string());
    let options = [
        "--card",
        &file,
        "--description",
        "Bakes at night.",
        "--input-mode",
        "text/markdown",
    ];
    let desk = Desk::start(&scratch.data(), &options);
    let card = card(&desk, CARD, "");
    assert_eq!(
        (&card["name"], &card["skills"]),
        (&json!("Bakery"), &json!([skill]))
    );
    assert_eq!(card["description"], "Bakes at night.");
    assert_eq!(card["defaultInputModes"][2], "text/markdown");
    desk.stop();
}

#[test]
fn a_file_that_is_no_good_is_told_with_its_fields_and_never_its_secrets() {
    let scratch = Scratch::new();
    let data = scratch.data();
    let start = |option: &str, value: &str| {
        let words = ["serve", "--listen", "127.0.0.1:0", "--data", &data, option, value];
        run_with(&words, "").ended(2).err
    };
    let faulty = write(&scratch, "card.json", r#"{"nam": "x", "skills": [{"id": "a"}]}"#);
    let told = start("--card", &faulty);
    for field in ["--card", "nam: expected one of", "skills[0].tags: required"] {
        assert!(told.contains(field), "{told}");
    }
    let secret = write(&scratch, "key.pem", "not a key but a secret");
    let told = start("--card-key", &secret);
    assert!(told.contains("--card-key") && told.contains("P-256"), "{told}");
    assert!(!told.contains("secret"), "{told}");
    for (option, value) in [
        ("--card", "/nowhere/card.json"),
        ("--card-key", "/nowhere/key.pem"),
        ("--input-mode", "text"),
        ("--anonymous", "session"),
        ("--anonymous", "nowhere/p-1"),
    ] {
        assert!(start(option, value).contains(option), "{option}");
    }
}

#[test]
fn callers_without_a_token_act_as_the_client_that_the_server_names() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &[]);
    let owner = desk.token("owner").to_owned();
    let session = desk.welcome["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(call(&desk, "GET /tasks", "", &Value::Null).0, 401);
    let visitor = json!({"displayName": "Visitors", "role": "client"});
    let (_, added) = call(&desk, "POST /operator/v1/participants:add", &owner, &visitor);
    let id = added["participant"]["participantId"].as_str().unwrap().to_owned();
    desk.stop();
    let desk = Desk::start(&scratch.data(), &["--anonymous", &format!("{session}/{id}")]);
    assert!(card(&desk, CARD, "").get("securityRequirements").is_none());
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Open?"}]});
    let body = json!({"message": message, "configuration": {"returnImmediately": true}});
    let (status, sent) = call(&desk, "POST /message:send", "", &body);
    assert_eq!(status, 200, "{sent}");
    let (_, open) = call(&desk, "POST /operator/v1/tasks:list", &owner, &json!({}));
    assert_eq!(open["tasks"][0]["client"], json!(id));
    assert_eq!(call(&desk, "POST /operator/v1/tasks:list", "", &json!({})).0, 401);
    assert_eq!(call(&desk, "GET /another/tasks", "", &Value::Null).0, 401);
    desk.stop();
}
