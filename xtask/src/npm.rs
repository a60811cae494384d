//! Programs that come from npm, pinned by a lock file in this repository.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::process::{self, root};
use crate::{Failure, Outcome, tools};

/// Installs what the `package-lock.json` in a folder of this repository pins, if it is not installed, into a folder of
/// that name in the target directory. Returns its `node_modules`. Once installed nothing is asked of the network.
///
/// # Errors
/// npm is missing or cannot install it.
pub fn install(manifest: &str, name: &str) -> Outcome<PathBuf> {
    let source = root().join(manifest);
    let lock = Path::new(manifest).join("package-lock.json");
    let place = tools::installed(&lock, name, |place| {
        for file in ["package.json", "package-lock.json"] {
            fs::copy(source.join(file), place.join(file))
                .map_err(|error| tools::cannot_write(place, &error))?;
        }
        // No package's own script runs: the programs used here are complete as they come.
        let mut npm = command();
        npm.args([
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ]);
        process::run(npm.current_dir(place))
    })?;
    Ok(place.join("node_modules"))
}

/// npm itself.
pub(crate) fn command() -> Command {
    Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
}

/// The program of a package that comes as one package for each system: `{scope}/{prefix}{system}-{processor}`.
///
/// # Errors
/// It was not installed: the package knows no such system.
pub fn native_program(modules: &Path, scope: &str, prefix: &str, program: &str) -> Outcome<PathBuf> {
    let systems: &[&str] = match env::consts::OS {
        "macos" => &["darwin"],
        "windows" => &["win32", "windows"],
        _ => &["linux"],
    };
    let processors: &[&str] = match env::consts::ARCH {
        "aarch64" => &["arm64"],
        _ => &["x64", "64"],
    };
    let file = format!("{program}{}", env::consts::EXE_SUFFIX);
    systems
        .iter()
        .flat_map(|system| {
            processors
                .iter()
                .map(move |processor| format!("{prefix}{system}-{processor}"))
        })
        .flat_map(|package| {
            let package = modules.join(scope).join(package);
            [package.join("bin").join(&file), package.join(&file)]
        })
        .find(|path| path.is_file())
        .ok_or_else(|| {
            Failure::new(format!(
                "npm has no {program} for this system in {}",
                modules.display()
            ))
        })
}
