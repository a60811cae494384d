//! Many who want the same: exactly one gets it.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;

use a2a_edge_stories::server::Running;
use serde_json::json;

use crate::callers::{Caller, Session, text};

const CLAIMANTS: usize = 64;
const ROUNDS: usize = 200;

/// Asks for one pair of hands, and gives the request's id.
fn ask(caller: &Caller, token: &str, round: usize) -> String {
    let asked = json!({"title": format!("Round {round}"), "body": "For one.", "maxAssignees": 1});
    text(&caller.coordinate(token, "requests:create", &asked).ok()["request"]["requestId"])
}

/// What a claimant was told: that it has the request, that another has it, or something else, which is a fault. It
/// panics at nothing, for the others would wait for it.
fn claim(caller: &Caller, token: &str, request: &str) -> Result<bool, String> {
    let line = "POST /extensions/session-coordination/v1/requests:update";
    let reply = caller.try_call(line, token, &json!({"requestId": request, "action": "claim"}))?;
    match (reply.status, reply.reason()) {
        (200, _) => Ok(true),
        (400, "REQUEST_AT_CAPACITY") => Ok(false),
        _ => Err(format!("{reply:?}")),
    }
}

/// Who has each request, as the session says.
fn holders(caller: &Caller, token: &str) -> BTreeMap<String, Vec<String>> {
    let (mut holders, mut asked) = (BTreeMap::new(), json!({}));
    loop {
        let listed = caller.coordinate(token, "requests:list", &asked).ok();
        for request in listed["requests"].as_array().unwrap() {
            let assignees = request["assignees"].as_array().unwrap().iter();
            let ids = assignees
                .map(|assignee| text(&assignee["participantId"]))
                .collect();
            holders.insert(text(&request["requestId"]), ids);
        }
        let next = text(&listed["nextPageToken"]);
        if next.is_empty() {
            return holders;
        }
        asked = json!({"pageToken": next});
    }
}

/// Lets 64 members claim each of 200 requests at once, each by the next of the hosts.
pub(crate) fn contend(hosts: &[&Running]) {
    let caller = Caller::of(hosts[0]);
    let owner = &Session::create(&caller).owner;
    let members: Vec<(String, String)> = (0..CLAIMANTS)
        .map(|number| Session::admit(&caller, owner, "member", &format!("Member {number}")))
        .collect();
    let requests: Vec<String> = (0..ROUNDS).map(|round| ask(&caller, owner, round)).collect();
    let start = Barrier::new(CLAIMANTS);
    let told: Vec<Vec<Result<bool, String>>> = thread::scope(|scope| {
        let claimants: Vec<_> = members
            .iter()
            .zip(hosts.iter().cycle())
            .map(|((token, _), host)| {
                let (requests, start) = (&requests, &start);
                scope.spawn(move || {
                    // A connection of its own, kept over the rounds.
                    let caller = Caller::of(host);
                    let round = |request: &String| {
                        start.wait();
                        claim(&caller, token, request)
                    };
                    requests.iter().map(round).collect()
                })
            })
            .collect();
        claimants
            .into_iter()
            .map(|claimant| claimant.join().unwrap())
            .collect()
    });
    let holders = holders(&caller, owner);
    for (round, request) in requests.iter().enumerate() {
        let winners: Vec<String> = members
            .iter()
            .zip(&told)
            .filter(|(_, told)| *told[round].as_ref().unwrap())
            .map(|((_, id), _)| id.clone())
            .collect();
        assert_eq!(winners.len(), 1, "round {round}");
        // And the session says the same as the winner was told.
        assert_eq!(holders[request], winners, "round {round}");
    }
}
