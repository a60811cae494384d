//! What a deployment says of itself: its card's own document, instead of the desk's words.
//!
//! A document changes what is shown and nothing else: who may call, what is taken and where the agent is are settings.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::a2a::card::{AgentProvider, AgentSkill};
use crate::json;
use crate::params::{self, Param, Shape};
use crate::refusal::Violation;

/// The most bytes of a document.
pub const DOCUMENT_LIMIT: usize = 65_536;

const URL: Shape = Shape::HttpsUrl(2_048);
const TEXT: Shape = Shape::Filled(2_000);

const SKILL: &[Param] = &[
    Param::required("id", Shape::Id, "Unique within the card"),
    Param::required("name", Shape::Line(80), "For people"),
    Param::required("description", TEXT, "For people"),
    Param::required("tags", Shape::Set(20, &Shape::Line(50)), "Keywords"),
    Param::optional(
        "examples",
        Shape::List(20, &Shape::Filled(1_000)),
        "What one might ask",
    ),
];

const SKILLS: Shape = Shape::List(50, &Shape::Object(SKILL));

const PROVIDER: &[Param] = &[
    Param::required("organization", Shape::Line(200), "Its name"),
    Param::required("url", URL, "Of the organization"),
];

const EXTENDED: &[Param] = &[
    Param::optional("description", TEXT, "Instead of the card's"),
    Param::optional(
        "skills",
        SKILLS,
        "Beside the card's, or instead of those of the same id",
    ),
];

/// The members of a document.
pub const MEMBERS: &[Param] = &[
    Param::optional("name", Shape::Line(80), "The agent's name"),
    Param::optional("description", TEXT, "What the agent is for"),
    Param::optional("version", Shape::Line(80), "The agent's own version"),
    Param::optional("provider", Shape::Object(PROVIDER), "Who runs it"),
    Param::optional("documentationUrl", URL, "Where its documentation is"),
    Param::optional("iconUrl", URL, "Where its picture is"),
    Param::optional(
        "skills",
        SKILLS,
        "What it is good for, instead of what the desk says",
    ),
    Param::optional(
        "extended",
        Shape::Object(EXTENDED),
        "What those with a credential are shown",
    ),
];

/// A card's own document. What it does not say is said by the settings and the desk.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Document {
    /// The agent's name.
    pub name: Option<String>,
    /// What the agent is for.
    pub description: Option<String>,
    /// The agent's own version.
    pub version: Option<String>,
    /// Who runs it.
    pub provider: Option<AgentProvider>,
    /// Where its documentation is.
    pub documentation_url: Option<String>,
    /// Where its picture is.
    pub icon_url: Option<String>,
    /// What it is good for; none of its own: what the desk says.
    pub skills: Vec<AgentSkill>,
    /// What those with a credential are shown; with it the card says that there is an extended one.
    pub extended: Option<Extended>,
}

/// What the extended card has that the public one has not.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Extended {
    /// Instead of the card's.
    pub description: Option<String>,
    /// Beside the card's, or instead of those of the same id.
    pub skills: Vec<AgentSkill>,
}

/// Every rule that a document breaks, by field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentError(pub Vec<Violation>);

impl fmt::Display for DocumentError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Violation { field, description }) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            match field.as_str() {
                "" => write!(out, "{separator}{description}")?,
                field => write!(out, "{separator}{field}: {description}")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for DocumentError {}

impl Document {
    /// Reads a document: a JSON object of at most [`DOCUMENT_LIMIT`] bytes with the [`MEMBERS`] and no others.
    ///
    /// # Errors
    /// Every field at fault.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let whole = |description: String| {
            DocumentError(vec![Violation {
                field: String::new(),
                description,
            }])
        };
        if bytes.len() > DOCUMENT_LIMIT {
            return Err(whole(format!("expected at most {DOCUMENT_LIMIT} bytes")));
        }
        let value = json::parse(bytes).map_err(|error| whole(format!("expected a JSON object: {error}")))?;
        let Value::Object(members) = &value else {
            return Err(whole("expected a JSON object".to_owned()));
        };
        let mut found = params::violations(MEMBERS, &[], members);
        strangers(MEMBERS, members, "", &mut found);
        repeated(members, "", &mut found);
        let extended = members.get("extended").and_then(Value::as_object);
        extended
            .into_iter()
            .for_each(|extended| repeated(extended, "extended.", &mut found));
        if !found.is_empty() {
            return Err(DocumentError(found));
        }
        serde_json::from_value(value).map_err(|error| whole(error.to_string()))
    }
}

/// The rule that a member's text breaks, wherever it comes from.
pub(crate) fn fault(member: &str, text: &str) -> Option<String> {
    let said = Map::from_iter([(member.to_owned(), text.into())]);
    let found = params::violations(MEMBERS, &[], &said).into_iter().next();
    found.map(|violation| violation.description)
}

/// Members that the table does not have: a misspelt one would otherwise say nothing and mean it.
fn strangers(params: &[Param], object: &Map<String, Value>, within: &str, found: &mut Vec<Violation>) {
    for (name, value) in object {
        let path = format!("{within}{name}");
        let Some(param) = params.iter().find(|param| param.name == name) else {
            let names: Vec<&str> = params.iter().map(|param| param.name).collect();
            found.push(Violation {
                field: path,
                description: format!("expected one of these members: {}", names.join(", ")),
            });
            continue;
        };
        match (param.shape, value) {
            (Shape::Object(members), Value::Object(object)) => {
                strangers(members, object, &format!("{path}."), found);
            }
            (Shape::List(_, Shape::Object(members)), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    let object = item.as_object();
                    let within = format!("{path}[{index}].");
                    object
                        .into_iter()
                        .for_each(|object| strangers(members, object, &within, found));
                }
            }
            _ => {}
        }
    }
}

/// Ids of skills that an earlier one has.
fn repeated(members: &Map<String, Value>, within: &str, found: &mut Vec<Violation>) {
    let skills = members.get("skills").and_then(Value::as_array);
    let mut ids = BTreeSet::new();
    for (index, skill) in skills.into_iter().flatten().enumerate() {
        if let Some(id) = skill.get("id").and_then(Value::as_str)
            && !ids.insert(id)
        {
            found.push(Violation {
                field: format!("{within}skills[{index}].id"),
                description: "expected an id unlike those before it".to_owned(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(document: &Value) -> Vec<String> {
        match Document::parse(document.to_string().as_bytes()) {
            Ok(_) => Vec::new(),
            Err(DocumentError(found)) => found.into_iter().map(|it| it.field).collect(),
        }
    }

    fn skill(id: &str) -> Value {
        json!({"id": id, "name": "n", "description": "d", "tags": ["t"]})
    }

    #[test]
    fn a_document_is_read() {
        let document = json!({
            "name": "Desk", "description": "d", "version": "7", "documentationUrl": "https://e.example/docs",
            "iconUrl": "https://e.example/icon.svg", "provider": {"organization": "o", "url": "https://e.example"},
            "skills": [skill("a"), skill("b")],
            "extended": {"description": "more", "skills": [skill("a")]},
        });
        let read = Document::parse(document.to_string().as_bytes()).unwrap();
        assert_eq!(read.name.as_deref(), Some("Desk"));
        assert_eq!(read.icon_url.as_deref(), Some("https://e.example/icon.svg"));
        assert_eq!((read.skills.len(), read.extended.unwrap().skills.len()), (2, 1));
        assert_eq!(Document::parse(b"{}"), Ok(Document::default()));
    }

    #[test]
    fn the_last_of_every_size_is_taken_and_the_first_beyond_it_is_not() {
        let line = |length: usize| json!("x".repeat(length));
        let url = |length: usize| json!(format!("https://e.example/{}", "x".repeat(length - 18)));
        let of_skill = |member: &str, value: Value| {
            let mut skill = skill("a");
            skill[member] = value;
            json!({ "skills": [skill] })
        };
        let skills = |count: usize| Value::from_iter((0..count).map(|index| skill(&index.to_string())));
        let tags = |count: usize| Value::from_iter((0..count).map(|index| index.to_string()));
        let provider = |member: &str, value: Value| {
            let mut provider = json!({"organization": "o", "url": "https://e.example"});
            provider[member] = value;
            json!({ "provider": provider })
        };
        for (good, bad, field) in [
            (json!({"name": line(80)}), json!({"name": line(81)}), "name"),
            (
                json!({"description": line(2_000)}),
                json!({"description": line(2_001)}),
                "description",
            ),
            (
                json!({"version": line(80)}),
                json!({"version": line(81)}),
                "version",
            ),
            (
                json!({"documentationUrl": url(2_048)}),
                json!({"documentationUrl": url(2_049)}),
                "documentationUrl",
            ),
            (
                json!({"iconUrl": url(2_048)}),
                json!({"iconUrl": url(2_049)}),
                "iconUrl",
            ),
            (
                provider("organization", line(200)),
                provider("organization", line(201)),
                "provider.organization",
            ),
            (
                provider("url", url(2_048)),
                provider("url", url(2_049)),
                "provider.url",
            ),
            (
                json!({"skills": skills(50)}),
                json!({"skills": skills(51)}),
                "skills",
            ),
            (of_skill("id", line(64)), of_skill("id", line(65)), "skills[0].id"),
            (
                of_skill("name", line(80)),
                of_skill("name", line(81)),
                "skills[0].name",
            ),
            (
                of_skill("description", line(2_000)),
                of_skill("description", line(2_001)),
                "skills[0].description",
            ),
            (
                of_skill("tags", tags(20)),
                of_skill("tags", tags(21)),
                "skills[0].tags",
            ),
            (
                of_skill("tags", tags(1)),
                of_skill("tags", tags(0)),
                "skills[0].tags",
            ),
            (
                of_skill("tags", json!([line(50)])),
                of_skill("tags", json!([line(51)])),
                "skills[0].tags[0]",
            ),
            (
                of_skill("examples", json!(vec!["e"; 20])),
                of_skill("examples", json!(vec!["e"; 21])),
                "skills[0].examples",
            ),
            (
                of_skill("examples", json!([line(1_000)])),
                of_skill("examples", json!([line(1_001)])),
                "skills[0].examples[0]",
            ),
        ] {
            assert_eq!(faults(&good), Vec::<String>::new(), "{field}");
            assert_eq!(faults(&bad), [field]);
        }
        let document = |length: usize| {
            let frame = r#"{"name":"x"}"#.len();
            format!("{}{}", r#"{"name":"x"}"#, " ".repeat(length - frame))
        };
        assert!(Document::parse(document(DOCUMENT_LIMIT).as_bytes()).is_ok());
        assert!(Document::parse(document(DOCUMENT_LIMIT + 1).as_bytes()).is_err());
    }

    #[test]
    fn every_fault_is_named_misspelt_members_and_repeated_ids_too() {
        let found = faults(&json!({
            "name": " ", "iconURL": "https://e.example", "documentationUrl": "http://e.example",
            "provider": {"organization": "o", "url": "https://e.example", "website": "x"},
            "skills": [skill("a"), {"id": "a", "name": "n", "description": "d", "tag": ["t"]}],
            "extended": {"skills": [skill("b"), skill("b")]},
        }));
        assert_eq!(
            found,
            [
                "name",
                "documentationUrl",
                "skills[1].tags",
                "iconURL",
                "provider.website",
                "skills[1].tag",
                "skills[1].id",
                "extended.skills[1].id"
            ]
        );
        for (bytes, told) in [
            (&b"[]"[..], "expected a JSON object"),
            (b"{", "expected a JSON object: "),
            (b"{\"name\":\"a\",\"name\":\"b\"}", "duplicate key"),
            (b"{\"name\":7}", "name: expected one line"),
        ] {
            let error = Document::parse(bytes).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
