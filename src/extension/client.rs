//! The client side: asking for extensions and learning which of them ran.

use std::collections::BTreeSet;

use super::Registry;
use super::header::{self, Distinct, Unrequestable};

/// The extensions that a client asks for with every call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    uris: Vec<String>,
}

impl Wanted {
    /// These URIs, in order, each once.
    ///
    /// # Errors
    /// The first that cannot stand in the header (see [`header::check_uri`]).
    pub fn new<U: AsRef<str>>(uris: impl IntoIterator<Item = U>) -> Result<Self, Unrequestable> {
        Self::default().and(uris)
    }

    /// Every extension of a registry.
    #[must_use]
    pub fn all_of(registry: &Registry) -> Self {
        Self {
            uris: registry.declared_uris().map(str::to_owned).collect(),
        }
    }

    /// These and, after them, the ones that the caller adds for a single call.
    ///
    /// # Errors
    /// The first that cannot stand in the header.
    pub fn and<U: AsRef<str>>(&self, more: impl IntoIterator<Item = U>) -> Result<Self, Unrequestable> {
        let mut uris = Distinct::default();
        self.uris.iter().for_each(|uri| uris.add(uri));
        for uri in more {
            let uri = uri.as_ref();
            header::check_uri(uri)?;
            uris.add(uri);
        }
        Ok(Self { uris: uris.ordered })
    }

    /// The URIs, in the order they are sent.
    #[must_use]
    pub fn uris(&self) -> &[String] {
        &self.uris
    }

    /// The value of the request's `A2A-Extensions` header; none, and so no header, when nothing is wanted.
    #[must_use]
    pub fn header(&self) -> Option<String> {
        header::format(&self.uris)
    }

    /// Which of the wanted extensions ran, from the answer's `A2A-Extensions` values.
    ///
    /// One that the answer does not name was not activated, and the client must do without it (session
    /// coordination, §8). One that was never asked for is ignored.
    #[must_use]
    pub fn echoed<V: AsRef<[u8]>>(&self, values: impl IntoIterator<Item = V>) -> Activated {
        let echoed: BTreeSet<String> = header::parse(values).into_iter().collect();
        let ran = self.uris.iter().filter(|uri| echoed.contains(*uri));
        Activated {
            uris: ran.cloned().collect(),
        }
    }
}

/// The extensions that a client asked for and that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activated {
    uris: Vec<String>,
}

impl Activated {
    /// Whether the extension of this URI ran.
    #[must_use]
    pub fn activated(&self, uri: &str) -> bool {
        self.uris.iter().any(|ran| ran == uri)
    }

    /// All that ran, in the order they were asked for.
    #[must_use]
    pub fn uris(&self) -> &[String] {
        &self.uris
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::fixtures::declared;

    const NOTHING: [&str; 0] = [];

    #[test]
    fn the_configured_uris_are_sent_in_order_and_once() {
        let wanted = Wanted::new(["urn:b", "urn:a", "urn:b"]).unwrap();
        assert_eq!(wanted.header().as_deref(), Some("urn:b,urn:a"));
    }

    #[test]
    fn a_client_that_wants_nothing_sends_no_header() {
        assert_eq!(Wanted::default().header(), None);
    }

    #[test]
    fn a_callers_own_uris_come_after_the_configured_ones_for_that_call_only() {
        let wanted = Wanted::new(["urn:a"]).unwrap();
        let call = wanted.and(["urn:c", "urn:a"]).unwrap();
        assert_eq!(call.uris(), ["urn:a", "urn:c"]);
        assert_eq!(wanted.uris(), ["urn:a"]);
    }

    #[test]
    fn a_uri_that_would_break_the_header_is_refused() {
        for bad in ["", "urn:a,urn:b", "urn:a b", "urn:a\r\nx-evil: 1"] {
            assert_eq!(Wanted::new(["urn:a", bad]), Err(Unrequestable(bad.into())));
        }
    }

    #[test]
    fn a_client_can_want_all_of_a_registry() {
        let registry = Registry::builder()
            .with(declared("urn:b"))
            .with(declared("urn:a"));
        let wanted = Wanted::all_of(&registry.build().unwrap());
        assert_eq!(wanted.uris(), ["urn:b", "urn:a"]);
    }

    #[test]
    fn the_echo_tells_which_ran() {
        let wanted = Wanted::new(["urn:a", "urn:b", "urn:c"]).unwrap();
        let ran = wanted.echoed(["urn:c , urn:a"]);
        assert!(ran.activated("urn:a"));
        assert!(!ran.activated("urn:b"));
        assert_eq!(ran.uris(), ["urn:a", "urn:c"]);
    }

    #[test]
    fn an_answer_without_the_header_activated_nothing() {
        let ran = Wanted::new(["urn:a"]).unwrap().echoed(NOTHING);
        assert!(!ran.activated("urn:a"));
        assert_eq!(ran, Activated::default());
    }

    #[test]
    fn an_echo_of_what_was_never_asked_for_is_ignored() {
        let ran = Wanted::new(["urn:a/v1"]).unwrap().echoed(["urn:a/v2", "urn:z"]);
        assert_eq!(ran.uris(), NOTHING);
        assert!(!ran.activated("urn:z"));
    }
}
