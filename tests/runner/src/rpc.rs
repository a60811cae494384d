//! The other binding: a story's core calls go out in envelopes of JSON-RPC, and their answers come out of them (A2A 1.0,
//! §9). What a story expects is the same, and so is its transcript.

use std::cell::Cell;

use a2a_edge::json;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use serde_json::{Map, Value, json};

use crate::stream::Chunks;
use crate::target::{Opened, Target};

/// The longest body that still fits into an envelope, in bytes.
const LONGEST: usize = 262_000;

/// How a refusal is told over HTTP+JSON: by its JSON-RPC code and reason, its status and google.rpc's name (A2A 1.0,
/// §5.4). The first that fits is it; an empty reason is any.
const STATUSES: [(i64, &str, u16, &str); 10] = [
    (-32600, "UNAUTHENTICATED", 401, "UNAUTHENTICATED"),
    (-32600, "", 403, "PERMISSION_DENIED"),
    (-32001, "", 404, "NOT_FOUND"),
    (-32005, "", 400, "INVALID_ARGUMENT"),
    (-32602, "NOT_FOUND", 404, "NOT_FOUND"),
    (-32602, "REFERENCE_NOT_FOUND", 404, "NOT_FOUND"),
    (-32602, "IDEMPOTENCY_KEY_REUSED", 409, "ALREADY_EXISTS"),
    (-32602, "", 400, "INVALID_ARGUMENT"),
    (-32603, "SESSION_LIMIT", 429, "RESOURCE_EXHAUSTED"),
    (0, "", 400, "FAILED_PRECONDITION"),
];

/// A desk whose core operations are called over JSON-RPC.
pub struct Rpc<T> {
    target: T,
    calls: Cell<u32>,
}

impl<T> Rpc<T> {
    /// The desk behind `target`.
    pub const fn new(target: T) -> Self {
        let calls = Cell::new(0);
        Self { target, calls }
    }

    /// How many calls went out in an envelope.
    pub fn calls(&self) -> u32 {
        self.calls.get()
    }

    /// The call in its envelope, and its id; none of what is no core operation, or no JSON.
    fn wrapped(&self, request: &Request<Vec<u8>>) -> Option<(String, Request<Vec<u8>>)> {
        let path = request.uri().path();
        let segments: Vec<String> = path.split('/').skip(1).map(unescaped).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let (tenant, call) = match core(request.method(), &segments) {
            Some(call) => (None, call),
            None => {
                let (tenant, rest) = segments.split_first()?;
                (Some(*tenant), core(request.method(), rest)?)
            }
        };
        let query = request.uri().query().unwrap_or_default();
        let mut params = match request.body().as_slice() {
            _ if request.method() == Method::GET => parameters(query),
            [] => Map::new(),
            body if body.len() > LONGEST => return None,
            body => match json::parse(body) {
                Ok(Value::Object(params)) => params,
                _ => return None,
            },
        };
        params.extend(
            call.named
                .into_iter()
                .map(|(name, id)| (name.to_owned(), json!(id))),
        );
        self.calls.set(self.calls.get().saturating_add(1));
        let id = format!("call-{}", self.calls.get());
        let envelope = json!({"jsonrpc": "2.0", "id": id, "method": call.method, "params": params});
        let tenant = tenant.map_or(String::new(), |tenant| format!("/{tenant}"));
        let version = query.split('&').find(|pair| pair.starts_with("A2A-Version="));
        let version = version.map_or(String::new(), |version| format!("?{version}"));
        let mut wrapped = Request::post(format!("{tenant}/rpc{version}"))
            .body(envelope.to_string().into_bytes())
            .ok()?;
        *wrapped.headers_mut() = request.headers().clone();
        if request.body().is_empty() {
            let json = HeaderValue::from_static("application/json");
            wrapped.headers_mut().insert("content-type", json);
        }
        Some((id, wrapped))
    }
}

/// A core operation that a request calls.
struct Core {
    method: &'static str,
    /// What the path names, by the members of the request object.
    named: Vec<(&'static str, String)>,
}

/// The operation of a method and a path (A2A 1.0, §5.3).
fn core(method: &Method, segments: &[&str]) -> Option<Core> {
    let call = |method, named: &[(&'static str, &str)]| {
        let named = named.iter().map(|(name, id)| (*name, (*id).to_owned())).collect();
        Some(Core { method, named })
    };
    match (method.as_str(), segments) {
        ("POST", ["message:send"]) => call("SendMessage", &[]),
        ("POST", ["message:stream"]) => call("SendStreamingMessage", &[]),
        ("GET", ["extendedAgentCard"]) => call("GetExtendedAgentCard", &[]),
        ("GET", ["tasks"]) => call("ListTasks", &[]),
        ("GET" | "POST", ["tasks", task]) => match (method.as_str(), task.rsplit_once(':')) {
            ("POST", Some((task, "cancel"))) => call("CancelTask", &[("id", task)]),
            (_, Some((task, "subscribe"))) => call("SubscribeToTask", &[("id", task)]),
            ("GET", None) => call("GetTask", &[("id", task)]),
            _ => None,
        },
        ("POST", ["tasks", task, "pushNotificationConfigs"]) => {
            call("CreateTaskPushNotificationConfig", &[("taskId", task)])
        }
        ("GET", ["tasks", task, "pushNotificationConfigs"]) => {
            call("ListTaskPushNotificationConfigs", &[("taskId", task)])
        }
        ("GET", ["tasks", task, "pushNotificationConfigs", id]) => {
            call("GetTaskPushNotificationConfig", &[("taskId", task), ("id", id)])
        }
        ("DELETE", ["tasks", task, "pushNotificationConfigs", id]) => call(
            "DeleteTaskPushNotificationConfig",
            &[("taskId", task), ("id", id)],
        ),
        _ => None,
    }
}

/// The parameters of a query. What is true or false is so; all else is text, which ProtoJSON takes for a number, too.
fn parameters(query: &str) -> Map<String, Value> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let pairs = pairs.filter(|(name, _)| *name != "A2A-Version");
    let value = |text: String| match text.as_str() {
        "true" => json!(true),
        "false" => json!(false),
        _ => json!(text),
    };
    pairs
        .map(|(name, text)| (unescaped(name), value(unescaped(text))))
        .collect()
}

/// A text of a URL with its escapes undone.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let escaped = tail.get(..2).filter(|_| *first == b'%');
        let escaped =
            escaped.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = escaped.and_then(|_| tail.get(2..)).unwrap_or(tail);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What an envelope holds.
enum Content {
    Result(Value),
    Error(Value),
}

/// Takes an envelope apart, which must be the answer to the call of this id and nothing more.
fn content(envelope: &[u8], id: &str) -> Result<Content, String> {
    let text = String::from_utf8_lossy(envelope);
    let mut value: Map<String, Value> =
        serde_json::from_slice(envelope).map_err(|error| format!("{error}: {text}"))?;
    // What was refused before it was read has no id.
    let answers = |value: &Value| *value == json!(id) || value.is_null();
    let version = value.shift_remove("jsonrpc");
    if version != Some(json!("2.0")) || !value.shift_remove("id").is_some_and(|id| answers(&id)) {
        return Err(format!("expected the answer to {id}, not {text}"));
    }
    let (result, error) = (value.shift_remove("result"), value.shift_remove("error"));
    match (result, error) {
        (Some(result), None) if value.is_empty() => Ok(Content::Result(result)),
        (None, Some(error)) if value.is_empty() => Ok(Content::Error(error)),
        _ => Err(format!("expected a result or an error, not {text}")),
    }
}

/// The answer as it is over HTTP+JSON.
fn unwrapped(answer: Response<Vec<u8>>, id: &str) -> Result<Response<Vec<u8>>, String> {
    let (mut head, body) = answer.into_parts();
    let body = match content(&body, id)? {
        Content::Result(result) => result,
        Content::Error(error) => {
            let (status, body) = told(&error, head.status.as_u16())?;
            head.status = StatusCode::from_u16(status).map_err(|error| error.to_string())?;
            body
        }
    };
    mark(&mut head.headers)?;
    Ok(Response::from_parts(head, body.to_string().into_bytes()))
}

/// An answer in an envelope is application/json, and one without it application/a2a+json.
fn mark(headers: &mut HeaderMap) -> Result<(), String> {
    let media_type = headers.insert("content-type", HeaderValue::from_static("application/a2a+json"));
    match media_type {
        Some(media_type) if media_type == "application/json" => Ok(()),
        other => Err(format!("expected application/json, not {other:?}")),
    }
}

/// Status and body of a refusal.
fn told(error: &Value, status: u16) -> Result<(u16, Value), String> {
    let unexpected = || format!("expected code, message and data with a reason, not {error}");
    let members = error.as_object().ok_or_else(unexpected)?;
    let (Some(code), Some(message), Some(data)) =
        (members.get("code"), members.get("message"), members.get("data"))
    else {
        return Err(unexpected());
    };
    let reason = data
        .pointer("/0/reason")
        .and_then(Value::as_str)
        .ok_or_else(unexpected)?;
    let fits = |row: &&(i64, &str, u16, &str)| row.0 == 0 || json!(row.0) == *code;
    let known = STATUSES
        .iter()
        .filter(fits)
        .find(|row| row.1.is_empty() || row.1 == reason);
    let (_, _, known, name) = known.ok_or_else(unexpected)?;
    let status = if status == 200 { *known } else { status };
    let body = json!({"error": {"code": status, "status": name, "message": message, "details": data}});
    Ok((status, body))
}

/// A stream of envelopes, taken out of them.
struct Unwrapping<'a> {
    chunks: Box<dyn Chunks + 'a>,
    id: String,
    read: Vec<u8>,
}

impl Chunks for Unwrapping<'_> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let rest = self.read.split_off(end.saturating_add(1));
                let line = std::mem::replace(&mut self.read, rest);
                let Some(data) = line.strip_prefix(b"data: ") else {
                    return Ok(Some(line));
                };
                return match content(data, &self.id)? {
                    Content::Result(result) => Ok(Some(format!("data: {result}\n").into_bytes())),
                    Content::Error(error) => Err(format!("expected a result, not {error}")),
                };
            }
            match self.chunks.next()? {
                Some(bytes) => self.read.extend(bytes),
                None if self.read.is_empty() => return Ok(None),
                None => return Err("the stream ends within a line".to_owned()),
            }
        }
    }
}

impl<T: Target> Target for Rpc<T> {
    fn base_url(&self) -> &str {
        self.target.base_url()
    }

    fn call(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        match self.wrapped(&request) {
            Some((id, wrapped)) => unwrapped(self.target.call(wrapped)?, &id),
            None => self.target.call(request),
        }
    }

    fn open(&self, request: Request<Vec<u8>>) -> Result<Opened<'_>, String> {
        let Some((id, wrapped)) = self.wrapped(&request) else {
            return self.target.open(request);
        };
        Ok(match self.target.open(wrapped)? {
            Opened::Whole(answer) => Opened::Whole(unwrapped(answer, &id)?),
            Opened::Stream(head, chunks) => {
                let read = Vec::new();
                Opened::Stream(head, Box::new(Unwrapping { chunks, id, read }))
            }
        })
    }

    fn tick(&self) {
        self.target.tick();
    }
}
