//! Any JSON whatsoever, and spoiling what was sound.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::support::{ENVELOPE, WORK};

pub fn any_json() -> impl Strategy<Value = Value> {
    let texts = [
        "",
        " ",
        "\u{feff}",
        "a\u{2028}b",
        "\u{0}",
        "é😀",
        "..",
        "x-y",
        "task:x",
        "human:x",
        "ROLE_USER",
        WORK,
        "handoff",
        "status",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        select(vec![-1, 0, 1, 50, 51, 100, 101]).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        select(texts.to_vec()).prop_map(Value::from),
        (0_usize..70_000).prop_map(|length| Value::from("x".repeat(length))),
    ];
    leaf.prop_recursive(6, 40, 8, |inner| {
        let name = prop_oneof![select(NAMES.to_vec()).prop_map(str::to_owned), ".{0,6}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

const NAMES: &[&str] = &[
    "message",
    "messageId",
    "message_id",
    "role",
    "parts",
    "text",
    "data",
    "url",
    "raw",
    "metadata",
    "extensions",
    "taskId",
    "contextId",
    "configuration",
    "tenant",
    "id",
    WORK,
    ENVELOPE,
    "skill",
    "title",
    "to",
    "kind",
    "refs",
    "type",
    "action",
    "requestId",
    "artifacts",
    "artifactId",
    "stage",
    "idempotencyKey",
    "owner",
];

/// How many values there are in a value, itself included.
fn count(value: &Value) -> usize {
    let inner: usize = match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    };
    inner + 1
}

/// The value at a place in the order of the text.
fn at<'a>(value: &'a mut Value, place: &mut usize) -> Option<&'a mut Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| at(item, place)),
        Value::Object(members) => members.values_mut().find_map(|item| at(item, place)),
        _ => None,
    }
}

#[derive(Clone, Debug)]
pub enum Spoil {
    Replace(Value),
    /// An entry of a list or a member of an object goes, or is there twice.
    Drop(Index),
    Repeat(Index, usize),
    Add(String, Value),
    Long(usize),
}

pub fn spoil() -> impl Strategy<Value = (Index, Spoil)> {
    let way = prop_oneof![
        3 => any_json().prop_map(Spoil::Replace),
        1 => any::<Index>().prop_map(Spoil::Drop),
        1 => (any::<Index>(), 1_usize..60).prop_map(|(index, times)| Spoil::Repeat(index, times)),
        1 => (select(NAMES.to_vec()), any_json()).prop_map(|(name, value)| Spoil::Add(name.to_owned(), value)),
        1 => select(vec![40, 64, 65, 200, 201, 255, 256, 280, 512, 513, 2_048, 16_385, 65_537]).prop_map(Spoil::Long),
    ];
    (any::<Index>(), way)
}

pub fn spoiled(body: &Value, (place, way): &(Index, Spoil)) -> Value {
    let mut body = body.clone();
    let mut place = place.index(count(&body));
    let Some(value) = at(&mut body, &mut place) else {
        return body;
    };
    match (way, &mut *value) {
        (Spoil::Replace(with), value) => *value = with.clone(),
        (Spoil::Drop(index), Value::Array(items)) if !items.is_empty() => {
            drop(items.remove(index.index(items.len())))
        }
        (Spoil::Drop(index), Value::Object(members)) if !members.is_empty() => {
            let name = members.keys().nth(index.index(members.len())).unwrap().clone();
            members.shift_remove(&name);
        }
        (Spoil::Repeat(index, times), Value::Array(items)) if !items.is_empty() => {
            let item = items[index.index(items.len())].clone();
            items.extend(std::iter::repeat_n(item, *times));
        }
        (Spoil::Add(name, with), Value::Object(members)) => drop(members.insert(name.clone(), with.clone())),
        (Spoil::Long(length), value) => *value = json!("é".repeat(*length)),
        _ => {}
    }
    body
}
