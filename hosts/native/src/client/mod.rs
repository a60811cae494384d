//! The command line's side of the wire: A2A 1.0 over HTTP+JSON.

mod events;

use std::time::Duration;

use http::{Request, Response, StatusCode, request};
use serde_json::{Value, json};
use ureq::{Agent, Body};

pub use events::Events;

use crate::failure::{Failure, Refused};

/// Longer than the longest blocking send that the server declares.
const WHOLE_CALL: Duration = Duration::from_secs(120);
const CONNECT: Duration = Duration::from_secs(5);
/// The largest answer that is read.
const ANSWER_BYTES: u64 = 16 * 1024 * 1024;
/// The media type of A2A's HTTP+JSON binding.
const A2A_JSON: &str = "application/a2a+json";

/// Where a command sends its requests, and as whom.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    /// Address of the deployment, without a trailing slash.
    root: String,
    /// Address of the session's agent: the deployment's, with the session where one must be named.
    base: String,
    token: Option<String>,
    extensions: Vec<String>,
}

impl Client {
    /// A client of the agent at `url`, for the session `tenant` where one must be named.
    #[must_use]
    pub fn new(url: &str, tenant: Option<&str>, token: Option<String>) -> Self {
        let root = url.trim_end_matches('/').to_owned();
        let base = match tenant {
            Some(tenant) => format!("{root}/{}", segment(tenant)),
            None => root.clone(),
        };
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // A token goes nowhere but where it was meant to go.
            .max_redirects(0)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(WHOLE_CALL))
            .user_agent(concat!("a2a-edge/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Self {
            agent,
            root,
            base,
            token,
            extensions: Vec::new(),
        }
    }

    /// The same client, asking for these extensions to be active.
    #[must_use]
    pub fn activating(mut self, extensions: Vec<String>) -> Self {
        self.extensions = extensions;
        self
    }

    /// Reads a resource. `path` begins with a slash; its variable parts went through [`segment`].
    ///
    /// # Errors
    /// No answer, an error answered, or an answer that is no JSON.
    pub fn get(&self, path: &str, query: &[(&str, String)]) -> Result<Value, Failure> {
        let query: Vec<String> = query
            .iter()
            .map(|(name, value)| format!("{name}={}", segment(value)))
            .collect();
        let separator = if query.is_empty() { "" } else { "?" };
        let request = self.request(
            "GET",
            &self.base,
            &format!("{path}{separator}{}", query.join("&")),
        );
        let request = request.body(()).map_err(|error| bad_request(&error))?;
        self.answer(self.agent.run(request))
    }

    /// Posts a JSON object.
    ///
    /// # Errors
    /// As for [`Client::get`].
    pub fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.post_to(&self.base, path, body)
    }

    /// Asks one of the owner's or the operator's verbs, such as `tasks:approve`. They are the deployment's, and the
    /// token alone says in which session.
    ///
    /// # Errors
    /// As for [`Client::get`].
    pub fn operate(&self, verb: &str, body: &Value) -> Result<Value, Failure> {
        self.post_to(&self.root, &format!("/operator/v1/{verb}"), body)
    }

    /// Opens a stream, to go on behind the event `after`.
    ///
    /// # Errors
    /// As for [`Client::get`]; an answer that is no stream.
    pub fn stream(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        after: Option<&str>,
    ) -> Result<Events, Failure> {
        let mut request = self.request(method, &self.base, path);
        if let Some(after) = after {
            request = request.header("Last-Event-ID", after);
        }
        let outcome = match body {
            Some(body) => {
                let request = request.header("Content-Type", A2A_JSON);
                let request = request
                    .body(body.to_string())
                    .map_err(|error| bad_request(&error))?;
                self.agent.run(self.endless(request))
            }
            None => {
                let request = request.body(()).map_err(|error| bad_request(&error))?;
                self.agent.run(self.endless(request))
            }
        };
        match outcome {
            Ok(answer) if answer.status().is_success() => Ok(Events::new(answer.into_body().into_reader())),
            outcome => match self.answer(outcome) {
                Ok(_) => Err(Failure::Unreadable("no stream".to_owned())),
                Err(failure) => Err(failure),
            },
        }
    }

    /// A request whose answer may take for ever.
    fn endless<B: ureq::AsSendBody>(&self, request: Request<B>) -> Request<B> {
        let request = self.agent.configure_request(request);
        request.timeout_global(None).build()
    }

    fn post_to(&self, base: &str, path: &str, body: &Value) -> Result<Value, Failure> {
        let request = self.request("POST", base, path).header("Content-Type", A2A_JSON);
        let request = request
            .body(body.to_string())
            .map_err(|error| bad_request(&error))?;
        self.answer(self.agent.run(request))
    }

    fn request(&self, method: &str, base: &str, path: &str) -> request::Builder {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{base}{path}"))
            .header("Accept", "application/a2a+json, application/json")
            .header("A2A-Version", a2a_edge::a2a::PROTOCOL_VERSION);
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        if !self.extensions.is_empty() {
            request = request.header("A2A-Extensions", self.extensions.join(", "));
        }
        request
    }

    fn answer(&self, outcome: Result<Response<Body>, ureq::Error>) -> Result<Value, Failure> {
        let unreachable = |error: &ureq::Error| Failure::Unreachable {
            url: self.base.clone(),
            why: error.to_string(),
        };
        let mut response = outcome.map_err(|error| match error {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => bad_request(&error),
            error => unreachable(&error),
        })?;
        let status = response.status();
        let body = response
            .body_mut()
            .with_config()
            .limit(ANSWER_BYTES)
            .read_to_vec()
            .map_err(|error| match error {
                ureq::Error::BodyExceedsLimit(limit) => {
                    Failure::Unreadable(format!("HTTP {status}, an answer of more than {limit} bytes"))
                }
                error => unreachable(&error),
            })?;
        read(status, &body)
    }
}

/// What an answer says.
fn read(status: StatusCode, body: &[u8]) -> Result<Value, Failure> {
    let value = serde_json::from_slice::<Value>(body);
    if status.is_success() {
        return value.map_err(|error| Failure::Unreadable(format!("HTTP {status}, {error}")));
    }
    match value.ok().and_then(|value| value.get("error").cloned()) {
        Some(error) if error.is_object() => Err(Failure::Refused(Refused {
            http: status.as_u16(),
            error,
        })),
        _ if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN => {
            // A proxy in front may answer so, in a form of its own.
            let error = json!({"message": "not authorized"});
            Err(Failure::Refused(Refused {
                http: status.as_u16(),
                error,
            }))
        }
        _ => Err(Failure::Unreadable(format!("HTTP {status}"))),
    }
}

/// A request that cannot be made of what the command line says.
fn bad_request(error: &dyn std::fmt::Display) -> Failure {
    Failure::Usage(format!("the address or the token cannot be used: {error}"))
}

/// `text` as one segment of a path or one value of a query.
#[must_use]
pub fn segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte))
            }
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_cannot_leave_its_place() {
        assert_eq!(segment("a/../b?c#d:é"), "a%2F..%2Fb%3Fc%23d%3A%C3%A9");
        assert_eq!(segment("t_1-2.3~"), "t_1-2.3~");
    }

    #[test]
    fn an_error_in_a2as_form_is_a_refusal_and_any_other_is_unreadable() {
        let refused = read(StatusCode::BAD_REQUEST, br#"{"error":{"message":"no"}}"#);
        assert!(matches!(
            refused,
            Err(Failure::Refused(Refused { http: 400, .. }))
        ));
        for (status, body) in [
            (StatusCode::OK, "<html>"),
            (StatusCode::NOT_FOUND, "<html>"),
            (StatusCode::FOUND, ""),
            (StatusCode::BAD_GATEWAY, r#"{"error":"x"}"#),
        ] {
            assert!(
                matches!(read(status, body.as_bytes()), Err(Failure::Unreadable(_))),
                "{status}"
            );
        }
        let forbidden = read(StatusCode::FORBIDDEN, b"no").unwrap_err();
        assert_eq!(forbidden.exit_code(), 4);
    }
}
