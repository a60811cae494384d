//! Programs that come from npm, pinned by a lock file in this repository.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::process::{self, root, target_dir};
use crate::{Failure, Outcome};

/// Installs what the `package-lock.json` in a folder of this repository pins, if it is not installed, into a folder of
/// that name in the target directory. Returns its `node_modules`. Once installed nothing is asked of the network.
///
/// # Errors
/// npm is missing or cannot install it.
pub fn install(manifest: &str, name: &str) -> Outcome<PathBuf> {
    let source = root().join(manifest);
    let place = target_dir().join("tools").join(name);
    let lock = read(&source.join("package-lock.json"))?;
    // Copied only once everything is there, so its presence says so.
    let stamp = place.join("installed.json");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(place.join("node_modules"));
    }
    eprintln!("xtask: installing {manifest} from npm into {}", place.display());
    fs::create_dir_all(&place).map_err(|error| cannot_write(&place, &error))?;
    for file in ["package.json", "package-lock.json"] {
        fs::copy(source.join(file), place.join(file)).map_err(|error| cannot_write(&place, &error))?;
    }
    // No package's own script runs: the programs used here are complete as they come.
    let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    npm.args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]);
    process::run(npm.current_dir(&place))?;
    fs::write(&stamp, lock).map_err(|error| cannot_write(&stamp, &error))?;
    Ok(place.join("node_modules"))
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

fn read(path: &Path) -> Outcome<Vec<u8>> {
    fs::read(path).map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot write {}: {error}", path.display()))
}
