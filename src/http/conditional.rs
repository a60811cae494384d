//! Answers that a client may keep, and asking whether what it kept still holds (RFC 9110, §8.8 and §13).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderName, Response, StatusCode, header};
use sha2::{Digest as _, Sha256};

use super::{answer, date};
use crate::time::Timestamp;

/// How long a card, or what is published beside it, may be kept before it is asked for again (A2A 1.0, §8.6).
pub const KEEP: &str = "public, max-age=300";

/// How many bytes of the digest make a tag: nobody finds two answers with the same.
const TAG_BYTES: usize = 18;

/// What tells one state of an answer from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validators {
    /// A strong entity tag, quotes included.
    etag: String,
    /// When the answer last changed, where that is known.
    modified: Option<Timestamp>,
}

impl Validators {
    /// Those of an answer with these bytes.
    #[must_use]
    pub fn of(bytes: &[u8], modified: Option<Timestamp>) -> Self {
        let digest = Sha256::digest(bytes);
        let tag = URL_SAFE_NO_PAD.encode(digest.get(..TAG_BYTES).unwrap_or_default());
        Self {
            etag: format!("\"{tag}\""),
            modified,
        }
    }

    /// Whether what a client kept is what it would be given. `If-Modified-Since` counts only without
    /// `If-None-Match` (RFC 9110, §13.2.2).
    #[must_use]
    pub fn hold(&self, headers: &HeaderMap) -> bool {
        if headers.contains_key(header::IF_NONE_MATCH) {
            return self.is_listed(headers);
        }
        let since = only(headers, &header::IF_MODIFIED_SINCE);
        self.modified.zip(since).is_some_and(|(modified, since)| {
            // Dates have no part of a second.
            let modified = modified.as_millis().div_euclid(1_000);
            date::parse(since, self.modified.unwrap_or_default())
                .is_some_and(|since| modified <= since.as_millis().div_euclid(1_000))
        })
    }

    /// Whether `If-None-Match` names the tag, weakly compared, or any that there is.
    fn is_listed(&self, headers: &HeaderMap) -> bool {
        let values = headers.get_all(header::IF_NONE_MATCH).iter();
        values
            .filter_map(|value| value.to_str().ok())
            .any(|list| list.trim() == "*" || tags(list).any(|tag| tag == self.etag))
    }
}

/// An answer that clients may keep, made before anybody asks for it.
#[derive(Clone, Debug)]
pub struct Kept {
    whole: Response<Vec<u8>>,
    validators: Validators,
}

impl Kept {
    /// This answer, which last changed then, where that is known.
    #[must_use]
    pub fn new(whole: Response<Vec<u8>>, modified: Option<Timestamp>) -> Self {
        Self {
            validators: Validators::of(whole.body(), modified),
            whole,
        }
    }

    /// The answer with its validators and for how [long](KEEP) it may be kept, or 304 without a body where what the client
    /// kept still holds.
    #[must_use]
    pub fn answer(&self, headers: &HeaderMap) -> Response<Vec<u8>> {
        let Self { whole, validators } = self;
        let mut response = if validators.hold(headers) {
            let mut unchanged = Response::new(Vec::new());
            *unchanged.status_mut() = StatusCode::NOT_MODIFIED;
            unchanged
        } else {
            let mut whole = whole.clone();
            if let Some(modified) = validators.modified {
                answer::set(&mut whole, "last-modified", &date::format(modified));
            }
            whole
        };
        answer::set(&mut response, "etag", &validators.etag);
        answer::set(&mut response, "cache-control", KEEP);
        response
    }
}

/// The value of a header that comes once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// The tags of a list without what marks them as weak, up to where it is no list of tags any more. Their quotes stay:
/// a tag may hold a comma.
fn tags(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = list;
    std::iter::from_fn(move || {
        let start = rest.trim_start_matches([',', ' ', '\t']);
        let start = start.strip_prefix("W/").unwrap_or(start);
        let inner = start.strip_prefix('"')?;
        let length = inner.find('"')?.saturating_add(2);
        let (tag, after) = start.split_at_checked(length)?;
        rest = after;
        Some(tag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(lines: &[(&'static str, &str)]) -> bool {
        let modified = "2026-07-17T01:00:00.900Z".parse().unwrap();
        let mut validators = Validators::of(b"card", Some(modified));
        validators.etag = "\"tag,1\"".to_owned();
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        validators.hold(&headers)
    }

    #[test]
    fn a_tag_is_found_in_lists_weakly_compared_and_any_is_there() {
        for list in [
            "\"tag,1\"",
            "W/\"tag,1\"",
            "\"a\", W/\"b\",\t\"tag,1\"",
            ",, \"tag,1\"",
            "*",
            " * ",
        ] {
            assert!(holds(&[("if-none-match", list)]), "{list}");
        }
        for list in [
            "",
            "\"tag\"",
            "tag,1",
            "\"tag,1",
            "w/\"tag,1\"",
            "\"a\" x \"tag,1\"",
            "\"*\"",
            "\"TAG,1\"",
        ] {
            assert!(!holds(&[("if-none-match", list)]), "{list}");
        }
        assert!(holds(&[
            ("if-none-match", "\"a\""),
            ("if-none-match", "\"tag,1\"")
        ]));
    }

    #[test]
    fn a_date_counts_to_the_second_and_only_without_a_tag() {
        let since = "if-modified-since";
        assert!(holds(&[(since, "Fri, 17 Jul 2026 01:00:00 GMT")]));
        assert!(!holds(&[(since, "Fri, 17 Jul 2026 00:59:59 GMT")]));
        assert!(holds(&[(since, "Friday, 17-Jul-26 01:00:00 GMT")]));
        assert!(!holds(&[(since, "yesterday")]));
        let date = (since, "Fri, 17 Jul 2026 01:00:00 GMT");
        assert!(!holds(&[date, ("if-none-match", "\"other\"")]));
        assert!(!holds(&[date, date]));
        assert!(holds(&[
            ("if-none-match", "\"tag,1\""),
            (since, "Thu, 01 Jan 1970 00:00:00 GMT")
        ]));
    }

    #[test]
    fn without_a_time_no_date_holds() {
        let validators = Validators::of(b"card", None);
        let mut headers = HeaderMap::new();
        headers.insert(
            "if-modified-since",
            "Fri, 17 Jul 2026 01:00:00 GMT".parse().unwrap(),
        );
        assert!(!validators.hold(&headers));
    }

    #[test]
    fn other_bytes_have_another_tag() {
        let tag = |bytes: &[u8]| Validators::of(bytes, None).etag;
        assert_eq!(tag(b"a"), tag(b"a"));
        assert_ne!(tag(b"a"), tag(b"b"));
        assert_eq!(tag(b"a").len(), 26);
    }
}
