//! The official clients of A2A against a host of the suite that this is part of.

use crate::official_clients::{Desk, in_javascript, in_python};
use crate::party::with_webhooks;

fn plays(drive: fn(&Desk<'_>)) {
    let party = with_webhooks();
    drive(&Desk {
        url: party.running.url(),
        caller: &party.caller,
        session: &party.session,
    });
}

#[test]
fn the_python_client_follows_a_handoff_in_both_bindings() {
    plays(in_python);
}

#[test]
fn the_javascript_client_follows_a_handoff_in_both_bindings() {
    plays(in_javascript);
}
