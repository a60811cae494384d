//! `cargo xtask conformance`: the A2A test kit against a host.

use crate::Outcome;
use crate::process::{self, cargo};

/// Runs the kit; arguments go to the program of `tests/conformance`.
///
/// # Errors
/// Something does not build or start, or a test fails that is not the kit's own fault.
pub fn run(arguments: &[String]) -> Outcome {
    let mut command = cargo(&["run", "--quiet", "--package", "a2a-edge-conformance", "--"]);
    process::run(command.args(arguments))
}
