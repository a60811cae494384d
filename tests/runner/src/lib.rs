//! Stories: requests with the answers that the contract gives them, as JSON files that play against any host.
//!
//! A [`Story`] is read and checked ([`story`]), then [`play`]ed against a [`Target`]: a base URL, or a function in
//! this process. What comes out is a transcript in which every id, time and token stands by its name, so that two
//! hosts that behave alike give the same bytes. `tests/stories/README.md` describes the files.

mod failure;
mod form;
mod matching;
mod names;
mod player;
mod refusal;
mod rpc;
mod scan;
pub mod server;
pub mod story;
mod stream;
mod target;

use std::path::PathBuf;

pub use failure::{Failure, Problem};
pub use player::play;
pub use refusal::Refusal;
pub use rpc::Rpc;
pub use story::{Fault, Story};
pub use stream::Chunks;
pub use target::{Http, Opened, Target};

/// The directory of this repository's stories.
#[must_use]
pub fn directory() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../stories"))
}
