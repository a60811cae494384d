//! `cargo xtask deny`: what the dependencies are allowed to be, by `deny.toml`.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{self, cargo, output, root, target_dir};
use crate::{Failure, Outcome};

const VERSION: &str = "0.20.2";

/// Checks licences, bans and sources. Advisories are left out: their database must come from the network, and would
/// let an unchanged tree fail from one day to the next; `cargo deny check advisories` looks them up.
///
/// # Errors
/// A dependency breaks a rule, cargo-deny cannot be installed, or any argument is given.
pub fn run(arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(Failure::new(format!(
            "`deny` takes no arguments, not `{argument}`"
        )));
    }
    check("warn")
}

/// The checks of [`run`], telling what is at least of this level.
pub(crate) fn check(level: &str) -> Outcome {
    let mut command = Command::new(program()?);
    command.args([
        "--log-level",
        level,
        "--workspace",
        "check",
        "licenses",
        "bans",
        "sources",
    ]);
    process::run(command.current_dir(root()))
}

/// The cargo-deny of the pinned version, installed beside the builds if it is not there.
fn program() -> Outcome<PathBuf> {
    let place = target_dir().join("tools");
    let program = place.join("bin").join("cargo-deny");
    let is_there =
        output(Command::new(&program).arg("--version")).is_some_and(|text| text.trim().ends_with(VERSION));
    if !is_there {
        eprintln!("xtask: installing cargo-deny {VERSION} into {}", place.display());
        let mut install = cargo(&[
            "install",
            "cargo-deny",
            "--locked",
            "--debug",
            "--version",
            VERSION,
            "--root",
        ]);
        process::run(install.arg(&place))?;
    }
    Ok(program)
}
