//! The component, held against the Rust API and against whatever a stranger may send.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test stops at what it does not expect"
)]

mod activation;
mod doors;
mod hostile;
mod typed;
mod vectors;
mod world;

#[path = "../../../support/vectors.rs"]
mod support;

use std::sync::LazyLock;

use a2a_edge_component_tests::{Compiled, Instance};

/// Compiled once for the whole suite.
static COMPONENT: LazyLock<Compiled> = LazyLock::new(|| Compiled::build().unwrap());

fn instance() -> Instance {
    COMPONENT.instantiate().unwrap()
}
