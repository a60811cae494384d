//! What a story calls things by, and writing them out: `/tasks/${task}`.

use std::collections::BTreeMap;

use a2a_edge::dispatch::{ENVELOPE_URI, GATE_URI, WORK_URI};
use a2a_edge::{coordination, extension::timestamp};
use serde_json::{Map, Value};

use crate::form::{Form, form};

/// Names that every story has: the extensions' URIs and the key of session coordination's metadata.
pub(crate) const CONSTANTS: [(&str, &str); 6] = [
    ("work", WORK_URI),
    ("envelope", ENVELOPE_URI),
    ("gate", GATE_URI),
    ("coordination", coordination::URI),
    ("coordination-key", coordination::METADATA_KEY),
    ("timestamp", timestamp::URI),
];

/// Names that are given by where a story plays.
pub(crate) const PLACES: [&str; 2] = ["base", "session"];

/// What the token of a participant is called.
pub(crate) fn token_of(name: &str) -> String {
    format!("{name}.token")
}

/// Splits a text into what stands for itself and the names in it.
pub(crate) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) = after
            .split_once('}')
            .ok_or_else(|| format!("expected }} after ${{ in {text:?}"))?;
        pieces.extend([Piece::Text(before), Piece::Name(name)]);
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    Ok(pieces)
}

/// A piece of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Stands for itself.
    Text(&'a str),
    /// Stands for what it names.
    Name(&'a str),
}

/// What names stand for, where a story plays.
#[derive(Debug)]
pub(crate) struct Names(BTreeMap<String, String>);

impl Names {
    /// The names that every story has.
    pub(crate) fn new(base: &str) -> Self {
        let constants = CONSTANTS.iter().copied().chain([("base", base)]);
        Self(
            constants
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        )
    }

    /// Gives a value a name; a value that has one already keeps it alone.
    pub(crate) fn bind(&mut self, name: &str, value: &str) -> Result<(), String> {
        if let Some((known, _)) = self.0.iter().find(|(_, known)| *known == value) {
            return Err(format!("expected a new value, not ${{{known}}}"));
        }
        self.0.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// Gives a time a name: two things may well happen at one time.
    pub(crate) fn bind_time(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// What a name stands for.
    pub(crate) fn get(&self, name: &str) -> Result<&str, String> {
        let value = self.0.get(name).map(String::as_str);
        value.ok_or_else(|| format!("nothing is called ${{{name}}} yet"))
    }

    /// A text with its names written out.
    pub(crate) fn write(&self, text: &str) -> Result<String, String> {
        let mut written = String::new();
        for piece in pieces(text)? {
            written.push_str(match piece {
                Piece::Text(text) => text,
                Piece::Name(name) => self.get(name)?,
            });
        }
        Ok(written)
    }

    /// A value of a request with its names and forms written out.
    pub(crate) fn expand(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => Value::String(self.write(text)?),
            Value::Array(items) => Value::Array(
                items
                    .iter()
                    .map(|item| self.expand(item))
                    .collect::<Result<_, _>>()?,
            ),
            Value::Object(object) => match form(object)? {
                Some(form) => self.make(&form)?,
                None => {
                    let mut expanded = Map::new();
                    for (key, value) in object {
                        expanded.insert(self.write(key)?, self.expand(value)?);
                    }
                    Value::Object(expanded)
                }
            },
            other => other.clone(),
        })
    }

    fn make_text(&self, value: &Value) -> Result<String, String> {
        match self.expand(value)? {
            Value::String(text) => Ok(text),
            other => Err(format!("expected a text in $repeat and $concat, not {other}")),
        }
    }

    /// What a form makes; those that only an answer can hold make nothing.
    pub(crate) fn make(&self, form: &Form<'_>) -> Result<Value, String> {
        match form {
            Form::Repeat(text, count) => Ok(Value::String(self.make_text(text)?.repeat(*count))),
            Form::List(value, count) => Ok(Value::Array(vec![self.expand(value)?; *count])),
            Form::Concat(pieces) => {
                let pieces: Result<String, String> =
                    pieces.iter().map(|piece| self.make_text(piece)).collect();
                Ok(Value::String(pieces?))
            }
            Form::Bind(..) | Form::Some(_) | Form::After(..) => {
                Err("expected a value that is known: only an answer brings new ones".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_and_forms_are_written_out() {
        let mut names = Names::new("http://x");
        names.bind("task", "task-1").unwrap();
        let written = names.expand(&json!({
            "${work}": ["status-${task}-x", {"$repeat": ["é", 3]}],
            "list": {"$list": [{"a": "${base}"}, 2]},
            "all": {"$concat": ["<", {"$repeat": [{"$concat": ["${task}"]}, 2]}, ">"]},
        }));
        let expected = json!({
            WORK_URI: ["status-task-1-x", "ééé"],
            "list": [{"a": "http://x"}, {"a": "http://x"}],
            "all": "<task-1task-1>",
        });
        assert_eq!(written, Ok(expected));
    }

    #[test]
    fn what_has_no_name_or_no_end_is_an_error() {
        let mut names = Names::new("http://x");
        assert!(names.write("${task}").is_err());
        assert!(names.write("${base").is_err());
        assert!(names.expand(&json!({"$id": "task"})).is_err());
        assert!(names.expand(&json!({"$repeat": [1, 2]})).is_err());
        names.bind("task", "task-1").unwrap();
        assert!(names.bind("other", "task-1").is_err());
    }
}
