//! What the operations of session-coordination/v1 take, whether two resources overlap, and by what a repeat is known
//! (session coordination, §9).

use serde::Serialize;
use serde_json::{Value, json};

use crate::coordination;
use crate::coordination::catalogue::{self, Description};
use crate::coordination::resource::ResourceId;
use crate::dispatch::verdict::{Fault, answer, read};
use crate::params::{CHUNK, ID_CHARS, Param, Shape};
use crate::refusal::Violation;
use crate::session::Idempotency;

/// Every operation, in the order of the card, as a list:
/// `{"name","scope","readOnly","about","params":[{"name","required","about","shape"}]}`.
///
/// A shape has a `type`: `line`, `text`, `filled` and `https-url` with `maxChars`; `id` with `maxChars`; `choice` with
/// `of`, and with `nullable` where null is one more; `integer` with `min` and `max`; `flag`; `list` and `set` with
/// `maxItems` and the shape `of` their entries; `object` with `params`; `resource`; `artifact`.
#[must_use]
pub fn catalogue_json() -> String {
    let operations = catalogue::DESCRIPTIONS.iter().map(|operation| {
        json!({
            "name": operation.name,
            "scope": operation.scope.as_str(),
            "readOnly": operation.read_only,
            "about": operation.about,
            "params": params(operation.params),
        })
    });
    crate::json::to_string(&operations.collect::<Vec<Value>>())
}

fn params(params: &[Param]) -> Value {
    let params = params.iter().map(|param| {
        json!({"name": param.name, "required": param.required, "about": param.about, "shape": shape(param.shape)})
    });
    params.collect()
}

fn shape(it: Shape) -> Value {
    match it {
        Shape::Line(most) => json!({"type": "line", "maxChars": most}),
        Shape::Text(most) => json!({"type": "text", "maxChars": most}),
        Shape::Filled(most) => json!({"type": "filled", "maxChars": most}),
        Shape::Id => json!({"type": "id", "maxChars": ID_CHARS}),
        Shape::Choice(names) => json!({"type": "choice", "of": names}),
        Shape::ChoiceOrNull(names) => json!({"type": "choice", "of": names, "nullable": true}),
        Shape::Integer(least, most) => json!({"type": "integer", "min": least, "max": most}),
        Shape::Flag => json!({"type": "flag"}),
        Shape::List(most, of) => json!({"type": "list", "maxItems": most, "of": shape(*of)}),
        Shape::Set(most, of) => json!({"type": "set", "maxItems": most, "of": shape(*of)}),
        Shape::Object(members) => json!({"type": "object", "params": params(members)}),
        Shape::Resource => json!({"type": "resource"}),
        Shape::HttpsUrl(most) => json!({"type": "https-url", "maxChars": most}),
        Shape::Artifact => json!({"type": "artifact"}),
        Shape::Handover => json!({"type": "artifact", "or": {"type": "object", "params": params(CHUNK)}}),
    }
}

/// Whether the parameters of an operation keep its rules, with every field at fault:
/// `{"ok":false,"error":{"code":"invalid","violations":[{"field","description"}]}}`.
///
/// An `idempotencyKey` is among the parameters of an operation that is no read. An operation that is not there is
/// `not-found` on `operation`; parameters that are no JSON object are invalid on `parameters`.
#[must_use]
pub fn validate_json(operation: &str, parameters: &str) -> String {
    let found = find(operation).and_then(|operation| {
        let parameters = object(parameters)?;
        let (_, found) = coordination::checked(
            operation.params,
            operation.rules,
            operation.read_only,
            &parameters,
        );
        Ok(found)
    });
    match found {
        Ok(violations) if violations.is_empty() => Faults::none(),
        Ok(violations) => Faults::of("invalid", &violations),
        Err(fault) => {
            let code = fault.code;
            let violation = Violation {
                field: fault.field,
                description: fault.message,
            };
            Faults::of(code, &[violation])
        }
    }
}

/// A verdict with every field at fault.
#[derive(Serialize)]
struct Faults<'a, C> {
    ok: bool,
    error: Found<'a, C>,
}

#[derive(Serialize)]
struct Found<'a, C> {
    code: C,
    violations: &'a [Violation],
}

impl Faults<'_, ()> {
    fn none() -> String {
        r#"{"ok":true}"#.to_owned()
    }
}

impl<'a, C: Serialize> Faults<'a, C> {
    fn of(code: C, violations: &'a [Violation]) -> String {
        let faults = Self {
            ok: false,
            error: Found { code, violations },
        };
        // Only a map with keys that are no strings fails.
        serde_json::to_string(&faults).unwrap_or_default()
    }
}

/// Whether two resource ids overlap: `{"overlaps","witness"?}` as `result`, the witness something that both name.
/// A text that is no resource id is invalid on `resources[0]` or `resources[1]`.
#[must_use]
pub fn overlap_json(one: &str, other: &str) -> String {
    #[derive(Serialize)]
    struct Overlap {
        overlaps: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        witness: Option<String>,
    }
    let parse = |text: &str, field: &str| {
        ResourceId::parse(text).map_err(|broken| Fault::invalid(field, broken.to_string()))
    };
    let overlap = || {
        let one = parse(one, "resources[0]")?;
        let witness = one.overlap_witness(&parse(other, "resources[1]")?);
        Ok(Overlap {
            overlaps: witness.is_some(),
            witness,
        })
    };
    answer(overlap())
}

/// By what a repeat under the same idempotency key is known for the same call, as a text in `result`: the digest of the
/// operation's name and of its parameters in canonical form, the key itself left out (session coordination, §9.5).
#[must_use]
pub fn fingerprint_json(operation: &str, parameters: &str) -> String {
    let fingerprint = || {
        let operation = find(operation)?;
        let body = object(parameters)?;
        Ok(Idempotency::of_body("", operation.name, &body).fingerprint)
    };
    answer(fingerprint())
}

fn find(name: &str) -> Result<&'static Description, Fault> {
    let mut operations = catalogue::DESCRIPTIONS.iter();
    operations
        .find(|operation| operation.name == name)
        .ok_or_else(|| Fault::not_found("operation", "expected an operation of session-coordination/v1"))
}

fn object(parameters: &str) -> Result<serde_json::Map<String, Value>, Fault> {
    match read(parameters, "parameters")? {
        Value::Object(body) => Ok(body),
        _ => Err(Fault::invalid("parameters", "expected an object")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_that_of_the_desk() {
        let told: Value = serde_json::from_str(&catalogue_json()).unwrap();
        let told = told.as_array().unwrap();
        assert_eq!(told.len(), catalogue::OPERATIONS.len());
        for (told, operation) in told.iter().zip(catalogue::OPERATIONS) {
            assert_eq!(told["name"], operation.name);
            assert_eq!(told["scope"], operation.scope.as_str());
            assert_eq!(told["readOnly"], operation.read_only);
            assert_eq!(told["params"].as_array().unwrap().len(), operation.params.len());
        }
        let acquire = told.iter().find(|it| it["name"] == "claims.acquire").unwrap();
        assert_eq!(
            acquire["params"][1]["shape"],
            json!({"type": "choice", "of": ["exclusive", "shared"]})
        );
        assert_eq!(
            acquire["params"][2]["shape"],
            json!({"type": "integer", "min": 30, "max": 86_400})
        );
    }

    #[test]
    fn every_field_at_fault_is_told() {
        let parameters = r#"{"resourceId":"/x","leaseSeconds":29,"idempotencyKey":""}"#;
        let verdict: Value = serde_json::from_str(&validate_json("claims.acquire", parameters)).unwrap();
        let violations = verdict["error"]["violations"].as_array().unwrap();
        let fields: Vec<&Value> = violations.iter().map(|violation| &violation["field"]).collect();
        assert_eq!(fields, ["resourceId", "leaseSeconds", "idempotencyKey"]);
        assert_eq!(verdict["error"]["code"], "invalid");
        for right in [
            r#"{"resourceId":"x","leaseSeconds":30,"idempotencyKey":"k"}"#,
            r#"{"resourceId":"x","unknown":1}"#,
        ] {
            assert_eq!(validate_json("claims.acquire", right), r#"{"ok":true}"#);
        }
        // A read has no key, and so none that could be wrong.
        assert_eq!(
            validate_json("requests.list", r#"{"idempotencyKey":""}"#),
            r#"{"ok":true}"#
        );
    }

    #[test]
    fn what_is_not_there_and_what_is_no_object_are_told_apart() {
        assert!(
            validate_json("claims.take", "{}")
                .contains(r#""code":"not-found","violations":[{"field":"operation""#)
        );
        for text in ["[]", "{", "null"] {
            let said = validate_json("claims.acquire", text);
            assert!(
                said.contains(r#""code":"invalid","violations":[{"field":"parameters""#),
                "{said}"
            );
        }
        assert!(fingerprint_json("claims.take", "{}").contains(r#""code":"not-found","field":"operation""#));
        assert!(fingerprint_json("claims.acquire", "1").contains(r#""field":"parameters""#));
    }

    #[test]
    fn resources_overlap_with_a_witness() {
        assert_eq!(
            overlap_json("src/*.rs", "src/a*"),
            r#"{"ok":true,"result":{"overlaps":true,"witness":"src/a.rs"}}"#
        );
        assert_eq!(
            overlap_json("a/*", "b/*"),
            r#"{"ok":true,"result":{"overlaps":false}}"#
        );
        assert!(overlap_json("/a", "b").contains(r#""field":"resources[0]""#));
        assert!(overlap_json("a", "../b").contains(r#""field":"resources[1]""#));
    }

    #[test]
    fn a_repeat_has_the_fingerprint_of_the_first_call() {
        let first = fingerprint_json(
            "claims.acquire",
            r#"{"resourceId":"x","leaseSeconds":30.0,"idempotencyKey":"a"}"#,
        );
        let again = fingerprint_json(
            "claims.acquire",
            r#"{"leaseSeconds":30,"idempotencyKey":"b","resourceId":"x"}"#,
        );
        assert!(first.starts_with(r#"{"ok":true,"result":""#), "{first}");
        assert_eq!(first, again);
        assert_ne!(
            first,
            fingerprint_json("claims.acquire", r#"{"resourceId":"y","leaseSeconds":30}"#)
        );
        let body = json!({"resourceId": "x", "leaseSeconds": 30});
        let desk = Idempotency::of_body("k", "claims.acquire", body.as_object().unwrap());
        assert!(first.contains(&desk.fingerprint));
    }
}
