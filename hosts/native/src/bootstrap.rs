//! The first session of a deployment, made by asking the desk itself.

use std::sync::Arc;

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request};
use serde_json::{Value, json};

use crate::failure::{Failure, Refused};
use crate::server::Handler;

/// A session that was just made.
#[derive(Clone, PartialEq, Eq)]
pub struct FirstSession {
    /// Its id.
    pub id: String,
    /// Who may call it.
    pub tokens: Tokens,
}

/// The tokens of a session's first participants.
#[derive(Clone, PartialEq, Eq)]
pub struct Tokens {
    /// Decides.
    pub owner: String,
    /// Works.
    pub member: String,
    /// Sends work.
    pub client: String,
}

/// Makes a session with an owner, a member and a client.
///
/// # Errors
/// Whatever the desk refuses, or an answer without what it must hold.
pub async fn first_session<H: Handler>(desk: &Arc<H>, operator: &str) -> Result<FirstSession, Failure> {
    let owner = json!({"owner": {"displayName": "Owner", "kind": "human"}});
    let made = ask(desk, operator, "sessions:create", &owner).await?;
    let id = text(&made, "/sessionId")?;
    let owner = text(&made, "/token")?;
    let mut others = Vec::new();
    for (name, kind, role) in [("Member", "agent", "member"), ("Client", "agent", "client")] {
        let participant = json!({"displayName": name, "kind": kind, "role": role});
        let added = ask(desk, &owner, "participants:add", &participant).await?;
        others.push(text(&added, "/token")?);
    }
    match <[String; 2]>::try_from(others) {
        Ok([member, client]) => Ok(FirstSession {
            id,
            tokens: Tokens {
                owner,
                member,
                client,
            },
        }),
        Err(_) => Err(Failure::Local(
            "the first session has other participants than it must".to_owned(),
        )),
    }
}

/// Asks one of the owner's verbs.
async fn ask<H: Handler>(desk: &Arc<H>, token: &str, verb: &str, body: &Value) -> Result<Value, Failure> {
    let mut request = Request::new(body.to_string().into_bytes());
    *request.method_mut() = Method::POST;
    *request.uri_mut() = format!("/operator/v1/{verb}")
        .parse()
        .map_err(|error| Failure::Local(format!("{verb}: {error}")))?;
    let headers = request.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let mut bearer = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|error| Failure::Local(format!("{verb}: {error}")))?;
    bearer.set_sensitive(true);
    headers.insert(AUTHORIZATION, bearer);
    let response = desk.handle(request).await;
    let (head, body) = response.into_parts();
    let value = serde_json::from_slice::<Value>(&body.into_whole().unwrap_or_default())
        .map_err(|error| Failure::Local(format!("{verb}: {error}")))?;
    if head.status.is_success() {
        return Ok(value);
    }
    let http = head.status.as_u16();
    let error = value.get("error").cloned().unwrap_or_default();
    Err(Failure::Refused(Refused { http, error }))
}

fn text(answer: &Value, pointer: &str) -> Result<String, Failure> {
    match answer.pointer(pointer).and_then(Value::as_str) {
        Some(text) => Ok(text.to_owned()),
        None => Err(Failure::Local(format!("the desk's answer has no {pointer}"))),
    }
}
