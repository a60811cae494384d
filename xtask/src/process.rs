//! Running other programs from the root of the workspace.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, Outcome};

/// The root of the workspace.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Where cargo builds: `CARGO_TARGET_DIR`, or `target` in the root.
pub fn target_dir() -> PathBuf {
    // An absolute path stays as it is when joined.
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Where cargo builds modules: a crate that is built with several sets of features writes each under the same name, and in
/// one directory each build would throw the other away.
pub fn module_dir(name: &str) -> PathBuf {
    target_dir().join("modules").join(name)
}

/// The cargo that runs this program. Its lock on the build directory is gone by the time that this program runs,
/// so a cargo started here waits for nobody.
pub fn cargo(arguments: &[&str]) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command to its end.
///
/// # Errors
/// It cannot be started, or ends with anything but success.
pub fn run(command: &mut Command) -> Outcome {
    let status = command
        .status()
        .map_err(|error| Failure::new(format!("cannot start `{}`: {error}", line(command))))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("`{}` failed: {status}", line(command))))
    }
}

/// What a command writes to standard output, or nothing when it cannot be run or fails.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

/// The command as one would type it.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut words = vec![program.file_name().unwrap_or_default().to_string_lossy()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy()));
    words.join(" ")
}
