//! a2a-edge on one machine: the HTTP server that carries the core, and the command line.

pub mod server;
