//! Documents that a deployment publishes beside its card, such as what the card's `documentationUrl` and `iconUrl` lead to:
//! for everybody, without a token. They are for hosts that have them; elsewhere nothing is at their paths.

use http::{Request, Response};

use super::answer;
use super::conditional::Kept;

/// The longest name, in bytes.
const NAME_LIMIT: usize = 100;

/// The media types of documents, by how their names end. What ends otherwise is bytes.
const TYPES: [(&str, &str); 11] = [
    (".css", "text/css; charset=utf-8"),
    (".html", "text/html; charset=utf-8"),
    (".jpg", "image/jpeg"),
    (".json", "application/json"),
    (".md", "text/markdown; charset=utf-8"),
    (".pdf", "application/pdf"),
    (".png", "image/png"),
    (".svg", "image/svg+xml"),
    (".txt", "text/plain; charset=utf-8"),
    (".webp", "image/webp"),
    (".yaml", "application/yaml"),
];

/// Whether a segment of a path names a document: 1 to 100 letters, digits, `-`, `_` and `.`, the first of them no `.`.
#[must_use]
pub fn is_name(segment: &str) -> bool {
    (1..=NAME_LIMIT).contains(&segment.len())
        && !segment.starts_with('.')
        && segment
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// The answer to a request for a document, unless what the client kept still holds. A browser runs nothing that is in it:
/// it is shown at the agent's own address.
#[must_use]
pub fn answer<B>(name: &str, content: Vec<u8>, request: &Request<B>) -> Response<Vec<u8>> {
    let known = TYPES.iter().find(|(end, _)| name.ends_with(end));
    let media_type = known.map_or("application/octet-stream", |(_, media_type)| media_type);
    let mut whole = Response::new(content);
    answer::set(&mut whole, "content-type", media_type);
    answer::set(&mut whole, "content-security-policy", "sandbox");
    answer::set(&mut whole, "x-content-type-options", "nosniff");
    answer::to(request.method(), Kept::new(whole, None).answer(request.headers()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_plain_segment() {
        for good in ["a", "guide.md", "Guide-2_1.tar.gz", "a..b", &"n".repeat(100)] {
            assert!(is_name(good), "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            ".env",
            "a/b",
            "a b",
            "é",
            "a%2fb",
            "a:b",
            &"n".repeat(101),
        ] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_document_is_of_the_type_that_its_name_ends_with_and_runs_nothing() {
        for (name, media_type) in [
            ("guide.md", "text/markdown; charset=utf-8"),
            ("icon.svg", "image/svg+xml"),
            ("guide", "application/octet-stream"),
            ("md", "application/octet-stream"),
        ] {
            let answer = answer(name, b"text".to_vec(), &Request::new(()));
            let headers = answer.headers();
            assert_eq!(headers["content-type"], media_type, "{name}");
            assert_eq!(headers["content-security-policy"], "sandbox");
            assert_eq!(headers["x-content-type-options"], "nosniff");
            assert_eq!(headers["cache-control"], "public, max-age=300");
            assert_eq!(answer.body(), b"text");
        }
    }

    #[test]
    fn what_a_client_kept_is_not_sent_again_and_a_head_has_no_body() {
        let ask = |name: &str, value: &str| {
            let request = Request::head("/documents/guide.md").header(name, value);
            answer("guide.md", b"text".to_vec(), &request.body(()).unwrap())
        };
        let first = ask("x-a", "1");
        assert!(first.body().is_empty());
        assert_eq!(
            (first.status().as_u16(), &first.headers()["content-length"]),
            (200, &"4".parse().unwrap())
        );
        let tag = first.headers()["etag"].to_str().unwrap();
        assert_eq!(ask("if-none-match", tag).status(), 304);
        assert_eq!(ask("if-none-match", "\"another\"").status(), 200);
    }
}
