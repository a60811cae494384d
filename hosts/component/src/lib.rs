//! The core as a WebAssembly component that imports nothing: the world `core` of `wit/`, or without the feature `session`
//! the world `validators`. With the feature `extension` it imports the hooks of one, and is of the world `extensible`.
//!
//! Only translation is done here. Each function hands its arguments to the core and its answer back, so that the
//! component decides what the Rust API decides.

mod activation;
#[cfg(feature = "extension")]
mod composed;
#[cfg(feature = "session")]
mod coordination;
mod envelope;
mod fault;
mod gate;
mod projection;
#[cfg(feature = "session")]
mod session;
mod shaping;
mod work;

#[allow(missing_docs, reason = "the glue is documented where it comes from, in wit/")]
mod bindings {
    #[cfg(feature = "extension")]
    wit_bindgen::generate!({ path: "../../wit", world: "extensible" });
    #[cfg(all(feature = "session", not(feature = "extension")))]
    wit_bindgen::generate!({ path: "../../wit", world: "core" });
    #[cfg(not(feature = "session"))]
    wit_bindgen::generate!({ path: "../../wit", world: "validators" });
}

/// What the interfaces are implemented on.
struct Core;

// Native linkers do not take the names of these symbols.
#[cfg(target_arch = "wasm32")]
bindings::export!(Core with_types_in bindings);
