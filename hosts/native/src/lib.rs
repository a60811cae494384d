//! a2a-edge on one machine: the HTTP server that carries the core, and the command line.

pub mod bootstrap;
pub mod cli;
pub mod client;
pub mod data;
pub mod delivery;
#[cfg(feature = "extensions")]
pub mod extension;
pub mod failure;
pub mod host;
pub mod outbound;
pub mod server;
pub mod store;
pub mod text;
