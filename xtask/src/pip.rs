//! Programs that come from PyPI, pinned by a list of requirements in this repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, root};
use crate::{Outcome, tools};

/// Installs what the `requirements.txt` in a folder of this repository pins, if it is not installed, into a virtual
/// environment in the target directory. Returns its Python. Once installed nothing is asked of the network.
///
/// # Errors
/// There is no Python 3, or pip cannot install it.
pub fn install(manifest: &str, name: &str) -> Outcome<PathBuf> {
    let list = Path::new(manifest).join("requirements.txt");
    let python = Path::new(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    let place = tools::installed(&list, name, |place| {
        let mut venv = Command::new(if cfg!(windows) { "python" } else { "python3" });
        process::run(venv.args(["-m", "venv", "--clear"]).arg(place))?;
        // The list is whole, so nothing is resolved anew.
        let mut pip = Command::new(place.join(python));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip.args(["--no-deps", "--requirement"]);
        process::run(pip.arg(root().join(&list)))
    })?;
    Ok(place.join(python))
}
