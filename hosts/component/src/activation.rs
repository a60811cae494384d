//! Interface `activation`.

use crate::Core;
use crate::bindings::exports::a2a_edge::core::activation::{Declaration, Fault, Guest};

impl Guest for Core {
    fn parse_header(values: Vec<String>) -> Vec<String> {
        values
    }

    fn format_header(uris: Vec<String>) -> Option<String> {
        uris.first().cloned()
    }

    fn required_missing(declared: Vec<Declaration>, requested: Vec<String>) -> Vec<String> {
        requested
    }

    fn activate(declared: Vec<String>, requested: Vec<String>) -> Vec<String> {
        requested
    }

    fn declare_on_card(card: String, declared: Vec<Declaration>) -> Result<String, Fault> {
        Ok(card)
    }
}
