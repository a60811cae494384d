//! Reading what this crate wrote: a struct is an object, an enum its name or an object of one member.
//!
//! What `serde` derives for a struct would read arrays, too. Nothing here writes one, and code that nothing calls is not
//! compiled: for a component that is a third of what reading takes.

use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};

/// Reads one value that fills all of `bytes`.
///
/// # Errors
/// Why it is none, for the log of the host.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let text = str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    T::deserialize(Own(&mut deserializer))
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| error.to_string())
}

/// A deserializer, a visitor, a seed or an access that reads so all the way down.
struct Own<T>(T);

/// The visitor of a struct, which is an object.
struct Members<V>(V);

/// What holds no other value is the deserializer's own.
macro_rules! plain {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(visitor)
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Own<D> {
    type Error = D::Error;

    plain! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit deserialize_identifier
        deserialize_ignored_any
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(Own(visitor))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_unit_struct(name, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_seq(Own(visitor))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(len, Own(visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple_struct(name, len, Own(visitor))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Members(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Members(visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_enum(name, variants, Own(visitor))
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Own<V> {
    type Value = V::Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(out)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Own(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Own(items))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Own(variant))
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Members<V> {
    type Value = V::Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(out)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Own(members))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Own<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Own(inner))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Own<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Own(seed))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Own<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Own(seed))
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Own<A> {
    type Error = A::Error;
    type Variant = Own<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let (name, rest) = self.0.variant_seed(seed)?;
        Ok((name, Own(rest)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Own<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Own(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, Own(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, Members(visitor))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Inner {
        flag: bool,
        #[serde(default)]
        later: Option<Box<Self>>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Kind {
        Unit,
        One(Inner),
        Two(u8, Inner),
        Members { inner: Inner },
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Newtype(Inner);

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Outer {
        kinds: Vec<Kind>,
        by_number: BTreeMap<u64, Newtype>,
        bytes: [u8; 2],
        pair: (i64, String),
        any: Value,
    }

    fn inner() -> Inner {
        Inner {
            flag: true,
            later: Some(Box::new(Inner {
                flag: false,
                later: None,
            })),
        }
    }

    fn outer() -> Outer {
        Outer {
            kinds: vec![
                Kind::Unit,
                Kind::One(inner()),
                Kind::Two(2, inner()),
                Kind::Members { inner: inner() },
            ],
            by_number: [(7, Newtype(inner()))].into(),
            bytes: [1, 255],
            pair: (-1, "é".to_owned()),
            any: json!({"list": [1, 1.5, null, "x"], "object": {}}),
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = serde_json::to_vec(&outer()).unwrap();
        assert_eq!(read::<Outer>(&bytes), Ok(outer()));
        assert_eq!(
            read::<Inner>(br#"{"more": [{}], "flag": true}"#),
            Ok(Inner {
                flag: true,
                later: None
            })
        );
    }

    #[test]
    fn a_struct_is_no_array_wherever_it_stands() {
        let array = r#"[true, null]"#;
        assert!(serde_json::from_str::<Inner>(array).is_ok());
        assert!(read::<Inner>(array.as_bytes()).is_err());
        for text in [
            format!(r#"{{"flag": true, "later": {array}}}"#),
            format!(r#"{{"One": {array}}}"#),
            format!(r#"{{"Two": [1, {array}]}}"#),
            r#"{"Members": [{"flag": true}]}"#.to_owned(),
        ] {
            let faults = (read::<Inner>(text.as_bytes()), read::<Kind>(text.as_bytes()));
            assert!(faults.0.is_err() && faults.1.is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_value_says_why() {
        for (text, expected) in [
            (r#"{"flag": true} x"#, "trailing characters"),
            (r#"{"flag": 1}"#, "invalid type: integer `1`, expected a boolean"),
            (r#"{}"#, "missing field `flag`"),
            ("", "EOF"),
        ] {
            let fault = read::<Inner>(text.as_bytes()).unwrap_err();
            assert!(fault.contains(expected), "{text}: {fault}");
        }
    }
}
