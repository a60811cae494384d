//! The desk in this process, as a place where stories play.

use a2a_edge::guard::Reach;
use a2a_edge::serve::{Body, Desk, Host, Sessions, Stream, handle};
use a2a_edge::time::Timestamp;
use a2a_edge_stories::{Chunks, Opened, Target};
use http::{Request, Response};

use crate::desk::{Bench, TestHost};

/// A desk whose clock moves a second with every request.
pub struct StoryBench {
    bench: Bench,
    base: String,
}

impl StoryBench {
    pub fn new() -> Self {
        let bench = Bench::with(|config| config.webhooks = Some(Reach::Public));
        let base = bench.desk.config().base_url.clone();
        Self { bench, base }
    }

    /// The commits of a session, as the store has them.
    pub fn log(&self, session: &str) -> Vec<Vec<u8>> {
        self.bench.log(session)
    }
}

/// A stream of a desk in this process: nothing happens but when it is read.
struct Local<'a, R: AsHost> {
    host: R,
    desk: &'a Desk,
    stream: Stream,
}

/// A host, borrowed or not.
trait AsHost {
    type Host: Host;
    fn as_host(&self) -> &Self::Host;
}

impl AsHost for &TestHost {
    type Host = TestHost;
    fn as_host(&self) -> &TestHost {
        self
    }
}

impl<'a> AsHost for Once<'a> {
    type Host = Once<'a>;
    fn as_host(&self) -> &Once<'a> {
        self
    }
}

impl<R: AsHost> Chunks for Local<'_, R> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        Ok(pollster::block_on(
            self.stream.next(self.host.as_host(), self.desk),
        ))
    }
}

fn opened<'a, R: AsHost + 'a>(host: R, desk: &'a Desk, request: Request<Vec<u8>>) -> Opened<'a> {
    let answer = pollster::block_on(handle(host.as_host(), desk, request));
    let (head, body) = answer.into_parts();
    match body {
        Body::Whole(bytes) => Opened::Whole(Response::from_parts(head, bytes)),
        Body::Stream(stream) => {
            let local = Local { host, desk, stream };
            Opened::Stream(Response::from_parts(head, ()), Box::new(local))
        }
    }
}

fn whole(opened: Opened<'_>) -> Result<Response<Vec<u8>>, String> {
    match opened {
        Opened::Whole(answer) => Ok(answer),
        Opened::Stream(..) => Err("a stream".to_owned()),
    }
}

impl Target for StoryBench {
    fn base_url(&self) -> &str {
        &self.base
    }

    fn call(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        whole(self.open(request)?)
    }

    fn open(&self, request: Request<Vec<u8>>) -> Result<Opened<'_>, String> {
        let Bench { host, desk, .. } = &self.bench;
        Ok(opened(host, desk, request))
    }

    fn tick(&self) {
        self.bench.wait(1);
    }
}

/// The same desk, with nothing left in memory from one request to the next: every answer comes from the store.
pub struct Forgetful(pub StoryBench);

/// The host of one request, with sessions of its own.
struct Once<'a> {
    host: &'a TestHost,
    sessions: Sessions,
}

impl Host for Once<'_> {
    type Store = <TestHost as Host>::Store;
    type Bell = <TestHost as Host>::Bell;

    fn store(&self) -> &Self::Store {
        self.host.store()
    }

    fn bell(&self) -> &Self::Bell {
        self.host.bell()
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn now(&self) -> Timestamp {
        self.host.now()
    }

    fn entropy(&self) -> [u8; 32] {
        self.host.entropy()
    }
}

impl Target for Forgetful {
    fn base_url(&self) -> &str {
        self.0.base_url()
    }

    fn call(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        whole(self.open(request)?)
    }

    fn open(&self, request: Request<Vec<u8>>) -> Result<Opened<'_>, String> {
        let Bench { host, desk, .. } = &self.0.bench;
        let once = Once {
            host,
            sessions: Sessions::new(),
        };
        Ok(opened(once, desk, request))
    }

    fn tick(&self) {
        self.0.tick();
    }
}
