//! `serve`
use clap::Args;

/// Options of `serve`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  a2a-edge serve")]
pub(super) struct Serve {}

impl Serve {
    pub(super) fn run(self, _json: bool) -> u8 {
        0
    }
}
