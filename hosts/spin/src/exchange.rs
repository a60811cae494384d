//! A request of the platform as the core reads it, and the core's answer as the platform sends it.

use std::convert::Infallible;
use std::rc::Rc;

use a2a_edge::http::host::{self, Intake, REQUEST_ID, shown_route};
use a2a_edge::serve::{self, Stream};
use bytes::Bytes;
use futures_util::stream::{LocalBoxStream, StreamExt as _, unfold};
use http::HeaderValue;
use http::header::CONTENT_LENGTH;
use http_body_util::{BodyExt as _, Either, Full, StreamBody};
use serde_json::json;
use spin_sdk::http::{Request, Response};

use crate::app::App;
use crate::component::Exchange;
use crate::rousing::Roused;
use crate::store::Unready;

/// The body of an answer: all of it at once, or a piece at a time.
pub type Body = Either<Full<Bytes>, StreamBody<Pieces>>;

/// The pieces of a stream.
type Pieces = LocalBoxStream<'static, Result<http_body::Frame<Bytes>, Infallible>>;

/// Answers a request and writes its line.
pub async fn answer(request: Request) -> Response<Body> {
    let (start, id) = (crate::now(), crate::hex(&crate::random::<8>()));
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = match App::ready().await {
        Ok(app) => served(&app, request, &id).await,
        Err(Unready::Misconfigured(fault)) => {
            crate::log(&json!({"event": "settings", "id": id, "why": fault}));
            whole(host::misconfigured(&fault, &id))
        }
        Err(Unready::Unavailable(why)) => {
            crate::log(&json!({"event": "store", "id": id, "why": why}));
            whole(host::unavailable(&id))
        }
    };
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    crate::log(&json!({
        "event": "request",
        "id": id,
        "method": method.as_str(),
        "route": shown_route(&method, &path),
        "status": response.status().as_u16(),
        "ms": crate::now().millis_since(start),
    }));
    response
}

async fn served(app: &Rc<App>, request: Request, id: &str) -> Response<Body> {
    let (head, mut incoming) = request.into_parts();
    let mut intake = Intake::default();
    while let Some(frame) = incoming.frame().await {
        let Ok(frame) = frame else {
            return whole(host::incomplete(id));
        };
        if frame.data_ref().is_some_and(|piece| !intake.take(piece)) {
            break;
        }
    }
    let request = http::Request::from_parts(head, intake.into_bytes());
    let (head, body) = serve::handle(app.as_ref(), &app.desk, request).await.into_parts();
    match body {
        serve::Body::Whole(bytes) => whole(Response::from_parts(head, bytes)),
        serve::Body::Stream(stream) => {
            let body = StreamBody::new(pieces(Rc::clone(app), stream));
            Response::from_parts(head, Either::Right(body))
        }
    }
}

fn whole(response: Response<Vec<u8>>) -> Response<Body> {
    let length = HeaderValue::from(response.body().len());
    let mut response = response.map(|bytes| Either::Left(Full::new(Bytes::from(bytes))));
    response.headers_mut().insert(CONTENT_LENGTH, length);
    response
}

/// The pieces of a stream, each made when the client can take it. Dropped with the client, it leaves nothing behind.
fn pieces(app: Rc<App>, stream: Stream<Exchange>) -> Pieces {
    let pieces = unfold((app, stream), |(app, mut stream)| async {
        let piece = stream.next(app.as_ref(), &app.desk).await?;
        Some((Ok(http_body::Frame::data(Bytes::from(piece))), (app, stream)))
    });
    Roused::new(pieces).boxed_local()
}
