//! `cargo xtask component`: the core as one WebAssembly component that imports nothing.
//!
//! A module for wasm32-unknown-unknown, wrapped by wit-component. wasm32-wasip2 would do it in one step, but leaves
//! imports of WASI in whatever it builds.

use std::path::{Path, PathBuf};
use std::{env, fs};

use wasmparser::BinaryReader;
use wit_component::{ComponentEncoder, DecodedWasm};

use crate::files::{gzip_len, read};
use crate::process::{self, cargo, root, target_dir};
use crate::{Failure, Outcome, setup};

/// How large the component may be, in bytes and uncompressed: 300 KiB.
pub const MAX_SIZE: usize = 300 * 1024;

/// How many bytes stand before the first section.
const PREAMBLE: usize = 8;
/// The id of a custom section.
const CUSTOM: u8 = 0;

/// Builds the component and prints where it is and how large.
///
/// # Errors
/// As [`build`], and for any argument.
pub fn run(arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(Failure::new(format!(
            "`component` takes no arguments, not `{argument}`"
        )));
    }
    let path = build()?;
    let bytes = read(&path)?;
    println!(
        "{}: {} bytes, {} with gzip",
        path.display(),
        bytes.len(),
        gzip_len(&bytes)
    );
    Ok(())
}

/// Builds the component if it is not up to date, and returns its path, `a2a-edge.wasm` in the target directory.
///
/// # Errors
/// It does not compile, imports anything at all, or is larger than [`MAX_SIZE`].
pub fn build() -> Outcome<PathBuf> {
    let component = nameless(&wrap(&read(&compile()?)?)?)
        .map_err(|error| Failure::new(format!("cannot read the component: {error}")))?;
    check(&component)?;
    let path = target_dir().join("a2a-edge.wasm");
    if fs::read(&path).is_ok_and(|present| present == component) {
        return Ok(path);
    }
    // Renamed into place, so that nobody reads half of it.
    let draft = path.with_extension(format!("wasm.{}", std::process::id()));
    fs::write(&draft, &component)
        .and_then(|()| fs::rename(&draft, &path))
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))?;
    Ok(path)
}

fn compile() -> Outcome<PathBuf> {
    setup::targets(&[setup::UNKNOWN])?;
    let mut command = cargo(&[
        "build",
        "--quiet",
        "--package",
        "a2a-edge-component",
        "--target",
        setup::UNKNOWN,
        "--profile",
        "component",
    ]);
    process::run(command.env("CARGO_ENCODED_RUSTFLAGS", remapped_paths()))?;
    Ok(target_dir()
        .join(setup::UNKNOWN)
        .join("component")
        .join("a2a_edge_component.wasm"))
}

/// Flags that keep the places of the sources out of the panic messages: the same sources give the same bytes wherever
/// they lie.
pub(crate) fn remapped_paths() -> String {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")));
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let mut flags = vec![
        remap(&root(), "a2a-edge"),
        "-Clink-arg=--compress-relocations".to_owned(),
    ];
    flags.extend(home.map(|home| remap(&home, "cargo")));
    flags.join("\u{1f}")
}

fn wrap(module: &[u8]) -> Outcome<Vec<u8>> {
    ComponentEncoder::default()
        .validate(true)
        .module(module)
        .and_then(ComponentEncoder::encode)
        .map_err(|error| Failure::new(format!("cannot make a component of the module: {error:#}")))
}

/// The component without what it calls its own parts, which only a debugger would read.
fn nameless(component: &[u8]) -> wasmparser::Result<Vec<u8>> {
    let mut reader = BinaryReader::new(component, 0);
    let mut kept = reader.read_bytes(PREAMBLE)?.to_vec();
    while !reader.eof() {
        let start = reader.current_position();
        let id = reader.read_u8()?;
        let length = usize::try_from(reader.read_var_u32()?).unwrap_or(usize::MAX);
        let content = reader.read_bytes(length)?;
        let is_names = id == CUSTOM && BinaryReader::new(content, 0).read_string()? == "component-name";
        if !is_names {
            kept.extend(
                component
                    .get(start..reader.current_position())
                    .unwrap_or_default(),
            );
        }
    }
    Ok(kept)
}

fn check(component: &[u8]) -> Outcome {
    let decoded = wit_component::decode(component)
        .map_err(|error| Failure::new(format!("cannot read the component: {error:#}")))?;
    let DecodedWasm::Component(resolve, world) = decoded else {
        return Err(Failure::new("what was built is no component"));
    };
    let imports: Vec<String> = resolve
        .worlds
        .get(world)
        .map(|world| {
            world
                .imports
                .keys()
                .map(|key| resolve.name_world_key(key))
                .collect()
        })
        .unwrap_or_default();
    if !imports.is_empty() {
        return Err(Failure::new(format!(
            "the component must import nothing, but imports {}",
            imports.join(", ")
        )));
    }
    if component.len() > MAX_SIZE {
        return Err(Failure::new(format!(
            "the component has {} bytes, more than {MAX_SIZE}",
            component.len()
        )));
    }
    Ok(())
}
