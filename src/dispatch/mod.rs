//! work/v1, envelope/v1 and gate/v1: handoffs of work, addressing, and why a task waits, on A2A objects.
//!
//! Each function has two doors. The typed one takes and gives Rust values that borrow from what they were read
//! from. The text one (its name ends in `_json`) takes text and gives a verdict as text, never panics, and takes
//! bad JSON for one more fault: `{"ok":true}`, `{"ok":true,"result":…}` where there is something to give, or
//! `{"ok":false,"error":{"code","field","message"}}`.

pub mod address;
pub mod artifact;
pub mod delivery;
pub mod draft;
pub mod envelope;
pub mod facts;
mod field;
pub mod gate;
pub mod inbound;
pub mod placement;
pub mod projection;
pub mod render;
mod truncate;
pub mod verdict;
pub mod work;

/// URI of work/v1: handoffs, their state and their results.
pub const WORK_URI: &str = "https://dispatch.foo/a2a/ext/work/v1";
/// URI of envelope/v1: recipients, kinds, choices and references.
pub const ENVELOPE_URI: &str = "https://dispatch.foo/a2a/ext/envelope/v1";
/// URI of gate/v1: what a task waits on its owner for.
pub const GATE_URI: &str = "https://dispatch.foo/a2a/ext/gate/v1";
/// Domain of the reasons that the three extensions define.
pub const DOMAIN: &str = "dispatch.foo";
/// The address that speaks for the host itself, unless the host names another.
pub const SYSTEM_ADDRESS: &str = "agent:dispatch";
/// The most bytes of a message's body, of its data, of its metadata and of an artifact, each as compact JSON.
pub const BUDGET: usize = 65_536;
