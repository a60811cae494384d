//! Interface `coordination`.

use a2a_edge::doors::coordination;

use crate::Core;
use crate::bindings::exports::a2a_edge::core::coordination::Guest;

impl Guest for Core {
    fn catalogue_json() -> String {
        coordination::catalogue_json()
    }

    fn validate_json(operation: String, parameters: String) -> String {
        coordination::validate_json(&operation, &parameters)
    }

    fn overlap_json(one: String, other: String) -> String {
        coordination::overlap_json(&one, &other)
    }

    fn fingerprint_json(operation: String, parameters: String) -> String {
        coordination::fingerprint_json(&operation, &parameters)
    }
}
