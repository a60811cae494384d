//! Nothing that a webhook is to be told is lost with the runtime.

use std::net::TcpListener;

use a2a_edge_workers_tests::Deployment;
use serde_json::{Value, json};

use crate::hook::Webhook;
use crate::notifications::{ask, update};
use crate::party::{Caller, PLATFORM, Party, with_webhooks};

fn restart(party: &mut Party) {
    party.running.kill();
    let deployment = Deployment::default().with("A2A_EDGE_PUSH", "local");
    party.running = PLATFORM.start(&deployment, party.place.path()).unwrap();
    party.caller = Caller::of(&party.running);
}

#[test]
fn nothing_is_lost_with_the_runtime() {
    // A port that nothing listens at.
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut party = with_webhooks();
    ask(&party.caller, &party.session, &format!("http://{deaf}/"));
    update(&party.caller, &party.session, "claim");
    assert!(party.running.line_with(&["\"event\":\"webhook\""]).is_some());
    restart(&mut party);
    let awake = Webhook::at(deaf);
    // Whoever comes next wakes the object, where its alarm did not.
    update(&party.caller, &party.session, "complete");
    let told: Vec<Value> = (0..4).map(|_| awake.next().body).collect();
    let states: Vec<&Value> = told
        .iter()
        .map(|body| &body["statusUpdate"]["status"]["state"])
        .collect();
    assert_eq!(
        states,
        [
            &json!("TASK_STATE_SUBMITTED"),
            &json!("TASK_STATE_WORKING"),
            &Value::Null,
            &json!("TASK_STATE_COMPLETED")
        ]
    );
}
