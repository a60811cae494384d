//! The glue of a module built with wasm-bindgen.

use std::path::Path;

use crate::Outcome;
use crate::process::{self, cargo};

/// Writes `name.js` and `name_bg.wasm` into a folder, for a Worker (`worker`) or for a page and Node (`web`).
///
/// # Errors
/// The module was built with another version of wasm-bindgen, or cannot be read.
pub(crate) fn glue(kind: &str, module: &Path, folder: &Path, name: &str) -> Outcome {
    let mut bindgen = cargo(&["run", "--quiet", "--package", "xtask-bindgen", "--", kind]);
    process::run(bindgen.arg(module).arg(folder).arg(name))
}
