//! The desk in this process, as a place where stories play.

use a2a_edge::serve::handle;
use a2a_edge_stories::Target;
use http::{Request, Response};

use crate::desk::Bench;

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
