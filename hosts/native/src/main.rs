//! The binary `a2a-edge`.

use std::process::ExitCode;

fn main() -> ExitCode {
    a2a_edge_native::cli::run()
}
