//! The component in wasmtime, as a host loads it: once compiled, instantiated as often as one likes.

#[allow(missing_docs, reason = "the bindings are documented where they come from, in wit/")]
mod bindings {
    wasmtime::component::bindgen!({ path: "../../wit", world: "core" });
}
pub use bindings::*;
