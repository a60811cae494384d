//! `cargo xtask component`: the core as WebAssembly components that import nothing.
//!
//! A module for wasm32-unknown-unknown, wrapped by wit-component. wasm32-wasip2 would do it in one step, but leaves
//! imports of WASI in whatever it builds.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

use wasmparser::BinaryReader;
use wit_component::{ComponentEncoder, DecodedWasm};

use crate::files::{gzip_len, read};
use crate::process::{self, cargo, module_dir, root, target_dir};
use crate::{Failure, Outcome, javascript, setup};

/// A component of one of the worlds of `wit/`.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// Its name in the target directory.
    pub file: &'static str,
    /// How large it may be, in bytes and uncompressed.
    pub max_size: usize,
    /// What it is made of.
    source: Source,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Crate {
        package: &'static str,
        /// Where it is built, by [`module_dir`].
        place: &'static str,
        features: &'static [&'static str],
    },
    /// A module in JavaScript, by its path in this repository.
    Script(&'static str),
}

/// The world `core`: the desk, its sessions and the rules. At most 1,536 KiB.
pub const CORE: World = World {
    file: "a2a-edge.wasm",
    max_size: 1_536 * 1024,
    source: Source::Crate {
        package: "a2a-edge-component",
        place: "components",
        features: &[],
    },
};

/// The world `extensible`: the core with a place for an extension. At most 1,560 KiB.
pub const EXTENSIBLE: World = World {
    file: "a2a-edge-extensible.wasm",
    max_size: 1_560 * 1024,
    source: Source::Crate {
        package: "a2a-edge-component",
        place: "extensible",
        features: &["--features=extension"],
    },
};

/// The world `validators`: the rules alone. At most 300 KiB.
pub const VALIDATORS: World = World {
    file: "a2a-edge-validators.wasm",
    max_size: 300 * 1024,
    source: Source::Crate {
        package: "a2a-edge-component",
        place: "validators",
        features: &["--no-default-features"],
    },
};

/// The world `extension`: the example of one. At most 160 KiB.
pub const EXTENSION: World = World {
    file: "a2a-edge-example-extension.wasm",
    max_size: 160 * 1024,
    source: Source::Crate {
        package: "a2a-edge-example-extension",
        place: "components",
        features: &[],
    },
};

/// The world `extension`: the one that tests of hosts load. At most 160 KiB.
pub const TEST_EXTENSION: World = World {
    file: "a2a-edge-test-extension.wasm",
    max_size: 160 * 1024,
    source: Source::Crate {
        package: "a2a-edge-test-extension",
        place: "components",
        features: &[],
    },
};

/// The world `extension`: the example in JavaScript, most of which is the engine. At most 1,200 KiB.
pub const SCRIPT_EXTENSION: World = World {
    file: "a2a-edge-example-extension-js.wasm",
    max_size: 1_200 * 1024,
    source: Source::Script("examples/extension-js/mask.js"),
};

/// The world `extension`: the one in JavaScript that tests of hosts load. At most 1,200 KiB.
pub const TEST_SCRIPT_EXTENSION: World = World {
    file: "a2a-edge-test-extension-js.wasm",
    max_size: 1_200 * 1024,
    source: Source::Script("tests/extension/lost.js"),
};

/// How many bytes stand before the first section.
const PREAMBLE: usize = 8;
/// The id of a custom section.
const CUSTOM: u8 = 0;

/// Builds the components and prints where they are and how large.
///
/// # Errors
/// As [`build`], and for any argument.
pub fn run(arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(Failure::new(format!(
            "`component` takes no arguments, not `{argument}`"
        )));
    }
    for world in [CORE, EXTENSIBLE, VALIDATORS, EXTENSION] {
        let path = build(world)?;
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

/// What this process has built.
static BUILT: Mutex<Vec<&str>> = Mutex::new(Vec::new());

/// Builds a component if it is not up to date, at most once in a process, and returns its path in the target directory.
///
/// # Errors
/// It does not compile, imports anything at all, or is larger than its world may be.
pub fn build(world: World) -> Outcome<PathBuf> {
    // Tests that ask for it at the same time wait for the first.
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let path = target_dir().join(world.file);
    if !built.contains(&world.file) {
        make(world, &path)?;
        built.push(world.file);
    }
    Ok(path)
}

fn make(world: World, path: &Path) -> Outcome {
    let component = match world.source {
        Source::Crate {
            package,
            place,
            features,
        } => wrap(&read(&compile(package, &module_dir(place), features)?)?)?,
        Source::Script(module) => javascript::componentize(module)?,
    };
    let component =
        nameless(&component).map_err(|error| Failure::new(format!("cannot read the component: {error}")))?;
    check(world, &component)?;
    put(path, &component).map(|_| ())
}

/// Puts bytes in their place if they are not there: renamed into it, so that nobody reads half of them.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Outcome<PathBuf> {
    if fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(path.to_path_buf());
    }
    let draft = path.with_extension(format!("wasm.{}", std::process::id()));
    fs::write(&draft, bytes)
        .and_then(|()| fs::rename(&draft, path))
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))?;
    Ok(path.to_path_buf())
}

fn compile(package: &str, place: &Path, features: &[&str]) -> Outcome<PathBuf> {
    setup::targets(&[setup::UNKNOWN])?;
    let mut command = cargo(&[
        "build",
        "--quiet",
        "--package",
        package,
        "--target",
        setup::UNKNOWN,
        "--profile",
        "component",
    ]);
    command
        .args(features)
        .env("CARGO_TARGET_DIR", place)
        .env("CARGO_ENCODED_RUSTFLAGS", module_flags());
    process::run(&mut command)?;
    Ok(place
        .join(setup::UNKNOWN)
        .join("component")
        .join(format!("{}.wasm", package.replace('-', "_"))))
}

/// The flags of modules for wasm32-unknown-unknown.
pub(crate) fn module_flags() -> String {
    format!("{}\u{1f}-Clink-arg=--compress-relocations", remapped_paths())
}

/// Flags that keep the places of the sources out of the panic messages: the same sources give the same bytes wherever
/// they lie.
pub(crate) fn remapped_paths() -> String {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")));
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let mut flags = vec![remap(&root(), "a2a-edge")];
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

fn check(world: World, component: &[u8]) -> Outcome {
    let expected: &[&str] = if world.file == EXTENSIBLE.file {
        &["a2a-edge:core/hooks@0.1.0"]
    } else {
        &[]
    };
    imports_only(component, expected)?;
    within(world.file, component.len(), world.max_size)
}

/// That a component imports these interfaces and no others.
///
/// # Errors
/// It is no component, or imports others.
pub(crate) fn imports_only(component: &[u8], expected: &[&str]) -> Outcome {
    let decoded = wit_component::decode(component)
        .map_err(|error| Failure::new(format!("cannot read the component: {error:#}")))?;
    let DecodedWasm::Component(resolve, decoded) = decoded else {
        return Err(Failure::new("expected a component"));
    };
    let world = resolve.worlds.get(decoded);
    let imports = world.into_iter().flat_map(|world| world.imports.keys());
    let imports: Vec<String> = imports.map(|key| resolve.name_world_key(key)).collect();
    if imports == expected {
        return Ok(());
    }
    let expected = expected.join(", ");
    let expected = if expected.is_empty() { "nothing" } else { &expected };
    Err(Failure::new(format!(
        "the component must import {expected}, not {}",
        imports.join(", ")
    )))
}

/// That a file keeps to its budget.
pub(crate) fn within(file: &str, size: usize, most: usize) -> Outcome {
    if size > most {
        return Err(Failure::new(format!("{file} has {size} bytes, more than {most}")));
    }
    Ok(())
}
