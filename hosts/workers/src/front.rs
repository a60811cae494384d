//! The Worker: finds the session's object, answers what needs none, and writes a line for every request.

use std::rc::Rc;

use a2a_edge::http::host::shown_route;
use a2a_edge::serve::place::{Place, new_session_id, place};
use a2a_edge::serve::{Desk, Host, Sessions};
use a2a_edge::store::{Bell, HeadSwap, Memory};
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
    let head = exchange::head(&request)?;
    let id = exchange::request_id(&head);
    let desk = match settings::desk(env, &request.url()?, &head).await {
        Ok(desk) => desk,
        Err(fault) => {
            console_error!("{}", json!({"event": "settings", "id": id, "why": fault}));
            return exchange::misconfigured(&fault, &id);
        }
    };
    let place = place(&desk, &head);
    let session = match &place {
        Place::Anywhere => None,
        Place::Session(session) | Place::Card(session) => Some(session.clone()),
        Place::New => Some(new_session_id(entropy())),
    };
    let front = Dispatch {
        env,
        context,
        desk: &desk,
        id: &id,
    };
    let answer = match front.answer(request, &head, &place, session.as_deref()).await {
        Ok(answer) => answer,
        Err(error) => {
            console_error!(
                "{}",
                json!({"event": "failed", "id": id, "why": error.to_string()})
            );
            exchange::failed(&id)?
        }
    };
    let mut line = Map::new();
    line.insert("event".to_owned(), json!("request"));
    line.insert("id".to_owned(), json!(id));
    line.insert("method".to_owned(), json!(head.method().as_str()));
    line.insert(
        "route".to_owned(),
        json!(shown_route(head.method(), head.uri().path())),
    );
    line.extend(session.map(|session| ("session".to_owned(), json!(session))));
    line.insert("status".to_owned(), json!(answer.status_code()));
    line.insert("ms".to_owned(), json!(now().millis_since(start)));
    console_log!("{}", Value::Object(line));
    Ok(answer)
}

/// What one request is dispatched with.
struct Dispatch<'a> {
    env: &'a Env,
    context: &'a Context,
    desk: &'a Rc<Desk>,
    id: &'a str,
}

impl Dispatch<'_> {
    async fn answer(
        &self,
        request: Request,
        head: &http::Request<()>,
        place: &Place,
        session: Option<&str>,
    ) -> Result<Response> {
        let Some(session) = session else {
            return exchange::answer(&Rc::new(Front::new()), self.env, self.desk, request).await;
        };
        // Whatever comes in is handed on as it is, the entry's request id included.
        let ask = async {
            let object = self.env.durable_object(OBJECTS)?.get_by_name(session)?;
            object.fetch_with_request(request).await
        };
        if matches!(place, Place::Session(_)) {
            return ask.await;
        }
        let directory = Directory::new(self.env);
        if matches!(place, Place::Card(_)) && directory.knows(session).await {
            let card = a2a_edge::exchange::card(self.desk, Some(session), head);
            return exchange::outward(card, self.id);
        }
        let answer = ask.await?;
        // Only the object says that a session exists, so only its word is written down: a card, or that the client's
        // still holds.
        if matches!(answer.status_code(), 200 | 304) {
            self.context.wait_until(directory.tell(session.to_owned()));
        }
        Ok(answer)
    }
}

/// The host of requests that no session has a say in: it has none.
struct Front {
    store: HeadSwap<Memory>,
    sessions: Sessions,
}

impl Front {
    fn new() -> Self {
        Self {
            store: HeadSwap::new(Memory::default()),
            sessions: Sessions::new(),
        }
    }
}

impl Host for Front {
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
        now()
    }

    fn entropy(&self) -> [u8; 32] {
        entropy()
    }
}

impl Bell for Front {
    fn ring(&self, _: &str, _: u64) {}

    async fn wait(&self, _: &str, _: u64, _: Timestamp) {}
}
