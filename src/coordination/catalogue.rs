//! Every operation that the desk offers, once: routing, scopes, limits and the card are read from here.

pub use super::operation::Description;
use super::operation::Operation;
use super::{
    claims, decisions, digest, events, inbox, knowledge, participants, presence, questions, requests,
    workstreams,
};

/// The operations, in the order of the card's `params.operations`.
pub const OPERATIONS: &[Operation] = &[
    participants::LIST,
    presence::ANNOUNCE,
    presence::STATUS,
    claims::CHECK,
    claims::ACQUIRE,
    claims::RELEASE,
    questions::ASK,
    questions::ANSWER,
    inbox::LIST,
    inbox::UPDATE,
    requests::CREATE,
    requests::LIST,
    requests::UPDATE,
    decisions::RECORD,
    digest::GET,
    knowledge::LIST,
    knowledge::READ,
    knowledge::PROPOSE,
    workstreams::LIST,
    workstreams::CREATE,
    workstreams::GET,
    workstreams::UPDATE,
    workstreams::LINK,
    workstreams::UNLINK,
    events::LIST,
    events::STREAM,
];

/// The operation of a dotted name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}

/// The operations as they are described, in the same order. Whoever reads this alone carries none of what is behind
/// the operations.
pub const DESCRIPTIONS: &[Description] = &{
    let mut described = [claims::CHECK.described(); OPERATIONS.len()];
    let mut slots: &mut [Description] = &mut described;
    let mut operations = OPERATIONS;
    while let (Some((slot, more)), Some((operation, rest))) =
        (slots.split_first_mut(), operations.split_first())
    {
        *slot = operation.described();
        slots = more;
        operations = rest;
    }
    described
};
