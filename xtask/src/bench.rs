//! `cargo xtask bench`: the table of times, and with `--load` that of requests per second.

use crate::process::{self, cargo};
use crate::{Outcome, component, spin};

/// Builds the component, then runs the benchmarks with optimisation; arguments go to them. With `--spin` they are those of
/// the Spin host, with `--load` the native host beside the servers of three SDKs.
///
/// # Errors
/// Something does not build, or the contenders disagree.
pub fn run(arguments: &[String]) -> Outcome {
    let (package, rest) = match arguments.split_first() {
        Some((first, rest)) if first == "--load" => {
            let mut command = cargo(&["run", "--release", "--quiet", "--package", "a2a-edge-load", "--"]);
            return process::run(command.args(rest));
        }
        Some((first, rest)) if first == "--spin" => {
            spin::run(&[])?;
            ("a2a-edge-spin-tests", rest)
        }
        _ => {
            component::build(component::CORE)?;
            ("a2a-edge-benches", arguments)
        }
    };
    let mut command = cargo(&["bench", "--package", package, "--bench", "table", "--"]);
    process::run(command.args(rest))
}
