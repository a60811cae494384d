//! The npm package, installed as a user has it, with the scripts of `js/` beside it.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::{browser, jco, npm};

/// Whatever goes wrong before a script can run.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// A project in the target directory that has the package and the tools that the scripts need.
#[derive(Clone, Debug)]
pub struct Project {
    folder: PathBuf,
    packages: PathBuf,
    chromium: PathBuf,
}

impl Project {
    /// Builds the package as `cargo xtask browser` does, and installs it.
    ///
    /// # Errors
    /// It does not build, a tool cannot be installed, or there is no Chromium.
    pub fn prepare() -> Outcome<Self> {
        let package = browser::build()
            .map_err(|failure| format!("`cargo xtask browser` must work before its tests can: {failure}"))?;
        let modules = npm::install("tests/browser/tools", "browser-tests")?;
        let folder = modules.parent().unwrap_or(&modules).to_path_buf();
        let component = jco::build()
            .map_err(|failure| format!("the component must be there before its tests can be: {failure}"))?;
        copy(&package, &modules.join("@a2a-edge/core"))?;
        copy(&component, &modules.join("@a2a-edge/component"))?;
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("js"), &folder)?;
        Ok(Self {
            packages: package.parent().unwrap_or(&package).to_path_buf(),
            chromium: xtask::chromium::find()?,
            folder,
        })
    }

    /// Where a file of the project is.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Runs one of the scripts, a list of `node:test`s, to its end.
    ///
    /// # Errors
    /// It cannot be started, or a test of it fails.
    pub fn run(&self, script: &str) -> Outcome<()> {
        let mut node = Command::new("node");
        node.args(["--test", "--test-reporter=spec", script]);
        node.current_dir(&self.folder)
            .env("A2A_EDGE_PACKAGES", &self.packages)
            .env(
                "A2A_EDGE_ROOT",
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."),
            )
            .env("CHROMIUM", &self.chromium)
            .env_remove("NODE_OPTIONS");
        let output = node
            .output()
            .map_err(|error| format!("cannot start node: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let told = String::from_utf8_lossy(&output.stdout);
        Err(format!("{script}: {}\n{told}", output.status).into())
    }
}

/// Copies a folder, whatever stood in its place.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            let _ = fs::remove_dir_all(&to);
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
