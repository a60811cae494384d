//! `cargo xtask bench`: the table of times.

use crate::process::{self, cargo};
use crate::{Outcome, component};

/// Builds the component, then runs the benchmarks with optimisation; arguments go to them.
///
/// # Errors
/// Something does not build, or the contenders disagree.
pub fn run(arguments: &[String]) -> Outcome {
    component::build(component::CORE)?;
    let mut command = cargo(&["bench", "--package", "a2a-edge-benches", "--bench", "table", "--"]);
    process::run(command.args(arguments))
}
