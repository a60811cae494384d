//! The official clients of A2A against the Spin application.

use a2a_edge_spin_tests::Deployment;

use crate::official_clients::{Desk, in_javascript, in_python};
use crate::party::Party;

fn plays(drive: fn(&Desk<'_>)) {
    let party = Party::new(&Deployment::on("memory"));
    drive(&Desk {
        url: party.running.url(),
        caller: &party.caller,
        session: &party.session,
        pushes: false,
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
