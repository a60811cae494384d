//! The HTTP server: listens, keeps slow and greedy clients within bounds, and ends without cutting anyone off.
//!
//! It knows nothing of A2A. Whatever answers requests is a [`Handler`]; the server reads a request whole, hands it
//! over, and writes what comes back, whole or as it comes. HTTP/1.1 with keep-alive, over plain TCP: TLS belongs to the proxy in front.

mod bell;
mod body;
pub mod log;
mod patience;
mod race;
mod request;
pub mod signals;
mod steady;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

pub use bell::LocalBell;
pub use body::Body;
use log::{Level, Log};
use patience::Patient;
pub(crate) use race::{First, race};
use request::Requests;

/// Answers requests.
pub trait Handler: Send + Sync + 'static {
    /// The answer to one request.
    ///
    /// The body is never longer than [`Limits::body_bytes`] and one byte: a longer one was cut there, and is the
    /// handler's to refuse. A body that is a stream is the handler's to end when the server is about to.
    fn handle(self: &Arc<Self>, request: Request<Vec<u8>>) -> impl Future<Output = Response<Body>> + Send;
}

/// What one client may take from the others.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections open at once; further ones wait in the system's queue.
    pub connections: usize,
    /// How long a connection may take to send the head of a request, idle time before it included.
    pub head: Duration,
    /// How long a request may take to send its body.
    pub body: Duration,
    /// The longest body that is read whole, in bytes.
    pub body_bytes: usize,
    /// How long a client may go without reading any of its answer.
    pub write: Duration,
    /// How long requests in flight get to end by themselves when the server stops.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            head: Duration::from_secs(30),
            body: Duration::from_secs(30),
            body_bytes: 256 * 1024,
            write: Duration::from_secs(30),
            grace: Duration::from_secs(3),
        }
    }
}

/// How long a stopping server waits for its last answers to be written.
const LAST_WRITES: Duration = Duration::from_secs(1);
/// The longest head of a request, and what a connection buffers at most, in bytes.
const HEAD_BYTES: usize = 64 * 1024;
/// How long the server rests after it could not accept a connection, say for want of file descriptors.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// A server that listens and serves nothing yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Listens on an address; port 0 takes any free one.
    ///
    /// # Errors
    /// Whatever the system says against it.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where it listens, with the real port.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` ends, then lets what is in flight end too, and returns.
    ///
    /// Requests that are still at work after [`Limits::grace`] are answered 503; a second later every
    /// connection is closed.
    pub async fn run<H: Handler>(
        self,
        handler: Arc<H>,
        limits: Limits,
        log: Log,
        stop: impl Future<Output = ()>,
    ) {
        let (overdue, is_overdue) = watch::channel(false);
        let requests = Arc::new(Requests::new(handler, limits, log, is_overdue));
        let connections = GracefulShutdown::new();
        let accepting = self.accept(&requests, &connections);
        if let First::Left(()) = race(stop, accepting).await {
            log.event(
                Level::Info,
                "stop",
                &[("connections", json!(connections.count()))],
            );
        }
        let mut closing = std::pin::pin!(connections.shutdown());
        if timeout(limits.grace, closing.as_mut()).await.is_err() {
            overdue.send_replace(true);
            if timeout(LAST_WRITES, closing).await.is_err() {
                log.warn("stop", "some connections did not take their answer in time");
            }
        }
    }

    /// Takes connections for ever.
    async fn accept<H: Handler>(self, requests: &Arc<Requests<H>>, connections: &GracefulShutdown) {
        let (limits, log) = (requests.limits, requests.log);
        let seats = Arc::new(Semaphore::new(limits.connections));
        // The semaphore is never closed, so there always comes a seat.
        while let Ok(seat) = Arc::clone(&seats).acquire_owned().await {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let requests = Arc::clone(requests);
                    tokio::spawn(serve_connection(stream, requests, connections.watcher(), seat));
                }
                Err(error) => {
                    log.warn("accept", &error.to_string());
                    sleep(ACCEPT_REST).await;
                }
            }
        }
    }
}

async fn serve_connection<H: Handler>(
    stream: TcpStream,
    requests: Arc<Requests<H>>,
    watcher: Watcher,
    seat: OwnedSemaphorePermit,
) {
    // Answers are small and written whole: waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let limits = requests.limits;
    let log = requests.log;
    // A request that outlives its connection keeps the seat, so that hanging up makes no room for more.
    let seat = Arc::new(seat);
    let service = service_fn(move |request| {
        let (requests, seat) = (Arc::clone(&requests), Arc::clone(&seat));
        async move { Ok::<_, std::convert::Infallible>(requests.answer(request, seat).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(Patient::new(stream, limits.write)), service);
    if let Err(error) = watcher.watch(connection).await
        && !is_clients_doing(&error)
    {
        log.warn("connection", &error.to_string());
    }
}

/// Whether a connection ended in a way that is the client's own affair: it left, stalled, or spoke no HTTP.
fn is_clients_doing(error: &hyper::Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    error.is_timeout()
        || error.is_parse()
        || error.is_incomplete_message()
        || error.is_canceled()
        || error.is_body_write_aborted()
        || error.is_closed()
        || source.is_some_and(|source| {
            matches!(
                source.kind(),
                io::ErrorKind::TimedOut
                    | io::ErrorKind::ConnectionReset
                    | io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::BrokenPipe
                    | io::ErrorKind::NotConnected
            )
        })
}

#[cfg(test)]
mod tests;
