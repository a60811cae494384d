//! Many who want the same: exactly one gets it.

use std::sync::Barrier;
use std::thread;

use a2a_edge_workers_tests::Deployment;
use serde_json::{Value, json};

use crate::party::{Caller, Party, Session, text};

const CLAIMANTS: usize = 64;
const ROUNDS: usize = 200;

/// Asks for one pair of hands, and gives the request's id.
fn ask(caller: &Caller, token: &str, round: usize) -> String {
    let asked = json!({"title": format!("Round {round}"), "body": "For one.", "maxAssignees": 1});
    text(&caller.coordinate(token, "requests:create", &asked).ok()["request"]["requestId"])
}

/// How a claim went: true if it was granted, false if the request was taken. Nothing else happens.
fn claim(caller: &Caller, token: &str, request: &str) -> bool {
    let reply = caller.coordinate(
        token,
        "requests:update",
        &json!({"requestId": request, "action": "claim"}),
    );
    match (reply.status, reply.reason()) {
        (200, _) => true,
        (400, "REQUEST_AT_CAPACITY") => false,
        _ => panic!("{reply:?}"),
    }
}

#[test]
fn of_64_claimants_at_once_exactly_one_wins_every_one_of_200_rounds() {
    let party = Party::new(&Deployment::default());
    let owner = &party.session.owner;
    let members: Vec<(String, String)> = (0..CLAIMANTS)
        .map(|number| Session::admit(&party.caller, owner, "member", &format!("Member {number}")))
        .collect();
    let (start, end) = (Barrier::new(CLAIMANTS + 1), Barrier::new(CLAIMANTS + 1));
    let requests: Vec<std::sync::OnceLock<String>> =
        (0..ROUNDS).map(|_| std::sync::OnceLock::new()).collect();
    let wins: Vec<Vec<usize>> = thread::scope(|scope| {
        let claimants: Vec<_> = members
            .iter()
            .map(|(token, _)| {
                scope.spawn(|| {
                    // A connection of its own, kept over the rounds.
                    let caller = Caller::of(&party.running);
                    let mut won = Vec::new();
                    for (round, request) in requests.iter().enumerate() {
                        start.wait();
                        if claim(&caller, token, request.get().unwrap()) {
                            won.push(round);
                        }
                        end.wait();
                    }
                    won
                })
            })
            .collect();
        for (round, request) in requests.iter().enumerate() {
            request.set(ask(&party.caller, owner, round)).unwrap();
            start.wait();
            end.wait();
        }
        claimants
            .into_iter()
            .map(|claimant| claimant.join().unwrap())
            .collect()
    });
    let mut rounds: Vec<usize> = wins.iter().flatten().copied().collect();
    rounds.sort_unstable();
    assert_eq!(rounds, (0..ROUNDS).collect::<Vec<_>>());
    // And the session says the same of its last round as the winner was told.
    let last = requests.last().and_then(|request| request.get()).unwrap();
    let listed = party
        .caller
        .coordinate(owner, "requests:list", &json!({"pageSize": 100}))
        .ok();
    let winner = wins.iter().position(|won| won.contains(&(ROUNDS - 1))).unwrap();
    let assignees = find(&listed, last);
    assert_eq!(assignees, vec![members[winner].1.clone()]);
}

fn find(listed: &Value, request: &str) -> Vec<String> {
    let requests = listed["requests"].as_array().unwrap();
    let found = requests
        .iter()
        .find(|listed| listed["requestId"] == request)
        .unwrap();
    let assignees = found["assignees"].as_array().unwrap();
    assignees
        .iter()
        .map(|assignee| text(&assignee["participantId"]))
        .collect()
}
