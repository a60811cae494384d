//! Every operation that the desk offers, once: routing, scopes, limits and the card are read from here.

use super::operation::Operation;
use super::{claims, events, participants, presence, requests};

/// The operations, in the order of the card's `params.operations`.
pub const OPERATIONS: &[Operation] = &[
    participants::LIST,
    presence::ANNOUNCE,
    presence::STATUS,
    claims::CHECK,
    claims::ACQUIRE,
    claims::RELEASE,
    requests::CREATE,
    requests::LIST,
    requests::UPDATE,
    events::LIST,
    events::STREAM,
];

/// The operation of a dotted name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}
