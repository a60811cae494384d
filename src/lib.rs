//! The A2A task desk for the edge, as a pure core.
//!
//! Nothing in this crate reads a clock, draws random numbers, or touches a network or a disk: the same bytes in
//! give the same bytes out on every host. Time, randomness and storage are arguments.

pub mod a2a;
pub mod agent;
pub mod coordination;
pub mod desk;
pub mod dispatch;
pub mod doors;
pub mod exchange;
pub mod extension;
pub mod guard;
pub mod http;
pub mod json;
pub mod params;
pub mod refusal;
pub mod serve;
pub mod session;
pub mod store;
pub mod stream;
pub mod text;
pub mod time;
