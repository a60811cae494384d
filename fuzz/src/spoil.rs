//! Spoiling what is well formed, so that it comes close to what is taken: at the limits, of another type, in another place.

use serde_json::{Map, Value, json};

use crate::{Corpus, Random};

/// A value of the corpus, spoilt in some places, as text; now and then the text is spoilt, too.
pub fn text(corpus: &Corpus, random: &mut Random) -> String {
    let mut value = random.pick(&corpus.values).clone();
    spoil(&mut value, corpus, random);
    let mut text = value.to_string();
    if random.one_in(8) {
        text = String::from_utf8_lossy(&bytes(text.into_bytes(), random)).into_owned();
    }
    text
}

/// Spoils a value in a few places.
pub fn spoil(value: &mut Value, corpus: &Corpus, random: &mut Random) {
    for _ in 0..random.below(4) {
        let target = descend(value, random);
        change(target, corpus, random);
    }
}

/// Some place within a value.
fn descend<'a>(value: &'a mut Value, random: &mut Random) -> &'a mut Value {
    let count = match &*value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    if count == 0 || random.one_in(4) {
        return value;
    }
    let index = random.below(count);
    match value {
        Value::Array(items) => descend(&mut items[index], random),
        Value::Object(members) => descend(members.values_mut().nth(index).unwrap(), random),
        _ => value,
    }
}

fn change(value: &mut Value, corpus: &Corpus, random: &mut Random) {
    match (random.below(8), &mut *value) {
        (0, Value::Object(members)) if !members.is_empty() => {
            let name = members.keys().nth(random.below(members.len())).unwrap().clone();
            members.remove(&name);
        }
        (1, Value::Object(members)) => {
            let name = random.pick(&corpus.texts).clone();
            members.insert(name, random.pick(&corpus.values).clone());
        }
        (2, Value::Object(members)) => {
            let Some(Value::Object(other)) = corpus.values.get(random.below(corpus.values.len())) else {
                return;
            };
            members.extend(other.clone());
        }
        (0 | 1, Value::Array(items)) if !items.is_empty() => {
            let item = items[random.below(items.len())].clone();
            items.resize(*random.pick(&[0, 1, 2, 10, 11, 20, 21, 50, 51, 200, 201]), item);
        }
        (2, Value::Array(items)) => items.push(random.pick(&corpus.values).clone()),
        (0..=2, Value::String(text)) => *text = longer(text, random),
        (3 | 4, _) => *value = random.pick(&corpus.values).clone(),
        (5, _) => *value = nested(random),
        _ => *value = edge(random),
    }
}

/// A text of about as many bytes as some limit.
fn longer(text: &str, random: &mut Random) -> String {
    let piece = *random.pick(&["x", "é", "😀", " ", "/", "*", "\u{2028}", "\n", "\0"]);
    let limit = *random.pick(&[0, 40, 50, 64, 128, 200, 256, 500, 512, 2048, 4096, 65_536]);
    let length: usize = limit + random.below(3);
    let count = length.saturating_sub(text.len() + 1) / piece.len();
    format!("{text}{}", piece.repeat(count))
}

/// About as deep as is taken.
fn nested(random: &mut Random) -> Value {
    (0..60 + random.below(8)).fold(json!(0), |inner, _| {
        if random.one_in(2) {
            json!([inner])
        } else {
            Value::Object(Map::from_iter([("a".to_owned(), inner)]))
        }
    })
}

/// A value at the edge of its type.
fn edge(random: &mut Random) -> Value {
    let edges = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(-0.0),
        json!(1.5),
        json!(1e300),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(9_007_199_254_740_993_u64),
        json!(2_147_483_648_u64),
        json!(""),
        json!(" "),
        json!("\u{FEFF}"),
        json!("../x"),
        json!("**/*"),
        json!("9999-12-31T23:59:59.999Z"),
        json!("-0001-01-01T00:00:00Z"),
        json!("https://[::1]:0/"),
        json!([]),
        json!({}),
    ];
    random.pick(&edges).clone()
}

/// Bytes, spoilt in some places.
pub fn bytes(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    for _ in 0..=random.below(3) {
        let place = random.below(bytes.len() + 1);
        match random.below(4) {
            0 => bytes.truncate(place),
            1 => bytes.insert(place, (random.next() & 0xff) as u8),
            2 => {
                let end = place + random.below(bytes.len() + 1 - place);
                let piece = bytes[place..end].to_vec();
                let at = random.below(bytes.len() + 1);
                bytes.splice(at..at, piece);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(place) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
    bytes
}
