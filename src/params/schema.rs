//! Parameters as JSON Schema (draft 2020-12): whatever breaks the schema is refused. What a schema can't say is said
//! by the descriptions: the grammar of resource ids and URLs, work/v1's artifacts, and that a whole number is written
//! without a fraction.

use serde_json::{Map, Value, json};

use super::{CHUNK, ID_CHARS, Param, Rule, Shape};
use crate::coordination::resource;

/// Characters that a line does not have (`breaks_a_line`), for a class.
const BREAKS: &str = r"\u0000-\u001F\u007F\u0085\u2028\u2029";
/// Characters that a text does not have (`is_refused`), for a class.
const REFUSED: &str = r"\u0000-\u0008\u000B-\u001F\u007F";
/// White space (`text::is_blank_char`), for a class. The engines' own `\s` differ in it.
const BLANK: &str = r"\u0009-\u000D\u0020\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF";

/// The schema of a body with these parameters. Members that it does not name are allowed, for they are ignored.
#[must_use]
pub fn schema(params: &[Param], rules: &[Rule]) -> Map<String, Value> {
    let mut schema = object(params);
    let rules: Vec<Value> = rules.iter().filter_map(|rule| across(*rule, params)).collect();
    if !rules.is_empty() {
        schema.insert("allOf".to_owned(), Value::Array(rules));
    }
    schema
}

fn object(params: &[Param]) -> Map<String, Value> {
    let properties: Map<String, Value> = params
        .iter()
        .map(|param| {
            let mut of = value(param.shape, param.required);
            of.insert("description".to_owned(), json!(param.about));
            (param.name.to_owned(), Value::Object(of))
        })
        .collect();
    let required: Vec<&str> = params
        .iter()
        .filter(|param| param.required)
        .map(|param| param.name)
        .collect();
    let mut schema = of([
        ("type", json!("object")),
        ("properties", Value::Object(properties)),
    ]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

fn of<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Text of at most so many characters, with at least one that is not blank, or with none that is refused.
fn text(limit: usize, refused: &str, filled: bool) -> Map<String, Value> {
    let pattern = if filled {
        format!("^[^{refused}]*[^{refused}{BLANK}][^{refused}]*$")
    } else {
        format!("^[^{refused}]*$")
    };
    of([
        ("type", json!("string")),
        ("maxLength", json!(limit)),
        ("pattern", json!(pattern)),
    ])
}

fn value(shape: Shape, required: bool) -> Map<String, Value> {
    match shape {
        Shape::Line(limit) => text(limit, BREAKS, true),
        Shape::Text(limit) => text(limit, REFUSED, required),
        Shape::Filled(limit) => text(limit, REFUSED, true),
        Shape::Id => text(ID_CHARS, BREAKS, true),
        Shape::Resource => text(resource::CHARS, BREAKS, true),
        Shape::HttpsUrl(limit) => {
            let pattern = format!("^[Hh][Tt][Tt][Pp][Ss]://[^{BREAKS}]+$");
            of([
                ("type", json!("string")),
                ("maxLength", json!(limit)),
                ("pattern", json!(pattern)),
            ])
        }
        Shape::Choice(names) => of([("enum", json!(names))]),
        Shape::ChoiceOrNull(names) => {
            let null = std::iter::once(Value::Null);
            of([("enum", names.iter().map(|name| json!(name)).chain(null).collect())])
        }
        Shape::Integer(least, most) => of([
            ("type", json!("integer")),
            ("minimum", json!(least)),
            ("maximum", json!(most)),
        ]),
        Shape::Flag => of([("type", json!("boolean"))]),
        Shape::List(limit, of) => list(limit, *of, required),
        Shape::Set(limit, of) => {
            let mut set = list(limit, *of, required);
            set.insert("uniqueItems".to_owned(), json!(true));
            set
        }
        Shape::Object(members) => object(members),
        Shape::Artifact => of([
            ("type", json!("object")),
            ("required", json!(["artifactId", "parts"])),
        ]),
        Shape::Handover => {
            let forms = [value(Shape::Artifact, required), object(CHUNK)];
            of([("anyOf", json!(forms))])
        }
    }
}

fn list(limit: usize, items: Shape, required: bool) -> Map<String, Value> {
    let mut list = of([
        ("type", json!("array")),
        ("items", Value::Object(value(items, true))),
        ("maxItems", json!(limit)),
    ]);
    if required {
        list.insert("minItems".to_owned(), json!(1));
    }
    list
}

/// A rule as a schema; none where no schema can say it.
fn across(rule: Rule, params: &[Param]) -> Option<Value> {
    let shape = |name: &str| params.iter().find(|param| param.name == name).map(|it| it.shape);
    // A member that says something.
    let says = |name: &'static str| {
        let said = match shape(name) {
            Some(Shape::List(..)) => json!({ "minItems": 1 }),
            Some(Shape::Text(_)) => json!({ "pattern": format!("[^{BLANK}]") }),
            _ => json!(true),
        };
        json!({ "properties": { name: said }, "required": [name] })
    };
    match rule {
        Rule::Either(one, other) => Some(json!({ "not": { "allOf": [says(one), says(other)] } })),
        Rule::Some(names) => {
            let any: Vec<Value> = names.iter().map(|name| says(name)).collect();
            Some(json!({ "anyOf": any }))
        }
        Rule::With { param, is, needs } => {
            let needed = params.iter().filter(|it| needs.contains(&it.name));
            let properties: Map<String, Value> = needed
                .map(|it| (it.name.to_owned(), Value::Object(value(it.shape, true))))
                .collect();
            Some(json!({
                "if": { "properties": { param: { "const": is } }, "required": [param] },
                "then": { "properties": properties, "required": needs },
            }))
        }
        Rule::Apart { .. } => None,
    }
}
