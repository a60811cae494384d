//! The desk in this process, as a place where stories play.

use a2a_edge::serve::{Host, Sessions, handle};
use a2a_edge::time::Timestamp;
use a2a_edge_stories::Target;
use http::{Request, Response};

use crate::desk::{Bench, TestHost};

/// A desk whose clock moves a second with every request.
pub struct StoryBench {
    bench: Bench,
    base: String,
}

impl StoryBench {
    pub fn new() -> Self {
        let bench = Bench::new();
        let base = bench.desk.config().base_url.clone();
        Self { bench, base }
    }
}

impl Target for StoryBench {
    fn base_url(&self) -> &str {
        &self.base
    }

    fn call(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        let Bench { host, desk, .. } = &self.bench;
        Ok(pollster::block_on(handle(host, desk, request)))
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
        let Bench { host, desk, .. } = &self.0.bench;
        let once = Once {
            host,
            sessions: Sessions::new(),
        };
        Ok(pollster::block_on(handle(&once, desk, request)))
    }

    fn tick(&self) {
        self.0.tick();
    }
}
