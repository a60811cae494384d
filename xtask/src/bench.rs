//! `cargo xtask bench`: the table of times, and with `--load` that of requests per second.

use std::path::Path;
use std::process::Command;

use crate::process::{self, cargo, root, target_dir};
use crate::{Outcome, browser, component, jco, npm, spin};

/// Builds the component, then runs the benchmarks with optimisation, and those of the npm packages in Node; arguments go
/// to them. With `--sessions` only those of large sessions, which need no component; with `--spin` those of the Spin host,
/// with `--load` the native host beside the servers of three SDKs.
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
            let corpus = target_dir().join("corpus.json");
            let mut given = arguments.to_vec();
            given.extend(["--corpus".to_owned(), corpus.display().to_string()]);
            bench("a2a-edge-benches", "table", &given)?;
            node(&corpus, arguments)
        }
    }
}

/// The npm packages beside ajv, on what the benchmarks in Rust were given.
fn node(corpus: &Path, arguments: &[String]) -> Outcome {
    let packages = [browser::build()?, jco::build()?];
    let tools = npm::install("tests/browser/tools", "browser-tests")?;
    let mut node = Command::new("node");
    node.arg(root().join("benches/js/table.mjs")).args(packages);
    process::run(node.arg(tools).arg(corpus).args(arguments))
}

fn bench(package: &str, name: &str, arguments: &[String]) -> Outcome {
    let mut command = cargo(&["bench", "--package", package, "--bench", name, "--"]);
    process::run(command.args(arguments))
}
