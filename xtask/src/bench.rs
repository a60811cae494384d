//! `cargo xtask bench`: the table of times, and with `--load` that of requests per second.

use std::process::Command;

use crate::process::{self, cargo, root, target_dir};
use crate::{Outcome, browser, component, jco, npm};

/// Builds the component and the npm packages, then runs the benchmarks with optimisation, natively and in Node; with
/// `--load` measures the native host beside the servers of three SDKs instead. Arguments go to them.
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
    let packages = [browser::build()?, jco::build()?];
    let modules = npm::install("tests/browser/tools", "browser-tests")?;
    let corpus = target_dir().join("bench-corpus.json");
    let mut command = cargo(&["bench", "--package", "a2a-edge-benches", "--bench", "table", "--"]);
    process::run(command.args(arguments).arg("--corpus").arg(&corpus))?;
    let mut node = Command::new("node");
    node.arg(root().join("benches/js/table.mjs"));
    process::run(node.args(&packages).args([&modules, &corpus]).args(arguments))
}
