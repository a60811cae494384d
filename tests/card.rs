//! The agent's card over HTTP: what of it may be kept, and for how long (A2A 1.0, §8.6).

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

#[path = "support/desk.rs"]
mod support;

use http::Request;
use support::{Bench, Reply};

const CARD: &str = "/.well-known/agent-card.json";

fn get(bench: &Bench, path: &str, headers: &[(&str, &str)]) -> Reply {
    let request = headers.iter().fold(Request::get(path), |request, (name, value)| {
        request.header(*name, *value)
    });
    bench.call(request.body(Vec::new()).unwrap())
}

#[test]
fn a_card_that_is_another_has_another_tag() {
    let mut bench = Bench::new();
    let of_session = format!("/{}{CARD}", bench.session);
    let tag = |bench: &Bench, path: &str| get(bench, path, &[]).headers["etag"].clone();
    let (plain, session) = (tag(&bench, CARD), tag(&bench, &of_session));
    assert_ne!(plain, session);
    assert_eq!(tag(&bench, CARD), plain);
    bench.wait(3_600);
    assert_eq!(tag(&bench, CARD), plain);
    let kept = [("if-none-match", plain.as_str())];
    assert_eq!(get(&bench, CARD, &kept).status, 304);
    assert_eq!(get(&bench, &of_session, &kept).status, 200);
    bench.reconfigure(|config| config.name = "another".to_owned());
    assert_ne!(tag(&bench, CARD), plain);
    assert_eq!(get(&bench, CARD, &kept).ok()["name"], "another");
}

#[test]
fn a_card_that_holds_is_not_sent_again() {
    let bench = Bench::new();
    let whole = get(&bench, CARD, &[]);
    assert_eq!(whole.headers["last-modified"], "Fri, 17 Jul 2026 01:00:00 GMT");
    assert_eq!(whole.headers["cache-control"], "public, max-age=300");
    let unchanged = get(
        &bench,
        CARD,
        &[("if-modified-since", "Fri, 17 Jul 2026 01:00:00 GMT")],
    );
    assert_eq!((unchanged.status, unchanged.body.is_null()), (304, true));
    let names: Vec<&str> = unchanged.headers.keys().map(String::as_str).collect();
    assert_eq!(names, ["cache-control", "etag"]);
    assert_eq!(unchanged.headers["etag"], whole.headers["etag"]);
}

#[test]
fn without_a_time_of_its_last_change_a_card_tells_none() {
    let mut bench = Bench::new();
    bench.reconfigure(|config| config.card_modified = None);
    let since = [("if-modified-since", "Fri, 31 Dec 9999 00:00:00 GMT")];
    let card = get(&bench, CARD, &since);
    assert_eq!(card.status, 200);
    assert!(!card.headers.contains_key("last-modified"), "{card:?}");
}

#[test]
fn what_is_no_card_is_not_kept() {
    let bench = Bench::new();
    let missing = get(&bench, &format!("/nowhere{CARD}"), &[("if-none-match", "*")]);
    assert_eq!(missing.status, 404);
    for header in ["etag", "last-modified", "cache-control"] {
        assert!(!missing.headers.contains_key(header), "{missing:?}");
    }
}
