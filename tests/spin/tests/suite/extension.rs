//! An extension by others, composed into the component.

use std::path::Path;
use std::sync::LazyLock;

use a2a_edge_spin_tests::{Deployment, Platform};
use a2a_edge_stories::server::Running;
use serde_json::{Value, json};
use xtask::component;

use crate::callers::{Caller, Reply, Session};

const BRIEF: &str = "urn:example:extensions/brief/v1";
const CARD: &str = "GET /.well-known/agent-card.json";

static PLATFORM: LazyLock<Platform> = LazyLock::new(|| {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    Platform::extended(component::EXTENSION, place).unwrap()
});

/// Two instances with the example, which lets messages have so many words.
fn start(options: &str) -> Running {
    let deployment = Deployment::on("memory")
        .with("instances", "2")
        .with("extension_options", options);
    PLATFORM
        .start(env!("CARGO_BIN_EXE_spin-like"), &deployment)
        .unwrap()
}

fn send(caller: &Caller, session: &Session, id: &str, text: &str, extensions: &[&str]) -> Reply {
    let message = json!({
        "messageId": id, "role": "ROLE_USER", "parts": [{"text": text}], "extensions": extensions,
    });
    let body = json!({"message": message, "configuration": {"returnImmediately": true}});
    caller.call("POST /message:send", &session.client, &body)
}

#[test]
fn an_extension_that_is_composed_in_is_on_the_card_in_activation_and_in_the_hooks() {
    let running = start(r#"{"most":3}"#);
    let caller = Caller::of(&running);
    let card = caller.call(CARD, "", &Value::Null).ok();
    let declared = card["capabilities"]["extensions"].as_array().unwrap();
    let declared = declared.iter().find(|entry| entry["uri"] == BRIEF).unwrap();
    assert_eq!(declared["params"], json!({"most": 3}));

    let session = Session::create(&caller);
    for round in 0..8 {
        let send = |name: &str, text: &str, extensions: &[&str]| {
            send(&caller, &session, &format!("{name}-{round}"), text, extensions)
        };
        let short = send("short", "Three words only", &[BRIEF]).ok();
        assert_eq!(short["task"]["metadata"][BRIEF], json!({"words": 3}), "{short}");
        let long = send("long", "These are four words", &[BRIEF]);
        assert_eq!(long.status, 400, "{}", long.body);
        let fields = &long.body["error"]["details"][1]["fieldViolations"];
        assert_eq!(
            fields[0],
            json!({"field": "message.parts", "description": "expected at most 3 words, not 4"})
        );
        let plain = send("plain", "These are four words", &[]).ok();
        assert_eq!(plain["task"]["metadata"][BRIEF], Value::Null, "{plain}");
    }
}

#[test]
fn options_that_the_extension_cannot_work_with_are_told() {
    for (options, rule) in [
        (
            r#"{"most":0}"#,
            "option most: expected a whole number of at least 1",
        ),
        ("[]", "expected a JSON object"),
    ] {
        let running = start(options);
        let answer = Caller::of(&running).call(CARD, "", &Value::Null);
        assert_eq!(
            (answer.status, answer.reason()),
            (500, "MISCONFIGURED"),
            "{options}"
        );
        let message = answer.body["error"]["message"].as_str().unwrap();
        assert!(
            message.contains(&format!("extension_options: {rule}")),
            "{message}"
        );
    }
}
