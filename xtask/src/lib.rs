//! What `cargo xtask` can do, a module to a command.
//!
//! The tests of the component build it through [`component::build`], so there is one way to make it.

pub mod bench;
mod bindgen;
pub mod browser;
pub mod chromium;
pub mod component;
pub mod compose;
pub mod conformance;
pub mod deny;
pub mod dev;
mod files;
pub mod fuzz;
mod javascript;
pub mod jco;
pub mod npm;
pub mod pip;
pub mod process;
pub mod redis;
mod setup;
pub mod spin;
pub mod test;
mod tools;
pub mod wit;
pub mod workers;

use std::fmt;

/// Why a command failed, as one line for a person.
#[derive(Debug)]
pub struct Failure(String);

/// What every command returns.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// A failure told in one line.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}
