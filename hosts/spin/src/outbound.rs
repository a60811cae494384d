//! Requests to webhooks, by the platform: it looks names up and connects, as far as the manifest and its own configuration
//! let it. What the core refuses of how an address is written never gets here.

use std::pin::pin;
use std::time::Duration;

use a2a_edge::serve::Outbound;
use a2a_edge::session::push::Place;
use bytes::Bytes;
use futures_util::future::{Either, select};
use http::header::CONTENT_LENGTH;
use http::{HeaderValue, Request, StatusCode};
use http_body_util::Full;
use serde_json::json;
use spin_sdk::http::IntoRequest as _;
use spin_sdk::time::sleep;
use spin_sdk::wasip3::http::client;

/// How long a notification may take until its answer begins.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends notifications from an instance.
#[derive(Debug)]
pub struct Webhooks;

impl Outbound for Webhooks {
    async fn post(&self, request: Request<Vec<u8>>) -> Result<StatusCode, String> {
        let host = request.uri().host().unwrap_or_default().to_owned();
        let sent = match select(pin!(send(request)), pin!(sleep(PATIENCE))).await {
            Either::Left((sent, _)) => sent,
            Either::Right(_) => Err("no answer in time".to_owned()),
        };
        let why = match &sent {
            Ok(status) if status.is_success() => return sent,
            Ok(status) => status.as_str().to_owned(),
            Err(why) => why.clone(),
        };
        crate::log(&json!({"event": "webhook", "host": host, "why": why}));
        sent
    }

    fn given_up(&self, session_id: &str, place: &Place) {
        crate::log(&json!({"event": "webhook-given-up", "session": session_id, "task": place.task_id}));
    }
}

/// Sends a request as it is. A redirect is an answer like any other, and of the answer's body nothing is read.
async fn send(request: Request<Vec<u8>>) -> Result<StatusCode, String> {
    let length = HeaderValue::from(request.body().len());
    let mut request = request.map(|body| Full::new(Bytes::from(body)));
    request.headers_mut().insert(CONTENT_LENGTH, length);
    let request = request.into_request().map_err(|code| code.to_string())?;
    let answer = client::send(request).await.map_err(|code| code.to_string())?;
    StatusCode::from_u16(answer.get_status_code()).map_err(|error| error.to_string())
}
