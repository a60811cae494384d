//! `xtask-bindgen worker|web MODULE DIRECTORY NAME`: writes `NAME.js` and `NAME_bg.wasm` for a module built with
//! wasm-bindgen.
//!
//! The library behind the wasm-bindgen command, so that no program has to be fetched or built beside this workspace.
//! A program of its own, so that `cargo xtask` itself stays quick to build.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, module, directory, name] = arguments.as_slice() else {
        eprintln!("usage: xtask-bindgen worker|web MODULE DIRECTORY NAME");
        return ExitCode::from(2);
    };
    match glue(kind, module, directory, name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask-bindgen: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn glue(kind: &str, module: &str, directory: &str, name: &str) -> Result<(), anyhow::Error> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name(name);
    match kind {
        // The host's entry starts the module afresh after a trap.
        "worker" => bindgen.module(true)?.typescript(false).reset_state_function(true),
        // For the compiler of the package, which starts the module itself. What only a debugger would read is left out.
        "web" => bindgen
            .web(true)?
            .typescript(true)
            .remove_name_section(true)
            .remove_producers_section(true),
        _ => anyhow::bail!("there is no glue of kind {kind}, only worker and web"),
    };
    bindgen.generate(directory)
}
