//! `cargo xtask bench`: the table of times.

use std::process::Command;

use crate::process::{self, cargo, root, target_dir};
use crate::{Outcome, browser, component, npm};

/// Builds the component and the npm package, then runs the benchmarks with optimisation, natively and in Node;
/// arguments go to both.
///
/// # Errors
/// Something does not build, or the contenders disagree.
pub fn run(arguments: &[String]) -> Outcome {
    component::build()?;
    let package = browser::build()?;
    let modules = npm::install("tests/browser/tools", "browser-tests")?;
    let corpus = target_dir().join("bench-corpus.json");
    let mut command = cargo(&["bench", "--package", "a2a-edge-benches", "--bench", "table", "--"]);
    process::run(command.args(arguments).arg("--corpus").arg(&corpus))?;
    let mut node = Command::new("node");
    node.arg(root().join("benches/js/table.mjs"));
    process::run(node.args([&package, &modules, &corpus]).args(arguments))
}
