//! What the benchmarks measure, and the proof that the contenders do the same work.
//!
//! A handoff is validated from bytes: by the Rust API, by the component in wasmtime, and by the `jsonschema` crate on
//! `work-request.schema.json`, which says all that JSON Schema can say of work/v1. Facts are projected by the first two.

pub mod contenders;
pub mod corpus;
