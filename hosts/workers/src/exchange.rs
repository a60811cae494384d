//! A request of the platform as the core reads it, and the core's answer as the platform sends it.

use std::rc::Rc;

use a2a_edge::http::host::{self, Intake, REQUEST_ID};
use a2a_edge::serve::{self, Body, Desk, Host, Stream};
use futures_util::stream::unfold;
use futures_util::{Stream as Pieces, StreamExt as _};
use http::response::Parts;
use http::{HeaderValue, Uri};
use worker::{Env, Headers, Request, Response, Result};

use crate::settings;

/// Lets the core answer a request.
pub async fn answer<H: Host + 'static>(
    host: &Rc<H>,
    env: &Env,
    desk: &Rc<Desk>,
    mut request: Request,
) -> Result<Response> {
    let head = head(&request)?;
    let id = request_id(&head);
    let url = request.url()?;
    let body = body(&mut request).await?;
    let desk = &match settings::desk_of_body(env, &url, &head, &body, desk).await {
        Ok(desk) => desk,
        Err(fault) => return misconfigured(&fault, &id),
    };
    let (head, body) = serve::handle(host.as_ref(), desk.as_ref(), head.map(|()| body))
        .await
        .into_parts();
    let body = match body {
        Body::Whole(bytes) => Response::from_bytes(bytes)?,
        Body::Stream(stream) => Response::from_stream(pieces(Rc::clone(host), Rc::clone(desk), stream))?,
    };
    dressed(&head, body, &id)
}

/// The pieces of a stream, each made when the client can take it. Dropped with the client, it leaves nothing behind.
fn pieces<H: Host>(host: Rc<H>, desk: Rc<Desk>, stream: Stream) -> impl Pieces<Item = Result<Vec<u8>>> {
    unfold((host, desk, stream), |(host, desk, mut stream)| async {
        let piece = stream.next(host.as_ref(), desk.as_ref()).await?;
        Some((Ok(piece), (host, desk, stream)))
    })
}

/// The request without its body.
pub fn head(request: &Request) -> Result<http::Request<()>> {
    let url = request.url()?;
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let mut head = http::Request::new(());
    // By its own name: worker's enum takes methods that it does not know for GET.
    *head.method_mut() = request.inner().method().parse().unwrap_or_default();
    // A target that is no URI leads where nothing is.
    *head.uri_mut() = target.parse().unwrap_or(Uri::from_static("/"));
    for (name, value) in request.headers() {
        if let (Ok(name), Ok(value)) = (
            name.parse::<http::HeaderName>(),
            HeaderValue::from_bytes(value.as_bytes()),
        ) {
            head.headers_mut().append(name, value);
        }
    }
    Ok(head)
}

/// The id that the entry gave the request: it sets one on every request.
pub fn request_id(head: &http::Request<()>) -> String {
    let id = head.headers().get(REQUEST_ID).map(HeaderValue::to_str);
    id.and_then(std::result::Result::ok)
        .unwrap_or_default()
        .to_owned()
}

/// The body's first bytes, at most one more than the core reads.
async fn body(request: &mut Request) -> Result<Vec<u8>> {
    let mut intake = Intake::default();
    // A request without a body has no stream.
    let Ok(mut stream) = request.stream() else {
        return Ok(intake.into_bytes());
    };
    while let Some(chunk) = stream.next().await {
        if !intake.take(&chunk?) {
            break;
        }
    }
    Ok(intake.into_bytes())
}

/// An answer as the platform sends it.
pub fn outward(response: http::Response<Vec<u8>>, id: &str) -> Result<Response> {
    let (head, body) = response.into_parts();
    dressed(&head, Response::from_bytes(body)?, id)
}

/// A body with the answer's status and headers.
fn dressed(head: &Parts, body: Response, id: &str) -> Result<Response> {
    let headers = Headers::new();
    for (name, value) in &head.headers {
        headers.append(name.as_str(), value.to_str().unwrap_or_default())?;
    }
    headers.set(REQUEST_ID, id)?;
    Ok(body.with_status(head.status.as_u16()).with_headers(headers))
}

/// The answer of a deployment that is not configured.
pub fn misconfigured(fault: &str, id: &str) -> Result<Response> {
    outward(host::misconfigured(fault, id), id)
}

/// The answer when the session's object gave none.
pub fn failed(id: &str) -> Result<Response> {
    outward(host::failed(id), id)
}
