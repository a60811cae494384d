//! A request of the platform as the core reads it, and the core's answer as the platform sends it.

use a2a_edge::http::answer::{self, Form, failure};
use a2a_edge::http::read::BODY_LIMIT;
use a2a_edge::refusal::{A2A_DOMAIN, Code, Refusal};
use a2a_edge::serve::{self, Desk, Host};
use futures_util::StreamExt as _;
use http::{HeaderValue, Uri};
use worker::{Headers, Request, Response, Result};

/// Names the request in the answer as it is named in the log. The entry sets it on every request.
pub const REQUEST_ID: &str = "x-request-id";

/// Lets the core answer a request.
pub async fn answer<H: Host>(host: &H, desk: &Desk, mut request: Request) -> Result<Response> {
    let id = request_id(&request);
    let head = head(&request)?;
    let body = body(&mut request).await?;
    let response = serve::handle(host, desk, head.map(|()| body)).await;
    outward(response, &id)
}

/// The request without its body.
pub fn head(request: &Request) -> Result<http::Request<()>> {
    let url = request.url()?;
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let mut head = http::Request::new(());
    *head.method_mut() = request.method().as_ref().parse().unwrap_or_default();
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

pub fn request_id(request: &Request) -> String {
    request
        .headers()
        .get(REQUEST_ID)
        .ok()
        .flatten()
        .unwrap_or_default()
}

/// The body's first bytes, at most one more than the core reads.
async fn body(request: &mut Request) -> Result<Vec<u8>> {
    let keep = BODY_LIMIT.saturating_add(1);
    let mut bytes = Vec::new();
    // A request without a body has no stream.
    let Ok(mut stream) = request.stream() else {
        return Ok(bytes);
    };
    while let Some(chunk) = stream.next().await {
        let chunk = chunk?;
        let room = keep.saturating_sub(bytes.len());
        bytes.extend(chunk.into_iter().take(room));
        if bytes.len() == keep {
            break;
        }
    }
    Ok(bytes)
}

/// An answer as the platform sends it.
pub fn outward(response: http::Response<Vec<u8>>, id: &str) -> Result<Response> {
    let (head, body) = response.into_parts();
    let headers = Headers::new();
    for (name, value) in &head.headers {
        headers.append(name.as_str(), value.to_str().unwrap_or_default())?;
    }
    headers.set(REQUEST_ID, id)?;
    let response = Response::from_bytes(body)?;
    Ok(response.with_status(head.status.as_u16()).with_headers(headers))
}

/// The answer of a deployment that is not configured.
pub fn misconfigured(fault: &str, id: &str) -> Result<Response> {
    let refusal = Refusal::new(
        Code::Internal,
        format!("the deployment is not configured: {fault}"),
    )
    .with_reason(A2A_DOMAIN, "MISCONFIGURED");
    let mut response = failure(Form::Core, &refusal, None);
    answer::set(&mut response, "cache-control", "no-store");
    outward(response, id)
}
