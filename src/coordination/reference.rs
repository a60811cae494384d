//! What the desk publishes of the extension: this page of its documentation, and a JSON Schema of each operation's
//! parameters, made from the catalogue that the requests are checked with.

use serde_json::{Map, Value, json};

use super::catalogue::{self, OPERATIONS};
use super::{Operation, PATH};
use crate::{json, params};

/// Where the extension's page is, under [`PATH`]: the card's `params.specification`.
pub const SPECIFICATION: &str = "specification.md";
/// Where all schemas are, under [`PATH`].
pub const SCHEMAS: &str = "schemas.json";
/// Where the page about resource ids is, under [`PATH`]: the extension's page links to it there.
const RESOURCES: &str = "resources.md";

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Something that is published: for everybody, without a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// The extension's page, as Markdown.
    Specification,
    /// The page about resource ids, as Markdown.
    Resources,
    /// All schemas.
    Schemas,
    /// The schema of the operation of this name.
    Schema(&'static str),
}

impl Page {
    /// What is published at a path, which is given whole and by its segments.
    #[must_use]
    pub fn at(path: &[&str]) -> Option<Self> {
        let mut below = path.iter();
        if !PATH.split('/').all(|segment| below.next() == Some(&segment)) {
            return None;
        }
        match below.as_slice() {
            [page] if *page == SPECIFICATION => Some(Self::Specification),
            [page] if *page == RESOURCES => Some(Self::Resources),
            [page] if *page == SCHEMAS => Some(Self::Schemas),
            ["schemas", file] => {
                // Hosts that find their way alone carry nothing of what is behind the operations.
                let name = file.strip_suffix(".json")?;
                let mut described = catalogue::DESCRIPTIONS.iter();
                let described = described.find(|described| described.name == name)?;
                Some(Self::Schema(described.name))
            }
            _ => None,
        }
    }

    /// Its media type.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Specification | Self::Resources => "text/markdown; charset=utf-8",
            Self::Schemas | Self::Schema(_) => "application/schema+json",
        }
    }

    /// It itself, for an agent at `base`.
    #[must_use]
    pub fn text(self, base: &str) -> String {
        match self {
            Self::Specification => near(include_str!("../../docs/extensions/session-coordination.md")),
            Self::Resources => near(include_str!("../../docs/extensions/resources.md")),
            Self::Schemas => json::to_string(&schemas(base)),
            Self::Schema(name) => catalogue::find(name)
                .map(|operation| json::to_string(&document(operation, base)))
                .unwrap_or_default(),
        }
    }
}

/// Markdown without its links to pages that are not published beside it; their text stays.
fn near(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some((before, link)) = rest.split_once("](../") {
        let (lead, name) = before.rsplit_once('[').unwrap_or((before, ""));
        text.push_str(lead);
        text.push_str(name);
        rest = link.split_once(')').map_or("", |(_, behind)| behind);
    }
    text.push_str(rest);
    text
}

/// The schema of an operation's parameters (JSON Schema, 2020-12).
#[must_use]
pub fn schema(operation: &Operation) -> Map<String, Value> {
    let mut schema = params::schema(operation.params, operation.rules);
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let (Some(properties), false) = (properties, operation.read_only) {
        let key = json!({
            "type": "string",
            "minLength": 1,
            "maxLength": 255,
            "pattern": r"^[^\u0000-\u001F\u007F]*$",
            "description": "With the same key and parameters, a repeat is given the same answer and does nothing",
        });
        properties.insert("idempotencyKey".to_owned(), key);
    }
    let mut named = Map::new();
    named.insert("title".to_owned(), json!(operation.name));
    named.insert("description".to_owned(), json!(operation.about));
    named.extend(schema);
    named
}

/// The schemas of all operations, as `$defs` by their names, for an agent at `base`.
#[must_use]
pub fn schemas(base: &str) -> Value {
    let all: Map<String, Value> = OPERATIONS
        .iter()
        .map(|operation| (operation.name.to_owned(), Value::Object(schema(operation))))
        .collect();
    let mut document = identified(base, SCHEMAS);
    document.insert("$defs".to_owned(), Value::Object(all));
    Value::Object(document)
}

/// The schema of one operation as a document of its own, for an agent at `base`.
#[must_use]
pub fn document(operation: &Operation, base: &str) -> Value {
    let mut document = identified(base, &format!("schemas/{}.json", operation.name));
    document.extend(schema(operation));
    Value::Object(document)
}

fn identified(base: &str, name: &str) -> Map<String, Value> {
    let mut document = Map::new();
    document.insert("$schema".to_owned(), json!(DIALECT));
    document.insert("$id".to_owned(), json!(format!("{base}/{PATH}/{name}")));
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_what_is_not_there_are_texts() {
        let markdown = "See [streams](../streams.md), [ids](resources.md) and [`x`](../a/b.md#c).\n";
        assert_eq!(near(markdown), "See streams, [ids](resources.md) and `x`.\n");
        assert_eq!(near("none"), "none");
    }

    #[test]
    fn what_is_published_is_found_below_the_extension_s_path() {
        let at = |path: &str| Page::at(&path.split('/').collect::<Vec<_>>());
        let base = "extensions/session-coordination/v1";
        for (page, expected) in [
            ("specification.md", Some(Page::Specification)),
            ("resources.md", Some(Page::Resources)),
            ("schemas.json", Some(Page::Schemas)),
            (
                "schemas/claims.acquire.json",
                Some(Page::Schema("claims.acquire")),
            ),
            ("schemas/claims.burn.json", None),
            ("schemas/claims.acquire", None),
            ("claims:acquire", None),
        ] {
            assert_eq!(at(&format!("{base}/{page}")), expected, "{page}");
        }
        assert_eq!(at("extensions/session-coordination/v2/schemas.json"), None);
        assert_eq!(at("schemas.json"), None);
    }
}
