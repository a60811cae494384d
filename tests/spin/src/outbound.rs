//! Requests of the application's own, as Spin sends them: to whatever the manifest allows, without following redirects.

use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use http_body_util::BodyExt as _;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

/// How long Spin waits for a connection, and for an answer, unless it is told otherwise.
const PATIENCE: Duration = Duration::from_secs(600);

/// What comes of a request beside its answer.
type Sending = Box<dyn Future<Output = Result<(), Error>> + Send>;
type Answered = Result<(http::Response<WasiBody>, Sending), Error>;

/// What an instance may call: `<scheme>://*:*` for each of these schemes.
#[derive(Clone, Debug)]
pub struct Outbound(pub Vec<String>);

impl WasiHttpHooks for Outbound {
    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        _: Option<RequestOptions>,
        _: Sending,
    ) -> Box<dyn Future<Output = Answered> + Send> {
        let scheme = request.uri().scheme_str().unwrap_or_default();
        if !self.0.iter().any(|allowed| allowed == scheme) {
            return Box::new(std::future::ready(Err(Error::HttpRequestDenied)));
        }
        Box::new(send(request))
    }
}

/// Sends a request over a connection of its own. Nobody on this machine answers https.
async fn send(mut request: http::Request<WasiBody>) -> Answered {
    let uri = request.uri().clone();
    let authority = uri.authority().ok_or(Error::HttpRequestUriInvalid)?;
    if uri.scheme() != Some(&Scheme::HTTP) {
        return Err(Error::DestinationUnavailable);
    }
    let place = (authority.host().to_owned(), authority.port_u16().unwrap_or(80));
    let stream = timeout(PATIENCE, TcpStream::connect(place)).await;
    let stream = stream
        .map_err(|_| Error::ConnectionTimeout)?
        .map_err(Error::Connect)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let io = tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse::<Uri>().map_err(|_| Error::HttpRequestUriInvalid)?;
    let answer = timeout(PATIENCE, sender.send_request(request)).await;
    let answer = answer.map_err(|_| Error::HttpResponseTimeout)??;
    let answer = answer.map(|body| body.map_err(Error::from).boxed_unsync());
    let sending = async move {
        match io.await {
            Ok(sent) => sent.map_err(Error::from),
            Err(_) => Err(Error::ConnectionTerminated),
        }
    };
    Ok((answer, Box::new(sending)))
}
