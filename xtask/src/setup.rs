//! What the toolchain must have. `rust-toolchain.toml` names it, but rustup adds nothing by itself to a toolchain that
//! is already there, or where automatic installation is off.

use std::process::Command;

use crate::process::{self, cargo, output, root};
use crate::{Failure, Outcome};

/// The target of the component and of the Workers host.
pub(crate) const UNKNOWN: &str = "wasm32-unknown-unknown";
/// The target of the Spin host.
pub(crate) const WASIP2: &str = "wasm32-wasip2";

/// Adds the targets among these that the toolchain lacks.
///
/// # Errors
/// One is missing and cannot be added.
pub(crate) fn targets(wanted: &[&str]) -> Outcome {
    for target in wanted.iter().filter(|target| !has_target(target)) {
        add("target", target)?;
    }
    Ok(())
}

/// Adds what of clippy and rustfmt the toolchain lacks.
///
/// # Errors
/// One is missing and cannot be added.
pub(crate) fn components() -> Outcome {
    for component in ["clippy", "fmt"] {
        if output(&mut cargo(&[component, "--version"])).is_none() {
            add(
                "component",
                if component == "fmt" { "rustfmt" } else { component },
            )?;
        }
    }
    Ok(())
}

/// Whether the compiler finds the target's standard library: true also without rustup.
fn has_target(target: &str) -> bool {
    let mut rustc = Command::new("rustc");
    rustc
        .args(["--print", "target-libdir", "--target", target])
        .current_dir(root());
    output(&mut rustc).is_some_and(|path| std::path::Path::new(path.trim()).is_dir())
}

fn add(kind: &str, name: &str) -> Outcome {
    eprintln!("xtask: the toolchain lacks the {kind} {name}; adding it with rustup");
    let mut rustup = Command::new("rustup");
    rustup.args([kind, "add", name]).current_dir(root());
    process::run(&mut rustup).map_err(|failure| {
        Failure::new(format!(
            "the {kind} {name} is needed and could not be added: {failure}; try `rustup {kind} add {name}`"
        ))
    })
}
