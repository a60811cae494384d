//! Extensions that come as components: on the card, in activation, in the hooks, and what comes of one that goes wrong.

#![cfg(feature = "extensions")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it is"
)]

mod support;

use a2a_edge_stories::{Http, Target as _};
use http::Request;
use serde_json::{Value, json};
use support::{Desk, Scratch, run_with};
use xtask::component::{self, World};

const BRIEF: &str = "urn:example:extensions/brief/v1";
const MASK: &str = "urn:example:extensions/mask/v1";
const LOST: &str = "urn:test:lost";
const ROGUE: &str = "urn:test:rogue";

fn built(world: World) -> String {
    component::build(world).unwrap().display().to_string()
}

/// The value of `--extension` for a component with these options.
fn with_options(scratch: &Scratch, component: &str, name: &str, options: &Value) -> String {
    let path = scratch.0.path().join(name);
    std::fs::write(&path, options.to_string()).unwrap();
    format!("{component}={}", path.display())
}

/// A desk with the example, of at most three words.
fn brief(scratch: &Scratch) -> Desk {
    let brief = with_options(
        scratch,
        &built(component::EXTENSION),
        "brief.json",
        &json!({"most": 3}),
    );
    Desk::start(
        &scratch.data(),
        &[&["--extension", brief.as_str()], &PATIENT[..]].concat(),
    )
}

/// A desk with one extension that does whatever a request tells it to, within limits that the options set.
fn rogue(scratch: &Scratch, limits: &[&str]) -> Desk {
    let rogue = with_options(
        scratch,
        &built(component::TEST_EXTENSION),
        "rogue.json",
        &json!({"uri": ROGUE}),
    );
    Desk::start(
        &scratch.data(),
        &[&["--extension", rogue.as_str()], limits].concat(),
    )
}

/// An answer: its status, the extensions that it echoes, its body.
type Answer = (u16, Option<String>, Value);

fn call(desk: &Desk, line: &str, extensions: &str, body: &Value) -> Answer {
    let (method, path) = line.split_once(' ').unwrap();
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("a2a-version", "1.0")
        .header("a2a-extensions", extensions)
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {}", desk.token("client")));
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let answer = Http::new(desk.url())
        .call(request.body(body.into_bytes()).unwrap())
        .unwrap();
    let echo = answer.headers().get("a2a-extensions");
    let echo = echo.map(|value| value.to_str().unwrap().to_owned());
    let body = serde_json::from_slice(answer.body()).unwrap_or_default();
    (answer.status().as_u16(), echo, body)
}

fn message(text: &str) -> Value {
    let message = json!({"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": text}]});
    json!({"message": message, "configuration": {"returnImmediately": true}})
}

fn send(desk: &Desk, extensions: &str, text: &str) -> Answer {
    call(desk, "POST /message:send", extensions, &message(text))
}

/// The extension under this URI on the card.
fn entry(desk: &Desk, uri: &str) -> Value {
    let (_, _, card) = call(desk, "GET /.well-known/agent-card.json", "", &Value::Null);
    let listed = card["capabilities"]["extensions"].as_array().unwrap();
    let found = listed.iter().find(|entry| entry["uri"] == uri);
    found.cloned().unwrap_or_default()
}

#[test]
fn an_extension_is_on_the_card_with_what_its_options_make_of_it() {
    let scratch = Scratch::new();
    let entry = entry(&brief(&scratch), BRIEF);
    assert_eq!(entry["params"], json!({"most": 3}), "{entry}");
    assert_eq!(entry["description"], "Messages have at most so many words.");
}

#[test]
fn its_hooks_see_the_requests_that_ask_for_it_and_no_others() {
    let scratch = Scratch::new();
    let desk = brief(&scratch);

    let (status, echo, answer) = send(&desk, BRIEF, "What is new?");
    assert_eq!((status, echo.as_deref()), (200, Some(BRIEF)), "{answer}");
    assert_eq!(answer["task"]["metadata"][BRIEF], json!({"words": 3}), "{answer}");

    let (status, _, answer) = send(&desk, BRIEF, "What is new here?");
    assert_eq!(status, 400);
    let violation = json!({"field": "message.parts", "description": "expected at most 3 words, not 4"});
    assert_eq!(
        answer["error"]["details"][1]["fieldViolations"],
        json!([violation]),
        "{answer}"
    );

    let (status, echo, answer) = send(&desk, "", "What is new around here?");
    assert_eq!((status, echo), (200, None), "{answer}");
    assert_eq!(answer["task"]["metadata"][BRIEF], Value::Null);

    // It steps aside where there is no message.
    let task = answer["task"]["id"].as_str().unwrap();
    let (status, echo, answer) = call(&desk, &format!("GET /tasks/{task}"), BRIEF, &Value::Null);
    assert_eq!((status, echo), (200, None), "{answer}");
}

#[test]
fn several_run_in_their_order_and_a_required_one_is_asked_for() {
    let scratch = Scratch::new();
    let component = built(component::TEST_EXTENSION);
    let first = json!({"uri": "urn:test:first", "required": true});
    let first = with_options(&scratch, &component, "first.json", &first);
    let second = with_options(
        &scratch,
        &component,
        "second.json",
        &json!({"uri": "urn:test:second"}),
    );
    let both = ["--extension", &first, "--extension", &second];
    let desk = Desk::start(&scratch.data(), &[&both[..], &PATIENT].concat());

    let (status, _, answer) = send(&desk, "urn:test:second", "Hello");
    assert_eq!(status, 400);
    assert_eq!(
        answer["error"]["details"][0]["reason"], "EXTENSION_SUPPORT_REQUIRED",
        "{answer}"
    );

    let (status, echo, answer) = send(&desk, "urn:test:second, urn:test:first", "Hello");
    assert_eq!(status, 200, "{answer}");
    assert_eq!(echo.as_deref(), Some("urn:test:first,urn:test:second"));
    assert_eq!(
        answer["task"]["metadata"]["urn:test:second"],
        json!(["urn:test:first"])
    );
}

/// Makes the extension do what it should not, and holds the answer to be an error that names it and says what was expected.
/// Then the next request is served as if nothing had been.
fn fails(desk: &Desk, place: &str, what: &str, expected: &str) {
    let answer = send(desk, &format!("{ROGUE}, urn:does:{place}:{what}"), "Hello");
    failed(&answer, &format!("{place} of extension {ROGUE} to {expected}"));
    let (status, _, answer) = send(desk, ROGUE, "Hello");
    assert_eq!(status, 200, "after {place} {what}: {answer}");
}

fn failed((status, _, answer): &Answer, expected: &str) {
    let error = &answer["error"];
    assert_eq!((*status, &error["status"]), (500, &json!("INTERNAL")), "{answer}");
    assert_eq!(error["message"], format!("expected {expected}"));
}

/// More time than anything here takes on a busy machine.
const PATIENT: [&str; 2] = ["--extension-time", "60000"];

const HOOKS: [&str; 3] = ["activate", "handle-request", "handle-response"];

#[test]
fn one_that_traps_or_takes_memory_fails_its_request_and_no_other() {
    let scratch = Scratch::new();
    let desk = rogue(
        &scratch,
        &[&PATIENT[..], &["--extension-memory", "16", "--log", "json"]].concat(),
    );
    for hook in HOOKS {
        fails(&desk, hook, "trap", "end without a trap");
        fails(&desk, hook, "grow", "keep to 16 MiB of memory");
    }
    let log = desk.stop();
    let told = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let told: Vec<Value> = told.filter(|line| line["event"] == "extension").collect();
    assert_eq!(told.len(), 6, "{log}");
    for line in told {
        assert_eq!(line["uri"], ROGUE);
        assert!(line["why"].as_str().is_some_and(|why| !why.is_empty()), "{line}");
    }
}

#[test]
fn one_that_loops_fails_its_request_and_no_other() {
    let scratch = Scratch::new();
    let limits = ["--extension-time", "1000", "--extension-instructions", "1000000"];
    let desk = rogue(&scratch, &limits);
    for hook in HOOKS {
        fails(&desk, hook, "loop", "end within 1000 ms");
    }
}

#[test]
fn one_that_loops_runs_out_of_instructions_before_its_time() {
    let scratch = Scratch::new();
    let limits = [&PATIENT[..], &["--extension-instructions", "20"]].concat();
    let desk = rogue(&scratch, &limits);
    for hook in HOOKS {
        fails(&desk, hook, "loop", "end within 20 million instructions");
    }
}

#[test]
fn what_it_gives_is_held_to_the_interface() {
    let scratch = Scratch::new();
    let desk = rogue(&scratch, &PATIENT);
    for (place, what, expected) in [
        ("activate", "text", "give JSON as the activation value"),
        ("handle-request", "text", "give JSON as the parameters"),
        ("handle-request", "array", "give an object as the parameters"),
        ("handle-request", "nothing", "give a message where there was one"),
        ("handle-response", "text", "give JSON as the payload"),
        ("handle-response", "array", "give an A2A object of the same kind"),
    ] {
        fails(&desk, place, what, expected);
    }
}

#[test]
fn an_error_has_the_form_of_the_binding_and_a_stream_ends() {
    let scratch = Scratch::new();
    let desk = rogue(&scratch, &PATIENT);
    let trap = format!("{ROGUE}, urn:does:handle-response:trap");

    let params = message("Hello");
    let rpc = json!({"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": params});
    let (status, _, answer) = call(&desk, "POST /rpc", &trap, &rpc);
    assert_eq!(
        (status, &answer["error"]["code"]),
        (200, &json!(-32603)),
        "{answer}"
    );

    let (status, _, body) = call(&desk, "POST /message:stream", &trap, &params);
    assert_eq!((status, body), (200, Value::Null));
    assert_eq!(send(&desk, ROGUE, "Hello").0, 200);
}

#[test]
fn one_in_javascript_does_what_one_in_rust_does() {
    let scratch = Scratch::new();
    let masks = json!({"patterns": {"key": r"\bsk-\w+", "number": r"\b\d{16}\b"}});
    let mask = with_options(&scratch, &built(component::SCRIPT_EXTENSION), "mask.json", &masks);
    // Of the defaults only the time is not kept: what compiles here does not optimise, and other tests run.
    let desk = Desk::start(
        &scratch.data(),
        &[&["--extension", mask.as_str()], &PATIENT[..]].concat(),
    );
    assert_eq!(entry(&desk, MASK)["params"], json!({"masked": ["key", "number"]}));

    let parts = json!([{"text": "sk-1 or sk-2?"}, {"data": {"sk-3": ["sk-4", 4, null]}}]);
    let parted = |parts: &Value| {
        let message = json!({"messageId": "m-2", "role": "ROLE_USER", "parts": parts});
        json!({"message": message, "configuration": {"returnImmediately": true}})
    };
    let (status, echo, answer) = call(&desk, "POST /message:send", MASK, &parted(&parts));
    assert_eq!((status, echo.as_deref()), (200, Some(MASK)), "{answer}");
    let task = &answer["task"];
    assert_eq!(task["metadata"][MASK], json!({"masked": {"key": 3}}), "{answer}");
    let seen = json!([{"text": "[key] or [key]?"}, {"data": {"sk-3": ["[key]", 4, null]}}]);
    assert_eq!(task["history"][0]["parts"], seen, "{answer}");

    let file = json!([{"text": "See there"}, {"raw": "AAAA"}]);
    let (status, _, answer) = call(&desk, "POST /message:send", MASK, &parted(&file));
    assert_eq!(status, 400, "{answer}");
    let violation = json!({"field": "message.parts[1]", "description": "expected text or data, not a file"});
    assert_eq!(
        answer["error"]["details"][1]["fieldViolations"],
        json!([violation]),
        "{answer}"
    );

    let task = task["id"].as_str().unwrap();
    let (status, echo, answer) = call(&desk, &format!("GET /tasks/{task}"), MASK, &Value::Null);
    assert_eq!((status, echo), (200, None), "{answer}");
}

#[test]
fn one_in_javascript_that_throws_fails_its_request_and_no_other() {
    let scratch = Scratch::new();
    let lost = built(component::TEST_SCRIPT_EXTENSION);
    let desk = Desk::start(
        &scratch.data(),
        &[&["--extension", lost.as_str()], &PATIENT[..]].concat(),
    );
    for hook in HOOKS {
        let answer = send(&desk, &format!("{LOST}, urn:does:{hook}"), "Hello");
        failed(
            &answer,
            &format!("{hook} of extension {LOST} to end without a trap"),
        );
        let (status, _, answer) = send(&desk, LOST, "Hello");
        assert_eq!(status, 200, "after {hook}: {answer}");
    }
}

/// What a server says that does not start.
fn refused(extension: &str) -> String {
    let scratch = Scratch::new();
    let data = scratch.data();
    let words = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data",
        &data,
        "--extension",
        extension,
    ];
    run_with(&words, "").ended(2).err
}

#[test]
fn what_is_no_extension_is_refused_when_the_server_starts() {
    let scratch = Scratch::new();
    let rogue = built(component::TEST_EXTENSION);
    let text = scratch.0.path().join("text.wasm");
    std::fs::write(&text, "no component").unwrap();
    let rogue_with = |name: &str, options: &Value| with_options(&scratch, &rogue, name, options);
    for (extension, expected) in [
        (
            "nowhere.wasm".to_owned(),
            "expected a component of the world extension",
        ),
        (
            text.display().to_string(),
            "expected a component of the world extension",
        ),
        (
            built(component::VALIDATORS),
            "expected a component of the world extension",
        ),
        (format!("{rogue}=nowhere.json"), "options in nowhere.json: "),
        (format!("{rogue}={}", text.display()), "expected JSON"),
        (rogue.clone(), "option uri: expected a text"),
        (
            with_options(
                &scratch,
                &built(component::EXTENSION),
                "brief.json",
                &json!({"most": 0}),
            ),
            "option most: expected a whole number of at least 1",
        ),
        (
            rogue_with("trap.json", &json!({"uri": ROGUE, "does": "declaration:trap"})),
            "to end without a trap",
        ),
        (
            rogue_with("loop.json", &json!({"uri": ROGUE, "does": "declaration:loop"})),
            "to end within",
        ),
        (
            rogue_with("text.json", &json!({"uri": ROGUE, "does": "declaration:text"})),
            "params: expected JSON",
        ),
        (
            rogue_with("array.json", &json!({"uri": ROGUE, "does": "declaration:array"})),
            "expected an object",
        ),
        (rogue_with("comma.json", &json!({"uri": "a,b"})), "a,b"),
    ] {
        let said = refused(&extension);
        assert!(said.contains("--extension"), "{extension}: {said}");
        assert!(said.contains(expected), "{extension}: {said}");
    }
}
