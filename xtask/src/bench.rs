//! `cargo xtask bench`: the table of times, and with `--load` that of requests per second.

use crate::process::{self, cargo};
use crate::{Outcome, component};

/// Builds the component, then runs the benchmarks with optimisation; with `--load` measures the native host beside the
/// servers of three SDKs instead. Arguments go to them.
///
/// # Errors
/// Something does not build, or the contenders disagree.
pub fn run(arguments: &[String]) -> Outcome {
    if let Some((first, rest)) = arguments.split_first()
        && first == "--load"
    {
        let mut command = cargo(&["run", "--release", "--quiet", "--package", "a2a-edge-load", "--"]);
        return process::run(command.args(rest));
    }
    component::build()?;
    let mut command = cargo(&["bench", "--package", "a2a-edge-benches", "--bench", "table", "--"]);
    process::run(command.args(arguments))
}
