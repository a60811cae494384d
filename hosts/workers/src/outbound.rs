//! Requests to webhooks, by the platform's `fetch`. It reaches the public internet only; what the core refuses of how an
//! address is written never gets here.

use std::pin::pin;
use std::time::Duration;

use a2a_edge::serve::Outbound;
use a2a_edge::session::push::Place;
use futures_util::future::{Either, select};
use http::{Request, StatusCode};
use serde_json::json;
use worker::{
    AbortController, Delay, Fetch, Headers, Method, RequestInit, RequestRedirect, Result, console_warn,
};

/// How long a notification may take until its answer begins.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends notifications from an object.
#[derive(Debug)]
pub struct Webhooks;

impl Outbound for Webhooks {
    async fn post(&self, request: Request<Vec<u8>>) -> std::result::Result<StatusCode, String> {
        let host = request.uri().host().unwrap_or_default().to_owned();
        let sent = send(request).await;
        let why = match &sent {
            Ok(status) if status.is_success() => return Ok(*status),
            Ok(status) => status.to_string(),
            Err(why) => why.clone(),
        };
        console_warn!("{}", json!({"event": "webhook", "host": host, "why": why}));
        sent
    }

    fn given_up(&self, session_id: &str, place: &Place) {
        let line = json!({"event": "webhook-given-up", "session": session_id, "task": place.task_id});
        console_warn!("{line}");
    }
}

async fn send(request: Request<Vec<u8>>) -> std::result::Result<StatusCode, String> {
    let request = outward(&request).map_err(|error| error.to_string())?;
    let (controller, fetch) = (AbortController::default(), Fetch::Request(request));
    let signal = controller.signal();
    let sending = pin!(fetch.send_with_signal(&signal));
    let patience = pin!(Delay::from(PATIENCE));
    let status = match select(sending, patience).await {
        Either::Left((answer, _)) => answer.map(|answer| answer.status_code()),
        Either::Right(_) => Err("no answer in time".into()),
    };
    // Nobody reads what more there is of the answer.
    controller.abort();
    let status = status.map_err(|error| error.to_string())?;
    StatusCode::from_u16(status).map_err(|error| error.to_string())
}

/// A request as the platform sends it.
fn outward(request: &Request<Vec<u8>>) -> Result<worker::Request> {
    let headers = Headers::new();
    for (name, value) in request.headers() {
        headers.set(name.as_str(), value.to_str().unwrap_or_default())?;
    }
    let body = String::from_utf8_lossy(request.body());
    let mut init = RequestInit::new();
    init.with_method(Method::Post)
        .with_headers(headers)
        .with_redirect(RequestRedirect::Manual)
        .with_body(Some(body.as_ref().into()));
    worker::Request::new_with_init(&request.uri().to_string(), &init)
}
