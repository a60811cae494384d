//! Streams over HTTP, read as far as a test needs.

use a2a_edge_stories::{Chunks, Http, Opened, Target as _};
use http::Request;
use serde_json::Value;

const COORDINATION: &str = "https://j5a2a.com/extensions/session-coordination/v1";
pub(crate) const EVENTS: &str = "/extensions/session-coordination/v1/events:stream";

/// A stream, with what was read of it.
pub(crate) struct Reading<'a> {
    chunks: Box<dyn Chunks + 'a>,
    pub(crate) text: String,
}

impl<'a> Reading<'a> {
    pub(crate) fn open(
        http: &'a Http,
        method: &str,
        path: &str,
        token: &str,
        last: &str,
        body: &Value,
    ) -> Self {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("a2a-version", "1.0")
            .header("a2a-extensions", COORDINATION)
            .header("authorization", format!("Bearer {token}"));
        if !last.is_empty() {
            request = request.header("last-event-id", last);
        }
        let mut bytes = Vec::new();
        if !body.is_null() {
            request = request.header("content-type", "application/json");
            bytes = body.to_string().into_bytes();
        }
        match http.open(request.body(bytes).unwrap()).unwrap() {
            Opened::Stream(head, chunks) => {
                assert_eq!(head.status(), 200);
                let text = String::new();
                Self { chunks, text }
            }
            Opened::Whole(answer) => panic!("{}", String::from_utf8_lossy(answer.body())),
        }
    }

    /// Reads until the text holds this; whether it does before the stream ends.
    pub(crate) fn until(&mut self, wanted: &str) -> bool {
        while !self.text.contains(wanted) {
            match self.chunks.next() {
                Ok(Some(bytes)) => self.text.push_str(&String::from_utf8(bytes).unwrap()),
                Ok(None) | Err(_) => return false,
            }
        }
        true
    }
}
