//! The JSON-RPC binding: every method, every error, streams.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "tests"
)]

#[path = "support/rpc.rs"]
mod rpc;
#[path = "support/desk.rs"]
mod support;

use a2a_edge::extension::Method;
use a2a_edge::serve::{Body, Stream, handle};
use http::Request;
use rpc::{Caller, envelope, legal, message, notification, refusal};
use serde_json::{Value, json};
use support::{Bench, GATE, OPERATOR, WORK};

fn open(bench: &Bench, body: &Value, last: &str) -> Stream {
    let mut request = Request::post("/rpc")
        .header("a2a-version", "1.0")
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {}", bench.client));
    if !last.is_empty() {
        request = request.header("last-event-id", last);
    }
    let request = request.body(body.to_string().into_bytes()).unwrap();
    let answer = pollster::block_on(handle(&bench.host, &bench.desk, request));
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    match answer.into_body() {
        Body::Stream(stream) => stream,
        Body::Whole(bytes) => panic!("{}", String::from_utf8_lossy(&bytes)),
    }
}

/// The next event: its id and what it says.
fn next(bench: &Bench, stream: &mut Stream) -> Option<(String, Value)> {
    let bytes = pollster::block_on(stream.next(&bench.host, &bench.desk))?;
    let text = String::from_utf8(bytes).unwrap();
    let (id, data) = text.trim_end().split_once('\n').unwrap();
    let data = data.strip_prefix("data: ").unwrap();
    Some((
        id.strip_prefix("id: ").unwrap().to_owned(),
        serde_json::from_str(data).unwrap(),
    ))
}

#[test]
fn every_method_is_there_by_its_name() {
    let caller = Caller::new();
    let (bench, task) = (&caller.bench, caller.task.as_str());
    for method in Method::ALL {
        let of_task = json!({ "id": task });
        let config = json!({"taskId": task, "id": "c", "url": "https://example.com/"});
        let outcome = match method {
            Method::SendMessage => {
                let sent = caller.call(method.name(), &message("m-2")).ok();
                assert_eq!(sent["result"]["task"]["status"]["state"], "TASK_STATE_SUBMITTED");
                continue;
            }
            Method::SendStreamingMessage => {
                let mut stream = open(bench, &envelope(&json!(1), method.name(), &message("m-3")), "");
                assert!(next(bench, &mut stream).unwrap().1["result"]["task"]["id"].is_string());
                continue;
            }
            Method::SubscribeToTask => {
                let mut stream = open(bench, &envelope(&json!(1), method.name(), &of_task), "");
                assert_eq!(next(bench, &mut stream).unwrap().1["result"]["task"]["id"], task);
                continue;
            }
            Method::GetTask => {
                let got = caller.call(method.name(), &of_task).ok();
                assert_eq!(got["result"], bench.task(&bench.client, "", task).ok());
                continue;
            }
            Method::ListTasks => {
                let listed = caller.call(method.name(), &json!({})).ok();
                assert_eq!(
                    listed["result"],
                    bench.request("GET", "/tasks", &bench.client, "", b"").ok()
                );
                continue;
            }
            Method::CancelTask => {
                let other = caller.call("SendMessage", &message("m-4")).ok()["result"]["task"]["id"].clone();
                let canceled = caller.call(method.name(), &json!({ "id": other })).ok();
                assert_eq!(canceled["result"]["status"]["state"], "TASK_STATE_CANCELED");
                continue;
            }
            Method::GetExtendedAgentCard => {
                caller.post("", &json!({"jsonrpc": "2.0", "id": 1, "method": method.name()}))
            }
            _ => caller.call(method.name(), &config),
        };
        // What the card does not offer is refused as it is over HTTP.
        let expected = if method == Method::GetExtendedAgentCard {
            (-32004, "UNSUPPORTED_OPERATION".to_owned())
        } else {
            (-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED".to_owned())
        };
        assert_eq!(refusal(&outcome.ok()), expected, "{method}");
    }
}

#[test]
fn parameters_go_by_either_spelling() {
    let caller = Caller::new();
    let camel = json!({"contextId": "c", "pageSize": 7, "pageToken": "", "historyLength": 0,
        "statusTimestampAfter": "2026-01-01T00:00:00Z", "includeArtifacts": true, "status": "TASK_STATE_WORKING"});
    let snake = json!({"context_id": "c", "page_size": "7", "page_token": "", "history_length": 0,
        "status_timestamp_after": "2026-01-01T00:00:00Z", "include_artifacts": true, "status": 2});
    let listed = caller.call("ListTasks", &camel).ok();
    assert_eq!(listed["result"]["pageSize"], 7);
    assert_eq!(caller.call("ListTasks", &snake).ok(), listed);
    let sent = caller.call(
        "SendMessage",
        &json!({"message": {"message_id": "m-2", "context_id": "mine", "role": 1, "parts": [{"text": "Please."}]},
            "configuration": {"return_immediately": true, "history_length": 0}}),
    );
    let sent = sent.ok();
    assert_eq!(sent["result"]["task"]["contextId"], "mine");
    assert!(sent["result"]["task"].get("history").is_none(), "{sent}");
}

#[test]
fn the_endpoint_has_a_tenant_or_not_and_a_slash_or_not() {
    let caller = Caller::new();
    let bench = &caller.bench;
    let body = envelope(&json!("a"), "GetTask", &json!({ "id": caller.task }));
    let at = |path: &str, body: &Value| {
        let body = body.to_string();
        bench
            .request("POST", path, &bench.client, "", body.as_bytes())
            .ok()
    };
    let session = &bench.session;
    for path in [
        "/rpc".to_owned(),
        "/rpc/".to_owned(),
        format!("/{session}/rpc"),
        format!("/{session}/rpc/"),
    ] {
        let answer = at(&path, &body);
        assert_eq!(
            (&answer["id"], &answer["result"]["id"]),
            (&json!("a"), &json!(caller.task)),
            "{path}"
        );
    }
    let mut elsewhere = body.clone();
    elsewhere["params"]["tenant"] = json!("another");
    for (path, body) in [("/another/rpc", &body), ("/rpc", &elsewhere)] {
        let refused = refusal(&at(path, body));
        assert_eq!(refused, (-32602, "NOT_FOUND".to_owned()), "{path}");
    }
    elsewhere["params"]["tenant"] = json!(session);
    assert_eq!(at("/rpc", &elsewhere)["result"]["id"], caller.task);
}

#[test]
fn who_calls_and_how_a_call_is_carried_are_told_by_the_status() {
    let caller = Caller::new();
    let bench = &caller.bench;
    let call = envelope(&json!(7), "ListTasks", &json!({}));
    let text = call.to_string();
    let long = format!("[{}", " ".repeat(262_144));
    let stranger = format!("a2ae_{}_{}", bench.session, "x".repeat(43));
    let send = |method: &str, token: &str, media_type: &str, body: &str| {
        let request = Request::builder()
            .method(method)
            .uri("/rpc")
            .header("a2a-version", "1.0")
            .header("content-type", media_type)
            .header("authorization", format!("Bearer {token}"));
        bench.call(request.body(body.as_bytes().to_vec()).unwrap())
    };
    let json = "application/json";
    for (method, token, media_type, body, status, code, id) in [
        ("POST", "none", json, text.as_str(), 401, -32600, json!(null)),
        ("POST", OPERATOR, json, &text, 401, -32600, json!(null)),
        ("POST", &stranger, json, &text, 401, -32600, json!(7)),
        ("POST", &stranger, json, "{", 401, -32600, json!(null)),
        ("GET", &bench.client, json, "", 405, -32600, json!(null)),
        ("PUT", &bench.client, json, &text, 405, -32600, json!(null)),
        ("POST", &bench.client, json, &long, 413, -32600, json!(null)),
        (
            "POST",
            &bench.client,
            "text/plain",
            &text,
            415,
            -32005,
            json!(null),
        ),
        ("POST", &bench.client, "", &text, 415, -32005, json!(null)),
    ] {
        let reply = send(method, token, media_type, body);
        assert_eq!(
            reply.status, status,
            "{method} {token} {media_type}: {}",
            reply.body
        );
        assert_eq!(
            (refusal(&reply.body).0, &reply.body["id"]),
            (code, &id),
            "{status}"
        );
        assert_eq!(reply.headers["content-type"], json);
        assert_eq!(reply.headers.contains_key("www-authenticate"), status == 401);
        assert_eq!(
            reply.headers.get("allow").map(String::as_str),
            (status == 405).then_some("POST, OPTIONS")
        );
    }
    assert_eq!(
        send("POST", &bench.client, "application/a2a+json", &text).status,
        200
    );
    // A batch comes to what its first call comes to, and a notification has no body whatever happens.
    let batch = json!([call, call]).to_string();
    assert_eq!(send("POST", &stranger, json, &batch).status, 401);
    let silent = send(
        "POST",
        &stranger,
        json,
        &notification("ListTasks", &json!({})).to_string(),
    );
    assert_eq!((silent.status, silent.body), (401, Value::Null));
}

#[test]
fn every_other_refusal_is_an_error_with_its_code() {
    let caller = Caller::new();
    let ended = caller.call("SendMessage", &message("m-2")).ok()["result"]["task"]["id"].clone();
    let ended = json!({ "id": ended });
    caller.call("CancelTask", &ended).ok();
    let mut raw = message("m-3");
    raw["message"]["parts"] = json!([{"raw": "AA==", "mediaType": "image/png"}]);
    let mut pushed = message("m-4");
    pushed["configuration"]["taskPushNotificationConfig"] = json!({"url": "https://example.com/"});
    for (method, params, code, reason) in [
        ("GetTask", json!({"id": "task-nowhere"}), -32001, "TASK_NOT_FOUND"),
        ("CancelTask", ended.clone(), -32002, "TASK_NOT_CANCELABLE"),
        ("SendMessage", pushed, -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        ("SubscribeToTask", ended, -32004, "UNSUPPORTED_OPERATION"),
        ("SendMessage", raw, -32005, "CONTENT_TYPE_NOT_SUPPORTED"),
        ("GetTask", json!({}), -32602, "INVALID_PARAMS"),
        ("GetTask", json!(["task"]), -32602, "INVALID_PARAMS"),
        ("ListTasks", json!({"pageSize": 101}), -32602, "INVALID_PARAMS"),
        ("message/send", json!({}), -32601, "METHOD_NOT_FOUND"),
        ("sendMessage", json!({}), -32601, "METHOD_NOT_FOUND"),
        ("GetTask", json!("task"), -32600, "INVALID_REQUEST"),
    ] {
        assert_eq!(
            caller.refused(method, &params),
            (code, reason.to_owned()),
            "{method} {params}"
        );
    }
    let faults = caller
        .call("SendMessage", &json!({"message": {"role": "x", "parts": [{}]}}))
        .ok();
    let violations = &faults["error"]["data"][1];
    assert_eq!(violations["@type"], "type.googleapis.com/google.rpc.BadRequest");
    let fields: Vec<_> = violations["fieldViolations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["field"])
        .collect();
    assert_eq!(fields, ["message.messageId", "message.role", "message.parts[0]"]);
}

#[test]
fn the_version_is_asked_for_before_the_method() {
    let caller = Caller::new();
    let bench = &caller.bench;
    let with = |uri: &str, version: Option<&str>, method: &str| {
        let mut request = Request::post(uri)
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", bench.client));
        if let Some(version) = version {
            request = request.header("a2a-version", version);
        }
        let body = envelope(&json!(1), method, &json!({})).to_string();
        bench.call(request.body(body.into_bytes()).unwrap()).ok()
    };
    for (uri, version) in [
        ("/rpc", None),
        ("/rpc", Some("0.3")),
        ("/rpc", Some("99.0")),
        ("/rpc?A2A-Version=0.3", None),
    ] {
        let refused = refusal(&with(uri, version, "message/send"));
        assert_eq!(
            refused,
            (-32009, "VERSION_NOT_SUPPORTED".to_owned()),
            "{uri} {version:?}"
        );
    }
    for (uri, version) in [("/rpc", Some("1.0.4")), ("/rpc?A2A-Version=1.0", None)] {
        assert_eq!(with(uri, version, "ListTasks")["result"]["totalSize"], 1, "{uri}");
    }
}

#[test]
fn extensions_are_activated_and_echoed() {
    let caller = Caller::new();
    let all = format!("{WORK},{GATE}");
    let mut params = message("m-2");
    params["message"]["metadata"] = json!({WORK: {"skill": "handoff", "title": "Add rate limiting"}});
    let sent = caller.post(&all, &envelope(&json!(1), "SendMessage", &params));
    assert_eq!(sent.headers["a2a-extensions"], all);
    let task = sent.ok()["result"]["task"].clone();
    assert_eq!(task["metadata"][WORK]["status"], "draft");
    let refused = caller.post(
        &all,
        &envelope(&json!(1), "GetTask", &json!({"id": "task-nowhere"})),
    );
    assert_eq!(refused.headers["a2a-extensions"], all);
    // Named by the message alone, and by one call of a batch alone.
    params["message"]["messageId"] = json!("m-3");
    params["message"]["extensions"] = json!([WORK]);
    let call = envelope(&json!(1), "SendMessage", &params);
    assert_eq!(caller.post("", &call).headers["a2a-extensions"], WORK);
    let batch = json!([envelope(&json!(1), "ListTasks", &json!({})), call]);
    assert_eq!(caller.post("", &batch).headers["a2a-extensions"], WORK);
}

#[test]
fn a_stream_tells_results_of_its_call_and_goes_on_where_it_was_cut_off() {
    let caller = Caller::new();
    let bench = &caller.bench;
    let subscribe = envelope(&json!("s-1"), "SubscribeToTask", &json!({ "id": caller.task }));
    let mut stream = open(bench, &subscribe, "");
    let (first, event) = next(bench, &mut stream).unwrap();
    assert_eq!(
        (&event["id"], &event["result"]["task"]["id"]),
        (&json!("s-1"), &json!(caller.task))
    );
    legal(&event);
    let silent = pollster::block_on(stream.next(&bench.host, &bench.desk));
    assert_eq!(silent.as_deref(), Some(&b": keep-alive\n\n"[..]));
    caller.call("CancelTask", &json!({ "id": caller.task })).ok();
    let (second, event) = next(bench, &mut stream).unwrap();
    assert_eq!(
        event["result"]["statusUpdate"]["status"]["state"],
        "TASK_STATE_CANCELED"
    );
    legal(&event);
    assert_eq!(next(bench, &mut stream), None);
    assert_ne!(first, second);
    // Under another id, for it is another call.
    let mut again = open(
        bench,
        &envelope(&json!(2), "SubscribeToTask", &json!({ "id": caller.task })),
        &first,
    );
    let told = next(bench, &mut again).unwrap();
    assert_eq!(
        (told.0, &told.1["id"], &told.1["result"]),
        (second, &json!(2), &event["result"])
    );
    assert_eq!(next(bench, &mut again), None);
}

#[test]
fn the_card_names_both_bindings() {
    let bench = Bench::new();
    let interfaces = |path: &str| {
        let card = bench.request("GET", path, "", "", b"").ok();
        card["supportedInterfaces"].clone()
    };
    let [http, rpc] = [("", "HTTP+JSON"), ("/rpc", "JSONRPC")].map(|(path, binding)| {
        json!({"url": format!("{}{path}", bench.desk.config().base_url), "protocolBinding": binding, "protocolVersion": "1.0"})
    });
    assert_eq!(interfaces("/.well-known/agent-card.json"), json!([http, rpc]));
    let of_session = interfaces(&format!("/{}/.well-known/agent-card.json", bench.session));
    assert_eq!(of_session[1]["tenant"], json!(bench.session));
}
