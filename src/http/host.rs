//! What hosts that carry requests over HTTP have in common: how much of a body they read, the ids that requests have in
//! answers and in the log, and the answers that are the host's own.

use http::{HeaderValue, Method as Verb, Response};

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

/// A body as it comes in: at most one byte more than the core reads.
#[derive(Clone, Debug, Default)]
pub struct Intake {
    bytes: Vec<u8>,
    dropped: usize,
}

impl Intake {
    /// Takes the next piece; `false` when enough was read, and dropped.
    pub fn take(&mut self, piece: &[u8]) -> bool {
        let room = BODY_LIMIT.saturating_add(1).saturating_sub(self.bytes.len());
        self.bytes.extend(piece.iter().take(room));
        self.dropped = self.dropped.saturating_add(piece.len().saturating_sub(room));
        self.dropped <= DROPPED
    }

    /// The body.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
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

/// The answer while the host can't reach what it needs to serve at all.
#[must_use]
pub fn unavailable(id: &str) -> Response<Vec<u8>> {
    answered(
        Code::Unavailable,
        "the store can't be reached; try again",
        "STORE_UNAVAILABLE",
        id,
    )
}

fn refused(message: &str, reason: &'static str, id: &str) -> Response<Vec<u8>> {
    answered(Code::Internal, message, reason, id)
}

fn answered(code: Code, message: &str, reason: &'static str, id: &str) -> Response<Vec<u8>> {
    let refusal = Refusal::new(code, message)
        .with_reason(DOMAIN, reason)
        .with_fact("requestId", id);
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
        Ok(Target::Options(_)) => "options".to_owned(),
        Ok(Target::Extension { path, segment }) => shown(&format!("{path}/{segment}")),
        Ok(Target::Operator(verb)) => shown(&format!("operator/v1/{verb}")),
        Err(_) => "none".to_owned(),
    }
}

fn shown(text: &str) -> String {
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
    fn the_host_s_own_answers_name_the_request() {
        for (answer, reason) in [
            (failed("id-1"), "INTERNAL_ERROR"),
            (misconfigured("name: rule", "id-1"), "MISCONFIGURED"),
        ] {
            assert_eq!(answer.status(), 500);
            assert_eq!(answer.headers()[REQUEST_ID], "id-1");
            let body = String::from_utf8(answer.into_body()).unwrap();
            assert!(
                body.contains(reason) && body.contains("\"requestId\":\"id-1\""),
                "{body}"
            );
        }
    }
}
