//! The HTTP surface, and what a session reads of its store.

use a2a_edge::session::{Commit, Session};
use a2a_edge_stories::{Opened, Target as _};
use http::{HeaderName, HeaderValue, Method, Request, Response, Uri};
use serde_json::Value;

use crate::corpus::Step;
use crate::story_bench::StoryBench;
use crate::{Corpus, Random, Target, spoil};

pub fn targets() -> Vec<Box<dyn Target>> {
    vec![Box::new(Http), Box::new(Restore), Box::new(Apply)]
}

/// A story, of whose requests some are spoilt and some sent twice.
struct Http;

impl Target for Http {
    fn name(&self) -> &'static str {
        "http"
    }

    fn run(&self, corpus: &Corpus, random: &mut Random) -> Result<(), String> {
        let bench = StoryBench::new();
        for step in random.pick(&corpus.stories) {
            match step {
                Step::Tick => bench.tick(),
                Step::Call(request) => {
                    for _ in 0..random.below(3) {
                        send(&bench, spoilt(request, corpus, random))?;
                    }
                    send(&bench, (**request).clone())?;
                }
            }
        }
        Ok(())
    }
}

/// Sends a request, reads a few pieces where the answer is a stream, and holds the answer to what every one must be.
fn send(bench: &StoryBench, request: Request<Vec<u8>>) -> Result<(), String> {
    let shown = format!("{request:?} with {}", String::from_utf8_lossy(request.body()));
    let head = *request.method() == Method::HEAD;
    match bench.open(request)? {
        Opened::Whole(answer) => check(&answer, head).map_err(|why| format!("{why}: {shown}")),
        Opened::Stream(answer, mut pieces) => {
            for _ in 0..3 {
                let piece = pieces.next()?;
                if let Some(piece) = piece {
                    let text = String::from_utf8(piece).map_err(|_| format!("no text: {shown}"))?;
                    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
                    for data in data {
                        serde_json::from_str::<Value>(data)
                            .map_err(|why| format!("{why}: {data}: {shown}"))?;
                    }
                }
            }
            (answer.status() == 200).then_some(()).ok_or(shown)
        }
    }
}

/// No fault of the desk's own, and JSON where the answer says so.
fn check(answer: &Response<Vec<u8>>, head: bool) -> Result<(), String> {
    let status = answer.status().as_u16();
    if status >= 500 && status != 501 {
        let body = String::from_utf8_lossy(answer.body());
        return Err(format!("status {status}: {body}"));
    }
    let media_type = answer
        .headers()
        .get("content-type")
        .and_then(|value| value.to_str().ok());
    if !head && media_type.is_some_and(|value| value.contains("json")) {
        serde_json::from_slice::<Value>(answer.body()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn spoilt(request: &Request<Vec<u8>>, corpus: &Corpus, random: &mut Random) -> Request<Vec<u8>> {
    let mut request = request.clone();
    if let Ok(mut body) = serde_json::from_slice::<Value>(request.body()) {
        spoil::spoil(&mut body, corpus, random);
        *request.body_mut() = body.to_string().into_bytes();
    }
    if random.one_in(8) {
        let body = std::mem::take(request.body_mut());
        *request.body_mut() = spoil::bytes(body, random);
    }
    if random.one_in(6) {
        let text = request.uri().to_string().into_bytes();
        if let Ok(uri) = Uri::try_from(spoil::bytes(text, random)) {
            *request.uri_mut() = uri;
        }
    }
    if random.one_in(8) {
        let methods = [
            Method::GET,
            Method::HEAD,
            Method::POST,
            Method::DELETE,
            Method::OPTIONS,
            Method::PUT,
        ];
        *request.method_mut() = random.pick(&methods).clone();
    }
    if random.one_in(4) {
        let names = [
            "accept",
            "a2a-version",
            "a2a-extensions",
            "authorization",
            "content-type",
            "host",
            "if-none-match",
            "if-modified-since",
            "last-event-id",
        ];
        let name = *random.pick(&names);
        let value = match request.headers().get(name) {
            Some(value) if random.one_in(2) => spoil::bytes(value.as_bytes().to_vec(), random),
            _ => random.pick(&corpus.texts).clone().into_bytes(),
        };
        if let Ok(value) = HeaderValue::from_bytes(&value) {
            request.headers_mut().append(HeaderName::from_static(name), value);
        }
    }
    request
}

/// The commits that a story made of the session it was last about.
fn played(corpus: &Corpus, random: &mut Random) -> Vec<Vec<u8>> {
    let bench = StoryBench::new();
    let mut session = String::new();
    for step in random.pick(&corpus.stories) {
        match step {
            Step::Tick => bench.tick(),
            Step::Call(request) => {
                let token = request
                    .headers()
                    .get("authorization")
                    .and_then(|value| value.to_str().ok());
                let named = token.and_then(|token| token.strip_prefix("Bearer a2ae_")?.split('_').next());
                session = named.map_or(session, str::to_owned);
                drop(bench.open((**request).clone()));
            }
        }
    }
    bench.log(&session)
}

fn read(commit: &[u8]) -> Result<Commit, String> {
    serde_json::from_slice(commit).map_err(|error| format!("the log has {error}"))
}

/// A snapshot that is none.
struct Restore;

impl Target for Restore {
    fn name(&self) -> &'static str {
        "session.restore"
    }

    fn run(&self, corpus: &Corpus, random: &mut Random) -> Result<(), String> {
        let mut session = Session::default();
        for commit in played(corpus, random) {
            session.apply(&read(&commit)?);
        }
        for _ in 0..20 {
            let mut snapshot = session.snapshot();
            if let Ok(mut value) = serde_json::from_slice::<Value>(&snapshot) {
                spoil::spoil(&mut value, corpus, random);
                snapshot = value.to_string().into_bytes();
            }
            if random.one_in(4) {
                snapshot = spoil::bytes(snapshot, random);
            }
            // Whatever is taken can be written, and is then taken again.
            if let Ok(session) = Session::restore(&snapshot) {
                Session::restore(&session.snapshot())?;
            }
        }
        Ok(())
    }
}

/// A commit that is none.
struct Apply;

impl Target for Apply {
    fn name(&self) -> &'static str {
        "session.apply"
    }

    fn run(&self, corpus: &Corpus, random: &mut Random) -> Result<(), String> {
        let mut session = Session::default();
        for bytes in played(corpus, random) {
            let commit = read(&bytes)?;
            for _ in 0..2 {
                let mut spoilt = serde_json::json!(commit);
                spoil::spoil(&mut spoilt, corpus, random);
                if let Ok(spoilt) = serde_json::from_value(spoilt) {
                    session.clone().apply(&spoilt);
                }
            }
            session.apply(&commit);
        }
        Ok(())
    }
}
