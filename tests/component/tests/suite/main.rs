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
mod coordination;
#[path = "../../../support/desk.rs"]
mod desk;
mod doors;
mod hostile;
mod session;
#[allow(dead_code, reason = "each test uses its part of it")]
#[path = "../../../support/story_bench.rs"]
mod story_bench;
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
