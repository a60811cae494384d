//! `cargo xtask dev`: the native host, built and serving.

use crate::Outcome;
use crate::process::{self, cargo};

/// Builds `a2a-edge` and runs `a2a-edge serve` on its default data directory, `.a2a-edge/` in the root of the
/// workspace. `--release` as the first argument builds it optimised; all others go to `serve`.
///
/// # Errors
/// The host does not build, or the server ends with an error.
pub fn run(arguments: &[String]) -> Outcome {
    let (profile, rest) = match arguments.split_first() {
        Some((first, rest)) if first == "--release" => (Some("--release"), rest),
        _ => (None, arguments),
    };
    let mut command = cargo(&["run", "--package", "a2a-edge-native", "--bin", "a2a-edge"]);
    command.args(profile).args(["--", "serve"]).args(rest);
    process::run(&mut command)
}
