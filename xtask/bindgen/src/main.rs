//! `xtask-bindgen MODULE DIRECTORY`: writes `glue.js` and `glue_bg.wasm` for a module built with wasm-bindgen.
//!
//! The library behind the wasm-bindgen command, so that no program has to be fetched or built beside this workspace.
//! A program of its own, so that `cargo xtask` itself stays quick to build.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, directory] = arguments.as_slice() else {
        eprintln!("usage: xtask-bindgen MODULE DIRECTORY");
        return ExitCode::from(2);
    };
    match glue(module, directory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask-bindgen: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn glue(module: &str, directory: &str) -> Result<(), anyhow::Error> {
    Bindgen::new()
        .input_path(module)
        .out_name("glue")
        .module(true)?
        .typescript(false)
        // The host's entry starts the module afresh after a trap.
        .reset_state_function(true)
        .generate(directory)
}
