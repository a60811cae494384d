//! Where a story plays.

use std::io::Read;
use std::thread::sleep;
use std::time::Duration;

use http::{Request, Response};
use ureq::Body;

use crate::stream::Chunks;

/// Longer than any host needs for an answer, save for one that hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// The clock's grain, and a little more: two steps never happen in the same millisecond.
const GRAIN: Duration = Duration::from_millis(2);

/// The answer to a request that a stream may answer.
pub enum Opened<'a> {
    /// None was: the whole answer.
    Whole(Response<Vec<u8>>),
    /// The answer's head, and its body as it comes.
    Stream(Response<()>, Box<dyn Chunks + 'a>),
}

/// A desk that can be called.
pub trait Target {
    /// The address that its card names.
    fn base_url(&self) -> &str;

    /// Sends a request whose URI is a path, with a query or without.
    ///
    /// # Errors
    /// Why there is no answer.
    fn call(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String>;

    /// Sends a request that a stream may answer.
    ///
    /// # Errors
    /// Why there is no answer.
    fn open(&self, request: Request<Vec<u8>>) -> Result<Opened<'_>, String>;

    /// Lets the desk's clock move on by at least a millisecond: what happens later is later by the clock.
    fn tick(&self) {
        sleep(GRAIN);
    }
}

/// A desk behind an HTTP address.
#[derive(Debug)]
pub struct Http {
    base: String,
    agent: ureq::Agent,
}

impl Http {
    /// The desk at this address, such as `http://127.0.0.1:8420`.
    #[must_use]
    pub fn new(base: &str) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_global(Some(PATIENCE))
            .build();
        Self {
            base: base.trim_end_matches('/').to_owned(),
            agent: ureq::Agent::new_with_config(config),
        }
    }
}

impl Http {
    fn send(&self, request: Request<Vec<u8>>) -> Result<Response<Body>, String> {
        let (mut head, body) = request.into_parts();
        let address = format!("{}{}", self.base, head.uri);
        head.uri = address.parse().map_err(|error| format!("{address}: {error}"))?;
        let answer = if body.is_empty() {
            self.agent.run(Request::from_parts(head, ()))
        } else {
            self.agent.run(Request::from_parts(head, body))
        };
        answer.map_err(|error| error.to_string())
    }
}

/// How long an answer may be, in bytes: one that has no end is no answer.
const MOST: u64 = 64 << 20;

fn whole(answer: Response<Body>) -> Result<Response<Vec<u8>>, String> {
    let (head, mut body) = answer.into_parts();
    let body = body.with_config().limit(MOST).read_to_vec();
    let body = body.map_err(|error| error.to_string())?;
    Ok(Response::from_parts(head, body))
}

/// The body of an answer that comes over the network.
struct Remote<R>(R);

impl<R: Read> Chunks for Remote<R> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        let mut bytes = vec![0; 8192];
        let read = self.0.read(&mut bytes).map_err(|error| error.to_string())?;
        bytes.truncate(read);
        Ok((read > 0).then_some(bytes))
    }
}

impl Target for Http {
    fn base_url(&self) -> &str {
        &self.base
    }

    fn call(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        whole(self.send(request)?)
    }

    fn open(&self, request: Request<Vec<u8>>) -> Result<Opened<'_>, String> {
        let answer = self.send(request)?;
        let streams = answer
            .headers()
            .get("content-type")
            .is_some_and(|media_type| media_type == "text/event-stream");
        if !streams {
            return whole(answer).map(Opened::Whole);
        }
        let (head, body) = answer.into_parts();
        let remote = Remote(body.into_reader());
        Ok(Opened::Stream(Response::from_parts(head, ()), Box::new(remote)))
    }
}
