//! A client that speaks JSON-RPC to a desk in this process, and what its answers are held to be.

#![allow(dead_code, reason = "each test uses its part of it")]

use serde_json::{Value, json};

use crate::support::{Bench, Reply};

/// A desk whose client has a task, and how it calls.
pub struct Caller {
    pub bench: Bench,
    pub task: String,
}

impl Caller {
    pub fn new() -> Self {
        let bench = Bench::new();
        let task = bench.send(&bench.client, "", &json!({})).ok()["task"]["id"].clone();
        let task = task.as_str().unwrap().to_owned();
        Self { bench, task }
    }

    pub fn post(&self, extensions: &str, body: &Value) -> Reply {
        let (bench, body) = (&self.bench, body.to_string());
        bench.request("POST", "/rpc", &bench.client, extensions, body.as_bytes())
    }

    pub fn call(&self, method: &str, params: &Value) -> Reply {
        self.post("", &envelope(&json!(1), method, params))
    }

    /// Code and reason of a refusal, which must be one within a 200.
    #[track_caller]
    pub fn refused(&self, method: &str, params: &Value) -> (i64, String) {
        refusal(&self.call(method, params).ok())
    }
}

pub fn envelope(id: &Value, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub fn message(id: &str) -> Value {
    json!({
        "message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": "Please."}]},
        "configuration": {"returnImmediately": true},
    })
}

/// Code and reason of an envelope that holds an error, and nothing else.
#[track_caller]
pub fn refusal(envelope: &Value) -> (i64, String) {
    legal(envelope);
    let error = &envelope["error"];
    let reason = error["data"][0]["reason"]
        .as_str()
        .unwrap_or_else(|| panic!("{envelope}"));
    (error["code"].as_i64().unwrap(), reason.to_owned())
}

pub fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Holds an envelope to be one of JSON-RPC 2.0.
#[track_caller]
pub fn legal(envelope: &Value) {
    assert_eq!(envelope["jsonrpc"], "2.0", "{envelope}");
    let id = &envelope["id"];
    assert!(id.is_null() || id.is_string() || id.is_number(), "{envelope}");
    let Some(error) = envelope.get("error") else {
        assert_eq!(names(envelope), ["jsonrpc", "id", "result"], "{envelope}");
        return;
    };
    assert_eq!(names(envelope), ["jsonrpc", "id", "error"], "{envelope}");
    assert_eq!(names(error), ["code", "message", "data"], "{envelope}");
    let code = error["code"].as_i64().unwrap();
    assert!(
        (-32009..=-32001).contains(&code) || (-32603..=-32600).contains(&code) || code == -32700,
        "{envelope}"
    );
    assert!(!error["message"].as_str().unwrap().is_empty(), "{envelope}");
    for detail in error["data"].as_array().unwrap() {
        assert!(detail["@type"].is_string(), "{envelope}");
    }
    assert_eq!(error["data"][0]["domain"], "a2a-protocol.org", "{envelope}");
}
