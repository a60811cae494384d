//! What a registry does, for hosts that have none: functions over declarations alone.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::a2a::card::AgentExtension;
use crate::refusal::Violation;

/// The required URIs among those declared, each with whether it is required, that a request does not ask for, in the
/// order of declaration (A2A 1.0, §3.3.4).
#[must_use]
pub fn required_missing(
    declared: impl IntoIterator<Item = (String, bool)>,
    requested: &[String],
) -> Vec<String> {
    let missing = |(uri, required): (String, bool)| (required && !requested.contains(&uri)).then_some(uri);
    declared.into_iter().filter_map(missing).collect()
}

/// The URIs among `declared` that a request asks for: those active for it, in the order of declaration.
#[must_use]
pub fn activate(declared: Vec<String>, requested: &[String]) -> Vec<String> {
    declared
        .into_iter()
        .filter(|uri| requested.contains(uri))
        .collect()
}

/// Writes declarations into `capabilities.extensions` of a card that is kept as JSON, so that members which this crate
/// does not know stay on it. An entry that the card has for a URI stays, and no URI stands there twice.
///
/// # Errors
/// A member of another type than A2A gives it: `card`, `card.capabilities`, `card.capabilities.extensions` or
/// `declared[0].params`.
pub fn declare_on_card(card: &mut Value, declared: Vec<AgentExtension>) -> Result<(), Violation> {
    let mut entries = Vec::with_capacity(declared.len());
    for (index, declaration) in declared.into_iter().enumerate() {
        let field = || format!("declared[{index}].params");
        if declaration
            .params
            .as_ref()
            .is_some_and(|params| !params.is_object())
        {
            return Err(violation(field(), "expected an object"));
        }
        let entry = serde_json::to_value(declaration);
        entries.push(entry.map_err(|error| violation(field(), error.to_string()))?);
    }
    let listed = extensions(card)?;
    listed.extend(entries);
    let mut seen = BTreeSet::new();
    listed.retain(|entry| match entry.get("uri").and_then(Value::as_str) {
        Some(uri) => seen.insert(uri.to_owned()),
        None => true,
    });
    Ok(())
}

/// The list in `capabilities.extensions`, begun if it is missing.
fn extensions(card: &mut Value) -> Result<&mut Vec<Value>, Violation> {
    let card = card
        .as_object_mut()
        .ok_or_else(|| violation("card", "expected an object"))?;
    let capabilities = card
        .entry("capabilities")
        .or_insert_with(|| Value::Object(Map::new()));
    let capabilities = capabilities
        .as_object_mut()
        .ok_or_else(|| violation("card.capabilities", "expected an object"))?;
    let extensions = capabilities
        .entry("extensions")
        .or_insert_with(|| Value::Array(Vec::new()));
    extensions
        .as_array_mut()
        .ok_or_else(|| violation("card.capabilities.extensions", "expected a list"))
}

fn violation(field: impl Into<String>, description: impl Into<String>) -> Violation {
    Violation {
        field: field.into(),
        description: description.into(),
    }
}
