//! a2a-edge on one machine.

pub mod store;
