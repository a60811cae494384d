//! The core as a WebAssembly component: the world `core` of `wit/`, which imports nothing.
//!
//! Only translation is done here. Each function hands its arguments to the core and its answer back, so that the
//! component decides what the Rust API decides.

mod activation;
mod envelope;
mod fault;
mod projection;
mod shaping;
mod work;

#[allow(missing_docs, reason = "the glue is documented where it comes from, in wit/")]
mod bindings {
    wit_bindgen::generate!({ path: "../../wit", world: "core" });
}

/// What the interfaces are implemented on.
struct Core;

// Native linkers do not take the names of these symbols.
#[cfg(target_arch = "wasm32")]
bindings::export!(Core with_types_in bindings);
