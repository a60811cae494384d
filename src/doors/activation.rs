//! Which extensions take part in a request (A2A 1.0, §4.6).

use serde_json::Value;

use super::{fault, texts};
use crate::a2a::card::AgentExtension;
use crate::dispatch::verdict::{Fault, answer, read};
use crate::extension::{header, stateless};

/// [`header::parse`]: the header's values as a JSON list in, the URIs as `result` out.
#[must_use]
pub fn parse_header_json(values: &str) -> String {
    answer(list(values, "values").map(header::parse))
}

/// [`header::requested`]: the header's values and `message.extensions` as JSON lists in, the URIs as `result` out.
#[must_use]
pub fn requested_json(header_values: &str, message_extensions: &str) -> String {
    let requested = || {
        let values = list(header_values, "headerValues")?;
        Ok(header::requested(
            values,
            &list(message_extensions, "messageExtensions")?,
        ))
    };
    answer(requested())
}

/// [`header::format`]: URIs as a JSON list in, the header's value as `result` out; null where there is no header.
#[must_use]
pub fn format_header_json(uris: &str) -> String {
    answer(list(uris, "uris").map(header::format))
}

/// [`stateless::required_missing`]: declarations as on a card and the requested URIs as JSON lists in, the missing
/// URIs as `result` out.
#[must_use]
pub fn required_missing_json(declared: &str, requested: &str) -> String {
    let missing = || {
        let declared = declarations(declared)?
            .into_iter()
            .map(|it| (it.uri, it.required));
        Ok(stateless::required_missing(
            declared,
            &list(requested, "requested")?,
        ))
    };
    answer(missing())
}

/// [`stateless::activate`]: the declared and the requested URIs as JSON lists in, the active ones as `result` out.
#[must_use]
pub fn activate_json(declared: &str, requested: &str) -> String {
    let active = || {
        let declared = list(declared, "declared")?;
        Ok(stateless::activate(declared, &list(requested, "requested")?))
    };
    answer(active())
}

/// [`stateless::declare_on_card`]: the card and a list of declarations in, the card with them as `result` out.
#[must_use]
pub fn declare_on_card_json(card: &str, declared: &str) -> String {
    let declare = || {
        let mut card = read(card, "card")?;
        stateless::declare_on_card(&mut card, declarations(declared)?).map_err(fault)?;
        Ok(card)
    };
    answer(declare())
}

fn list(text: &str, whole: &str) -> Result<Vec<String>, Fault> {
    texts(read(text, whole)?, whole)
}

fn declarations(text: &str) -> Result<Vec<AgentExtension>, Fault> {
    let Value::Array(items) = read(text, "declared")? else {
        return Err(Fault::invalid("declared", "expected a list of declarations"));
    };
    items
        .into_iter()
        .enumerate()
        .map(|(index, item)| declaration(item, index))
        .collect()
}

/// A declaration, its members of the types that A2A gives them (A2A 1.0, §4.4.4); null is absence.
fn declaration(value: Value, index: usize) -> Result<AgentExtension, Fault> {
    let fault = |member: &str, expected: &str| Fault::invalid(format!("declared[{index}]{member}"), expected);
    let Value::Object(mut members) = value else {
        return Err(fault("", "expected an object"));
    };
    let mut take = |name: &str| members.remove(name).filter(|value| !value.is_null());
    Ok(AgentExtension {
        uri: match take("uri") {
            Some(Value::String(uri)) => uri,
            _ => return Err(fault(".uri", "expected a string")),
        },
        description: match take("description") {
            Some(Value::String(description)) => Some(description),
            None => None,
            Some(_) => return Err(fault(".description", "expected a string")),
        },
        required: match take("required") {
            Some(Value::Bool(required)) => required,
            None => false,
            Some(_) => return Err(fault(".required", "expected true or false")),
        },
        params: take("params"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_asks_by_header_and_message() {
        assert_eq!(
            requested_json(r#"["a, b","a"]"#, r#"["c,d","b"]"#),
            r#"{"ok":true,"result":["a","b","c,d"]}"#
        );
        assert_eq!(
            parse_header_json(r#"[" a ,,b"]"#),
            r#"{"ok":true,"result":["a","b"]}"#
        );
        assert_eq!(
            format_header_json(r#"["a","b"]"#),
            r#"{"ok":true,"result":"a,b"}"#
        );
        assert_eq!(format_header_json("[]"), r#"{"ok":true,"result":null}"#);
    }

    #[test]
    fn what_is_declared_and_asked_for_is_active_and_what_is_required_is_missed() {
        assert_eq!(
            activate_json(r#"["a","b","c"]"#, r#"["c","x","a"]"#),
            r#"{"ok":true,"result":["a","c"]}"#
        );
        assert_eq!(
            required_missing_json(
                r#"[{"uri":"a","required":true},{"uri":"b"},{"uri":"c","required":true}]"#,
                r#"["c"]"#
            ),
            r#"{"ok":true,"result":["a"]}"#
        );
    }

    #[test]
    fn a_card_keeps_what_it_has() {
        assert_eq!(
            declare_on_card_json(
                r#"{"x":1,"capabilities":{"extensions":[{"uri":"a","mine":true}]}}"#,
                r#"[{"uri":"a"},{"uri":"b","required":true,"params":{"p":1},"description":null}]"#
            ),
            r#"{"ok":true,"result":{"x":1,"capabilities":{"extensions":[{"uri":"a","mine":true},{"uri":"b","required":true,"params":{"p":1}}]}}}"#
        );
    }

    #[test]
    fn what_is_no_list_is_named() {
        for (verdict, field) in [
            (parse_header_json("{}"), "values"),
            (parse_header_json("["), "values"),
            (requested_json("[1]", "[]"), "headerValues[0]"),
            (requested_json("[]", "[null]"), "messageExtensions[0]"),
            (format_header_json("null"), "uris"),
            (activate_json("[]", "{}"), "requested"),
            (required_missing_json("{}", "[]"), "declared"),
            (required_missing_json("[{}]", "[]"), "declared[0].uri"),
            (
                required_missing_json(r#"[{"uri":"a","required":1}]"#, "[]"),
                "declared[0].required",
            ),
            (
                declare_on_card_json("{}", r#"[{"uri":"a","description":1}]"#),
                "declared[0].description",
            ),
            (
                declare_on_card_json("{}", r#"[{"uri":"a","params":[]}]"#),
                "declared[0].params",
            ),
            (declare_on_card_json("[]", "[]"), "card"),
            (
                declare_on_card_json(r#"{"capabilities":1}"#, "[]"),
                "card.capabilities",
            ),
            (
                declare_on_card_json(r#"{"capabilities":{"extensions":{}}}"#, "[]"),
                "card.capabilities.extensions",
            ),
        ] {
            let named = format!(r#"{{"ok":false,"error":{{"code":"invalid","field":"{field}""#);
            assert!(verdict.starts_with(&named), "{field}: {verdict}");
        }
    }
}
