//! The Worker: finds the session's object, answers what needs none, and writes a line for every request.

use a2a_edge::http::{document, host};
use a2a_edge::serve::Desk;
use a2a_edge::serve::place::{self, Place};
use http::StatusCode;
use serde_json::json;
use worker::{Context, Env, Request, Response, Result, console_error, console_log};

use crate::directory::Directory;
use crate::{entropy, exchange, now, settings};

/// The binding's name in `wrangler.toml`.
const OBJECTS: &str = "SESSIONS";

/// Answers a request to the Worker.
pub async fn fetch(request: Request, env: &Env, context: &Context) -> Result<Response> {
    let start = now();
    let head = exchange::head(&request);
    let id = exchange::request_id(&head);
    let desk = match settings::desk(env, &head).await {
        Ok(desk) => desk,
        Err(fault) => {
            console_error!("{}", json!({"event": "settings", "id": id, "why": fault}));
            return exchange::misconfigured(&fault, &id);
        }
    };
    let place = place::place(&desk, &head);
    let session = match &place {
        Place::Anywhere | Place::Document(_) => None,
        Place::Session(session) | Place::Card(session) => Some(session.clone()),
        Place::New => Some(place::new_session_id(entropy())),
    };
    let answer = match &session {
        None => here(env, &desk, &head, &place, &id).await,
        Some(session) => there(env, context, &desk, &head, &place, session, request).await,
    };
    let answer = answer.or_else(|error| {
        let line = json!({"event": "failed", "id": id, "why": error.to_string()});
        console_error!("{line}");
        exchange::outward(host::failed(&id), &id)
    })?;
    let status = StatusCode::from_u16(answer.status_code()).unwrap_or_default();
    let line = host::request_line(&id, &head, session.as_deref(), status, now().millis_since(start));
    console_log!("{line}");
    Ok(answer)
}

/// The answer that no session has a say in.
async fn here(
    env: &Env,
    desk: &Desk,
    head: &http::Request<Vec<u8>>,
    place: &Place,
    id: &str,
) -> Result<Response> {
    if let Place::Document(name) = place
        && let Some(content) = Directory::new(env).document(name).await
    {
        let mut answer = document::answer(name, content, head);
        desk.grant(head).put(&mut answer);
        return exchange::outward(answer, id);
    }
    let answer = place::answer(desk, head.clone());
    exchange::outward(answer.ok_or("expected a request that needs no session")?, id)
}

/// The answer of a session's object; of its card the directory's word is enough.
async fn there(
    env: &Env,
    context: &Context,
    desk: &Desk,
    head: &http::Request<Vec<u8>>,
    place: &Place,
    session: &str,
    request: Request,
) -> Result<Response> {
    let Some(request) = exchange::arrived(request).await? else {
        let id = exchange::request_id(head);
        return exchange::outward(host::incomplete(&id), &id);
    };
    // What came in is handed on, the entry's request id included.
    let ask = async {
        let object = env.durable_object(OBJECTS)?.get_by_name(session)?;
        object.fetch_with_request(request).await
    };
    if matches!(place, Place::Session(_)) {
        return ask.await;
    }
    let directory = Directory::new(env);
    if matches!(place, Place::Card(_)) && directory.knows(session).await {
        let card = a2a_edge::exchange::card(desk, Some(session), head);
        return exchange::outward(card, &exchange::request_id(head));
    }
    let answer = ask.await?;
    // Only the object says that a session exists, so only its word is written down: a card, or that the client's still
    // holds.
    if matches!(answer.status_code(), 200 | 304) {
        context.wait_until(directory.tell(session.to_owned()));
    }
    Ok(answer)
}
