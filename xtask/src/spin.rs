//! `cargo xtask spin`: the Spin application, as `spin.toml` runs it.
//!
//! Spin composes the two files when it loads them: the host for wasm32-wasip2, and the component of the world `core`, the
//! very file that any other host loads. `spin build` runs this, so what is tested is what is run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::component::{self, put, remapped_paths, within};
use crate::files::{gzip_len, read};
use crate::process::{self, cargo, root, target_dir};
use crate::{Failure, Outcome, compose, setup};

/// How large the host may be, in bytes and uncompressed, without the component: 576 KiB.
pub const MAX_SIZE: usize = 576 * 1024;

/// The host's file in `build/spin`.
pub const HOST: &str = "a2a-edge-spin.wasm";

/// Builds the application and prints where it is and how large. With `--extension FILE` the component of that file is
/// composed into the core.
///
/// # Errors
/// As [`build`] and [`compose::extended`], and for any other argument.
pub fn run(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let core = match arguments.as_slice() {
        [] => component::build(component::CORE)?,
        ["--extension", file] => compose::extended(Path::new(file))?,
        _ => return Err(Failure::new("expected `spin` or `spin --extension FILE`")),
    };
    let place = build_with(&core)?;
    for file in [HOST, component::CORE.file] {
        let path = place.join(file);
        let bytes = read(&path)?;
        println!(
            "{}: {} bytes, {} with gzip",
            path.display(),
            bytes.len(),
            gzip_len(&bytes)
        );
    }
    Ok(())
}

/// Builds the application and returns the directory it is in, `build/spin` in the root of the workspace.
///
/// # Errors
/// It does not compile, or is larger than [`MAX_SIZE`].
pub fn build() -> Outcome<PathBuf> {
    build_with(&component::build(component::CORE)?)
}

/// The same with this component for the core.
fn build_with(core: &Path) -> Outcome<PathBuf> {
    let core = read(core)?;
    let host = read(&compile()?)?;
    within(HOST, host.len(), MAX_SIZE)?;
    let place = root().join("build").join("spin");
    fs::create_dir_all(&place)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", place.display())))?;
    put(&place.join(component::CORE.file), &core)?;
    put(&place.join(HOST), &host)?;
    Ok(place)
}

fn compile() -> Outcome<PathBuf> {
    setup::targets(&[setup::WASIP2])?;
    let mut command = cargo(&["build", "--quiet", "--package", "a2a-edge-spin"]);
    command.args(["--target", setup::WASIP2, "--profile", "spin"]);
    process::run(command.env("CARGO_ENCODED_RUSTFLAGS", remapped_paths()))?;
    Ok(target_dir()
        .join(setup::WASIP2)
        .join("spin")
        .join("a2a_edge_spin.wasm"))
}
