//! `cargo xtask bench`: the table of times, and with `--load` that of requests per second.

use crate::process::{self, cargo};
use crate::{Outcome, component, spin};

/// Builds the component, then runs the benchmarks with optimisation; arguments go to them. With `--sessions` only those of
/// large sessions, which need no component; with `--spin` those of the Spin host, with `--load` the native host beside the
/// servers of three SDKs.
///
/// # Errors
/// Something does not build, the contenders disagree, or a session takes longer than it may.
pub fn run(arguments: &[String]) -> Outcome {
    match arguments.split_first() {
        Some((first, rest)) if first == "--load" => {
            let mut command = cargo(&["run", "--release", "--quiet", "--package", "a2a-edge-load", "--"]);
            process::run(command.args(rest))
        }
        Some((first, rest)) if first == "--spin" => {
            spin::run(&[])?;
            bench("a2a-edge-spin-tests", "table", rest)
        }
        Some((first, rest)) if first == "--sessions" => bench("a2a-edge-session-benches", "sessions", rest),
        _ => {
            component::build(component::CORE)?;
            bench("a2a-edge-session-benches", "sessions", arguments)?;
            bench("a2a-edge-benches", "table", arguments)
        }
    }
}

fn bench(package: &str, name: &str, arguments: &[String]) -> Outcome {
    let mut command = cargo(&["bench", "--package", package, "--bench", name, "--"]);
    process::run(command.args(arguments))
}
