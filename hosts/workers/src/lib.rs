//! a2a-edge on Cloudflare: a Worker that finds the way, and a Durable Object for each session that answers.
//!
//! The Worker asks the core which session a request needs ([`place`](a2a_edge::serve::place)) and hands it on to that
//! session's object; what no session has a say in it answers itself. `docs/workers.md` tells the rest, and `entry.js`
//! stands between the platform and this module.

mod bell;
mod directory;
mod exchange;
mod front;
mod object;
mod settings;
mod store;

use a2a_edge::time::Timestamp;
use worker::{Context, Env, Request, Response, Result, event};

/// A request to the Worker.
#[event(fetch)]
async fn fetch(request: Request, env: Env, context: Context) -> Result<Response> {
    front::fetch(request, &env, &context).await
}

/// The time by the platform's clock, which stands still while a request computes.
fn now() -> Timestamp {
    Timestamp::from_millis(i64::try_from(worker::Date::now().as_millis()).unwrap_or(i64::MAX))
}

#[allow(
    clippy::expect_used,
    reason = "without randomness no token is safe: the request has to fail"
)]
fn entropy() -> [u8; 32] {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the platform has randomness");
    bytes
}
