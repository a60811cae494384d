//! The Redis server that tests run against: Debian's, by its name.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{self, output};
use crate::{Failure, Outcome};

/// The package and the program in it.
const NAME: &str = "redis-server";

/// Where the server is; it is installed if it is missing.
///
/// # Errors
/// It is missing and cannot be installed.
pub fn program() -> Outcome<PathBuf> {
    if let Some(path) = find() {
        return Ok(path);
    }
    eprintln!("xtask: installing {NAME} with apt-get");
    let is_root = output(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0");
    let mut install = Command::new(if is_root { "apt-get" } else { "sudo" });
    if !is_root {
        install.args(["--non-interactive", "apt-get"]);
    }
    install.args(["install", "--yes", "--no-install-recommends", NAME]);
    let installed = process::run(install.env("DEBIAN_FRONTEND", "noninteractive"));
    installed.map_err(|failure| {
        Failure::new(format!(
            "{NAME} is needed and could not be installed: {failure}; try `apt-get install {NAME}`"
        ))
    })?;
    find().ok_or_else(|| Failure::new(format!("{NAME} was installed and is not on the path")))
}

fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|place| place.join(NAME))
        .find(|program| program.is_file())
}
