//! `cargo xtask workers`: the Cloudflare host, as `wrangler.toml` deploys it.
//!
//! The module for wasm32-unknown-unknown, its glue by wasm-bindgen's library, and both with `entry.js` bundled by
//! esbuild: `build/index.js` and `build/glue_bg.wasm`. `npx wrangler deploy` runs this as its build command, so what is
//! tested is what is deployed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::component::module_flags;
use crate::files::{self, gzip_len, read};
use crate::process::{self, cargo, root, target_dir};
use crate::{Failure, Outcome, bindgen, npm, setup};

/// How large the bundle may be, in bytes with gzip: 900 KiB.
pub const MAX_SIZE: usize = 900 * 1024;

/// The files of the bundle.
pub const FILES: [&str; 2] = ["index.js", "glue_bg.wasm"];

/// Builds the bundle and prints where it is and how large.
///
/// # Errors
/// As [`build`], and for any argument.
pub fn run(arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(Failure::new(format!(
            "`workers` takes no arguments, not `{argument}`"
        )));
    }
    let place = build()?;
    println!("{}: {} bytes with gzip", place.display(), size(&place)?);
    Ok(())
}

/// Builds the bundle and returns the directory it is in, `build` in the root of the workspace.
///
/// # Errors
/// It does not compile, a tool cannot be installed, or it is larger than [`MAX_SIZE`].
pub fn build() -> Outcome<PathBuf> {
    // By process, so that two at a time do not meet.
    let draft = target_dir().join(format!("workers-{}", std::process::id()));
    let bundled = module("a2a-edge-workers", &root().join("hosts/workers/entry.js"), &draft);
    let place = root().join("build");
    let outcome = bundled
        .and_then(|()| check(&draft))
        .and_then(|()| files::put(&draft, &place, &FILES));
    // What is left of it is in nobody's way.
    let _ = fs::remove_dir_all(&draft);
    outcome.map(|()| place)
}

/// Builds a package of the workspace as a module for the platform, and bundles it with its entry, which imports its glue
/// as `./glue.js`: puts [`FILES`], and what they were made of, into a folder.
///
/// # Errors
/// It does not compile, or a tool cannot be installed.
pub fn module(package: &str, entry: &Path, place: &Path) -> Outcome {
    let module = compile(package)?;
    let modules = npm::install("hosts/workers/tools", "workers")?;
    glue(&module, place)?;
    files::write(&place.join("entry.js"), &read(entry)?)?;
    bundle(&modules, place)
}

fn compile(package: &str) -> Outcome<PathBuf> {
    setup::targets(&[setup::UNKNOWN])?;
    let mut command = cargo(&["build", "--quiet", "--package", package]);
    command.args(["--target", setup::UNKNOWN, "--profile", "worker"]);
    process::run(command.env("CARGO_ENCODED_RUSTFLAGS", module_flags()))?;
    Ok(target_dir()
        .join(setup::UNKNOWN)
        .join("worker")
        .join(format!("{}.wasm", package.replace('-', "_"))))
}

fn glue(module: &Path, draft: &Path) -> Outcome {
    bindgen::glue("worker", module, draft, "glue")?;
    let path = draft.join("glue.js");
    let glue = String::from_utf8_lossy(&read(&path)?).into_owned();
    // Runtimes load a module by a plain import as well, and bundlers know no other.
    files::write(&path, glue.replace("import source ", "import ").as_bytes())
}

/// Makes one file of the glue and the entry.
fn bundle(modules: &Path, draft: &Path) -> Outcome {
    let mut esbuild = Command::new(npm::native_program(modules, "@esbuild", "", "esbuild")?);
    esbuild.args([
        "entry.js",
        "--bundle",
        "--minify",
        "--format=esm",
        "--external:./glue_bg.wasm",
        "--external:cloudflare:*",
        "--outfile=index.js",
        "--log-level=warning",
    ]);
    process::run(esbuild.current_dir(draft))
}

fn check(place: &Path) -> Outcome {
    let size = size(place)?;
    if size > MAX_SIZE {
        return Err(Failure::new(format!(
            "the bundle has {size} bytes with gzip, more than {MAX_SIZE}"
        )));
    }
    Ok(())
}

/// The length of the bundle with gzip, as the platform counts it.
fn size(place: &Path) -> Outcome<usize> {
    FILES.iter().try_fold(0_usize, |sum, file| {
        Ok(sum.saturating_add(gzip_len(&read(&place.join(file))?)))
    })
}
