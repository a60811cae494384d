//! One request from its first byte to its line in the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use http::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::timeout;

use super::body::Body;
use super::log::{Level, Log, shown_path};
use super::race::{First, race};
use super::steady::Steady;
use super::{Handler, Limits};

/// Names the request in the answer as it is named in the log.
const REQUEST_ID: &str = "x-request-id";
/// How much of an oversize body is read and dropped, so that its sender reads the refusal instead of a reset.
const DROPPED: usize = 1024 * 1024;

/// What all requests share.
pub(super) struct Requests<H> {
    handler: Arc<H>,
    pub(super) limits: Limits,
    pub(super) log: Log,
    /// Becomes true when a stopping server waits no longer.
    overdue: watch::Receiver<bool>,
    /// Number of the next request.
    next: AtomicU64,
}

/// Why there is no whole request to hand over.
enum Unread {
    /// The body did not come in time.
    Late,
    /// The connection broke.
    Broken,
}

impl<H: Handler> Requests<H> {
    pub(super) fn new(handler: Arc<H>, limits: Limits, log: Log, overdue: watch::Receiver<bool>) -> Self {
        // Ids of two runs should not meet in one log; nothing else hangs on them.
        let next = AtomicU64::new(getrandom::u64().unwrap_or(0));
        Self {
            handler,
            limits,
            log,
            overdue,
            next,
        }
    }

    /// Answers one request and writes its line. The seat is held until the handler is done with it.
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        seat: Arc<OwnedSemaphorePermit>,
    ) -> Response<Body> {
        let start = Instant::now();
        let id = format!("{:016x}", self.next.fetch_add(1, Ordering::Relaxed));
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let mut response = match self.read(request).await {
            Ok(request) => self.handle(request, seat, &id).await,
            Err(unread) => unread.answer(&id),
        };
        let status = response.status().as_u16();
        let level = if status == 500 { Level::Error } else { Level::Info };
        if self.log.tells(level) {
            let took = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.log.event(
                level,
                "request",
                &[
                    ("id", json!(&id)),
                    ("method", json!(method.as_str())),
                    ("path", json!(shown_path(uri.path()))),
                    ("status", json!(status)),
                    ("ms", json!(took)),
                ],
            );
        }
        if let Ok(id) = HeaderValue::try_from(id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        response
    }

    /// Reads the body, at most one byte beyond the limit.
    async fn read(&self, request: Request<Incoming>) -> Result<Request<Vec<u8>>, Unread> {
        let (head, body) = request.into_parts();
        if body.is_end_stream() {
            return Ok(Request::from_parts(head, Vec::new()));
        }
        match timeout(self.limits.body, read_body(body, self.limits.body_bytes)).await {
            Ok(Some(body)) => Ok(Request::from_parts(head, body)),
            Ok(None) => Err(Unread::Broken),
            Err(_) => Err(Unread::Late),
        }
    }

    /// Runs the handler so that a panic ends the request alone, and a client that hangs up does not stop half of a
    /// change.
    async fn handle(
        self: &Arc<Self>,
        request: Request<Vec<u8>>,
        seat: Arc<OwnedSemaphorePermit>,
        id: &str,
    ) -> Response<Body> {
        let handler = Arc::clone(&self.handler);
        let work = Steady::new(async move {
            let response = handler.handle(request).await;
            drop(seat);
            response
        });
        // Most work is done when it is first looked at, and this then never begins.
        let overdue = async { self.overdue.clone().wait_for(|overdue| *overdue).await.is_ok() };
        match race(work, overdue).await {
            First::Left(Ok(response)) => response,
            First::Left(Err(_)) => refuse(500, "INTERNAL", "INTERNAL_ERROR", "the server failed", id),
            First::Right(_) => {
                let mut response = refuse(
                    503,
                    "UNAVAILABLE",
                    "SERVER_STOPPING",
                    "the server is stopping; what was asked may have been done",
                    id,
                );
                response
                    .headers_mut()
                    .insert(RETRY_AFTER, HeaderValue::from_static("5"));
                response
            }
        }
    }
}

impl Unread {
    fn answer(self, id: &str) -> Response<Body> {
        let mut response = match self {
            Self::Late => refuse(
                408,
                "DEADLINE_EXCEEDED",
                "REQUEST_TIMEOUT",
                "the body came too slowly",
                id,
            ),
            Self::Broken => refuse(
                400,
                "INVALID_ARGUMENT",
                "BODY_INCOMPLETE",
                "the body did not arrive whole",
                id,
            ),
        };
        // What is left of the body would be read as the next request.
        response
            .headers_mut()
            .insert(CONNECTION, HeaderValue::from_static("close"));
        response
    }
}

/// The body's first bytes, at most one more than `limit`, or `None` if the connection broke.
async fn read_body(mut body: Incoming, limit: usize) -> Option<Vec<u8>> {
    let keep = limit.saturating_add(1);
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limit.saturating_add(DROPPED) {
        // Too long by its own word, whatever it says: nothing of it is waited for.
        return Some(vec![0; keep]);
    }
    let mut bytes = Vec::new();
    let mut dropped = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.ok()?.into_data() else {
            // Trailers say nothing that A2A reads.
            continue;
        };
        let room = keep.saturating_sub(bytes.len());
        let (kept, rest) = data.split_at_checked(room).unwrap_or((&data, &[]));
        bytes.extend_from_slice(kept);
        dropped = dropped.saturating_add(rest.len());
        if dropped > DROPPED {
            break;
        }
    }
    Some(bytes)
}

/// An error that the server itself answers, in A2A's form (A2A 1.0, §11.6).
fn refuse(code: u16, status: &str, reason: &str, message: &str, id: &str) -> Response<Body> {
    let body = json!({"error": {
        "code": code,
        "status": status,
        "message": message,
        "details": [{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": reason,
            "domain": "a2a-edge",
            "metadata": {"requestId": id},
        }],
    }});
    let mut response = Response::new(Body::Whole(body.to_string().into_bytes()));
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let media_type = HeaderValue::from_static("application/a2a+json");
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}
