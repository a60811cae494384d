//! One request from its first byte to its line in the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use a2a_edge::http::host::{self, Intake, REQUEST_ID};
use http::header::{CONNECTION, HeaderValue};
use http::{Request, Response};
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
                    ("method", json!(host::shown(method.as_str()))),
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
            First::Left(Err(_)) => host::failed(id).map(Body::Whole),
            First::Right(_) => host::stopping(id).map(Body::Whole),
        }
    }
}

impl Unread {
    fn answer(self, id: &str) -> Response<Body> {
        let response = match self {
            Self::Late => host::late(id),
            Self::Broken => host::incomplete(id),
        };
        let mut response = response.map(Body::Whole);
        // What is left of the body would be read as the next request.
        response
            .headers_mut()
            .insert(CONNECTION, HeaderValue::from_static("close"));
        response
    }
}

/// The body's first bytes, at most one more than `limit`, or `None` if the connection broke.
async fn read_body(mut body: Incoming, limit: usize) -> Option<Vec<u8>> {
    let mut intake = Intake::within(limit);
    if !intake.expect(body.size_hint().lower()) {
        return Some(intake.into_bytes());
    }
    while let Some(frame) = body.frame().await {
        // Trailers say nothing that A2A reads.
        let Ok(data) = frame.ok()?.into_data() else {
            continue;
        };
        if !intake.take(&data) {
            break;
        }
    }
    Some(intake.into_bytes())
}
