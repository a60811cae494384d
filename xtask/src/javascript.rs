//! Extensions in JavaScript, made into components by what `examples/extension-js` builds with.

use std::path::PathBuf;
use std::process::Stdio;
use std::{env, fs};

use crate::files::read;
use crate::process::{self, root, target_dir};
use crate::{Failure, Outcome, npm};

/// Where the tool is pinned, with the script that runs it.
const PACKAGE: &str = "examples/extension-js";

/// Makes a component of a module in this repository.
pub(crate) fn componentize(module: &str) -> Outcome<Vec<u8>> {
    let programs = npm::install(PACKAGE, "extension-js")?.join(".bin");
    let inherited = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([programs].into_iter().chain(env::split_paths(&inherited)))
        .map_err(|error| Failure::new(format!("cannot add to PATH: {error}")))?;
    // By process, so that two at a time do not meet.
    let draft: PathBuf = target_dir().join(format!("componentize-{}.wasm", std::process::id()));
    let mut build = npm::command();
    build.args(["run", "--silent", "build", "--", "--js"]);
    build
        .arg(root().join(module))
        .arg("--output")
        .arg(&draft)
        .current_dir(root().join(PACKAGE))
        .env("PATH", path)
        .stdout(Stdio::null());
    let made = process::run(&mut build).and_then(|()| read(&draft));
    // What is left of it is in nobody's way.
    let _ = fs::remove_file(&draft);
    made
}
