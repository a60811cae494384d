//! Reading JSON from strangers: duplicate keys and deep nesting are refused, and every refusal says where.

mod canonical;
pub(crate) mod own;

use std::fmt;

pub use canonical::canonical;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

/// How deep arrays and objects may be nested in a request.
pub const MAX_DEPTH: usize = 64;

/// Why a text is not taken as JSON; reads as a sentence fragment such as `duplicate key "a" at line 1 column 9`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError(String);

impl fmt::Display for JsonError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for JsonError {}

/// Parses one JSON value that fills all of `bytes`.
///
/// # Errors
/// Anything RFC 8259 refuses, an object that names a key twice, and nesting deeper than [`MAX_DEPTH`].
pub fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
    match str::from_utf8(bytes) {
        Ok(text) => parse_text(text),
        Err(error) => Err(JsonError(error.to_string())),
    }
}

/// The same for a text, which is known to be UTF-8.
///
/// # Errors
/// As for [`parse`].
pub fn parse_text(text: &str) -> Result<Value, JsonError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict { room: MAX_DEPTH }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| JsonError(error.to_string()))?;
    Ok(value)
}

/// Compact JSON of a value.
#[must_use]
pub fn to_string(value: &(impl serde::Serialize + ?Sized)) -> String {
    // Only a map with keys that are no strings fails: nothing this crate builds.
    serde_json::to_string(value).unwrap_or_default()
}

/// Compact JSON of an answer, as bytes.
#[must_use]
pub fn to_bytes(value: &impl serde::Serialize) -> Vec<u8> {
    // Room for most: to grow is to copy.
    let mut bytes = Vec::with_capacity(1024);
    if serde_json::to_writer(&mut bytes, value).is_err() {
        // As above.
        bytes.clear();
    }
    bytes
}

/// How many bytes the compact JSON of `value` takes.
#[must_use]
pub fn compact_len(value: &impl serde::Serialize) -> usize {
    // What has no JSON is never within a budget.
    serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len())
}

struct Strict {
    /// How many more levels may open.
    room: usize,
}

impl Strict {
    fn inner<E: de::Error>(&self) -> Result<Self, E> {
        match self.room.checked_sub(1) {
            Some(room) => Ok(Self { room }),
            None => Err(E::custom(format_args!("nesting deeper than {MAX_DEPTH} levels"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.inner()?)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            match map.entry(key) {
                Entry::Vacant(entry) => entry.insert(entries.next_value_seed(Self { room: inner.room })?),
                Entry::Occupied(entry) => {
                    return Err(de::Error::custom(format_args!("duplicate key {:?}", entry.key())));
                }
            };
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nested(depth: usize) -> String {
        "[".repeat(depth) + &"]".repeat(depth)
    }

    #[test]
    fn sixty_four_levels_are_read_and_one_more_is_refused() {
        assert!(parse(nested(64).as_bytes()).is_ok());
        let error = parse(nested(65).as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("nesting deeper than 64 levels"), "{error}");
        assert!(parse(nested(100_000).as_bytes()).is_err());
    }

    #[test]
    fn a_key_named_twice_is_refused_at_any_depth_and_named() {
        let error = parse(br#"{"a":[{"b":1,"b":1}]}"#).unwrap_err().to_string();
        assert_eq!(error, "duplicate key \"b\" at line 1 column 16");
        assert!(parse(br#"{"a":1,"\u0061":2}"#).is_err());
    }

    #[test]
    fn text_after_the_value_and_bytes_that_are_no_utf8_are_refused() {
        assert!(parse(b"{} {}").is_err());
        assert!(parse(b"").is_err());
        assert!(parse(b"\"\xFF\"").is_err());
        assert!(parse(b"\"\\ud800\"").is_err());
        assert!(parse(b"1e999").is_err());
    }

    #[test]
    fn members_keep_their_order_and_numbers_their_value() {
        let text = r#"{"b":1,"a":[-0.1,18446744073709551615,1e-7],"c":null}"#;
        assert_eq!(to_string(&parse(text.as_bytes()).unwrap()), text);
    }

    #[test]
    fn the_canonical_form_is_the_same_for_any_spelling() {
        let one = parse(br#"{"b":1.0,"a":"\u00e9"}"#).unwrap();
        let two = parse("{ \"a\": \"é\", \"b\": 1 }".as_bytes()).unwrap();
        assert_eq!(canonical(&one), canonical(&two));
        assert_eq!(String::from_utf8(canonical(&one)).unwrap(), r#"{"a":"é","b":1}"#);
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(value) = parse(&bytes) {
                prop_assert_eq!(compact_len(&value), to_string(&value).len());
                let _ = canonical(&value);
            }
        }
    }
}
