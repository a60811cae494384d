//! The browser that pages are tested in.

use std::path::PathBuf;
use std::process::Command;

use crate::process;
use crate::{Failure, Outcome};

/// Where systems put it.
const PLACES: [&str; 5] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// The program that `CHROMIUM` names, or one that is installed. Where there is none and apt can install it, it does.
///
/// # Errors
/// There is none, and it cannot be installed.
pub fn find() -> Outcome<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM").map(PathBuf::from) {
        return match named.is_file() {
            true => Ok(named),
            false => Err(Failure::new(format!(
                "CHROMIUM names {}, which is no file",
                named.display()
            ))),
        };
    }
    if let Some(path) = installed() {
        return Ok(path);
    }
    eprintln!("xtask: there is no Chromium; installing it with apt");
    let apt = |arguments: &[&str]| process::run(Command::new("apt-get").arg("--quiet").args(arguments));
    apt(&["update"])
        .and_then(|()| apt(&["install", "--yes", "--no-install-recommends", "chromium"]))
        .map_err(|failure| {
            Failure::new(format!(
                "pages are tested in Chromium, which could not be installed: {failure}; install it, or name it in CHROMIUM"
            ))
        })?;
    installed().ok_or_else(|| Failure::new("apt installed Chromium, but not where it is looked for"))
}

fn installed() -> Option<PathBuf> {
    PLACES.iter().map(PathBuf::from).find(|path| path.is_file())
}
