//! Writing an answer: results and refusals as bytes.

use http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Map, Value, json};

use crate::extension::header::NAME as EXTENSIONS;
use crate::json;
use crate::refusal::{A2A_DOMAIN, COORDINATION_DOMAIN, Code, Refusal};

/// In whose form an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A2A's HTTP+JSON binding: `code` of an error is the HTTP status (A2A 1.0, §11.6).
    Core,
    /// The coordination and operator paths: `code` of an error is google.rpc's number.
    Coordination,
    /// Plain JSON, for the card.
    Plain,
}

impl Form {
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Core => "application/a2a+json",
            Self::Coordination | Self::Plain => "application/json",
        }
    }
}

fn response(status: u16, form: Form, body: &Value) -> Response<Vec<u8>> {
    let mut response = Response::new(json::to_string(body).into_bytes());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let media_type = HeaderValue::from_static(form.media_type());
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    response
}

/// Adds a header whose value is the server's own; one that can't stand in a header is left out.
pub fn set<B>(response: &mut Response<B>, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// A result, with the extensions that were active.
#[must_use]
pub fn success(form: Form, body: &Value, echo: Option<&str>) -> Response<Vec<u8>> {
    let mut response = response(200, form, body);
    if let Some(echo) = echo {
        set(&mut response, EXTENSIONS, echo);
    }
    response
}

/// The reason of a refusal that names none: every error has an ErrorInfo (A2A 1.0, §11.6).
const fn plain_reason(form: Form, code: Code) -> (&'static str, &'static str) {
    match (form, code) {
        (Form::Coordination, code) => (code.name(), COORDINATION_DOMAIN),
        (_, Code::InvalidArgument) => ("INVALID_PARAMS", A2A_DOMAIN),
        (_, code) => (code.name(), A2A_DOMAIN),
    }
}

/// A2A's own reasons that an extension's operation answers with (session coordination, §9.2).
const BORROWED: [&str; 2] = ["EXTENSION_SUPPORT_REQUIRED", "UNSUPPORTED_OPERATION"];

/// A reason and its domain. On the coordination paths a reason is the extension's, unless it is one of A2A's own
/// (session coordination, §11.1).
fn reason(form: Form, refusal: &Refusal) -> (&'static str, &'static str) {
    match &refusal.info {
        None => plain_reason(form, refusal.code),
        Some(info) if form == Form::Coordination && !BORROWED.contains(&info.reason) => {
            (info.reason, COORDINATION_DOMAIN)
        }
        Some(info) => (info.reason, info.domain),
    }
}

fn error_info(form: Form, refusal: &Refusal) -> Value {
    let (reason, domain) = reason(form, refusal);
    let mut detail = json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": domain,
    });
    let facts = refusal.info.iter().flat_map(|info| &info.metadata);
    let facts: Map<String, Value> = facts
        .map(|(key, value)| ((*key).to_owned(), json!(value)))
        .collect();
    if let Some(detail) = detail.as_object_mut().filter(|_| !facts.is_empty()) {
        detail.insert("metadata".to_owned(), Value::Object(facts));
    }
    detail
}

/// The `details` of a refusal: its ErrorInfo, its BadRequest, then the others.
fn details(form: Form, refusal: &Refusal) -> Vec<Value> {
    let mut details = vec![error_info(form, refusal)];
    if !refusal.violations.is_empty() {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": refusal.violations,
        }));
    }
    details.extend(refusal.details.iter().cloned());
    details
}

/// A refusal, in the form of the path that was called.
#[must_use]
pub fn failure(form: Form, refusal: &Refusal, echo: Option<&str>) -> Response<Vec<u8>> {
    let status = refusal.status();
    let code = if form == Form::Coordination {
        refusal.code.number()
    } else {
        status
    };
    let mut error = Map::new();
    error.insert("code".to_owned(), json!(code));
    error.insert("status".to_owned(), json!(refusal.code.name()));
    error.insert("message".to_owned(), json!(refusal.message));
    error.insert("details".to_owned(), Value::Array(details(form, refusal)));
    let mut response = response(status, form, &json!({ "error": error }));
    if let Some(echo) = echo {
        set(&mut response, EXTENSIONS, echo);
    }
    match status {
        401 => set(&mut response, "www-authenticate", "Bearer"),
        429 | 503 => set(&mut response, "retry-after", "1"),
        _ => {}
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(form: Form, reason: &'static str) -> String {
        let refusal = Refusal::a2a(Code::FailedPrecondition, reason, "no");
        let body = failure(form, &refusal, None).into_body();
        let body: Value = serde_json::from_slice(&body).unwrap();
        body["error"]["details"][0]["domain"].as_str().unwrap().to_owned()
    }

    #[test]
    fn on_coordination_paths_a_reason_is_the_extensions_unless_a2a_defines_it() {
        assert_eq!(domain(Form::Core, "INVALID_JSON"), A2A_DOMAIN);
        assert_eq!(domain(Form::Coordination, "INVALID_JSON"), COORDINATION_DOMAIN);
        assert_eq!(domain(Form::Coordination, "UNSUPPORTED_OPERATION"), A2A_DOMAIN);
        assert_eq!(
            domain(Form::Coordination, "EXTENSION_SUPPORT_REQUIRED"),
            A2A_DOMAIN
        );
    }
}
