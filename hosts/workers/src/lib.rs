//! a2a-edge on Cloudflare: a Worker that finds the way, and a Durable Object for each session that answers.
//!
//! The Worker asks the core which session a request needs ([`place`](a2a_edge::serve::place)) and hands it on to that
//! session's object; what no session has a say in it answers itself. `docs/workers.md` tells the rest, and `entry.js`
//! stands between the platform and this module.

mod alarm;
mod bell;
mod directory;
mod exchange;
mod front;
mod object;
mod outbound;
mod settings;
mod store;

use std::sync::Once;

use a2a_edge::time::Timestamp;
use serde_json::json;
use worker::{Context, Env, Request, Response, Result, console_error, event};

/// A request to the Worker.
#[event(fetch)]
async fn fetch(request: Request, env: Env, context: Context) -> Result<Response> {
    hush_panics();
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

/// A panic is one line of the log like any other. Its message stays out: it may hold what a client sent. The trap that
/// follows is the entry's to see to.
fn hush_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let at = panic.location().map(ToString::to_string);
            console_error!("{}", json!({"event": "panic", "at": at}));
        }));
    });
}
