//! A request of the platform as the core reads it, and the core's answer as the platform sends it.

use std::rc::Rc;

use a2a_edge::http::host::{self, Intake, REQUEST_ID};
use a2a_edge::serve::{self, Body, Desk, Host, Stream};
use futures_util::stream::unfold;
use futures_util::{Stream as Pieces, StreamExt as _};
use http::HeaderValue;
use http::response::Parts;
use worker::js_sys::Uint8Array;
use worker::{Headers, Method, Request, RequestInit, Response, Result};

/// Lets the core answer a request.
pub async fn answer<H: Host + 'static>(
    host: &Rc<H>,
    desk: Rc<Desk>,
    request: http::Request<Vec<u8>>,
) -> Result<Response> {
    let id = request_id(&request);
    let (head, body) = serve::handle(host.as_ref(), desk.as_ref(), request)
        .await
        .into_parts();
    let body = match body {
        Body::Whole(bytes) => Response::from_bytes(bytes)?,
        Body::Stream(stream) => Response::from_stream(pieces(Rc::clone(host), desk, stream))?,
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
pub fn head(request: &Request) -> http::Request<Vec<u8>> {
    // By its own name: worker's enum takes methods that it does not know for GET.
    let (method, url) = (request.inner().method(), request.inner().url());
    let fields = request.headers().entries();
    let fields = fields.map(|(name, value)| (name, value.into_bytes()));
    host::head(&method, &url, fields).map(|()| Vec::new())
}

/// The request with its body's first bytes, at most one more than the core reads.
pub async fn whole(mut request: Request) -> Result<http::Request<Vec<u8>>> {
    let body = body(&mut request).await?;
    Ok(head(&request).map(|_| body))
}

async fn body(request: &mut Request) -> Result<Vec<u8>> {
    let mut intake = Intake::default();
    // A request without a body has no stream.
    if let Ok(mut stream) = request.stream() {
        while let Some(chunk) = stream.next().await {
            if !intake.take(&chunk?) {
                break;
            }
        }
    }
    Ok(intake.into_bytes())
}

/// The request as it is to be handed on, with the bytes that [`whole`] would read in place of a body that may break off; none
/// when it did.
pub async fn arrived(mut request: Request) -> Result<Option<Request>> {
    let method = request.method();
    if !matches!(
        method,
        Method::Post | Method::Put | Method::Patch | Method::Delete
    ) {
        return Ok(Some(request));
    }
    let Ok(body) = body(&mut request).await else {
        return Ok(None);
    };
    let headers = request.headers().clone();
    for framing in ["content-length", "transfer-encoding"] {
        headers.delete(framing)?;
    }
    let mut init = RequestInit::new();
    init.with_method(method)
        .with_headers(headers)
        .with_body(Some(Uint8Array::from(body.as_slice()).into()));
    Request::new_with_init(&request.inner().url(), &init).map(Some)
}

/// The id that the entry gave the request: it sets one on every request.
pub fn request_id<B>(head: &http::Request<B>) -> String {
    let id = head.headers().get(REQUEST_ID).map(HeaderValue::to_str);
    id.and_then(std::result::Result::ok)
        .unwrap_or_default()
        .to_owned()
}

/// The answer of a deployment that is not configured.
pub fn misconfigured(fault: &str, id: &str) -> Result<Response> {
    outward(host::misconfigured(fault, id), id)
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
