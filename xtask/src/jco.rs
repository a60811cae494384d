//! The npm package `@a2a-edge/component`: the component, transpiled for JavaScript.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::process::{self, root, target_dir};
use crate::{Outcome, browser, component, files, npm};

/// Builds the component and the package, and returns the folder that is in: `packages/component` in the target
/// directory.
///
/// # Errors
/// The component does not build, or cannot be transpiled.
pub fn build() -> Outcome<PathBuf> {
    let component = component::build(component::VALIDATORS)?;
    let modules = npm::install("hosts/component/tools", "component")?;
    // By process, so that two at a time do not meet.
    let draft = target_dir().join(format!("jco-{}", std::process::id()));
    let place = target_dir().join("packages").join("component");
    let mut jco = Command::new("node");
    jco.arg(modules.join("@bytecodealliance/jco/src/jco.js"));
    jco.args(["transpile", "--quiet", "--name", "a2a-edge", "--out-dir"]);
    jco.arg(draft.join("dist")).arg(&component);
    let outcome = files::copy(&root().join("hosts/component/npm"), &draft)
        .and_then(|()| process::run(&mut jco))
        .and_then(|()| files::write(&draft.join("LICENSE"), &files::read(&root().join("LICENSE"))?))
        .and_then(|()| browser::publish(&draft, &place));
    // What is left of it is in nobody's way.
    let _ = fs::remove_dir_all(&draft);
    outcome.map(|()| place)
}
