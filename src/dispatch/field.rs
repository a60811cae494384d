//! Reading the members of a request: the primitives of work/v1 (§8.6).
//!
//! Everything borrows from the request, and a path is only spelled out for a fault.

use std::fmt;

use serde_json::{Map, Value};

use super::verdict::Fault;
use crate::text;
use crate::time::Timestamp;

/// The largest whole number that every JSON reader keeps exactly, 2^53 - 1.
pub(super) const SAFE_INTEGER: i64 = 9_007_199_254_740_991;

/// Where a value stands, from the inside out.
#[derive(Clone, Copy)]
pub(super) enum Path<'p> {
    /// The request itself, under this name; the empty name is left out of the paths of its members.
    Root(&'p str),
    /// A member.
    Member(&'p Path<'p>, &'p str),
    /// An entry of a list.
    Entry(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(name) => out.write_str(name),
            Self::Member(Path::Root(""), name) => out.write_str(name),
            Self::Member(parent, name) => write!(out, "{parent}.{name}"),
            Self::Entry(parent, index) => write!(out, "{parent}[{index}]"),
        }
    }
}

impl Path<'_> {
    pub(super) fn fault(&self, expected: impl Into<String>) -> Fault {
        Fault::invalid(self.to_string(), expected)
    }
}

/// What a `null` member is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Null {
    /// A value like any other, and so of the wrong type: what a client sends.
    Value,
    /// No member: what a host states.
    Absent,
}

/// A text of one line: not blank, no line break, at most so many bytes, kept as sent.
#[derive(Clone, Copy)]
pub(super) struct Line {
    bytes: usize,
    /// A further rule: what was expected, when a text breaks it.
    rule: fn(&str) -> Option<&'static str>,
}

impl Line {
    pub(super) const fn within(bytes: usize) -> Self {
        Self {
            bytes,
            rule: |_| None,
        }
    }

    pub(super) const fn and(self, rule: fn(&str) -> Option<&'static str>) -> Self {
        Self { rule, ..self }
    }

    pub(super) fn read<'a>(self, value: &'a Value, path: Path<'_>) -> Result<&'a str, Fault> {
        let line = value.as_str().filter(|line| is_line(line, self.bytes));
        let Some(line) = line else {
            let bytes = self.bytes;
            return Err(path.fault(format!("expected one line of at most {bytes} bytes, not blank")));
        };
        match (self.rule)(line) {
            Some(expected) => Err(path.fault(expected)),
            None => Ok(line),
        }
    }
}

/// Whether `text` is one line of at most `bytes` bytes.
pub(super) fn is_line(text: &str, bytes: usize) -> bool {
    text.len() <= bytes && !text::is_blank(text) && !text::has_line_break(text)
}

/// A whole number, `3` or `3.0`, of at most 53 bits.
pub(super) fn whole(value: &Value) -> Option<i64> {
    let number = match value.as_i64() {
        Some(number) => number,
        None => {
            let float = value.as_f64()?;
            #[allow(clippy::cast_possible_truncation, reason = "whole, and held to 53 bits below")]
            let number = float as i64;
            (float.fract() == 0.0).then_some(number)?
        }
    };
    (number.unsigned_abs() <= SAFE_INTEGER.unsigned_abs()).then_some(number)
}

/// The member of this name. Most objects have few, and comparing a few names is quicker than hashing one.
fn member<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    const FEW: usize = 16;
    match map.len() {
        ..=FEW => map.iter().find_map(|(key, value)| (key == name).then_some(value)),
        _ => map.get(name),
    }
}

/// An object that is being read.
#[derive(Clone, Copy)]
pub(super) struct Object<'a, 'p> {
    map: &'a Map<String, Value>,
    /// Where it stands.
    pub(super) path: Path<'p>,
    null: Null,
}

impl<'a, 'p> Object<'a, 'p> {
    /// `value` as an object, or a fault on `path`.
    pub(super) fn read(value: &'a Value, path: Path<'p>, null: Null) -> Result<Self, Fault> {
        let map = value
            .as_object()
            .ok_or_else(|| path.fault("expected an object"))?;
        Ok(Self { map, path, null })
    }

    /// The same object under another name for its members' paths.
    pub(super) fn named(self, name: &'p str) -> Self {
        Self {
            path: Path::Root(name),
            ..self
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        let value = member(self.map, name)?;
        (self.null == Null::Value || !value.is_null()).then_some(value)
    }

    pub(super) fn fault(&self, name: &str, expected: impl Into<String>) -> Fault {
        Path::Member(&self.path, name).fault(expected)
    }

    /// The member through `read`, if it is there.
    fn optional<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| self.fault(name, expected)),
        }
    }

    pub(super) fn line(&self, name: &str, line: Line) -> Result<Option<&'a str>, Fault> {
        self.get(name)
            .map(|value| line.read(value, Path::Member(&self.path, name)))
            .transpose()
    }

    pub(super) fn required_line(&self, name: &str, line: Line) -> Result<&'a str, Fault> {
        line.read(
            self.get(name).unwrap_or(&Value::Null),
            Path::Member(&self.path, name),
        )
    }

    /// A list of lines; absent is empty.
    pub(super) fn lines(&self, name: &str, most: usize, line: Line) -> Result<Vec<&'a str>, Fault> {
        self.list(name, most, |value, path| line.read(value, path))
    }

    /// A list: its type and length first, then its entries in order; absent is empty.
    pub(super) fn list<T>(
        &self,
        name: &str,
        most: usize,
        read: impl Fn(&'a Value, Path<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(Vec::new());
        };
        let path = Path::Member(&self.path, name);
        let Some(entries) = value.as_array().filter(|entries| entries.len() <= most) else {
            return Err(match most {
                usize::MAX => path.fault("expected a list"),
                _ => path.fault(format!("expected a list of at most {most} entries")),
            });
        };
        let mut list = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            list.push(read(entry, Path::Entry(&path, index))?);
        }
        Ok(list)
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&'a str>, Fault> {
        self.optional(name, "expected a string", Value::as_str)
    }

    pub(super) fn required_text(&self, name: &str) -> Result<&'a str, Fault> {
        self.text(name)?
            .ok_or_else(|| self.fault(name, "expected a string"))
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, Fault> {
        self.optional(name, "expected true or false", Value::as_bool)
    }

    pub(super) fn time(&self, name: &str) -> Result<Option<Timestamp>, Fault> {
        self.optional(
            name,
            "expected an RFC 3339 time such as 2026-07-17T01:00:00.000Z",
            |value| value.as_str()?.parse().ok(),
        )
    }

    /// A whole number from `least` on that is there.
    pub(super) fn required_whole(&self, name: &str, least: i64) -> Result<i64, Fault> {
        let number = self.get(name).and_then(whole).filter(|number| *number >= least);
        number.ok_or_else(|| match least {
            i64::MIN => self.fault(name, "expected a whole number"),
            _ => self.fault(name, format!("expected a whole number of at least {least}")),
        })
    }

    /// A count that is there.
    pub(super) fn required_count(&self, name: &str, least: u64) -> Result<u64, Fault> {
        let number = self.required_whole(name, i64::try_from(least).unwrap_or(i64::MAX))?;
        Ok(number.unsigned_abs())
    }

    /// One of these words.
    pub(super) fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let found = value
            .as_str()
            .and_then(|word| words.iter().find(|(it, _)| *it == word));
        match found {
            Some((_, meaning)) => Ok(Some(*meaning)),
            None => Err(self.fault(name, expected_word(words))),
        }
    }

    /// The member as an object, if it is there.
    pub(super) fn object<T>(
        &self,
        name: &str,
        read: impl FnOnce(Object<'a, '_>) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let path = Path::Member(&self.path, name);
        read(Object::read(value, path, self.null)?).map(Some)
    }

    /// The entries of a list of objects; absent is empty.
    pub(super) fn objects<T>(
        &self,
        name: &str,
        read: impl Fn(Object<'a, '_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        self.list(name, usize::MAX, |value, path| {
            read(Object::read(value, path, self.null)?)
        })
    }

    /// The entries of a list of objects that must be there.
    pub(super) fn required_objects<T>(
        &self,
        name: &str,
        read: impl Fn(Object<'a, '_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        match self.get(name) {
            Some(_) => self.objects(name, read),
            None => Err(self.fault(name, "expected a list of objects")),
        }
    }
}

/// `expected a, b or c`.
pub(super) fn expected_word<T>(words: &[(&str, T)]) -> String {
    let mut sentence = String::from("expected ");
    let last = words.len().saturating_sub(1);
    for (index, (word, _)) in words.iter().enumerate() {
        let joint = match index {
            0 => "",
            _ if index == last => " or ",
            _ => ", ",
        };
        sentence.push_str(joint);
        sentence.push_str(word);
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_numbers_are_those_that_every_reader_keeps() {
        for (value, number) in [
            (json!(3), Some(3)),
            (json!(3.0), Some(3)),
            (json!(-3), Some(-3)),
            (json!(9_007_199_254_740_991_i64), Some(SAFE_INTEGER)),
            (json!(9_007_199_254_740_992_i64), None),
            (json!(u64::MAX), None),
            (json!(i64::MIN), None),
            (json!(1e300), None),
            (json!(3.5), None),
            (json!("3"), None),
        ] {
            assert_eq!(whole(&value), number, "{value}");
        }
    }

    #[test]
    fn a_path_names_every_step() {
        let refs = Path::Member(&Path::Root(""), "refs");
        assert_eq!(
            Path::Member(&Path::Entry(&refs, 2), "type").to_string(),
            "refs[2].type"
        );
        assert_eq!(
            Path::Member(&Path::Root("work"), "title").to_string(),
            "work.title"
        );
    }

    #[test]
    fn words_are_listed_as_a_person_would() {
        assert_eq!(expected_word(&[("a", ())]), "expected a");
        assert_eq!(
            expected_word(&[("a", ()), ("b", ()), ("c", ())]),
            "expected a, b or c"
        );
    }
}
