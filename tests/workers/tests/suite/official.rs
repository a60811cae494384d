//! The official clients of A2A against the Worker.

use a2a_edge_workers_tests::Deployment;

use crate::official_clients::{Desk, in_javascript, in_python};
use crate::party::Party;

fn plays(drive: fn(&Desk<'_>)) {
    let party = Party::new(&Deployment::default().with("A2A_EDGE_PUSH", "local"));
    drive(&Desk {
        url: party.running.url(),
        caller: &party.caller,
        session: &party.session,
        pushes: true,
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
