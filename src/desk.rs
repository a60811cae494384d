//! What one deployment is configured to be: its name, its address, its extensions.

pub mod settings;

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use http::{Request, Uri};
use serde_json::{Value, json};

use crate::a2a::card::AgentExtension;
#[cfg(feature = "card-signing")]
use crate::agent::card::CardKey;
use crate::agent::card::{self, Document};
use crate::coordination::{self, catalogue};
use crate::dispatch::{ENVELOPE_URI, GATE_URI, WORK_URI};
use crate::extension::timestamp::TimestampExtension;
use crate::extension::{Builder, Extension, Operation, Operations, Registry, RegistryError};
use crate::guard::Reach;
use crate::http::conditional::Kept;
use crate::http::cors::{Grant, Origins};
use crate::session::SessionLimits;
use crate::session::credential::{SecretDigest, is_session_id};
use crate::time::Timestamp;

/// The longest a blocking send waits unless configured otherwise, in milliseconds.
pub const BLOCKING_LIMIT_MS: u32 = 60_000;

/// How long a stream is silent unless configured otherwise, in milliseconds: less than the minute that proxies grant.
pub const KEEP_ALIVE_MS: u32 = 15_000;

/// The settings of a deployment.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where clients reach the agent: absolute, without a trailing slash.
    pub base_url: String,
    /// The agent's name on its card.
    pub name: String,
    /// What the agent is for, on its card.
    pub description: String,
    /// The agent's own version, on its card.
    pub version: String,
    /// What the card says instead, and beside it.
    pub card: Document,
    /// Media types that messages may have parts of, beside `text/plain` and `application/json`; ranges such as `image/*`
    /// too.
    pub input_modes: Vec<String>,
    /// The key that signs the card; without one it has no signature.
    #[cfg(feature = "card-signing")]
    pub card_key: Option<CardKey>,
    /// Whom callers without a credential act as; without one they are refused.
    pub anonymous: Option<Anonymous>,
    /// When the card last changed, as its `Last-Modified` tells: for as long as a host serves these settings it must
    /// stay the same. `None`: nothing is told.
    pub card_modified: Option<Timestamp>,
    /// The pages of other origins that a browser lets call.
    pub allowed_origins: Origins,
    /// The operator's token, which creates sessions; without one no session is created over HTTP.
    pub operator_token: Option<String>,
    /// The longest a blocking send waits, in milliseconds.
    pub blocking_limit_ms: u32,
    /// Whether the agent offers streams about its tasks.
    pub streaming: bool,
    /// How long a stream is silent before a comment says that it is still there, in milliseconds.
    pub keep_alive_ms: u32,
    /// How far push notifications reach; none: the agent offers no push notifications. For hosts that deliver them
    /// ([`serve::deliver`](crate::serve::deliver)).
    pub webhooks: Option<Reach>,
    /// How much each session may hold.
    pub limits: SessionLimits,
    /// What an extension is configured with that is composed into the desk's component; for those alone.
    pub extension_options: Option<Value>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            base_url: "http://127.0.0.1:8420".to_owned(),
            name: "a2a-edge".to_owned(),
            description: "A task desk: takes questions and handoffs of work, and tells how they stand"
                .to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            card: Document::default(),
            input_modes: Vec::new(),
            #[cfg(feature = "card-signing")]
            card_key: None,
            anonymous: None,
            card_modified: None,
            allowed_origins: Origins::None,
            operator_token: None,
            blocking_limit_ms: BLOCKING_LIMIT_MS,
            streaming: true,
            keep_alive_ms: KEEP_ALIVE_MS,
            webhooks: None,
            limits: SessionLimits::default(),
            extension_options: None,
        }
    }
}

/// One client of one session, as whom callers without a credential act. They may use the core operations; those of the
/// extensions, the owner's verbs and the extended card need a credential all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anonymous {
    /// The session.
    pub session_id: String,
    /// The participant, which must be a client.
    pub participant_id: String,
}

impl FromStr for Anonymous {
    type Err = &'static str;

    /// Reads `SESSION/PARTICIPANT`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let ids = text.split_once('/');
        let found = ids.filter(|(session, participant)| is_session_id(session) && is_session_id(participant));
        let (session_id, participant_id) = found.ok_or("expected SESSION/PARTICIPANT, two ids")?;
        Ok(Self {
            session_id: session_id.to_owned(),
            participant_id: participant_id.to_owned(),
        })
    }
}

/// Whether a text names a media type or a range of them: two tokens (RFC 9110, §5.6.2) without parameters.
fn is_media_range(text: &str) -> bool {
    let token = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        !text.is_empty() && text.bytes().all(plain)
    };
    text.len() <= 100
        && text
            .split_once('/')
            .is_some_and(|(kind, subtype)| token(kind) && token(subtype))
}

/// Whether paths can be put behind a text to make the address of something.
fn is_base_url(text: &str) -> bool {
    let Ok(url) = text.parse::<Uri>() else {
        return false;
    };
    let web = matches!(url.scheme_str(), Some("http" | "https"));
    let host = url
        .authority()
        .is_some_and(|host| !host.host().is_empty() && !host.as_str().contains('@'));
    web && host && url.query().is_none() && !text.contains('#') && !text.ends_with('/')
}

/// Whether a text arrives as it is when it is sent as a bearer token, and is too long to be guessed.
fn is_token(text: &str) -> bool {
    let printable = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    text.len() >= 32 && printable && text.trim() == text
}

/// A setting that a desk can't be made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The setting at fault.
    pub setting: &'static str,
    /// The rule it breaks.
    pub rule: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.setting, self.rule)
    }
}

impl std::error::Error for ConfigError {}

impl From<RegistryError> for ConfigError {
    fn from(error: RegistryError) -> Self {
        Self {
            setting: "extensions",
            rule: error.to_string(),
        }
    }
}

/// A deployment: its settings checked, its extensions compiled. Made once, shared by every request.
#[derive(Clone)]
pub struct Desk {
    pub(crate) config: Config,
    pub(crate) registry: Registry,
    pub(crate) operator: Option<SecretDigest>,
    /// The card of no session, once somebody has asked for it.
    pub(crate) card: OnceLock<Kept>,
}

impl Desk {
    /// A desk with the built-in extensions.
    ///
    /// # Errors
    /// The first setting at fault.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Self::with(config, built_in())
    }

    /// A desk with these extensions; [`built_in`] begins with those the desk itself speaks.
    ///
    /// # Errors
    /// The first setting at fault.
    pub fn with(config: Config, extensions: Builder) -> Result<Self, ConfigError> {
        let fault = |setting, rule: &str| {
            Err(ConfigError {
                setting,
                rule: rule.to_owned(),
            })
        };
        if !is_base_url(&config.base_url) {
            return fault(
                "base_url",
                "expected an absolute http(s) URL without user, query, fragment and a slash at its end",
            );
        }
        for (setting, text) in [
            ("name", &config.name),
            ("description", &config.description),
            ("version", &config.version),
        ] {
            if let Some(rule) = card::fault(setting, text) {
                return fault(setting, &rule);
            }
        }
        if config.input_modes.len() > 50 || !config.input_modes.iter().all(|mode| is_media_range(mode)) {
            return fault(
                "input_modes",
                "expected at most 50 media types such as text/markdown or image/*",
            );
        }
        if config
            .operator_token
            .as_ref()
            .is_some_and(|token| !is_token(token))
        {
            return fault(
                "operator_token",
                "expected at least 32 printable characters of ASCII, drawn at random, and no blank at either end",
            );
        }
        if config.extension_options.is_some() {
            return fault("extension_options", "expected none: no extension is composed in");
        }
        let registry = extensions.build()?;
        let operator = config.operator_token.as_deref().map(SecretDigest::of);
        Ok(Self {
            config,
            registry,
            operator,
            card: OnceLock::new(),
        })
    }

    /// The same desk with another document on its card: for a host that has it from elsewhere, and so does not know when
    /// the card last changed.
    #[must_use]
    pub fn showing(&self, card: Document) -> Self {
        Self {
            config: Config {
                card,
                card_modified: None,
                ..self.config.clone()
            },
            card: OnceLock::new(),
            ..self.clone()
        }
    }

    /// The settings.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// What a request's answer is to say to the browser that sent it.
    #[must_use]
    pub fn grant<B>(&self, request: &Request<B>) -> Grant {
        self.config.allowed_origins.grant(request)
    }

    /// Whether a bearer token is the operator's; takes the same time for every other of its length.
    pub(crate) fn is_operator(&self, presented: Option<&str>) -> bool {
        let presented = presented.map(SecretDigest::of);
        match (&self.operator, &presented) {
            (Some(operator), Some(presented)) => operator.matches(presented),
            _ => false,
        }
    }

    /// The extensions.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }
}

/// The extensions that the desk itself speaks, in their order: work/v1, envelope/v1, gate/v1, session coordination,
/// timestamp/v1. More may be added behind them.
#[must_use]
pub fn built_in() -> Builder {
    let data_only = |uri: &str, description: &str| AgentExtension {
        uri: uri.to_owned(),
        description: Some(description.to_owned()),
        required: false,
        params: None,
    };
    Registry::builder()
        .with(data_only(
            WORK_URI,
            "Handoffs of work, how they stand and what they yield",
        ))
        .with(data_only(
            ENVELOPE_URI,
            "Recipients, kinds, choices and references of messages",
        ))
        .with(data_only(GATE_URI, "Why a task waits for its owner"))
        .with(SessionCoordination::new())
        .with_options::<TimestampExtension>(&Value::Null)
}

/// Session coordination, as the framework sees it: operations of its own, read from the catalogue.
struct SessionCoordination {
    declaration: AgentExtension,
    operations: Operations,
}

impl SessionCoordination {
    fn new() -> Self {
        let names: Vec<Value> = catalogue::OPERATIONS
            .iter()
            .map(|operation| json!(operation.name))
            .collect();
        let list = catalogue::OPERATIONS.iter().map(|operation| {
            if operation.read_only {
                Operation::read(operation.name)
            } else {
                Operation::write(operation.name)
            }
        });
        Self {
            declaration: AgentExtension {
                uri: coordination::URI.to_owned(),
                description: Some("Coordination of the participants of a session".to_owned()),
                required: false,
                params: Some(json!({ "operations": names })),
            },
            operations: Operations {
                path: coordination::PATH.to_owned(),
                list: list.collect(),
            },
        }
    }
}

impl Extension for SessionCoordination {
    fn declaration(&self) -> &AgentExtension {
        &self.declaration
    }

    fn operations(&self) -> Option<&Operations> {
        Some(&self.operations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_anonymous_client_is_two_ids() {
        let read = |text: &str| {
            text.parse::<Anonymous>()
                .ok()
                .map(|it| (it.session_id, it.participant_id))
        };
        assert_eq!(read("s-1/p-2"), Some(("s-1".to_owned(), "p-2".to_owned())));
        for wrong in ["", "s-1", "s-1/", "/p-2", "s-1/p-2/x", "s 1/p-2", "s_1/p"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert!(read(&format!("s/{}", "p".repeat(64))).is_some());
        assert!(read(&format!("s/{}", "p".repeat(65))).is_none());
    }

    fn fault(change: impl FnOnce(&mut Config)) -> Option<&'static str> {
        let mut config = Config::default();
        change(&mut config);
        Desk::new(config).err().map(|error| error.setting)
    }

    #[test]
    fn a_setting_that_cannot_work_is_named() {
        assert_eq!(fault(|_| {}), None);
        assert_eq!(
            fault(|config| config.extension_options = Some(json!({}))),
            Some("extension_options")
        );
        for (url, wrong) in [
            ("http://edge.example:8420", false),
            ("https://edge_1.example/agents/a", false),
            ("http://[::1]:8420", false),
            ("edge.example", true),
            ("ftp://edge.example", true),
            ("https://", true),
            ("https://:8420", true),
            ("https://edge.example/", true),
            ("https://edge.example/?a", true),
            ("https://edge.example?a=1", true),
            ("https://edge.example/a#b", true),
            ("https://user@edge.example", true),
            ("https://edge.example/a b", true),
            ("https://edge.example\n", true),
        ] {
            let found = fault(|config| config.base_url = url.to_owned());
            assert_eq!(found, wrong.then_some("base_url"), "{url}");
        }
        for (modes, wrong) in [
            (
                vec!["text/markdown".to_owned(), "image/*".to_owned(), "*/*".to_owned()],
                false,
            ),
            (vec!["a/b".to_owned(); 50], false),
            (vec!["a/b".to_owned(); 51], true),
            (vec![format!("a/{}", "b".repeat(98))], false),
            (vec![format!("a/{}", "b".repeat(99))], true),
            (vec!["text".to_owned()], true),
            (vec!["text/".to_owned()], true),
            (vec!["text/plain; charset=utf-8".to_owned()], true),
        ] {
            let found = fault(|config| config.input_modes = modes.clone());
            assert_eq!(found, wrong.then_some("input_modes"), "{modes:?}");
        }
        for (token, wrong) in [
            ("x".repeat(31), true),
            ("x".repeat(32), false),
            (format!("{} {}", "x".repeat(16), "x".repeat(16)), false),
            (format!("{}\n", "x".repeat(32)), true),
            (format!(" {}", "x".repeat(32)), true),
            ("é".repeat(32), true),
        ] {
            let found = fault(|config| config.operator_token = Some(token.clone()));
            assert_eq!(found, wrong.then_some("operator_token"), "{token:?}");
        }
        for (name, wrong) in [
            ("x".repeat(80), false),
            ("x".repeat(81), true),
            (String::new(), true),
            ("a\nb".to_owned(), true),
        ] {
            for (setting, found) in [
                ("name", fault(|config| config.name.clone_from(&name))),
                ("version", fault(|config| config.version.clone_from(&name))),
            ] {
                assert_eq!(found, wrong.then_some(setting), "{name:?}");
            }
        }
        for (length, wrong) in [(2_000, false), (2_001, true), (0, true)] {
            let found = fault(|config| config.description = "x".repeat(length));
            assert_eq!(found, wrong.then_some("description"), "{length}");
        }
    }
}
