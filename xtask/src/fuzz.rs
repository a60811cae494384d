//! `cargo xtask fuzz`: long runs of the targets in `fuzz/`. `cargo xtask test` has a short one.

use crate::Outcome;
use crate::process::{self, cargo};

/// Runs the targets that are named, or all, for `--minutes N` each; with `--case NUMBER` one case of each. What is found is
/// told with its target and number, and ends the run.
///
/// # Errors
/// Something is found.
pub fn run(arguments: &[String]) -> Outcome {
    let mut command = cargo(&["run", "--release", "--quiet", "--package", "a2a-edge-fuzz", "--"]);
    process::run(command.args(arguments))
}
