//! A request of the platform as the core reads it, and the core's answer as the platform sends it.

use std::convert::Infallible;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use a2a_edge::http::answer::to;
use a2a_edge::http::host::{self, Intake, REQUEST_ID};
use a2a_edge::serve::{self, Stream};
use bytes::Bytes;
use futures_util::future::{self, select};
use futures_util::stream::{LocalBoxStream, StreamExt as _, unfold};
use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt as _, Either, Full, StreamBody};
use serde_json::json;
use spin_sdk::http::{Request, Response};
use spin_sdk::time::sleep;
use spin_sdk::wasip3::http_compat::IncomingRequestBody;

use crate::app::App;
use crate::component::Exchange;
use crate::room::Share;
use crate::rousing::Roused;
use crate::store::Unready;

/// How long a body may take. It keeps a share of the instance's room meanwhile.
const PATIENCE: Duration = Duration::from_secs(30);

/// The body of an answer: all of it at once, or a piece at a time.
pub type Body = Either<Full<Bytes>, StreamBody<Pieces>>;

/// The pieces of a stream.
type Pieces = LocalBoxStream<'static, Result<http_body::Frame<Bytes>, Infallible>>;

/// Answers a request and writes its line.
pub async fn answer(request: Request) -> Response<Body> {
    let (start, id) = (crate::now(), crate::hex(&crate::random::<8>()));
    let (head, body) = request.into_parts();
    let mut share = Share::of(&head);
    let mut asked = http::Request::new(());
    (*asked.method_mut(), *asked.uri_mut()) = (head.method.clone(), head.uri.clone());
    let mut response = match App::ready().await {
        Ok(app) => served(&app, head, body, &mut share, &id).await,
        Err(Unready::Misconfigured(fault)) => {
            crate::log(&json!({"event": "settings", "id": id, "why": fault}));
            whole(asked.method(), host::misconfigured(&fault, &id))
        }
        Err(Unready::Unavailable(why)) => {
            crate::log(&json!({"event": "store", "id": id, "why": why}));
            whole(asked.method(), host::unavailable(&id))
        }
    };
    drop(share);
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    let (status, millis) = (response.status(), crate::now().millis_since(start));
    crate::log(&host::request_line(&id, &asked, None, status, millis));
    response
}

async fn served(
    app: &Rc<App>,
    head: Parts,
    incoming: IncomingRequestBody,
    share: &mut Share,
    id: &str,
) -> Response<Body> {
    let body = match select(pin!(read(incoming)), pin!(sleep(PATIENCE))).await {
        future::Either::Left((Some(body), _)) => body,
        future::Either::Left((None, _)) => return whole(&head.method, host::incomplete(id)),
        future::Either::Right(_) => return whole(&head.method, host::late(id)),
    };
    share.settle(&body);
    let method = head.method.clone();
    let request = http::Request::from_parts(head, body);
    let (head, body) = serve::handle(app.as_ref(), &app.desk, request).await.into_parts();
    match body {
        serve::Body::Whole(bytes) => whole(&method, Response::from_parts(head, bytes)),
        serve::Body::Stream(stream) => {
            let body = StreamBody::new(pieces(Rc::clone(app), stream));
            Response::from_parts(head, Either::Right(body))
        }
    }
}

/// A body up to what the core reads; none of one that breaks off.
async fn read(mut incoming: IncomingRequestBody) -> Option<Vec<u8>> {
    let mut intake = Intake::default();
    while let Some(frame) = incoming.frame().await {
        if frame.ok()?.data_ref().is_some_and(|piece| !intake.take(piece)) {
            break;
        }
    }
    Some(intake.into_bytes())
}

/// An answer as its method asks for it, with its length unless its status has no body. That to a HEAD has the length of what
/// is left out, if it is known.
fn whole(method: &Method, response: Response<Vec<u8>>) -> Response<Body> {
    let response = to(method, response);
    let length = response.body().len();
    let mut response = response.map(|bytes| Either::Left(Full::new(Bytes::from(bytes))));
    let bodiless = [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED];
    if *method != Method::HEAD && !bodiless.contains(&response.status()) {
        response.headers_mut().insert(CONTENT_LENGTH, length.into());
    }
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
