//! Addresses: `human:`, `agent:`, `task:`, `run:`, `channel:` and `a2a:` for a peer.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::envelope::{RECIPIENT_BYTES, RECIPIENTS_MAX};
use super::field::{Null, Object, Path};
use super::verdict::{self, Fault};

/// A peer's alias: at most so many characters, all of them ASCII.
pub const ALIAS_MAX: usize = 40;

/// Whom a message is for or from.
///
/// As JSON: `{"kind","alias","address"}` for a peer; for the others `handle` (`human`, `agent`, with `owner` for
/// an agent that has one), `id` (`task`, `run`) or `name` (`channel`) stands in the place of `alias`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address<'a> {
    /// `human:wyat`
    Human(&'a str),
    /// `agent:dispatch`, or `agent:wyat/a2a.acme`
    Agent {
        /// Whose agent it is.
        owner: Option<&'a str>,
        /// Its handle.
        handle: &'a str,
    },
    /// `task:t-4a8cce`
    Task(&'a str),
    /// `run:r-9f2c01`: a live session of an agent.
    Run(&'a str),
    /// `channel:ops`
    Channel(&'a str),
    /// `a2a:acme.research`: a peer on another host, by its alias.
    Peer(&'a str),
}

/// A handle: lower-case ASCII letters, digits, `.`, `_` and `-`, beginning with a letter or digit.
fn is_handle(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
}

/// An id: what stands in a URL without escaping.
fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'-'))
}

impl<'a> Address<'a> {
    /// Reads an address of at most [`RECIPIENT_BYTES`].
    ///
    /// # Errors
    /// What was expected: a known scheme, and after it a handle, an id or an alias.
    pub fn parse(text: &'a str) -> Result<Self, &'static str> {
        const HANDLE: &str = "expected lower-case letters, digits, '.', '_' and '-', a letter or digit first";
        if text.len() > RECIPIENT_BYTES {
            return Err("expected an address of at most 512 bytes");
        }
        let (scheme, rest) = text.split_once(':').unwrap_or_default();
        let handle = |handle| {
            if is_handle(handle) {
                Ok(handle)
            } else {
                Err(HANDLE)
            }
        };
        let id = |id| {
            if is_id(id) {
                Ok(id)
            } else {
                Err("expected letters, digits, '.', '_', '~' and '-'")
            }
        };
        match scheme {
            "human" => handle(rest).map(Self::Human),
            "agent" => {
                let (owner, name) = match rest.split_once('/') {
                    Some((owner, name)) => (Some(handle(owner)?), name),
                    None => (None, rest),
                };
                handle(name).map(|handle| Self::Agent { owner, handle })
            }
            "task" => id(rest).map(Self::Task),
            "run" => id(rest).map(Self::Run),
            "channel" => handle(rest).map(Self::Channel),
            "a2a" if rest.len() > ALIAS_MAX => Err("expected an alias of at most 40 characters"),
            "a2a" => handle(rest).map(Self::Peer),
            _ => Err("expected an address that begins with human:, agent:, task:, run:, channel: or a2a:"),
        }
    }

    const fn parts(&self) -> (&'static str, &'static str, &'a str) {
        match *self {
            Self::Human(handle) => ("human", "handle", handle),
            Self::Agent { handle, .. } => ("agent", "handle", handle),
            Self::Task(id) => ("task", "id", id),
            Self::Run(id) => ("run", "id", id),
            Self::Channel(name) => ("channel", "name", name),
            Self::Peer(alias) => ("a2a", "alias", alias),
        }
    }

    const fn owner(&self) -> Option<&'a str> {
        match *self {
            Self::Agent { owner, .. } => owner,
            _ => None,
        }
    }
}

impl fmt::Display for Address<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, _, name) = self.parts();
        match self.owner() {
            Some(owner) => write!(out, "{kind}:{owner}/{name}"),
            None => write!(out, "{kind}:{name}"),
        }
    }
}

impl Serialize for Address<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, member, name) = self.parts();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", kind)?;
        if let Some(owner) = self.owner() {
            map.serialize_entry("owner", owner)?;
        }
        map.serialize_entry(member, name)?;
        map.serialize_entry("address", &format_args!("{self}"))?;
        map.end()
    }
}

/// Reads the recipients of a message inside the host, its `to`: one to [`RECIPIENTS_MAX`] addresses.
///
/// # Errors
/// A fault on `to`, or on the first address that is none, `to[1]`.
pub fn recipients(message: &Value) -> Result<Vec<Address<'_>>, Fault> {
    let message = Object::read(message, Path::Root("message"), Null::Value)?.named("");
    let to = message.list("to", RECIPIENTS_MAX, |value, path| {
        let text = value.as_str().unwrap_or_default();
        Address::parse(text).map_err(|expected| path.fault(expected))
    })?;
    if to.is_empty() {
        return Err(message.fault("to", "expected at least one address"));
    }
    Ok(to)
}

/// The text door of [`Address::parse`]: an address (no JSON) in, its parts as `result` out.
#[must_use]
pub fn parse_json(address: &str) -> String {
    verdict::answer(Address::parse(address).map_err(|expected| Fault::invalid("address", expected)))
}

/// The text door of [`recipients`]: a message with `to` as JSON in, `{"ok":true}` or the fault out.
#[must_use]
pub fn recipients_json(message: &str) -> String {
    let outcome = verdict::read(message, "message").and_then(|message| recipients(&message).map(|_| ()));
    verdict::verdict(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written_back() {
        for (text, address) in [
            ("human:wyat", Address::Human("wyat")),
            (
                "agent:dispatch",
                Address::Agent {
                    owner: None,
                    handle: "dispatch",
                },
            ),
            (
                "agent:wyat/a2a.acme",
                Address::Agent {
                    owner: Some("wyat"),
                    handle: "a2a.acme",
                },
            ),
            ("task:t-4a8cce", Address::Task("t-4a8cce")),
            ("run:R_9~f", Address::Run("R_9~f")),
            ("channel:ops", Address::Channel("ops")),
            ("a2a:acme.research", Address::Peer("acme.research")),
        ] {
            assert_eq!(Address::parse(text), Ok(address));
            assert_eq!(address.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "human",
            "human:",
            "human:Wyat",
            "human:w/y",
            "agent:/x",
            "agent:a/",
            "agent:a/b/c",
            "task:",
            "task:a b",
            "run:a/b",
            "channel:",
            "mail:x",
            "a2a:é",
            "human:\u{2028}",
            ":x",
        ] {
            assert!(Address::parse(text).is_err(), "{text:?}");
        }
        assert!(Address::parse(&format!("human:{}", "x".repeat(506))).is_ok());
        assert!(Address::parse(&format!("human:{}", "x".repeat(507))).is_err());
    }

    #[test]
    fn the_text_door_shows_the_parts_in_order() {
        assert_eq!(
            parse_json("agent:wyat/a2a.acme"),
            r#"{"ok":true,"result":{"kind":"agent","owner":"wyat","handle":"a2a.acme","address":"agent:wyat/a2a.acme"}}"#
        );
        assert!(parse_json("a2a:").starts_with(r#"{"ok":false,"error":{"code":"invalid","field":"address""#));
    }

    #[test]
    fn a_message_has_one_to_fifty_recipients() {
        let to = |count: usize| serde_json::json!({"to": vec!["human:a"; count]}).to_string();
        for (count, ok) in [(0, false), (1, true), (50, true), (51, false)] {
            assert_eq!(
                recipients_json(&to(count)).contains(r#""ok":true"#),
                ok,
                "{count}"
            );
        }
        assert!(recipients_json(r#"{"to":[1]}"#).contains(r#""field":"to[0]""#));
    }
}
