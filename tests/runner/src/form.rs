//! Objects of a story that stand for something else: `{"$id": "task"}`, `{"$repeat": ["x", 201]}` and their like.

use serde_json::{Map, Value};

use a2a_edge::session::Token;
use a2a_edge::time::Timestamp;

/// The longest id (session coordination, §9.2).
const ID_CHARS: usize = 64;

/// What a value that no story can know in advance looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An opaque, URL-safe id.
    Id,
    /// RFC 3339, UTC, milliseconds.
    Time,
    /// A participant's token.
    Token,
    /// A page token.
    Page,
    /// Any text that is not blank.
    Text,
}

impl Kind {
    const ALL: [(&'static str, Self); 5] = [
        ("id", Self::Id),
        ("time", Self::Time),
        ("token", Self::Token),
        ("page", Self::Page),
        ("text", Self::Text),
    ];

    fn of(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, kind)| *kind)
    }

    /// The name in a story.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("", |(name, _)| *name)
    }

    /// Whether a text looks like one.
    pub(crate) fn fits(self, text: &str) -> bool {
        let url_safe = |extra: &[u8]| {
            !text.is_empty()
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || extra.contains(&byte))
        };
        match self {
            Self::Id => text.len() <= ID_CHARS && url_safe(b"-._~"),
            Self::Time => text
                .parse::<Timestamp>()
                .is_ok_and(|time| time.to_string() == text),
            Self::Token => Token::parse(text).is_some(),
            Self::Page => url_safe(b"-_"),
            Self::Text => !text.trim().is_empty(),
        }
    }
}

/// An object that stands for something else.
#[derive(Debug, PartialEq)]
pub(crate) enum Form<'a> {
    /// A value seen for the first time, to be known by this name from here on.
    Bind(Kind, &'a str),
    /// A value that the story never refers to.
    Some(Kind),
    /// So many seconds after a named time.
    After(&'a str, i64),
    /// A text, so many times over.
    Repeat(&'a Value, usize),
    /// A list of so many copies of a value.
    List(&'a Value, usize),
    /// Texts, one behind the other.
    Concat(&'a [Value]),
}

/// Reads an object: `None` if it stands for itself.
pub(crate) fn form(object: &Map<String, Value>) -> Result<Option<Form<'_>>, String> {
    let is_form = |key: &str| key.starts_with('$') && !key.starts_with("${");
    let Some((key, value)) = object.iter().find(|(key, _)| is_form(key)) else {
        return Ok(None);
    };
    if object.len() > 1 {
        return Err(format!("expected {key} alone in its object"));
    }
    let counted = || {
        let (value, count) = match value.as_array().map(Vec::as_slice) {
            Some([value, count]) => (
                value,
                count.as_u64().and_then(|count| usize::try_from(count).ok())?,
            ),
            _ => return None,
        };
        Some((value, count))
    };
    let read = match (key.as_str(), value) {
        ("$id", Value::String(name)) => Some(Form::Bind(Kind::Id, name)),
        ("$time", Value::String(name)) => Some(Form::Bind(Kind::Time, name)),
        ("$token", Value::String(name)) => Some(Form::Bind(Kind::Token, name)),
        ("$page", Value::String(name)) => Some(Form::Bind(Kind::Page, name)),
        ("$text", Value::String(name)) => Some(Form::Bind(Kind::Text, name)),
        ("$some", Value::String(kind)) => Kind::of(kind).map(Form::Some),
        ("$after", Value::Array(of)) => match of.as_slice() {
            [Value::String(name), seconds] => seconds.as_i64().map(|seconds| Form::After(name, seconds)),
            _ => None,
        },
        ("$repeat", _) => counted().map(|(text, count)| Form::Repeat(text, count)),
        ("$list", _) => counted().map(|(value, count)| Form::List(value, count)),
        ("$concat", Value::Array(pieces)) => Some(Form::Concat(pieces)),
        _ => None,
    };
    read.map(Some)
        .ok_or_else(|| format!("no such form: {{{key:?}: {value}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_misspelt_form_is_told_apart_from_a_plain_object() {
        let read = |value: Value| form(value.as_object().unwrap()).map(|form| form.is_some());
        assert_eq!(read(json!({"a": 1, "${work}": 2})), Ok(false));
        assert_eq!(read(json!({"$id": "task"})), Ok(true));
        for wrong in [
            json!({"$ids": "task"}),
            json!({"$id": 1}),
            json!({"$id": "task", "b": 1}),
            json!({"$some": "date"}),
            json!({"$repeat": ["x"]}),
            json!({"$after": ["created", "60"]}),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn kinds_are_told_by_their_looks() {
        for (kind, good, bad) in [
            (Kind::Id, "task-k7wq2m4xvb3n6zp5", "task 1"),
            (Kind::Time, "2026-07-17T01:00:00.000Z", "2026-07-17T01:00:00Z"),
            (Kind::Page, "AbC_-9", ""),
            (Kind::Text, "x", " "),
        ] {
            assert!(kind.fits(good), "{good}");
            assert!(!kind.fits(bad), "{bad}");
        }
        assert!(Kind::Token.fits(&format!("a2ae_s_{}", "x".repeat(43))));
        assert!(!Kind::Token.fits("a2ae_s_x"));
    }
}
