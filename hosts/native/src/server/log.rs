//! What the server says on standard error: one line an event, as text or as JSON; never a token or a body.

use std::io::Write as _;
use std::time::SystemTime;

use a2a_edge::time::Timestamp;
use serde_json::{Map, Value, json};

/// How the lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// `2026-07-17T01:00:00.000Z info request id=… method=…`.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The ordinary course of things; left out when the server is told to be quiet.
    Info,
    /// Somebody should look at it.
    Warn,
    /// Something failed that must not.
    Error,
}

impl Level {
    const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Writes the lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Log {
    /// How they look.
    pub format: Format,
    /// Whether [`Level::Info`] is left out.
    pub quiet: bool,
}

/// The longest path that a line shows, in characters.
const PATH_SHOWN: usize = 200;

impl Log {
    /// Whether there is a line about what matters so much.
    #[must_use]
    pub fn tells(self, level: Level) -> bool {
        !self.quiet || level != Level::Info
    }

    /// Writes one line about `event`, with its facts in the order given.
    pub fn event(self, level: Level, event: &str, facts: &[(&str, Value)]) {
        if !self.tells(level) {
            return;
        }
        let mut line = self.line(now(), level, event, facts);
        line.push('\n');
        // A log that cannot be written has nowhere to say so.
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    }

    /// Writes one line about something that went wrong.
    pub fn warn(self, event: &str, why: &str) {
        self.event(Level::Warn, event, &[("why", json!(why))]);
    }

    fn line(self, at: Timestamp, level: Level, event: &str, facts: &[(&str, Value)]) -> String {
        match self.format {
            Format::Text => {
                let mut line = format!("{at} {} {event}", level.name());
                for (key, value) in facts {
                    line.push_str(&format!(" {key}={}", plain(value)));
                }
                line
            }
            Format::Json => {
                let mut object = Map::new();
                object.insert("at".to_owned(), json!(at));
                object.insert("level".to_owned(), json!(level.name()));
                object.insert("event".to_owned(), json!(event));
                for (key, value) in facts {
                    object.insert((*key).to_owned(), value.clone());
                }
                Value::Object(object).to_string()
            }
        }
    }
}

/// A value as it stands in a line of text: quoted when it could be taken for more than one word.
fn plain(value: &Value) -> String {
    match value.as_str() {
        Some(text)
            if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"') =>
        {
            text.to_owned()
        }
        Some(text) => format!("\"{}\"", text.escape_default()),
        None => value.to_string(),
    }
}

/// A request's path as a line shows it: without its query, in visible ASCII, and not too long.
pub(super) fn shown_path(path: &str) -> String {
    path.chars()
        .take(PATH_SHOWN)
        .map(|c| if c.is_ascii_graphic() { c } else { '?' })
        .collect()
}

/// The time by this machine's clock.
#[must_use]
pub fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: [(&str, Value); 1] = [("status", Value::Null)];

    #[test]
    fn a_line_of_text_has_one_word_a_fact() {
        let log = Log::default();
        let facts = [
            ("path", json!("/tasks")),
            ("why", json!("a \"b\"\n\u{1b}[2J")),
            ("ms", json!(3)),
        ];
        assert_eq!(
            log.line(Timestamp::EPOCH, Level::Info, "request", &facts),
            r#"1970-01-01T00:00:00.000Z info request path=/tasks why="a \"b\"\n\u{1b}[2J" ms=3"#
        );
    }

    #[test]
    fn a_line_of_json_is_one_object() {
        let log = Log {
            format: Format::Json,
            quiet: false,
        };
        assert_eq!(
            log.line(Timestamp::EPOCH, Level::Warn, "stop", &FACTS),
            r#"{"at":"1970-01-01T00:00:00.000Z","level":"warn","event":"stop","status":null}"#
        );
    }

    #[test]
    fn a_shown_path_is_short_and_visible() {
        assert_eq!(shown_path("/a b\u{7f}é"), "/a?b??");
        assert_eq!(shown_path(&"/".repeat(PATH_SHOWN)).len(), PATH_SHOWN);
        assert_eq!(shown_path(&"/".repeat(PATH_SHOWN + 1)).len(), PATH_SHOWN);
    }
}
