//! Writing an answer: results and refusals as bytes.

use http::{HeaderValue, Method, Response, StatusCode, header};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::rpc;
use crate::extension::header::NAME as EXTENSIONS;
use crate::json;
use crate::refusal::{A2A_DOMAIN, COORDINATION_DOMAIN, Code, Refusal};

/// In whose form an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form<'a> {
    /// A2A's HTTP+JSON binding: `code` of an error is the HTTP status (A2A 1.0, §11.6).
    Core,
    /// A2A's JSON-RPC binding: the answer to the call of this id (A2A 1.0, §9). Without one it is a notification, which
    /// is answered with a status and nothing else.
    Rpc(Option<&'a Value>),
    /// The coordination and operator paths: `code` of an error is google.rpc's number.
    Coordination,
    /// Plain JSON, for the card.
    Plain,
}

impl Form<'_> {
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Core => "application/a2a+json",
            Self::Rpc(_) | Self::Coordination | Self::Plain => "application/json",
        }
    }
}

fn response(status: u16, form: Form<'_>, body: &impl Serialize) -> Response<Vec<u8>> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::new(Vec::new());
    if form == Form::Rpc(None) {
        *response.status_mut() = if status == StatusCode::OK {
            StatusCode::NO_CONTENT
        } else {
            status
        };
        return response;
    }
    *response.status_mut() = status;
    *response.body_mut() = json::to_bytes(body);
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

/// The answer to this method: to a HEAD that to a GET, but for its body (RFC 9110, §9.3.2). One that has no body stays as
/// it is.
#[must_use]
pub fn to(method: &Method, mut response: Response<Vec<u8>>) -> Response<Vec<u8>> {
    let length = response.body().len();
    if *method == Method::HEAD && length > 0 {
        response
            .headers_mut()
            .insert(header::CONTENT_LENGTH, length.into());
        response.body_mut().clear();
    }
    response
}

/// What may be done at a path: the answer to an OPTIONS (RFC 9110, §9.3.7).
#[must_use]
pub fn options(allow: &str) -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    set(&mut response, "allow", allow);
    response
}

/// A result, with the extensions that were active.
#[must_use]
pub fn success(form: Form<'_>, body: &impl Serialize, echo: Option<&str>) -> Response<Vec<u8>> {
    let mut response = match form {
        Form::Rpc(Some(id)) => response(200, form, &rpc::result(id, body)),
        _ => response(200, form, body),
    };
    if let Some(echo) = echo {
        set(&mut response, EXTENSIONS, echo);
    }
    response
}

/// The reason of a refusal that names none: every error has an ErrorInfo (A2A 1.0, §11.6).
const fn plain_reason(form: Form<'_>, code: Code) -> (&'static str, &'static str) {
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
fn reason(form: Form<'_>, refusal: &Refusal) -> (&'static str, &'static str) {
    match &refusal.info {
        None => plain_reason(form, refusal.code),
        Some(info) if form == Form::Coordination && !BORROWED.contains(&info.reason) => {
            (info.reason, COORDINATION_DOMAIN)
        }
        Some(info) => (info.reason, info.domain),
    }
}

fn error_info(form: Form<'_>, refusal: &Refusal) -> Value {
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
fn details(form: Form<'_>, refusal: &Refusal) -> Vec<Value> {
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

/// The HTTP status of a refusal. To a JSON-RPC call it is 200, unless it is of what carries the call or the desk is out
/// of reach: proxies and clients act on those without reading on.
fn status(form: Form<'_>, refusal: &Refusal) -> u16 {
    match (form, refusal.status()) {
        (Form::Rpc(_), status) if !rpc::STATUSES.contains(&status) => 200,
        (_, status) => status,
    }
}

/// A refusal, in the form of the path that was called.
#[must_use]
pub fn failure(form: Form<'_>, refusal: &Refusal, echo: Option<&str>) -> Response<Vec<u8>> {
    let status = status(form, refusal);
    let details = details(form, refusal);
    let body = match form {
        Form::Rpc(id) => rpc::error(id, refusal, details),
        _ => {
            let code = if form == Form::Coordination {
                refusal.code.number()
            } else {
                status
            };
            json!({"error": {
                "code": code,
                "status": refusal.code.name(),
                "message": refusal.message,
                "details": details,
            }})
        }
    };
    let mut response = response(status, form, &body);
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

    fn domain(form: Form<'_>, reason: &'static str) -> String {
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

    #[test]
    fn a_json_rpc_call_is_answered_200_unless_http_itself_says_more() {
        let id = Value::from(7);
        let of = |code| Refusal::new(code, "no");
        for (refusal, status, code) in [
            (of(Code::InvalidArgument), 200, -32602),
            (of(Code::NotFound), 200, -32602),
            (of(Code::ResourceExhausted), 200, -32603),
            (of(Code::Internal), 200, -32603),
            (of(Code::Unavailable), 503, -32603),
            (of(Code::Unauthenticated), 401, -32600),
            (of(Code::PermissionDenied), 403, -32600),
            (of(Code::Unimplemented).with_http(405), 405, -32600),
            (of(Code::InvalidArgument).with_http(413), 413, -32600),
            (of(Code::InvalidArgument).with_http(415), 415, -32600),
        ] {
            let answer = failure(Form::Rpc(Some(&id)), &refusal, None);
            assert_eq!(answer.status(), status, "{refusal:?}");
            assert_eq!(answer.headers().contains_key("retry-after"), status == 503);
            let body: Value = serde_json::from_slice(answer.body()).unwrap();
            assert_eq!(
                (&body["id"], &body["error"]["code"]),
                (&id, &Value::from(code)),
                "{refusal:?}"
            );
            let silent = failure(Form::Rpc(None), &refusal, None);
            let expected = if status == 200 { 204 } else { status };
            assert_eq!(
                (silent.status().as_u16(), silent.body().len()),
                (expected, 0),
                "{refusal:?}"
            );
        }
    }
}
