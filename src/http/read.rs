//! Reading a request: credentials, version, content type, body, query.

use std::borrow::Cow;

use http::{HeaderMap, Request, header};
use serde_json::{Map, Value};

use crate::a2a::PROTOCOL_VERSION;
use crate::json;
use crate::refusal::{A2A_DOMAIN, Code, Refusal};
use crate::session::Token;

/// The most bytes of a request's body.
pub const BODY_LIMIT: usize = 262_144;

/// Header (and query parameter) that names the protocol version.
const VERSION: &str = "a2a-version";

/// The text of the request's only bearer token.
#[must_use]
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (only, None) = (values.next()?, values.next()) else {
        return None;
    };
    let (scheme, token) = only.to_str().ok()?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The last event that a client of a stream has, if it says so.
#[must_use]
pub fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    let id = headers.get("last-event-id")?;
    // What is no text names no event, but is not nothing either.
    let id = id.to_str().map_or("?", str::trim);
    Some(id).filter(|id| !id.is_empty())
}

/// The request's session token.
///
/// # Errors
/// UNAUTHENTICATED, when there is none of that shape.
pub fn token(headers: &HeaderMap) -> Result<Token, Refusal> {
    bearer(headers)
        .and_then(Token::parse)
        .ok_or_else(Refusal::unauthenticated)
}

/// The parameters of a query, in order, escapes undone and `+` read as a space.
fn query(request: &Request<Vec<u8>>) -> Vec<(String, String)> {
    let pairs = request
        .uri()
        .query()
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty());
    let decode = |text: &str| {
        let text = text.replace('+', " ");
        super::route::unescape(&text).map_or_else(|| text.clone(), Cow::into_owned)
    };
    pairs
        .map(|pair| match pair.split_once('=') {
            Some((name, value)) => (decode(name), decode(value)),
            None => (decode(pair), String::new()),
        })
        .collect()
}

/// Whether the request speaks a version of the protocol that this agent does (A2A 1.0, §3.6). Only major and minor
/// count; a request that names none speaks 0.3.
///
/// # Errors
/// VersionNotSupportedError.
pub fn check_version(request: &Request<Vec<u8>>) -> Result<(), Refusal> {
    let in_header = request.headers().get(VERSION);
    let in_header = in_header.map(|value| Cow::Borrowed(value.to_str().unwrap_or("?")));
    let named = in_header
        .filter(|version| !version.trim().is_empty())
        .or_else(|| {
            let mut pairs = query(request).into_iter();
            pairs
                .find(|(name, _)| name.eq_ignore_ascii_case(VERSION))
                .map(|(_, version)| Cow::Owned(version))
        });
    let named = named.unwrap_or_default();
    let mut numbers = named.trim().split('.');
    let spoken = (numbers.next(), numbers.next());
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if spoken == (Some("1"), Some("0")) && numbers.next().is_none_or(is_number) && numbers.next().is_none() {
        return Ok(());
    }
    let message = format!("expected the header A2A-Version: {PROTOCOL_VERSION}");
    Err(
        Refusal::a2a(Code::FailedPrecondition, "VERSION_NOT_SUPPORTED", message)
            .with_fact("supportedVersions", PROTOCOL_VERSION),
    )
}

/// The bytes of the request's body, said to be JSON; an absent body is an empty one, of any type.
///
/// # Errors
/// 413 over [`BODY_LIMIT`]; 415 for another content type.
pub fn content(request: &Request<Vec<u8>>) -> Result<&[u8], Refusal> {
    let bytes = request.body();
    if bytes.len() > BODY_LIMIT {
        let message = format!("expected a body of at most {BODY_LIMIT} bytes");
        return Err(Refusal::new(Code::InvalidArgument, message)
            .with_reason(A2A_DOMAIN, "CONTENT_TOO_LARGE")
            .with_http(413));
    }
    if bytes.is_empty() {
        return Ok(bytes);
    }
    let media_type = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let media_type = media_type
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    let taken = ["application/json", "application/a2a+json"];
    if !taken.iter().any(|name| media_type.eq_ignore_ascii_case(name)) {
        let message = "expected content-type application/json or application/a2a+json";
        return Err(Refusal::new(Code::InvalidArgument, message)
            .with_reason(A2A_DOMAIN, "CONTENT_TYPE_NOT_SUPPORTED")
            .with_http(415));
    }
    Ok(bytes)
}

/// What is said of a body that is not the JSON it should be.
pub(super) fn invalid_json(message: String) -> Refusal {
    Refusal::new(Code::InvalidArgument, message).with_reason(A2A_DOMAIN, "INVALID_JSON")
}

/// The request's body as a JSON object; an absent or empty body is an empty one.
///
/// # Errors
/// Those of [`content`]; 400 for what is not JSON, not an object, names a key twice or nests too deep.
pub fn body(request: &Request<Vec<u8>>) -> Result<Map<String, Value>, Refusal> {
    let bytes = content(request)?;
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    match json::parse(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(invalid_json("expected a JSON object as body".to_owned())),
        Err(error) => Err(invalid_json(format!("expected a JSON object as body: {error}"))),
    }
}

/// The parameters of a GET as a request object. Numbers stand as text, which ProtoJSON reads; for booleans it does
/// not, so the one boolean that a query has is read here.
#[must_use]
pub fn query_params(request: &Request<Vec<u8>>) -> Map<String, Value> {
    let mut params = Map::new();
    for (name, value) in query(request) {
        let value = match (name.as_str(), value.as_str()) {
            ("includeArtifacts" | "include_artifacts", "true") => Value::Bool(true),
            ("includeArtifacts" | "include_artifacts", "false") => Value::Bool(false),
            _ => Value::String(value),
        };
        params.insert(name, value);
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)], uri: &str, body: &[u8]) -> Request<Vec<u8>> {
        let mut builder = Request::post(uri);
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        builder.body(body.to_vec()).unwrap()
    }

    fn version(headers: &[(&str, &str)], uri: &str) -> bool {
        check_version(&request(headers, uri, b"")).is_ok()
    }

    #[test]
    fn an_event_id_that_is_no_text_is_not_taken_for_none() {
        let id = |value: &[u8]| {
            let request = Request::get("/").header("last-event-id", value).body(()).unwrap();
            last_event_id(request.headers()).map(str::to_owned)
        };
        assert_eq!(id(b" 7-0 ").as_deref(), Some("7-0"));
        assert_eq!(id(b" "), None);
        assert_eq!(id(b"\xff").as_deref(), Some("?"));
        assert_eq!(last_event_id(&HeaderMap::new()), None);
    }

    #[test]
    fn the_version_is_major_and_minor_from_the_header_or_the_query() {
        for version_text in ["1.0", "1.0.7", " 1.0 "] {
            assert!(version(&[("A2A-Version", version_text)], "/"), "{version_text}");
        }
        for version_text in [
            "", "0.3", "1", "1.1", "2.0", "1.0.", "1.0.x", "1.0.1.2", "01.0", "99.0",
        ] {
            assert!(!version(&[("A2A-Version", version_text)], "/"), "{version_text}");
        }
        assert!(!version(&[], "/"));
        assert!(version(&[], "/?A2A-Version=1.0"));
        assert!(!version(&[("A2A-Version", "0.3")], "/?A2A-Version=1.0"));
    }

    #[test]
    fn a_body_of_the_limit_is_taken_and_one_byte_more_is_413() {
        let json = [("content-type", "application/json")];
        let fill = |length: usize| format!(r#"{{"a":"{}"}}"#, "x".repeat(length - 8)).into_bytes();
        assert!(body(&request(&json, "/", &fill(BODY_LIMIT))).is_ok());
        let refusal = body(&request(&json, "/", &fill(BODY_LIMIT + 1))).unwrap_err();
        assert_eq!(refusal.status(), 413);
    }

    #[test]
    fn content_types_and_bodies_that_are_no_object_are_refused() {
        let status = |headers: &[(&str, &str)], bytes: &[u8]| {
            body(&request(headers, "/", bytes)).map_or_else(|refusal| refusal.status(), |_| 200)
        };
        let json = [("content-type", "Application/A2A+JSON; charset=utf-8")];
        assert_eq!(status(&json, b"{}"), 200);
        assert_eq!(status(&[], b""), 200);
        assert_eq!(status(&[], b"{}"), 415);
        assert_eq!(status(&[("content-type", "text/plain")], b"{}"), 415);
        for bytes in [&b"[]"[..], b"null", b"{", b"{\"a\":1,\"a\":2}", b"{}{}"] {
            assert_eq!(status(&json, bytes), 400);
        }
    }

    #[test]
    fn only_one_bearer_token_counts() {
        let mut headers = HeaderMap::new();
        assert_eq!(bearer(&headers), None);
        headers.append(header::AUTHORIZATION, "bEARER  abc ".parse().unwrap());
        assert_eq!(bearer(&headers), Some("abc"));
        headers.append(header::AUTHORIZATION, "Bearer def".parse().unwrap());
        assert_eq!(bearer(&headers), None);
        headers.insert(header::AUTHORIZATION, "Basic abc".parse().unwrap());
        assert_eq!(bearer(&headers), None);
    }

    #[test]
    fn a_query_becomes_a_request_object() {
        let params = query_params(&request(
            &[],
            "/tasks?pageSize=7&includeArtifacts=true&contextId=true%20b+c&x",
            b"",
        ));
        let expected = r#"{"pageSize":"7","includeArtifacts":true,"contextId":"true b c","x":""}"#;
        assert_eq!(Value::Object(params).to_string(), expected);
    }
}
