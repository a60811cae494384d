//! What hosts that carry requests over HTTP have in common: how much of a body they read, the ids that requests have in
//! answers and in the log, and the answers that are the host's own.

use http::{HeaderMap, HeaderName, HeaderValue, Method as Verb, Request, Response, StatusCode, Uri};
use serde_json::{Map, Value, json};

use super::answer::{Form, failure};
use super::read::BODY_LIMIT;
use super::route::{Target, route};
use crate::refusal::{Code, Refusal};

/// Names the request in the answer as it is named in the log.
pub const REQUEST_ID: &str = "x-request-id";

/// How much of an oversize body is read and dropped, so that its sender reads the refusal instead of a reset.
const DROPPED: usize = 1 << 20;

/// The longest text that a line of the log shows, in characters.
const SHOWN: usize = 100;

/// Whose reasons the host's own refusals have.
const DOMAIN: &str = "a2a-edge";

/// A body as it comes in: at most one byte more than may be read.
#[derive(Clone, Debug)]
pub struct Intake {
    bytes: Vec<u8>,
    /// How many bytes are kept: the limit, and one.
    kept: usize,
    dropped: usize,
}

impl Default for Intake {
    /// For as much as the core reads.
    fn default() -> Self {
        Self::within(BODY_LIMIT)
    }
}

impl Intake {
    /// For so many bytes.
    #[must_use]
    pub const fn within(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            kept: limit.saturating_add(1),
            dropped: 0,
        }
    }

    /// Hears how long the body says that it is; `false` when so much is too much, whatever it is, and none of it need be
    /// waited for.
    pub fn expect(&mut self, length: u64) -> bool {
        let most = self.kept.saturating_add(DROPPED);
        let awaited = usize::try_from(length).is_ok_and(|length| length <= most);
        if !awaited {
            self.bytes = vec![0; self.kept];
        }
        awaited
    }

    /// Takes the next piece; `false` when enough was read, and dropped.
    pub fn take(&mut self, piece: &[u8]) -> bool {
        let room = self.kept.saturating_sub(self.bytes.len());
        let (kept, rest) = piece.split_at_checked(room).unwrap_or((piece, &[]));
        self.bytes.extend_from_slice(kept);
        self.dropped = self.dropped.saturating_add(rest.len());
        self.dropped <= DROPPED
    }

    /// The body.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// A request of this method, target and headers, for hosts whose platforms have them as texts. What is no method or target
/// leads where nothing is; what is no header is left out.
#[must_use]
pub fn head(method: &str, target: &str, fields: impl IntoIterator<Item = (String, Vec<u8>)>) -> Request<()> {
    let mut head = Request::new(());
    if let (Ok(method), Ok(target)) = (method.parse(), target.parse::<Uri>()) {
        *head.method_mut() = method;
        *head.uri_mut() = target;
    }
    put(head.headers_mut(), fields);
    head
}

/// Adds headers that a platform has as texts; what is none is left out.
pub fn put(headers: &mut HeaderMap, fields: impl IntoIterator<Item = (String, Vec<u8>)>) {
    for (name, value) in fields {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_bytes(&value)) {
            headers.append(name, value);
        }
    }
}

/// The line that the log has of a request: what was asked and how it went, without what the caller made up.
#[must_use]
pub fn request_line<B>(
    id: &str,
    request: &Request<B>,
    session: Option<&str>,
    status: StatusCode,
    millis: u64,
) -> Value {
    let mut line = Map::new();
    let mut say = |name: &str, value: Value| line.insert(name.to_owned(), value);
    say("event", json!("request"));
    say("id", json!(id));
    say("method", json!(shown(request.method().as_str())));
    say(
        "route",
        json!(shown_route(request.method(), request.uri().path())),
    );
    if let Some(session) = session {
        say("session", json!(session));
    }
    say("status", json!(status.as_u16()));
    say("ms", json!(millis));
    Value::Object(line)
}

/// The answer of a deployment that is not configured as it must be.
#[must_use]
pub fn misconfigured(fault: &str, id: &str) -> Response<Vec<u8>> {
    let message = format!("the deployment is not configured: {fault}");
    refused(&message, "MISCONFIGURED", id)
}

/// The answer when whatever should have answered gave none.
#[must_use]
pub fn failed(id: &str) -> Response<Vec<u8>> {
    refused("the server failed", "INTERNAL_ERROR", id)
}

/// The answer to a request whose body broke off.
#[must_use]
pub fn incomplete(id: &str) -> Response<Vec<u8>> {
    answered(
        Refusal::new(Code::InvalidArgument, "the body did not arrive whole"),
        "BODY_INCOMPLETE",
        id,
    )
}

/// The answer to a request whose body is waited for no longer.
#[must_use]
pub fn late(id: &str) -> Response<Vec<u8>> {
    answered(
        Refusal::new(Code::DeadlineExceeded, "the body came too slowly"),
        "REQUEST_TIMEOUT",
        id,
    )
}

/// The answer to a request that a stopping server waits for no longer.
#[must_use]
pub fn stopping(id: &str) -> Response<Vec<u8>> {
    let message = "the server is stopping; what was asked may have been done";
    answered(Refusal::new(Code::Unavailable, message), "SERVER_STOPPING", id)
}

/// The answer while the host can't reach what it needs to serve at all.
#[must_use]
pub fn unavailable(id: &str) -> Response<Vec<u8>> {
    answered(
        Refusal::new(Code::Unavailable, "the store can't be reached; try again"),
        "STORE_UNAVAILABLE",
        id,
    )
}

fn refused(message: &str, reason: &'static str, id: &str) -> Response<Vec<u8>> {
    answered(Refusal::new(Code::Internal, message), reason, id)
}

fn answered(refusal: Refusal, reason: &'static str, id: &str) -> Response<Vec<u8>> {
    let refusal = refusal.with_reason(DOMAIN, reason).with_fact("requestId", id);
    let mut answer = failure(Form::Core, &refusal, None);
    if let Ok(id) = HeaderValue::from_str(id) {
        answer.headers_mut().insert(REQUEST_ID, id);
    }
    answer
}

/// What is called, for the log, without what the caller made up: ids of tasks and the query stay out.
#[must_use]
pub fn shown_route(verb: &Verb, path: &str) -> String {
    match route(verb, path).map(|route| route.target) {
        Ok(Target::Card) => "agent-card".to_owned(),
        Ok(Target::Core(method, _)) => method.name().to_owned(),
        Ok(Target::Rpc) => "json-rpc".to_owned(),
        Ok(Target::Page(_)) => "reference".to_owned(),
        Ok(Target::Document(_)) => "document".to_owned(),
        Ok(Target::Options(_)) => "options".to_owned(),
        Ok(Target::Extension { path, segment }) => shown(&format!("{path}/{segment}")),
        Ok(Target::Operator(verb)) => shown(&format!("operator/v1/{verb}")),
        Err(_) => "none".to_owned(),
    }
}

/// A caller's text as the log shows it: a hundred characters of ASCII at most.
#[must_use]
pub fn shown(text: &str) -> String {
    text.chars()
        .take(SHOWN)
        .map(|c| if c.is_ascii_graphic() { c } else { '?' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_body_one_byte_too_many_is_kept_and_a_mebibyte_more_is_read() {
        let mut intake = Intake::default();
        assert!(intake.take(&vec![0; BODY_LIMIT]));
        assert!(intake.take(&vec![0; DROPPED + 1]));
        assert!(!intake.take(&[0]));
        assert_eq!(intake.into_bytes().len(), BODY_LIMIT + 1);
    }

    #[test]
    fn a_body_is_waited_for_unless_it_says_that_it_is_longer_than_is_read() {
        let mut intake = Intake::within(10);
        assert!(intake.expect(11 + DROPPED as u64));
        assert!(intake.take(b"body"));
        assert_eq!(intake.into_bytes(), b"body");
        for length in [12 + DROPPED as u64, u64::MAX] {
            let mut intake = Intake::within(10);
            assert!(!intake.expect(length));
            assert_eq!(intake.into_bytes().len(), 11);
        }
    }

    #[test]
    fn a_route_is_shown_without_what_its_caller_made_up() {
        let shown = |line: &str| {
            let (verb, path) = line.split_once(' ').unwrap();
            shown_route(&verb.parse().unwrap(), path)
        };
        assert_eq!(shown("GET /tasks/secret"), "GetTask");
        assert_eq!(shown("GET /.well-known/agent-card.json"), "agent-card");
        assert_eq!(shown("GET /secret"), "none");
        let long = format!("POST /operator/v1/a%C3%A9{}", "b".repeat(200));
        assert_eq!(shown(&long), format!("operator/v1/a?{}", "b".repeat(SHOWN - 14)));
    }

    #[test]
    fn a_request_is_read_from_texts() {
        let field = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
        let fields = [
            field("X-A", "1"),
            field("x a", "no name"),
            field("x-b", "no\nvalue"),
            field("x-a", "2"),
        ];
        let request = head("PATCH", "https://desk.example/tasks?pageSize=1", fields);
        assert_eq!(
            (request.method().as_str(), request.uri().path()),
            ("PATCH", "/tasks")
        );
        assert_eq!(request.uri().query(), Some("pageSize=1"));
        let headers: Vec<_> = request
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        assert_eq!(headers, [("x-a", &b"1"[..]), ("x-a", b"2")]);
        for (method, target) in [("GE T", "/tasks"), ("GET", "no target")] {
            let request = head(method, target, []);
            assert_eq!(
                (request.method(), request.uri().path()),
                (&Verb::GET, "/"),
                "{method} {target}"
            );
        }
    }

    #[test]
    fn a_line_of_the_log_has_a_session_where_there_is_one() {
        let request = head("GET", "/tasks/secret?secret=1", []);
        let line = |session| request_line("id-1", &request, session, StatusCode::OK, 7).to_string();
        assert_eq!(
            line(Some("s-1")),
            r#"{"event":"request","id":"id-1","method":"GET","route":"GetTask","session":"s-1","status":200,"ms":7}"#
        );
        assert_eq!(line(None), line(Some("s-1")).replace(r#""session":"s-1","#, ""));
        let request = head(&"X".repeat(SHOWN + 1), "/", []);
        let line = request_line("id-1", &request, None, StatusCode::OK, 7);
        assert_eq!(line["method"], "X".repeat(SHOWN));
    }

    #[test]
    fn the_host_s_own_answers_name_the_request() {
        for (answer, status, reason) in [
            (failed("id-1"), 500, "INTERNAL_ERROR"),
            (misconfigured("name: rule", "id-1"), 500, "MISCONFIGURED"),
            (incomplete("id-1"), 400, "BODY_INCOMPLETE"),
            (late("id-1"), 408, "REQUEST_TIMEOUT"),
            (stopping("id-1"), 503, "SERVER_STOPPING"),
            (unavailable("id-1"), 503, "STORE_UNAVAILABLE"),
        ] {
            assert_eq!(answer.status(), status, "{reason}");
            assert_eq!(answer.headers()[REQUEST_ID], "id-1");
            assert_eq!(answer.headers().contains_key("retry-after"), status == 503);
            let body = String::from_utf8(answer.into_body()).unwrap();
            assert!(
                body.contains(reason) && body.contains("\"requestId\":\"id-1\""),
                "{body}"
            );
        }
    }
}
