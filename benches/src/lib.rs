//! What the benchmarks measure, and the proof that the contenders do the same work.
//!
//! A handoff is validated from bytes: by the Rust API, by the component in wasmtime, and by the `jsonschema` crate on
//! `work-request.schema.json`, which says all that JSON Schema can say of work/v1. Facts are projected by the first two.
//! A digest of a session with 10,000 records is got from the Rust API alone, and may take 10 ms.

//! A claim is acquired among few and among many, which may take at most twice as long.

pub mod claims;
pub mod contenders;
pub mod corpus;
pub mod digest;
