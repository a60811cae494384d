//! Interface `activation`.

use a2a_edge::a2a::card::AgentExtension;
use a2a_edge::extension::{header, stateless};
use a2a_edge::json;

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
        let declared = declared.into_iter().map(|it| (it.uri, it.required));
        stateless::required_missing(declared, &requested)
    }

    fn activate(declared: Vec<String>, requested: Vec<String>) -> Vec<String> {
        stateless::activate(declared, &requested)
    }

    fn declare_on_card(card: String, declared: Vec<Declaration>) -> Result<String, Fault> {
        let mut card = parse("card", &card)?;
        let declared = declared.into_iter().enumerate();
        let declared: Result<Vec<_>, Fault> = declared.map(|(index, it)| entry(index, it)).collect();
        stateless::declare_on_card(&mut card, declared?)
            .map_err(|violation| invalid(violation.field, violation.description))?;
        Ok(json::to_string(&card))
    }
}

/// A declaration whose params are read; whether they are an object is for the core to say.
fn entry(index: usize, declaration: Declaration) -> Result<AgentExtension, Fault> {
    let Declaration {
        uri,
        description,
        required,
        params,
    } = declaration;
    let params = params.map(|params| parse(&format!("declared[{index}].params"), &params));
    Ok(AgentExtension {
        uri,
        description,
        required,
        params: params.transpose()?,
    })
}
