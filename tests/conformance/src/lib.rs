//! The A2A test kit (a2aproject/a2a-tck) against the hosts of the desk.
//!
//! The kit sends messages whose ids say what an agent is to do about them. Here a member of the session does it, through
//! the operations that every member has ([`member`]). [`host`] starts a host, [`kit`] runs the kit against it, and
//! [`report`] says what came of it: which tests fail, and which of those are the kit's own faults ([`fault`]).

pub mod caller;
pub mod fault;
pub mod host;
pub mod kit;
pub mod member;
pub mod report;
pub mod scenario;

pub use xtask::Failure;

/// What everything here returns.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
