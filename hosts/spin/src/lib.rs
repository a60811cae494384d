//! a2a-edge on Spin: the component composed in, and sessions in a key-value store that can compare and swap.
//!
//! What is decided is decided by the component behind `a2a-edge:core/session`; this crate moves bytes between it, the
//! request and the store. Instances are used again and serve several requests at once, so nothing of a request is kept
//! but in the request itself. `docs/spin.md` tells the rest.

mod app;
mod bell;
mod component;
mod delivery;
mod exchange;
mod outbound;
mod room;
mod rousing;
mod settings;
mod store;

use std::io::Write as _;

use a2a_edge::time::Timestamp;
use spin_sdk::http::{Request, Response};
use spin_sdk::http_service;

/// A request to the application.
#[http_service]
async fn handle(request: Request) -> Response<exchange::Body> {
    rousing::roused(exchange::answer(request)).await
}

/// The time by the platform's clock.
fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let millis = since.map(|since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    Timestamp::from_millis(millis.unwrap_or_default())
}

/// Bytes from the platform's secure source.
#[allow(
    clippy::expect_used,
    reason = "without randomness no token is safe: the request has to fail"
)]
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the platform has randomness");
    bytes
}

/// Bytes as lower-case hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a line of the log, in one piece: other instances write beside it.
fn log(line: &serde_json::Value) {
    // Where there is nowhere to write to there is nowhere to say so.
    let _unsaid = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}
