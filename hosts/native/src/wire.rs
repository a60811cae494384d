//! Names that the command line puts on the wire.

/// URI of session-coordination/v1: the members' operations.
pub const COORDINATION_URI: &str = "https://j5a2a.com/extensions/session-coordination/v1";
