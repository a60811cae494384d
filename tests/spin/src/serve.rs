//! Serves the application as Spin does: instances that are used again and serve several requests at once.

use std::future;
use std::net::Ipv4Addr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep};
use wasmtime::component::{Component, GuestTaskId, Linker};
use wasmtime::{Config, Engine, Store, StoreContextMut};
use wasmtime_wasi_http::WasiHttpView as _;
use wasmtime_wasi_http::handler::{
    HandlerState, Instance, ProxyHandler, ProxyPre, ShouldAccept, WorkerExpiration, WorkerState, WorkerStatus,
};
use wasmtime_wasi_http::p3::bindings::ServicePre;

use crate::instance::{Lent, Shared};

/// How long an instance without a request lives.
const IDLE: Duration = Duration::from_secs(1);

/// How many instances serve, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Manners {
    /// How many serve at once, at least: requests go to them in turn.
    pub instances: usize,
    /// How many requests an instance serves before it ends.
    pub requests: usize,
    /// How many of them at once.
    pub at_once: usize,
}

/// The application, compiled, and how its instances are kept.
struct Application {
    engine: Engine,
    pre: ServicePre<Lent>,
    shared: Arc<Shared>,
    manners: Manners,
}

/// One of the instances that serve at once, with those that come after it.
#[derive(Clone)]
struct Line(Arc<Application>);

/// Ends an instance that idles.
struct Idle(Option<(Instant, Pin<Box<Sleep>>)>);

/// How many requests an instance takes.
struct Accepting(Manners);

/// Where the application is served.
pub struct Served {
    /// The port, of this machine alone.
    pub port: u16,
    lines: Vec<ProxyHandler<Line>>,
    listener: TcpListener,
}

/// What compiles applications and runs them.
///
/// # Errors
/// This machine is none that can.
pub fn engine() -> wasmtime::Result<Engine> {
    let mut config = Config::new();
    config.wasm_component_model_async(true);
    Engine::new(&config)
}

/// An application that was compiled before.
#[allow(
    unsafe_code,
    reason = "compiling takes longer than most tests, and each starts several processes"
)]
fn compiled(engine: &Engine, application: &Path) -> wasmtime::Result<Component> {
    // SAFETY: the file was written by `Platform::prepare`, by the same engine, and nobody else writes there.
    unsafe { Component::deserialize_file(engine, application) }
}

impl Served {
    /// Loads a compiled application and listens on a free port, which is its `base_url` unless it has another.
    ///
    /// # Errors
    /// It is no application that Spin could serve, or there is no port.
    pub async fn open(application: &Path, mut shared: Shared, manners: Manners) -> wasmtime::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let base_url = || format!("http://127.0.0.1:{port}");
        shared
            .variables
            .entry("base_url".to_owned())
            .or_insert_with(base_url);
        let engine = engine()?;
        let component = compiled(&engine, application)?;
        let mut linker = Linker::new(&engine);
        Lent::link(&mut linker)?;
        let pre = ServicePre::new(linker.instantiate_pre(&component)?)?;
        let application = Arc::new(Application {
            engine,
            pre,
            shared: Arc::new(shared),
            manners,
        });
        let line = |_| ProxyHandler::new(Line(Arc::clone(&application)));
        Ok(Self {
            port,
            lines: (0..manners.instances).map(line).collect(),
            listener,
        })
    }

    /// Serves until the process ends.
    pub async fn serve(self) {
        let lines = Arc::new(self.lines);
        let next = Arc::new(AtomicUsize::new(0));
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                continue;
            };
            tokio::spawn(connection(stream, Arc::clone(&lines), Arc::clone(&next)));
        }
    }
}

async fn connection(stream: TcpStream, lines: Arc<Vec<ProxyHandler<Line>>>, next: Arc<AtomicUsize>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let turn = next.fetch_add(1, Ordering::Relaxed);
        let line = turn
            .checked_rem(lines.len())
            .and_then(|turn| lines.get(turn))
            .cloned();
        async move { Ok::<_, std::convert::Infallible>(answer(line, request).await) }
    });
    // A client that goes away in the middle is nobody's fault here.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

type Answer = Response<Either<wasmtime_wasi_http::WasiBody, Full<Bytes>>>;

/// Without an answer of the instance's the host gives its own, as Spin does.
async fn answer(line: Option<ProxyHandler<Line>>, request: Request<Incoming>) -> Answer {
    let failed = |why: String| {
        eprintln!("no answer: {why}");
        let mut answer = Response::new(Either::Right(Full::default()));
        *answer.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
        answer
    };
    let Some(line) = line else {
        return failed("there is no instance".to_owned());
    };
    match line.handle((), whole(request)).await {
        Ok(answer) => answer.map(Either::Left),
        Err(error) => failed(format!("{error:#}")),
    }
}

/// The request with scheme and authority, as instances see it.
fn whole(request: Request<Incoming>) -> Request<wasmtime_wasi_http::WasiBody> {
    let (mut head, body) = request.into_parts();
    let host = head.headers.get(http::header::HOST).map(HeaderValue::to_str);
    let host = host.and_then(Result::ok).unwrap_or("localhost");
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let uri = http::Uri::builder()
        .scheme("http")
        .authority(host)
        .path_and_query(path);
    if let Ok(uri) = uri.build() {
        head.uri = uri;
    }
    let body = body.map_err(wasmtime_wasi_http::Error::from).boxed_unsync();
    Request::from_parts(head, body)
}

impl HandlerState for Line {
    type StoreData = Lent;
    type WorkerExpiration = Idle;
    type WorkerState = Accepting;

    async fn instantiate(&self) -> wasmtime::Result<Instance<Lent, Idle, Accepting>> {
        let Application {
            engine,
            pre,
            shared,
            manners,
        } = self.0.as_ref();
        let mut store = Store::new(engine, Lent::new(Arc::clone(shared)));
        let proxy = ProxyPre::P3(pre.clone()).instantiate_async(&mut store).await?;
        Ok(Instance {
            store,
            proxy,
            view: Lent::http,
            expiration: Idle(None),
            state: Accepting(*manners),
        })
    }
}

impl WorkerExpiration for Idle {
    fn poll(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        status: WorkerStatus,
        start: Instant,
    ) -> Poll<()> {
        if status != WorkerStatus::Idle {
            self.0 = None;
            return Poll::Pending;
        }
        let timer = self.0.take().filter(|(since, _)| *since == start);
        let (since, mut timer) = timer.unwrap_or_else(|| (start, Box::pin(sleep(IDLE))));
        let over = timer.as_mut().poll(context);
        self.0 = Some((since, timer));
        over
    }
}

impl WorkerState for Accepting {
    type StoreData = Lent;
    type RequestData = ();

    fn should_accept_request(&self, at_once: usize, so_far: usize) -> ShouldAccept {
        if so_far >= self.0.requests {
            ShouldAccept::Never
        } else if at_once >= self.0.at_once {
            ShouldAccept::No
        } else {
            ShouldAccept::Yes
        }
    }

    fn on_request_start(
        &self,
        _: StoreContextMut<'_, Lent>,
        (): (),
        _: GuestTaskId,
    ) -> Pin<Box<dyn Future<Output = ()> + 'static + Send + Sync>> {
        Box::pin(future::pending())
    }

    fn drop(&self, _: Store<Lent>, outcome: wasmtime::Result<()>) {
        if let Err(error) = outcome {
            eprintln!("an instance ended: {error:#}");
        }
    }
}
