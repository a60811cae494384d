//! Those who call a host over HTTP, and a session of theirs.

#![allow(dead_code, reason = "each test uses its part of it")]

use std::path::Path;

use a2a_edge::coordination;
use a2a_edge_stories::server::{OPERATOR, Running};
use a2a_edge_stories::{Http, Target as _};
use http::{Request, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder in memory, where the system has one: for state that need not outlast the machine.
pub(crate) fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        TempDir::new_in(memory).unwrap()
    } else {
        TempDir::new().unwrap()
    }
}

/// An answer: status, headers, and the body if it is JSON.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) id: String,
    pub(crate) body: Value,
}

impl Reply {
    /// The body of an answer that must be a success.
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        self.body
    }

    /// The reason of a refusal.
    pub(crate) fn reason(&self) -> &str {
        self.body["error"]["details"][0]["reason"]
            .as_str()
            .unwrap_or_default()
    }
}

impl From<Response<Vec<u8>>> for Reply {
    fn from(response: Response<Vec<u8>>) -> Self {
        let id = response.headers().get("x-request-id");
        Self {
            status: response.status().as_u16(),
            id: id.map_or(String::new(), |id| id.to_str().unwrap().to_owned()),
            body: serde_json::from_slice(response.body()).unwrap_or_default(),
        }
    }
}

/// Someone who calls a host.
#[derive(Debug)]
pub(crate) struct Caller {
    http: Http,
}

impl Caller {
    /// Everything that a server has written about the calls so far. Lines reach the test later than answers do, but in
    /// order: the line of one more call is the last to arrive.
    pub(crate) fn lines(&self, running: &Running) -> Vec<String> {
        let last = self.call("GET /nothing", "", &Value::Null);
        let line = running.line_with(&["\"event\":\"request\"", &last.id]);
        assert!(line.is_some(), "{:?}", running.lines());
        running.lines()
    }

    pub(crate) fn of(running: &Running) -> Self {
        Self::at(running.url())
    }

    pub(crate) fn at(url: &str) -> Self {
        Self { http: Http::new(url) }
    }

    /// Sends a request, or says why there is no answer.
    pub(crate) fn try_call(&self, line: &str, token: &str, body: &Value) -> Result<Reply, String> {
        let (method, path) = line.split_once(' ').unwrap();
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("a2a-version", "1.0");
        if path.contains("/extensions/") {
            request = request.header("a2a-extensions", coordination::URI);
        }
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = if body.is_null() {
            Vec::new()
        } else {
            request = request.header("content-type", "application/json");
            body.to_string().into_bytes()
        };
        self.http.call(request.body(body).unwrap()).map(Reply::from)
    }

    #[track_caller]
    pub(crate) fn call(&self, line: &str, token: &str, body: &Value) -> Reply {
        self.try_call(line, token, body)
            .unwrap_or_else(|why| panic!("{line}: {why}"))
    }

    #[track_caller]
    pub(crate) fn operate(&self, token: &str, verb: &str, body: &Value) -> Value {
        self.call(&format!("POST /operator/v1/{verb}"), token, body).ok()
    }

    pub(crate) fn coordinate(&self, token: &str, operation: &str, body: &Value) -> Reply {
        let line = format!("POST /extensions/session-coordination/v1/{operation}");
        self.call(&line, token, body)
    }

    /// A message that opens a task.
    pub(crate) fn send(&self, token: &str, id: &str) -> Reply {
        let message =
            json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": format!("Question {id}?")}]});
        let body = json!({"message": message, "configuration": {"returnImmediately": true}});
        self.call("POST /message:send", token, &body)
    }
}

/// The tokens of a session's participants.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) member: String,
    pub(crate) client: String,
}

impl Session {
    pub(crate) fn create(caller: &Caller) -> Self {
        let created = caller.operate(OPERATOR, "sessions:create", &json!({}));
        let owner = text(&created["token"]);
        Self {
            id: text(&created["sessionId"]),
            member: Self::admit(caller, &owner, "member", "Member").0,
            client: Self::admit(caller, &owner, "client", "Client").0,
            owner,
        }
    }

    /// Admits a participant; gives its token and its id.
    pub(crate) fn admit(caller: &Caller, owner: &str, role: &str, name: &str) -> (String, String) {
        let body = json!({"displayName": name, "role": role, "kind": "agent"});
        let added = caller.operate(owner, "participants:add", &body);
        (
            text(&added["token"]),
            text(&added["participant"]["participantId"]),
        )
    }
}

#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("no text: {value}"))
        .to_owned()
}
