//! Names that the command line puts on the wire.

/// URI of session-coordination/v1: the members' operations.
pub const COORDINATION_URI: &str = "https://j5a2a.com/extensions/session-coordination/v1";
/// URI of work/v1.
pub const WORK_URI: &str = "https://dispatch.foo/a2a/ext/work/v1";
/// URI of envelope/v1.
pub const ENVELOPE_URI: &str = "https://dispatch.foo/a2a/ext/envelope/v1";
/// URI of gate/v1.
pub const GATE_URI: &str = "https://dispatch.foo/a2a/ext/gate/v1";
