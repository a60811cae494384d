//! A desk in this process over a store in memory, with a clock that the test moves and entropy that it counts.

#![allow(dead_code, reason = "each test uses its part of it")]

use std::cell::Cell;
use std::collections::BTreeMap;

use a2a_edge::serve::{Config, Desk, Host, Sessions, handle};
use a2a_edge::session::{Session, SessionLimits, Token};
use a2a_edge::store::{Bell, HeadSwap, Memory, Store as _};
use a2a_edge::time::Timestamp;
use http::Request;
use serde_json::{Value, json};

pub const OPERATOR: &str = "operator-token-of-at-least-32-characters";
pub const COORDINATION: &str = "https://j5a2a.com/extensions/session-coordination/v1";
pub const WORK: &str = "https://dispatch.foo/a2a/ext/work/v1";
pub const ENVELOPE: &str = "https://dispatch.foo/a2a/ext/envelope/v1";
pub const GATE: &str = "https://dispatch.foo/a2a/ext/gate/v1";

/// A bell in a test rings at the deadline at once: the test's clock is moved there.
pub struct TestHost {
    store: HeadSwap<Memory>,
    sessions: Sessions,
    now: Cell<i64>,
    drawn: Cell<u64>,
}

impl Bell for TestHost {
    fn ring(&self, _: &str, _: u64) {}

    async fn wait(&self, _: &str, _: u64, until: Timestamp) {
        self.now.set(until.as_millis());
    }
}

impl Host for TestHost {
    type Store = HeadSwap<Memory>;
    type Bell = Self;

    fn store(&self) -> &Self::Store {
        &self.store
    }

    fn bell(&self) -> &Self {
        self
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now.get())
    }

    fn entropy(&self) -> [u8; 32] {
        self.drawn.set(self.drawn.get() + 1);
        let mut entropy = [0; 32];
        entropy[..8].copy_from_slice(&self.drawn.get().to_be_bytes());
        entropy
    }
}

/// An answer: status, headers, body.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

impl Reply {
    /// The body of an answer that must be a success.
    #[track_caller]
    pub fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        self.body
    }

    /// Status, reason and first field at fault of a refusal.
    pub fn refused(&self) -> (u16, String, String) {
        let details = &self.body["error"]["details"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let field = details[1]["fieldViolations"][0]["field"].clone();
        (self.status, text(&details[0]["reason"]), text(&field))
    }
}

/// A desk with one session.
pub struct Bench {
    pub host: TestHost,
    pub desk: Desk,
    pub session: String,
    pub owner: String,
    pub member: String,
    pub client: String,
}

impl Bench {
    pub fn new() -> Self {
        Self::with_limits(&[])
    }

    /// A desk whose sessions may hold only so much.
    pub fn with_limits(settings: &[&str]) -> Self {
        let mut limits = SessionLimits::default();
        settings.iter().for_each(|setting| limits.set(setting).unwrap());
        Self::with(|config| config.limits = limits)
    }

    /// A desk whose settings are changed like this.
    pub fn with(change: impl FnOnce(&mut Config)) -> Self {
        let host = TestHost {
            store: HeadSwap::new(Memory::default()),
            sessions: Sessions::new(),
            now: Cell::new(1_784_250_000_000),
            drawn: Cell::new(0),
        };
        let mut config = Config {
            operator_token: Some(OPERATOR.into()),
            card_modified: Some(Timestamp::from_millis(1_784_250_000_000)),
            ..Config::default()
        };
        change(&mut config);
        let desk = Desk::new(config).unwrap();
        let mut bench = Self {
            host,
            desk,
            session: String::new(),
            owner: String::new(),
            member: String::new(),
            client: String::new(),
        };
        let created = bench.operate(OPERATOR, "sessions:create", &json!({})).ok();
        bench.session = created["sessionId"].as_str().unwrap().into();
        bench.owner = created["token"].as_str().unwrap().into();
        bench.member = bench.admit("member");
        bench.client = bench.admit("client");
        bench
    }

    /// The same session behind a desk with other settings.
    pub fn reconfigure(&mut self, change: impl FnOnce(&mut Config)) {
        let mut config = self.desk.config().clone();
        change(&mut config);
        self.desk = Desk::new(config).unwrap();
    }

    /// A token of a new participant.
    pub fn admit(&self, role: &str) -> String {
        let body = json!({"displayName": role, "role": role});
        let added = self.operate(&self.owner, "participants:add", &body).ok();
        added["token"].as_str().unwrap().into()
    }

    /// The session as the store has it.
    pub fn state(&self) -> Session {
        let mut session = Session::default();
        for commit in self.log(&self.session) {
            assert!(session.apply(&serde_json::from_slice(&commit).unwrap()));
        }
        session
    }

    /// The commits of a session, as the store has them.
    pub fn log(&self, session: &str) -> Vec<Vec<u8>> {
        let log = pollster::block_on(self.host.store.history(session, 0, usize::MAX)).unwrap();
        log.into_iter().map(|record| record.bytes.to_vec()).collect()
    }

    /// The address of whoever holds a token.
    pub fn address(&self, token: &str) -> String {
        let session = self.state();
        let caller = session.authenticate(&Token::parse(token).unwrap()).unwrap();
        session.address_of(&caller.participant_id)
    }

    pub fn now(&self) -> Timestamp {
        self.host.now()
    }

    pub fn wait(&self, seconds: i64) {
        self.host.now.set(self.host.now.get() + seconds * 1000);
    }

    pub fn call(&self, request: Request<Vec<u8>>) -> Reply {
        let response = pollster::block_on(handle(&self.host, &self.desk, request));
        let headers = response.headers().iter();
        Reply {
            status: response.status().as_u16(),
            headers: headers
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap().into()))
                .collect(),
            // A stream has no body of its own, and some answers have none.
            body: match response.into_body().into_whole() {
                Some(body) if !body.is_empty() => serde_json::from_slice(&body).unwrap(),
                _ => Value::Null,
            },
        }
    }

    pub fn request(&self, method: &str, path: &str, token: &str, extensions: &str, body: &[u8]) -> Reply {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("a2a-version", "1.0")
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {token}"));
        if !extensions.is_empty() {
            request = request.header("a2a-extensions", extensions);
        }
        self.call(request.body(body.to_vec()).unwrap())
    }

    pub fn operate(&self, token: &str, verb: &str, body: &Value) -> Reply {
        self.request(
            "POST",
            &format!("/operator/v1/{verb}"),
            token,
            "",
            body.to_string().as_bytes(),
        )
    }

    pub fn coordinate(&self, token: &str, operation: &str, body: &Value) -> Reply {
        let path = format!("/extensions/session-coordination/v1/{operation}");
        self.request("POST", &path, token, COORDINATION, body.to_string().as_bytes())
    }

    /// Sends a message with this metadata and text; ids are `m-<n>`.
    pub fn send(&self, token: &str, extensions: &str, message: &Value) -> Reply {
        let mut whole = json!({
            "messageId": format!("m-{}", self.host.drawn.get()),
            "role": "ROLE_USER",
            "parts": [{"text": "Please."}],
        });
        for (name, value) in message.as_object().unwrap() {
            whole[name] = value.clone();
        }
        let body = json!({"message": whole}).to_string();
        self.request("POST", "/message:send", token, extensions, body.as_bytes())
    }

    pub fn task(&self, token: &str, extensions: &str, task: &str) -> Reply {
        self.request("GET", &format!("/tasks/{task}"), token, extensions, b"")
    }
}
