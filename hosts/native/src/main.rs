//! The binary `a2a-edge`.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A request is many small things that live for microseconds, on several threads: the system's allocator took a third of
/// the time that a read takes.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    a2a_edge_native::cli::run()
}
