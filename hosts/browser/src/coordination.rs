//! Session coordination: what operations take, overlap and fingerprints.

use a2a_edge::doors::coordination;

crate::doors! {
    catalogue catalogue() = coordination::catalogue_json;
    validate validate(operation, parameters) = coordination::validate_json;
    overlap overlap(one, other) = coordination::overlap_json;
    fingerprint fingerprint(operation, parameters) = coordination::fingerprint_json;
}
