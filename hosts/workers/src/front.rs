//! The Worker: finds the session's object, answers what needs none, and writes a line for every request.

use a2a_edge::http::route::{Target, route};
use a2a_edge::serve::place::{Place, new_session_id, place};
use a2a_edge::serve::{Desk, Host, Sessions};
use a2a_edge::store::{Bell, CommitOutcome, Loaded, Record, Snapshot, Store, StoreError};
use a2a_edge::time::Timestamp;
use serde_json::{Map, Value, json};
use worker::{Context, Env, Request, Response, Result, console_error, console_log};

use crate::directory::Directory;
use crate::{entropy, exchange, now, settings};

/// The binding's name in `wrangler.toml`.
const OBJECTS: &str = "SESSIONS";

/// Answers a request to the Worker.
pub async fn fetch(request: Request, env: &Env, context: &Context) -> Result<Response> {
    let start = now();
    let id = exchange::request_id(&request);
    let head = exchange::head(&request)?;
    let desk = match settings::desk(env, &request.url()?) {
        Ok(desk) => desk,
        Err(fault) => {
            console_error!("{}", json!({"event": "settings", "id": id, "why": fault}));
            return exchange::misconfigured(&fault, &id);
        }
    };
    let (session, answer) = dispatch(request, env, context, &desk, place(&desk, &head)).await;
    let answer = answer?;
    let mut line = Map::new();
    line.insert("event".to_owned(), json!("request"));
    line.insert("id".to_owned(), json!(id));
    line.insert("method".to_owned(), json!(head.method().as_str()));
    line.insert("route".to_owned(), json!(shown_route(&head)));
    line.extend(session.map(|session| ("session".to_owned(), json!(session))));
    line.insert("status".to_owned(), json!(answer.status_code()));
    line.insert("ms".to_owned(), json!(now().millis_since(start)));
    console_log!("{}", Value::Object(line));
    Ok(answer)
}

/// Answers a request in its place, and names the session that it is about.
async fn dispatch(
    request: Request,
    env: &Env,
    context: &Context,
    desk: &Desk,
    place: Place,
) -> (Option<String>, Result<Response>) {
    match place {
        Place::Anywhere => {
            let answer = exchange::answer(&Front::default(), desk, request).await;
            (None, answer)
        }
        Place::Session(session) => {
            let answer = ask(env, &session, request).await;
            (Some(session), answer)
        }
        Place::Card(session) => {
            let directory = Directory::new(env);
            let answer = if directory.knows(&session).await {
                exchange::answer(&Front::knowing(&session), desk, request).await
            } else {
                let answer = ask(env, &session, request).await;
                tell_if_done(&answer, directory, &session, context);
                answer
            };
            (Some(session), answer)
        }
        Place::New => {
            let session = new_session_id(entropy());
            let answer = ask(env, &session, request).await;
            tell_if_done(&answer, Directory::new(env), &session, context);
            (Some(session), answer)
        }
    }
}

/// Lets a session's object answer. Whatever comes in is handed on as it is, the entry's request id included.
async fn ask(env: &Env, session: &str, request: Request) -> Result<Response> {
    let object = env.durable_object(OBJECTS)?.get_by_name(session)?;
    object.fetch_with_request(request).await
}

/// Only the object says that a session exists, so only its word is written down.
fn tell_if_done(answer: &Result<Response>, directory: Directory, session: &str, context: &Context) {
    if answer.as_ref().is_ok_and(|answer| answer.status_code() == 200) {
        context.wait_until(directory.tell(session.to_owned()));
    }
}

/// What is called, without what the caller made up: ids of tasks and the query stay out.
fn shown_route(head: &http::Request<()>) -> String {
    match route(head.method(), head.uri().path()).map(|route| route.target) {
        Ok(Target::Card) => "agent-card".to_owned(),
        Ok(Target::Core(method, _)) => method.name().to_owned(),
        Ok(Target::Extension { path, segment }) => shown(&format!("{path}/{segment}")),
        Ok(Target::Operator(verb)) => shown(&format!("operator/v1/{verb}")),
        Err(_) => "none".to_owned(),
    }
}

/// The longest text that a line shows, in characters.
const SHOWN: usize = 100;

fn shown(text: &str) -> String {
    text.chars()
        .take(SHOWN)
        .map(|c| if c.is_ascii_graphic() { c } else { '?' })
        .collect()
}

/// The host of requests that no session's state is needed for: it has none, and knows of one at most that it exists.
#[derive(Default)]
struct Front {
    sessions: Sessions,
    known: Option<String>,
}

impl Front {
    fn knowing(session: &str) -> Self {
        Self {
            known: Some(session.to_owned()),
            ..Self::default()
        }
    }
}

impl Host for Front {
    type Store = Self;
    type Bell = Self;

    fn store(&self) -> &Self {
        self
    }

    fn bell(&self) -> &Self {
        self
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn now(&self) -> Timestamp {
        now()
    }

    fn entropy(&self) -> [u8; 32] {
        entropy()
    }
}

/// Keeps nothing. A session that is known to exist has no participants here, so no credential is good for it.
impl Store for Front {
    async fn create(&self, _: &str, _: &Record) -> std::result::Result<bool, StoreError> {
        Err(not_here())
    }

    async fn load(&self, session: &str, _: u64) -> std::result::Result<Option<Loaded>, StoreError> {
        Ok((self.known.as_deref() == Some(session)).then(Loaded::default))
    }

    async fn history(&self, _: &str, _: u64, _: usize) -> std::result::Result<Vec<Record>, StoreError> {
        Err(not_here())
    }

    async fn commit(&self, _: &str, _: &Record) -> std::result::Result<CommitOutcome, StoreError> {
        Err(not_here())
    }

    async fn compact(&self, _: &str, _: &Snapshot) -> std::result::Result<(), StoreError> {
        Err(not_here())
    }
}

fn not_here() -> StoreError {
    StoreError::Unavailable("the Worker keeps no session".to_owned())
}

impl Bell for Front {
    fn ring(&self, _: &str, _: u64) {}

    async fn wait(&self, _: &str, _: u64, _: Timestamp) {}
}
