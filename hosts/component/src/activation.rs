//! Interface `activation`.

use std::collections::BTreeSet;

use a2a_edge::a2a::card::AgentExtension;
use a2a_edge::extension::header;
use a2a_edge::json;
use serde_json::{Map, Value};

use crate::Core;
use crate::bindings::exports::a2a_edge::core::activation::{Declaration, Fault, Guest};
use crate::fault::{invalid, parse};

impl Guest for Core {
    fn parse_header(values: Vec<String>) -> Vec<String> {
        header::parse(values)
    }

    fn requested(header_values: Vec<String>, message_extensions: Vec<String>) -> Vec<String> {
        header::requested(header_values, &message_extensions)
    }

    fn format_header(uris: Vec<String>) -> Option<String> {
        header::format(uris)
    }

    fn required_missing(declared: Vec<Declaration>, requested: Vec<String>) -> Vec<String> {
        let required = declared.into_iter().filter(|declaration| declaration.required);
        required
            .map(|declaration| declaration.uri)
            .filter(|uri| !requested.contains(uri))
            .collect()
    }

    fn activate(declared: Vec<String>, requested: Vec<String>) -> Vec<String> {
        declared
            .into_iter()
            .filter(|uri| requested.contains(uri))
            .collect()
    }

    fn declare_on_card(card: String, declared: Vec<Declaration>) -> Result<String, Fault> {
        let mut card = parse("card", &card)?;
        let mut declarations = Vec::with_capacity(declared.len());
        for (index, declaration) in declared.into_iter().enumerate() {
            declarations.push(entry(index, declaration)?);
        }
        let listed = extensions(&mut card)?;
        listed.extend(declarations);
        let mut seen = BTreeSet::new();
        listed.retain(|entry| match entry.get("uri").and_then(Value::as_str) {
            Some(uri) => seen.insert(uri.to_owned()),
            None => true,
        });
        Ok(json::to_string(&card))
    }
}

/// The list in `capabilities.extensions`, begun if it is missing. The card is kept as JSON, so that members that this
/// crate does not know stay on it.
fn extensions(card: &mut Value) -> Result<&mut Vec<Value>, Fault> {
    let card = card
        .as_object_mut()
        .ok_or_else(|| invalid("card", "expected an object"))?;
    let capabilities = card
        .entry("capabilities")
        .or_insert_with(|| Value::Object(Map::new()));
    let capabilities = capabilities
        .as_object_mut()
        .ok_or_else(|| invalid("card.capabilities", "expected an object"))?;
    let extensions = capabilities
        .entry("extensions")
        .or_insert_with(|| Value::Array(Vec::new()));
    extensions
        .as_array_mut()
        .ok_or_else(|| invalid("card.capabilities.extensions", "expected a list"))
}

fn entry(index: usize, declaration: Declaration) -> Result<Value, Fault> {
    let Declaration {
        uri,
        description,
        required,
        params,
    } = declaration;
    let field = format!("declared[{index}].params");
    let params = params.map(|params| parse(&field, &params)).transpose()?;
    if params.as_ref().is_some_and(|params| !params.is_object()) {
        return Err(invalid(field, "expected an object"));
    }
    let entry = AgentExtension {
        uri,
        description,
        required,
        params,
    };
    serde_json::to_value(entry).map_err(|error| invalid(field, error.to_string()))
}
