//! Settings as text, for hosts whose deployments are configured by variables: what may be set, and how it is read, is
//! the same wherever it is set.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Config, ConfigError};
#[cfg(feature = "card-signing")]
use crate::agent::card::CardKey;
use crate::agent::card::Document;
use crate::guard::Reach;
use crate::json;
use crate::time::NotATime;

/// What may be set, in the order it is looked at. A host adds to each name what its platform's variables have in
/// common.
///
/// | name | text |
/// |---|---|
/// | `operator_token` | creates sessions: at least 32 printable characters of ASCII, drawn at random |
/// | `base_url` | where clients reach the agent: absolute, http(s); a slash at its end is forgiven |
/// | `name`, `description`, `version` | of the agent, on its card: one line of 80 characters, 2,000 characters, one line of 80 |
/// | `card` | what the card says instead and beside it: a JSON object, see [`Document`] |
/// | `card_key` | signs the card: a private key on P-256, as PEM or JWK; only with the feature `card-signing` |
/// | `card_modified` | when the card last changed, as an RFC 3339 time |
/// | `input_modes` | media types that are taken beside the usual ones, with commas between them |
/// | `allowed_origins` | the pages of other origins that a browser lets call: origins with commas between them, or `*` |
/// | `anonymous` | whom callers without a token act as: `SESSION/PARTICIPANT` |
/// | `wait_limit` | the longest that a send waits for its task, in whole seconds |
/// | `streams` | whether the agent offers streams about tasks: `on` or `off` |
/// | `keep_alive` | how long a stream is silent before a comment says that it is still there, in whole seconds |
/// | `push` | whether the agent offers push notifications, and where to: `on`, `off` or `local` |
/// | `limits` | how much each session may hold: `NAME=NUMBER`, with commas between them |
/// | `extension_options` | what the extension is configured with that is composed in: a JSON object |
pub const NAMES: [&str; 17] = [
    "operator_token",
    "base_url",
    "name",
    "description",
    "version",
    "card",
    "card_key",
    "card_modified",
    "input_modes",
    "allowed_origins",
    "anonymous",
    "wait_limit",
    "streams",
    "keep_alive",
    "push",
    "limits",
    "extension_options",
];

/// The range of a setting in seconds.
const SECONDS: std::ops::RangeInclusive<u32> = 1..=300;

impl Config {
    /// The settings that `get` gives the text of, by the names of [`NAMES`]; the default where it gives none, or an
    /// empty one.
    ///
    /// # Errors
    /// The first setting at fault. What `Desk::new` checks is left to it.
    pub fn from_texts(mut get: impl FnMut(&'static str) -> Option<String>) -> Result<Self, ConfigError> {
        let mut set = |name| get(name).filter(|text| !text.is_empty());
        let mut config = Self {
            operator_token: set("operator_token"),
            ..Self::default()
        };
        if let Some(url) = set("base_url") {
            url.trim_end_matches('/').clone_into(&mut config.base_url);
        }
        let texts = [
            ("name", &mut config.name),
            ("description", &mut config.description),
            ("version", &mut config.version),
        ];
        for (name, text) in texts {
            if let Some(given) = set(name) {
                *text = given;
            }
        }
        if let Some(text) = set("card") {
            let document = Document::parse(text.as_bytes());
            config.card = document.map_err(|error| fault("card", error.to_string()))?;
        }
        if let Some(key) = set("card_key") {
            config.sign_with(&key)?;
        }
        if let Some(time) = set("card_modified") {
            let time = time
                .parse()
                .map_err(|rule: NotATime| fault("card_modified", rule.to_string()))?;
            config.card_modified = Some(time);
        }
        config.input_modes = list(&set("input_modes").unwrap_or_default())
            .map(str::to_owned)
            .collect();
        if let Some(text) = set("allowed_origins") {
            let origins = text
                .parse()
                .map_err(|rule: &str| fault("allowed_origins", rule))?;
            config.allowed_origins = origins;
        }
        if let Some(text) = set("anonymous") {
            let anonymous = text.parse().map_err(|rule: &str| fault("anonymous", rule))?;
            config.anonymous = Some(anonymous);
        }
        if let Some(seconds) = set("wait_limit") {
            config.blocking_limit_ms = millis("wait_limit", &seconds)?;
        }
        config.streaming = match set("streams").as_deref() {
            None => config.streaming,
            Some("on") => true,
            Some("off") => false,
            Some(_) => return Err(fault("streams", "expected on or off")),
        };
        if let Some(seconds) = set("keep_alive") {
            config.keep_alive_ms = millis("keep_alive", &seconds)?;
        }
        config.webhooks = match set("push").as_deref() {
            None => config.webhooks,
            Some("on") => Some(Reach::Public),
            Some("off") => None,
            Some("local") => Some(Reach::Anywhere),
            Some(_) => return Err(fault("push", "expected on, off or local")),
        };
        let limits = set("limits").unwrap_or_default();
        let mut named = BTreeSet::new();
        for limit in list(&limits) {
            if !named.insert(limit.split('=').next().unwrap_or_default().trim()) {
                return Err(fault("limits", format!("{limit}: expected each name once")));
            }
            let kept = config.limits.set(limit);
            kept.map_err(|rule| fault("limits", rule))?;
        }
        if let Some(text) = set("extension_options") {
            let options = json::parse_text(&text).ok().filter(Value::is_object);
            let options = options.ok_or_else(|| fault("extension_options", "expected a JSON object"))?;
            config.extension_options = Some(options);
        }
        Ok(config)
    }

    #[cfg(feature = "card-signing")]
    fn sign_with(&mut self, key: &str) -> Result<(), ConfigError> {
        let key = CardKey::parse(key).map_err(|rule| fault("card_key", rule.to_string()))?;
        self.card_key = Some(key);
        Ok(())
    }

    #[cfg(not(feature = "card-signing"))]
    fn sign_with(&mut self, _: &str) -> Result<(), ConfigError> {
        Err(fault("card_key", "expected none: this build signs no cards"))
    }

    /// The same from one JSON object with a string for each name that is set.
    ///
    /// # Errors
    /// The first setting at fault; `settings` where the text is no such object, or has a member of another name.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        let no_object = || {
            fault(
                "settings",
                "expected a JSON object with a string for each setting",
            )
        };
        let Ok(Value::Object(mut object)) = json::parse_text(text) else {
            return Err(no_object());
        };
        if !object.values().all(Value::is_string) {
            return Err(no_object());
        }
        let config = Self::from_texts(|name| match object.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        })?;
        if object.is_empty() {
            Ok(config)
        } else {
            let rule = format!("expected no others than {}", NAMES.join(", "));
            Err(fault("settings", rule))
        }
    }
}

/// A text's entries, with commas between them.
fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|entry| !entry.is_empty())
}

fn millis(name: &'static str, text: &str) -> Result<u32, ConfigError> {
    let seconds = text.parse().ok().filter(|seconds| SECONDS.contains(seconds));
    let seconds = seconds.ok_or_else(|| fault(name, "expected whole seconds from 1 to 300"))?;
    Ok(seconds.saturating_mul(1_000))
}

fn fault(setting: &'static str, rule: impl Into<String>) -> ConfigError {
    let rule = rule.into();
    ConfigError { setting, rule }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, text: &str) -> Result<Config, (&'static str, String)> {
        let object = serde_json::json!({ name: text }).to_string();
        Config::from_json(&object).map_err(|error| (error.setting, error.rule))
    }

    #[test]
    fn nothing_set_and_everything_empty_are_the_defaults() {
        let defaults = format!("{:?}", Config::default());
        assert_eq!(format!("{:?}", Config::from_json("{}").unwrap()), defaults);
        let empty = Config::from_texts(|_| Some(String::new())).unwrap();
        assert_eq!(format!("{empty:?}"), defaults);
    }

    #[test]
    fn every_name_sets_something() {
        let texts = [
            "t",
            "https://a.example/",
            "n",
            "d",
            "v",
            r#"{"version":"of the card"}"#,
            // Not every build takes one.
            "",
            "2026-11-30T00:00:00Z",
            "text/markdown, image/*",
            "https://app.example.org",
            "s-1/p-2",
            "7",
            "off",
            "8",
            "local",
            "participants=3",
            r#"{"words":7}"#,
        ];
        let mut asked = Vec::new();
        let config = Config::from_texts(|name| {
            asked.push(name);
            let index = NAMES.iter().position(|known| *known == name)?;
            texts.get(index).map(|text| (*text).to_owned())
        });
        let config = config.unwrap();
        assert_eq!(asked, NAMES);
        assert_eq!(config.operator_token.as_deref(), Some("t"));
        assert_eq!(config.base_url, "https://a.example");
        assert_eq!(
            [&*config.name, &*config.description, &*config.version],
            ["n", "d", "v"]
        );
        assert_eq!(config.card.version.as_deref(), Some("of the card"));
        assert_eq!(config.input_modes, ["text/markdown", "image/*"]);
        assert_eq!(config.allowed_origins, "https://app.example.org".parse().unwrap());
        assert!(config.anonymous.is_some());
        assert_eq!((config.blocking_limit_ms, config.keep_alive_ms), (7_000, 8_000));
        assert!(!config.streaming);
        assert_eq!(config.webhooks, Some(Reach::Anywhere));
        assert!(config.card_modified.is_some());
        assert_eq!(config.limits.participants, 3);
        assert_eq!(config.extension_options, Some(serde_json::json!({"words": 7})));
    }

    #[test]
    fn seconds_are_whole_and_from_1_to_300() {
        for name in ["wait_limit", "keep_alive"] {
            assert!(one(name, "1").is_ok() && one(name, "300").is_ok());
            for text in ["0", "301", "0.5", "-1", "ten"] {
                let rule = "expected whole seconds from 1 to 300".to_owned();
                assert_eq!(one(name, text).unwrap_err(), (name, rule), "{text}");
            }
        }
    }

    #[test]
    fn a_setting_at_fault_is_named() {
        for name in [
            "streams",
            "push",
            "card",
            "card_key",
            "card_modified",
            "allowed_origins",
            "anonymous",
            "extension_options",
        ] {
            assert_eq!(one(name, "yes").unwrap_err().0, name);
        }
        for text in ["participants=2,claims=7", "participants=2, participants =3"] {
            assert_eq!(one("limits", text).unwrap_err().0, "limits", "{text}");
        }
        for text in ["[]", "{", "{\"name\":1}", "{\"named\":\"x\"}"] {
            assert_eq!(Config::from_json(text).unwrap_err().setting, "settings", "{text}");
        }
    }
}
