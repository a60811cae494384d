//! `cargo xtask browser`: the npm packages `@a2a-edge/core` and `@a2a-edge/component`, and the playground.
//!
//! Two modules for wasm32-unknown-unknown, their glue by wasm-bindgen's library, and the package's TypeScript compiled
//! around them. The types of the operations' parameters are written from the catalogue that the module gives.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::component::remapped_paths;
use crate::files::{self, gzip_len, read};
use crate::process::{self, cargo, module_dir, root, target_dir};
use crate::{Failure, Outcome, bindgen, jco, npm, setup};

/// How large the validators may be, module and scripts, in bytes with gzip: 120 KiB.
pub const MAX_SIZE: usize = 120 * 1024;

/// The modules, each a feature of the crate.
const MODULES: [&str; 2] = ["validators", "coordination"];

/// Builds the packages and prints where they are and how large the first is.
///
/// # Errors
/// As [`build`] and [`jco::build`], and for any argument.
pub fn run(arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(Failure::new(format!(
            "`browser` takes no arguments, not `{argument}`"
        )));
    }
    let package = build()?;
    println!("{}", jco::build()?.display());
    println!("{}", package.display());
    for (module, size) in MODULES.iter().zip(sizes(&package)?) {
        println!("  {module}: {size} bytes with gzip");
    }
    Ok(())
}

/// Builds the package and returns the folder it is in: `packages/core` in the target directory.
///
/// # Errors
/// It does not compile, a tool cannot be installed, or the validators are larger than [`MAX_SIZE`].
pub fn build() -> Outcome<PathBuf> {
    setup::targets(&[setup::UNKNOWN])?;
    let modules = npm::install("hosts/browser/tools", "browser")?;
    // By process, so that two at a time do not meet.
    let draft = target_dir().join(format!("browser-{}", std::process::id()));
    let place = target_dir().join("packages").join("core");
    let outcome = assemble(&modules, &draft)
        .and_then(|()| check(&draft))
        .and_then(|()| publish(&draft, &place))
        .and_then(|()| playground(&place));
    // What is left of it is in nobody's way.
    let _ = fs::remove_dir_all(&draft);
    outcome.map(|()| place)
}

/// Makes the package in a folder of its own.
fn assemble(modules: &Path, draft: &Path) -> Outcome {
    let source = root().join("hosts/browser/package");
    files::copy(&source, draft)?;
    let glue = draft.join("src/doors");
    for module in MODULES {
        bindgen::glue("web", &compile(module)?, &glue, &format!("{module}_glue"))?;
    }
    let mut operations = Command::new("node");
    operations.arg(root().join("hosts/browser/tools/operations.mjs"));
    process::run(operations.arg(&glue).arg(draft.join("src/operations.ts")))?;
    let mut compiler = Command::new("node");
    compiler.arg(modules.join("typescript/bin/tsc"));
    process::run(compiler.current_dir(draft).args(["--project", "."]))?;
    let doors = draft.join("dist/doors");
    for module in MODULES {
        let script = quickened(&read(&glue.join(format!("{module}_glue.js")))?)?;
        files::write(&doors.join(format!("{module}_glue.js")), script.as_bytes())?;
        let module_bytes = read(&glue.join(format!("{module}_glue_bg.wasm")))?;
        files::write(&doors.join(format!("{module}.wasm")), &module_bytes)?;
    }
    files::write(&draft.join("LICENSE"), &read(&root().join("LICENSE"))?)
}

/// The glue, with long texts encoded by the platform at once.
///
/// wasm-bindgen copies a text that is ASCII character by character, which is quicker up to about fifty of them and takes a
/// hundred times as long for 36,000. A long text that is not all ASCII falls through to what encodes any.
fn quickened(glue: &[u8]) -> Outcome<String> {
    const EACH: &str = "for (; offset < len; offset++) {";
    const LONG: &str = "const long = len > 50;
    if (long && cachedTextEncoder.encodeInto(arg, mem.subarray(ptr, ptr + len)).read === len) offset = len;
    for (; !long && offset < len; offset++) {";
    let glue = String::from_utf8_lossy(glue);
    match glue.matches(EACH).count() {
        1 => Ok(glue.replace(EACH, LONG)),
        _ => Err(Failure::new(
            "the glue no longer copies texts as it did: see `quickened`",
        )),
    }
}

/// Compiles one module.
fn compile(module: &str) -> Outcome<PathBuf> {
    let mut command = cargo(&["build", "--quiet", "--package", "a2a-edge-browser"]);
    command.args(["--target", setup::UNKNOWN, "--profile", "browser"]);
    command.args(["--no-default-features", "--features", module]);
    let place = module_dir(&format!("browser-{module}"));
    command
        .env("CARGO_TARGET_DIR", &place)
        .env("CARGO_ENCODED_RUSTFLAGS", remapped_paths());
    process::run(&mut command)?;
    Ok(place
        .join(setup::UNKNOWN)
        .join("browser")
        .join("a2a_edge_browser.wasm"))
}

/// How many bytes each module takes with gzip, with the scripts that its entry loads.
fn sizes(package: &Path) -> Outcome<Vec<usize>> {
    let dist = package.join("dist");
    let scripts: Vec<String> = files::below(&dist)?
        .into_iter()
        .filter(|file| file.ends_with(".js"))
        .collect();
    let size = |module: &&str| {
        let others = MODULES.iter().filter(|other| other != &module);
        let foreign = |file: &String| others.clone().any(|other| file.contains(other));
        let own = scripts.iter().filter(|file| !foreign(file));
        let wasm = format!("doors/{module}.wasm");
        own.chain([&wasm]).try_fold(0_usize, |sum, file| {
            Ok(sum.saturating_add(gzip_len(&read(&dist.join(file))?)))
        })
    };
    MODULES.iter().map(size).collect()
}

fn check(package: &Path) -> Outcome {
    match sizes(package)?.first() {
        Some(size) if *size > MAX_SIZE => Err(Failure::new(format!(
            "the validators have {size} bytes with gzip, more than {MAX_SIZE}"
        ))),
        _ => Ok(()),
    }
}

/// Puts what is published in its place, and takes away what is no longer.
pub(crate) fn publish(draft: &Path, place: &Path) -> Outcome {
    let published = |file: &String| {
        file.starts_with("dist/") || ["package.json", "README.md", "LICENSE"].contains(&file.as_str())
    };
    let wanted: Vec<String> = files::below(draft)?.into_iter().filter(published).collect();
    files::put(draft, place, &wanted)?;
    for file in files::below(place)?.iter().filter(|file| !wanted.contains(file)) {
        // Another process may have been quicker.
        let _ = fs::remove_file(place.join(file));
    }
    Ok(())
}

/// Puts the playground beside the package, with a copy of that: a folder that any web server can serve as it is.
fn playground(package: &Path) -> Outcome {
    let place = package.with_file_name("playground");
    let pages = root().join("hosts/browser/playground");
    files::put(&pages, &place, &files::below(&pages)?)?;
    files::put(package, &place.join("core"), &files::below(package)?)
}
