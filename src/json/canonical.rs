//! The canonical form of JSON (RFC 8785, the JSON Canonicalization Scheme).

use serde_json::{Number, Value};

/// Above it a whole number is not every double's neighbour, and is written as the double nearest to it.
const SAFE_INTEGER: u64 = 9_007_199_254_740_991;
/// ECMAScript writes doubles below 10 to this power without an exponent, and those from 10 to its lower bound on.
const PLAIN: std::ops::RangeInclusive<i32> = -5..=21;

/// The RFC 8785 form of a value: what two equal requests share whatever their spelling.
///
/// Members are sorted by the UTF-16 of their names, and every number is written as the double that it is nearest to.
#[must_use]
pub fn canonical(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    write(value, &mut out);
    out.into_bytes()
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_unstable_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&super::to_string(name));
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Value::Number(number) => write_number(number, out),
        Value::Null | Value::Bool(_) | Value::String(_) => out.push_str(&super::to_string(value)),
    }
}

/// A number as ECMAScript's `Number::toString` gives it.
fn write_number(number: &Number, out: &mut String) {
    let is_safe = number
        .as_i64()
        .is_some_and(|whole| whole.unsigned_abs() <= SAFE_INTEGER);
    if is_safe {
        out.push_str(&super::to_string(number));
        return;
    }
    // Whole numbers beyond go through their double, so that what is left is a double's shortest decimal.
    let double = number.as_f64().and_then(Number::from_f64);
    let shortest = super::to_string(double.as_ref().unwrap_or(number));
    let (sign, shortest) = match shortest.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", shortest.as_str()),
    };
    let Decimal { digits, point } = Decimal::read(shortest);
    if digits.is_empty() {
        // Minus zero is zero.
        out.push('0');
        return;
    }
    out.push_str(sign);
    write_decimal(&digits, point, out);
}

/// A decimal without leading or trailing zeros: `0.digits` times ten to the `point`.
struct Decimal {
    digits: String,
    point: i32,
}

impl Decimal {
    /// Reads `12.5`, `0.001` or `1.5e-7`.
    fn read(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        let leading = all.len().saturating_sub(digits.len());
        let exponent = exponent.parse::<i32>().unwrap_or_default();
        let places = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
        let point = places(whole.len())
            .saturating_sub(places(leading))
            .saturating_add(exponent);
        Self {
            digits: digits.trim_end_matches('0').to_owned(),
            point,
        }
    }
}

fn write_decimal(digits: &str, point: i32, out: &mut String) {
    if !PLAIN.contains(&point) {
        let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
        let dot = if rest.is_empty() { "" } else { "." };
        let exponent = point.saturating_sub(1);
        let plus = if exponent > 0 { "+" } else { "" };
        out.push_str(&format!("{first}{dot}{rest}e{plus}{exponent}"));
        return;
    }
    let before = usize::try_from(point).unwrap_or_default();
    match digits.split_at_checked(before) {
        Some(("", all)) => {
            out.push_str("0.");
            out.push_str(&"0".repeat(usize::try_from(point.unsigned_abs()).unwrap_or_default()));
            out.push_str(all);
        }
        Some((whole, fraction)) => {
            out.push_str(whole);
            if !fraction.is_empty() {
                out.push('.');
                out.push_str(fraction);
            }
        }
        None => {
            out.push_str(digits);
            out.push_str(&"0".repeat(before.saturating_sub(digits.len())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn text(value: &Value) -> String {
        String::from_utf8(canonical(value)).unwrap()
    }

    #[test]
    fn numbers_are_written_as_ecmascript_does() {
        for (number, written) in [
            (json!(0), "0"),
            (json!(-0.0), "0"),
            (json!(1.0), "1"),
            (json!(-12.5), "-12.5"),
            (json!(1e20), "100000000000000000000"),
            (json!(1e21), "1e+21"),
            (json!(123e18), "123000000000000000000"),
            (json!(0.000_001), "0.000001"),
            (json!(0.000_000_1), "1e-7"),
            (json!(1.5e-7), "1.5e-7"),
            (json!(5e-324), "5e-324"),
            (json!(f64::MAX), "1.7976931348623157e+308"),
            (json!(9_007_199_254_740_991_i64), "9007199254740991"),
            (json!(9_007_199_254_740_993_i64), "9007199254740992"),
            (json!(u64::MAX), "18446744073709552000"),
            (json!(i64::MIN), "-9223372036854776000"),
        ] {
            assert_eq!(text(&number), written);
        }
    }

    #[test]
    fn members_are_sorted_by_their_utf_16() {
        let value = json!({ "\u{fb33}": 1, "\u{1f600}": 2, "\r": 3, "1": 4, "": 5 });
        assert_eq!(
            text(&value),
            "{\"\":5,\"\\r\":3,\"1\":4,\"\u{1f600}\":2,\"\u{fb33}\":1}"
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            (-400_i32..400, any::<u32>()).prop_map(|(exponent, digits)| {
                json!(format!("{digits}e{exponent}").parse::<f64>().unwrap())
            }),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_what_another_implementation_writes(value in any_json()) {
            let other = serde_json_canonicalizer::to_string(&value).unwrap();
            prop_assert_eq!(text(&value), other);
        }

        #[test]
        fn any_double_is_written_as_another_implementation_does(bits in any::<u64>()) {
            let value = Value::from(f64::from_bits(bits));
            let other = serde_json_canonicalizer::to_string(&value).unwrap();
            prop_assert_eq!(text(&value), other);
        }
    }
}
