//! Several process-like hosts over one shared store that fails on demand, and a scheduler that decides who goes on.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use a2a_edge::serve::{Config, Desk, Host, Sessions, handle};
use a2a_edge::store::{Bell, Store, StoreError};
use a2a_edge::time::Timestamp;
use http::Request;
use serde_json::{Value, json};

use super::random::Random;

pub const OPERATOR: &str = "operator-token-of-at-least-32-characters";
pub const COORDINATION: &str = "https://j5a2a.com/extensions/session-coordination/v1";
pub const WORK: &str = "https://dispatch.foo/a2a/ext/work/v1";

/// What all hosts of a test share: the time, and the source of randomness.
pub struct World {
    pub now: Cell<i64>,
    /// How far the time goes on with each request, in milliseconds.
    pub step: i64,
    pub drawn: Cell<u64>,
    pub desk: Desk,
}

impl World {
    pub fn new() -> Self {
        let config = Config {
            operator_token: Some(OPERATOR.into()),
            ..Config::default()
        };
        Self {
            now: Cell::new(1_784_250_000_000),
            step: 1,
            drawn: Cell::new(0),
            desk: Desk::new(config).unwrap(),
        }
    }
}

/// A process: its own sessions in memory, over whatever store it was given.
pub struct Process<'a, S> {
    world: &'a World,
    store: S,
    sessions: Sessions,
    pub faults: RefCell<Vec<StoreError>>,
}

impl<'a, S: Store> Process<'a, S> {
    pub fn new(world: &'a World, store: S) -> Self {
        Self {
            world,
            store,
            sessions: Sessions::new(),
            faults: RefCell::default(),
        }
    }

    pub async fn call(&self, method: &str, path: &str, token: &str, extensions: &str, body: &Value) -> Reply {
        self.world.now.set(self.world.now.get() + self.world.step);
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("a2a-version", "1.0")
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {token}"));
        if !extensions.is_empty() {
            request = request.header("a2a-extensions", extensions);
        }
        let body = if method == "GET" {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let response = handle(self, &self.world.desk, request.body(body).unwrap()).await;
        Reply {
            status: response.status().as_u16(),
            retry_after: response.headers().contains_key("retry-after"),
            text: String::from_utf8(response.into_body().into_whole().unwrap()).unwrap(),
        }
    }

    pub async fn coordinate(&self, token: &str, operation: &str, body: &Value) -> Reply {
        let path = format!("/extensions/session-coordination/v1/{operation}");
        self.call("POST", &path, token, COORDINATION, body).await
    }

    pub async fn operate(&self, token: &str, verb: &str, body: &Value) -> Reply {
        self.call("POST", &format!("/operator/v1/{verb}"), token, "", body)
            .await
    }

    /// Sends a message under an id of the client's, with work/v1 active, so that a repeat is recognised.
    pub async fn send(&self, token: &str, message_id: &str, metadata: &Value) -> Reply {
        let body = json!({
            "message": {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": "Please."}], "metadata": metadata},
            "configuration": {"returnImmediately": true},
        });
        self.call("POST", "/message:send", token, WORK, &body).await
    }
}

impl<S> Bell for Process<'_, S> {
    fn ring(&self, _: &str, _: u64) {}

    async fn wait(&self, _: &str, _: u64, _: Timestamp) {
        yield_once().await;
        self.world.now.set(self.world.now.get() + 1_000);
    }
}

impl<S: Store> Host for Process<'_, S> {
    type Store = S;
    type Bell = Self;

    fn store(&self) -> &S {
        &self.store
    }

    fn bell(&self) -> &Self {
        self
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.world.now.get())
    }

    fn entropy(&self) -> [u8; 32] {
        self.world.drawn.set(self.world.drawn.get() + 1);
        let mut entropy = [0; 32];
        entropy[..8].copy_from_slice(&self.world.drawn.get().to_be_bytes());
        entropy
    }

    fn report(&self, fault: &StoreError) {
        self.faults.borrow_mut().push(fault.clone());
    }
}

/// An answer: status, whether it says when to try again, and the body as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub status: u16,
    pub retry_after: bool,
    pub text: String,
}

impl Reply {
    pub fn body(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// The body of an answer that must be a success.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text);
        self.body()
    }

    pub fn reason(&self) -> String {
        let reason = self.body()["error"]["details"][0]["reason"].clone();
        reason.as_str().unwrap_or_default().to_owned()
    }
}

/// A session's tokens.
pub struct Tokens {
    pub session: String,
    pub owner: String,
    pub members: Vec<String>,
    pub clients: Vec<String>,
}

/// Creates a session with so many members and clients.
pub async fn settle<S: Store>(host: &Process<'_, S>, members: usize, clients: usize) -> Tokens {
    let created = host.operate(OPERATOR, "sessions:create", &json!({})).await.ok();
    let owner = created["token"].as_str().unwrap().to_owned();
    let mut tokens = Tokens {
        session: created["sessionId"].as_str().unwrap().to_owned(),
        owner: owner.clone(),
        members: Vec::new(),
        clients: Vec::new(),
    };
    for index in 0..members + clients {
        let role = if index < members { "member" } else { "client" };
        let token = admit(host, &owner, role).await;
        if index < members {
            &mut tokens.members
        } else {
            &mut tokens.clients
        }
        .push(token);
    }
    tokens
}

/// A token of a new participant.
pub async fn admit<S: Store>(host: &Process<'_, S>, owner: &str, role: &str) -> String {
    let body = json!({"displayName": role, "role": role});
    let added = host.operate(owner, "participants:add", &body).await.ok();
    added["token"].as_str().unwrap().to_owned()
}

pub async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

pub type Running<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Runs all to their end; which of them takes the next step is drawn.
pub fn run(random: &mut Random, mut running: Vec<Running<'_>>) {
    let mut context = Context::from_waker(Waker::noop());
    while !running.is_empty() {
        let index = random.below(running.len());
        if running[index].as_mut().poll(&mut context).is_ready() {
            drop(running.swap_remove(index));
        }
    }
}
