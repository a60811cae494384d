//! The wire: which request is which operation, and what a request and an answer look like in bytes.

pub mod answer;
pub mod conditional;
pub mod cors;
pub mod date;
pub mod document;
pub mod host;
pub mod read;
pub mod route;
pub mod rpc;
pub mod sse;
