//! What a client sends, as the body and data of a message inside the host (envelope/v1, §8.8).

use serde::Serialize;
use serde_json::{Map, Value};

use super::verdict::{self, Fault, FaultCode};
use super::{BUDGET, ENVELOPE_URI};
use crate::a2a::decode::Decoder;
use crate::a2a::{Content, Part};
use crate::{json, text};

/// At most so many url parts.
pub const URLS_MAX: usize = 20;
/// A url: at most so many bytes.
pub const URL_BYTES: usize = 2048;

/// The label of a url without a filename shows so many bytes of the url, so that the most and longest urls fit a body.
const LABEL_BYTES: usize = 80;
const NO_TEXT: &str = "(no text)";
const DATA_OMITTED: &str = "(data part over 64 KiB omitted)";

/// A client's message inside the host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inbound {
    /// At most [`BUDGET`] bytes, never empty.
    pub body: String,
    /// `{"<envelope/v1 URI>": value}`, so that nothing a client sends is ever taken for the host's own data. The
    /// value is that of the one data part, or the list of those of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Makes a body and data of the parts of a client's message. Nothing is ever fetched.
///
/// Texts are joined with a blank line, blank ones left out. After them each url stands as a markdown link in a
/// paragraph of its own. Data that takes more than [`BUDGET`] bytes as compact JSON is dropped, and the body says so.
///
/// # Errors
/// In this order: a raw part (unsupported, `parts[i]`), too many urls (`parts`), a bad one (`parts[i].url`),
/// neither text nor data, and a body of more than [`BUDGET`] bytes (both on `body`).
pub fn inbound(parts: &[Part]) -> Result<Inbound, Fault> {
    let body = body(parts, &links(parts)?);
    let data = data(parts);
    let (body, data) = match (body.is_empty(), data) {
        (true, None) => return Err(Fault::invalid("body", "expected text or data")),
        (true, data) => (NO_TEXT.to_owned(), data),
        (false, data) => (body, data),
    };
    let data = data.map(within_budget);
    let body = match data {
        Some(None) => format!("{body}\n\n{DATA_OMITTED}"),
        _ => body,
    };
    if body.len() > BUDGET {
        return Err(Fault::invalid(
            "body",
            format!("expected at most {BUDGET} bytes of text"),
        ));
    }
    Ok(Inbound {
        body,
        data: data.flatten(),
    })
}

fn body(parts: &[Part], links: &[String]) -> String {
    let texts = parts.iter().filter_map(|part| match &part.content {
        Content::Text(text) if !text::is_blank(text) => Some(text.as_str()),
        _ => None,
    });
    let paragraphs: Vec<&str> = texts.chain(links.iter().map(String::as_str)).collect();
    paragraphs.join("\n\n")
}

fn links(parts: &[Part]) -> Result<Vec<String>, Fault> {
    let raw = parts
        .iter()
        .position(|part| matches!(part.content, Content::Raw(_)));
    if let Some(index) = raw {
        let expected = "expected text, url or data: raw parts are not taken";
        return Err(Fault::new(
            FaultCode::Unsupported,
            format!("parts[{index}]"),
            expected,
        ));
    }
    let urls = || {
        parts
            .iter()
            .enumerate()
            .filter_map(|(index, part)| match &part.content {
                Content::Url(url) => Some((index, url.as_str(), part)),
                _ => None,
            })
    };
    if urls().count() > URLS_MAX {
        return Err(Fault::invalid(
            "parts",
            format!("expected at most {URLS_MAX} url parts"),
        ));
    }
    urls()
        .map(|(index, url, part)| {
            if url.len() > URL_BYTES || !is_http_url(url) {
                let expected = format!("expected an http or https address of at most {URL_BYTES} bytes");
                return Err(Fault::invalid(format!("parts[{index}].url"), expected));
            }
            let name = part.filename.as_deref().filter(|name| !text::is_blank(name));
            Ok(match (name, text::prefix_within(url, LABEL_BYTES)) {
                (Some(name), _) => link(name, url),
                (None, whole) if whole == url => link(url, url),
                (None, start) => link(&format!("{start}…"), url),
            })
        })
        .collect()
}

/// Whether a text is an address that a browser would open over http or https, with nothing in it that could end
/// the line or the address.
pub(crate) fn is_http_url(url: &str) -> bool {
    let parts = url.split_once(':');
    let Some((scheme, rest)) = parts.and_then(|(scheme, rest)| Some((scheme, rest.strip_prefix("//")?)))
    else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let unbroken = |c: char| !c.is_control() && !text::is_blank_char(c) && c != '\\';
    http && !host.is_empty() && url.chars().all(unbroken)
}

/// A markdown link whose label and address cannot end it early.
fn link(label: &str, url: &str) -> String {
    let mut link = String::from("[");
    for c in label.chars() {
        if text::is_line_break(c) || c.is_control() {
            link.push(' ');
            continue;
        }
        if c.is_ascii_punctuation() && !matches!(c, '.' | ',' | '-' | '/' | ':') {
            link.push('\\');
        }
        link.push(c);
    }
    link.push_str("](");
    for c in url.chars() {
        match c {
            '(' => link.push_str("%28"),
            ')' => link.push_str("%29"),
            '<' => link.push_str("%3C"),
            '>' => link.push_str("%3E"),
            '"' => link.push_str("%22"),
            '\'' => link.push_str("%27"),
            '`' => link.push_str("%60"),
            c => link.push(c),
        }
    }
    link.push(')');
    link
}

/// The value of the data part, or the list of those of several.
fn data(parts: &[Part]) -> Option<Value> {
    let mut values = parts.iter().filter_map(|part| match &part.content {
        Content::Data(value) => Some(value),
        _ => None,
    });
    let first = values.next()?.clone();
    let mut list = vec![first];
    list.extend(values.cloned());
    match <[Value; 1]>::try_from(list) {
        Ok([only]) => Some(only),
        Err(several) => Some(Value::Array(several)),
    }
}

/// The data under the envelope's URI, unless it is too large.
fn within_budget(data: Value) -> Option<Value> {
    let fits = json::compact_len(&data) <= BUDGET;
    fits.then(|| Value::Object(Map::from_iter([(ENVELOPE_URI.to_owned(), data)])))
}

/// The text door of [`inbound`]: a message with `parts` as JSON in, `{"body","data"?}` as `result` out.
#[must_use]
pub fn inbound_json(message: &str) -> String {
    let read = |message: Value| {
        let mut decoder = Decoder::new();
        let parts = match decoder.object(&message, "message") {
            Some(message) => decoder.parts(message, "message"),
            None => Vec::new(),
        };
        decoder.finish(parts).map_err(|violations| {
            let first = violations.into_iter().next();
            first.map_or_else(
                || Fault::invalid("message.parts", "expected parts"),
                |first| Fault::invalid(first.field, first.description),
            )
        })
    };
    let outcome = verdict::read(message, "message").and_then(read);
    verdict::answer(outcome.and_then(|parts| inbound(&parts)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_cannot_be_ended_early() {
        assert_eq!(
            link("a](https://evil) [b\n*c*", "https://x.example/(a)<b>"),
            r"[a\]\(https://evil\) \[b \*c\*](https://x.example/%28a%29%3Cb%3E)"
        );
    }

    #[test]
    fn only_http_addresses_with_a_host_are_taken() {
        for (url, taken) in [
            ("http://a", true),
            ("HTTPS://a.example/b?c#d", true),
            ("https://é.example/€", true),
            ("https://[::1]:80/", true),
            ("https://", false),
            ("https:///a", false),
            ("https://?a", false),
            ("ftp://a", false),
            ("javascript:alert(1)", false),
            ("//a", false),
            ("https://a b", false),
            ("https://a\n", false),
            ("https://a\u{2028}", false),
            ("https://a\\b", false),
            ("", false),
        ] {
            assert_eq!(is_http_url(url), taken, "{url:?}");
        }
    }
}
