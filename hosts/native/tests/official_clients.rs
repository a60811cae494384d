//! The official clients of A2A against the built server.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "../../../tests/support/party.rs"]
mod callers;
#[path = "../../../tests/support/hook.rs"]
mod hook;
#[path = "../../../tests/support/official.rs"]
mod official;
mod support;

use callers::{Caller, Session, text};
use support::{Desk, Scratch};

fn plays(drive: fn(&official::Desk<'_>)) {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--quiet", "--allow-local-webhooks"]);
    let session = Session {
        id: text(&desk.welcome["sessionId"]),
        owner: desk.token("owner").to_owned(),
        member: desk.token("member").to_owned(),
        client: desk.token("client").to_owned(),
    };
    drive(&official::Desk {
        url: desk.url(),
        caller: &Caller::at(desk.url()),
        session: &session,
    });
    desk.stop();
}

#[test]
fn the_python_client_follows_a_handoff_in_both_bindings() {
    plays(official::in_python);
}

#[test]
fn the_javascript_client_follows_a_handoff_in_both_bindings() {
    plays(official::in_javascript);
}
