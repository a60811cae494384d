//! The `A2A-Extensions` header: what a client asks for, and what the answer says is active
//! (A2A 1.0, §3.2.6 and §14.2.2).

use std::collections::BTreeSet;
use std::fmt;

/// The name of the header; HTTP does not tell upper case from lower.
pub const NAME: &str = "a2a-extensions";

/// The URIs that the header's values name, each once, in the order of their first mention.
///
/// A header may come several times, and each value is a comma-separated list. Spaces and tabs around an entry are
/// dropped, and so is an entry that is empty or not UTF-8. The time this takes is that of a sort.
#[must_use]
pub fn parse<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Vec<String> {
    let mut uris = Distinct::default();
    for value in values {
        uris.add_header(value.as_ref());
    }
    uris.ordered
}

/// Everything that a request asks for: the header's URIs, then those of `message.extensions` that are not among
/// them (dispatch, §4). The latter are taken as they are, without looking for commas.
#[must_use]
pub fn requested<V: AsRef<[u8]>>(
    header_values: impl IntoIterator<Item = V>,
    message_extensions: &[String],
) -> Vec<String> {
    let mut uris = Distinct::default();
    for value in header_values {
        uris.add_header(value.as_ref());
    }
    for uri in message_extensions {
        uris.add(uri);
    }
    uris.ordered
}

/// The header's value for these URIs; none, and so no header, when there are none.
#[must_use]
pub fn format<U: AsRef<str>>(uris: impl IntoIterator<Item = U>) -> Option<String> {
    let mut uris = uris.into_iter();
    let mut value = uris.next()?.as_ref().to_owned();
    for uri in uris {
        value.push(',');
        value.push_str(uri.as_ref());
    }
    Some(value)
}

/// Holds a URI to what can stand in the header: visible ASCII without a comma, not empty.
///
/// # Errors
/// The URI, when it can't.
pub fn check_uri(uri: &str) -> Result<(), Unrequestable> {
    let fits = |byte: u8| byte.is_ascii_graphic() && byte != b',';
    if !uri.is_empty() && uri.bytes().all(fits) {
        Ok(())
    } else {
        Err(Unrequestable(uri.to_owned()))
    }
}

/// A URI that cannot stand in the header, so that nobody could ever ask for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrequestable(pub String);

impl fmt::Display for Unrequestable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(uri) = self;
        write!(
            out,
            "extension URI {uri:?}: expected visible ASCII without a comma, not empty"
        )
    }
}

impl std::error::Error for Unrequestable {}

/// Keeps the first of each, in order.
#[derive(Default)]
pub(super) struct Distinct {
    seen: BTreeSet<String>,
    pub(super) ordered: Vec<String>,
}

impl Distinct {
    pub(super) fn add(&mut self, uri: &str) {
        if !uri.is_empty() && self.seen.insert(uri.to_owned()) {
            self.ordered.push(uri.to_owned());
        }
    }

    fn add_header(&mut self, value: &[u8]) {
        for entry in value.split(|byte| *byte == b',') {
            if let Ok(uri) = std::str::from_utf8(trim(entry)) {
                self.add(uri);
            }
        }
    }
}

/// Without HTTP's optional white space, which is spaces and tabs (RFC 9110, §5.6.3).
const fn trim(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const NO_VALUES: [&str; 0] = [];

    #[test]
    fn several_values_are_split_at_commas() {
        assert_eq!(parse(["urn:a,urn:b", "urn:c"]), ["urn:a", "urn:b", "urn:c"]);
    }

    #[test]
    fn spaces_and_tabs_around_an_entry_are_dropped() {
        assert_eq!(parse(["\t urn:a \t,  urn:b"]), ["urn:a", "urn:b"]);
    }

    #[test]
    fn other_white_space_belongs_to_the_entry() {
        assert_eq!(parse(["urn:a\u{A0}"]), ["urn:a\u{A0}"]);
    }

    #[test]
    fn empty_entries_are_dropped() {
        assert_eq!(parse(["", ", ,urn:a,,", " \t"]), ["urn:a"]);
    }

    #[test]
    fn no_header_asks_for_nothing() {
        assert!(parse(NO_VALUES).is_empty());
    }

    #[test]
    fn duplicates_are_dropped_and_the_first_mention_gives_the_order() {
        assert_eq!(
            parse(["urn:b,urn:a", "urn:b", "urn:c,urn:a"]),
            ["urn:b", "urn:a", "urn:c"]
        );
    }

    #[test]
    fn entries_that_differ_in_case_or_by_a_slash_are_different() {
        assert_eq!(parse(["urn:a,urn:A,urn:a/"]), ["urn:a", "urn:A", "urn:a/"]);
    }

    #[test]
    fn an_entry_that_is_no_utf8_is_dropped_and_its_neighbours_stay() {
        assert_eq!(parse([b"urn:a,\xFF,urn:b"]), ["urn:a", "urn:b"]);
    }

    #[test]
    fn the_values_of_an_http_header_are_taken_as_they_are() {
        let mut headers = http::HeaderMap::new();
        headers.append(NAME, http::HeaderValue::from_static("urn:a, urn:b"));
        headers.append("A2A-Extensions", http::HeaderValue::from_static("urn:c"));
        assert_eq!(parse(headers.get_all(NAME)), ["urn:a", "urn:b", "urn:c"]);
    }

    #[test]
    fn the_header_comes_before_the_message_and_their_union_has_no_duplicates() {
        let message = ["urn:c", "urn:a", "", "urn:c"].map(String::from);
        assert_eq!(requested(["urn:a,urn:b"], &message), ["urn:a", "urn:b", "urn:c"]);
    }

    #[test]
    fn a_message_alone_can_ask() {
        assert_eq!(requested(NO_VALUES, &["urn:a".into()]), ["urn:a"]);
    }

    #[test]
    fn a_message_names_uris_exactly() {
        let message = ["urn:a,urn:b", " urn:a"].map(String::from);
        assert_eq!(requested(NO_VALUES, &message), message);
    }

    #[test]
    fn nothing_active_means_no_header() {
        assert_eq!(format(NO_VALUES), None);
        assert_eq!(format(["urn:a", "urn:b"]).as_deref(), Some("urn:a,urn:b"));
    }

    #[test]
    fn only_visible_ascii_without_a_comma_can_be_named() {
        for uri in ["urn:a", "https://example.com/x?y=z#1", "!", "~"] {
            assert_eq!(check_uri(uri), Ok(()));
        }
        for uri in [
            "",
            "urn:a,b",
            "urn:a b",
            " urn:a",
            "urn:a\n",
            "urn:a\u{7F}",
            "urn:é",
        ] {
            assert_eq!(check_uri(uri), Err(Unrequestable(uri.into())));
        }
    }

    #[test]
    fn a_hundred_thousand_entries_are_read_without_growing_quadratically() {
        let many: Vec<String> = (0..100_000).map(|number| format!("urn:{number}")).collect();
        let header = format(&many).unwrap();
        assert_eq!(parse([&header, &header]), many);
        assert_eq!(requested([&header], &many), many);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_in_order_and_without_duplicates(
            values in vec(vec(prop_oneof![Just(b','), Just(b' '), Just(b'\t'), Just(b'a'), any::<u8>()], 0..40), 0..5),
        ) {
            let uris = parse(&values);
            let mut distinct = uris.clone();
            distinct.sort();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), uris.len());

            // Each stands further to the right than the one before it when looking for first mentions.
            let entries: Vec<&[u8]> = values.iter().flat_map(|value| value.split(|b| *b == b',')).map(trim).collect();
            let firsts: Vec<usize> = uris.iter()
                .map(|uri| entries.iter().position(|entry| *entry == uri.as_bytes()).unwrap())
                .collect();
            prop_assert!(firsts.is_sorted());

            let named = entries.iter().filter_map(|entry| std::str::from_utf8(entry).ok());
            for entry in named.filter(|entry| !entry.is_empty()) {
                prop_assert!(uris.iter().any(|uri| uri == entry));
            }
        }

        #[test]
        fn what_is_formatted_is_read_back(uris in vec("[!-+\\--~]{1,12}", 0..8)) {
            let mut distinct = Distinct::default();
            uris.iter().for_each(|uri| distinct.add(uri));
            prop_assert_eq!(parse(format(&distinct.ordered)), distinct.ordered);
        }
    }
}
