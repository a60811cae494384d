//! Capacity: a request is had by as many at once as it allows, and by nobody after its time.

use serde_json::{Value, json};

use super::super::hosts::Reply;
use super::super::random::Random;
use super::trial::{Ask, Settled, Trial, millis, texts};
use super::{Answer, Object, refused};

/// How many may have each request at once.
const CAPACITIES: [usize; 2] = [1, 3];
/// The second request ends by itself.
const LIFE_SECONDS: i64 = 60;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requests {
    /// By request: who has it, in the order in which they took it.
    assignees: [Vec<usize>; 2],
    expires: [i64; 2],
    /// What a commit has recorded as expired stays so.
    latest: i64,
}

#[derive(Clone, Debug)]
pub enum Op {
    Claim { who: usize, request: usize },
    Unclaim { who: usize, request: usize },
    List,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Good {
    Assignees(Vec<usize>),
    /// By request: its state, and who has it.
    Listed(Vec<(String, Vec<usize>)>),
}

impl Requests {
    fn is_over(&self, request: usize, now: i64) -> bool {
        self.expires[request] <= now.max(self.latest)
    }
}

impl Object for Requests {
    type Op = Op;
    type Good = Good;

    fn run(&mut self, op: &Op, now: i64) -> Answer<Good> {
        match *op {
            Op::Claim { who, request } => {
                if self.is_over(request, now) {
                    return refused("REQUEST_CLOSED", &[]);
                }
                if self.assignees[request].contains(&who) {
                    return refused("ALREADY_CLAIMED", &[]);
                }
                if self.assignees[request].len() >= CAPACITIES[request] {
                    return refused("REQUEST_AT_CAPACITY", &[]);
                }
                self.assignees[request].push(who);
                self.latest = self.latest.max(now);
                Ok(Good::Assignees(self.assignees[request].clone()))
            }
            Op::Unclaim { who, request } => {
                if !self.assignees[request].contains(&who) {
                    return refused("NOT_OWNER", &[]);
                }
                if self.is_over(request, now) {
                    return refused("REQUEST_CLOSED", &[]);
                }
                self.assignees[request].retain(|one| *one != who);
                self.latest = self.latest.max(now);
                Ok(Good::Assignees(self.assignees[request].clone()))
            }
            Op::List => {
                let listed = (0..CAPACITIES.len()).map(|request| {
                    let state = match self.assignees[request].len() {
                        _ if self.is_over(request, now) => "expired",
                        0 => "open",
                        _ => "claimed",
                    };
                    (state.to_owned(), self.assignees[request].clone())
                });
                Ok(Good::Listed(listed.collect()))
            }
        }
    }
}

/// Callers who want the same requests.
pub struct CapacityTrial {
    participants: Vec<String>,
    requests: Vec<String>,
}

impl CapacityTrial {
    fn assignees(&self, request: &Value) -> Option<Vec<usize>> {
        let assignees = request["assignees"].as_array()?.iter();
        assignees
            .map(|one| {
                self.participants
                    .iter()
                    .position(|id| one["participantId"] == id.as_str())
            })
            .collect()
    }
}

impl Trial for CapacityTrial {
    type Object = Requests;
    const PARTICIPANTS: usize = 8;
    const ROLE: &'static str = "member";
    const COMES_TO: &'static [&'static str] = &[
        "claim",
        "unclaim",
        "requests:list",
        "REQUEST_AT_CAPACITY",
        "ALREADY_CLAIMED",
        "NOT_OWNER",
        "REQUEST_CLOSED",
    ];

    fn prepare(settled: &Settled<'_>) -> Value {
        let requests: Vec<Value> = CAPACITIES
            .iter()
            .enumerate()
            .map(|(index, capacity)| {
                let mut body = json!({"title": "t", "maxAssignees": capacity});
                if index == 1 {
                    body["expiresInSeconds"] = json!(LIFE_SECONDS);
                }
                settled.coordinate("requests:create", &body)["request"].clone()
            })
            .collect();
        let expires = requests
            .iter()
            .map(|it| millis(&it["expiresAt"]).unwrap_or(i64::MAX));
        json!({
            "requests": requests.iter().map(|it| it["requestId"].clone()).collect::<Vec<_>>(),
            "expires": expires.collect::<Vec<_>>(),
            "participants": settled.participants(),
        })
    }

    fn begin(prepared: &Value) -> (Self, Requests) {
        let trial = Self {
            participants: texts(&prepared["participants"]),
            requests: texts(&prepared["requests"]),
        };
        let expires = [0, 1].map(|index| prepared["expires"][index].as_i64().unwrap());
        let requests = Requests {
            assignees: Default::default(),
            expires,
            latest: 0,
        };
        (trial, requests)
    }

    fn draw(&self, random: &mut Random, who: usize) -> Op {
        let request = random.below(CAPACITIES.len());
        match random.below(10) {
            0 => Op::List,
            1..=3 => Op::Unclaim { who, request },
            _ => Op::Claim { who, request },
        }
    }

    fn ask(&self, op: &Op) -> Ask {
        let update = |action: &'static str, request: usize| {
            let body = json!({"requestId": self.requests[request], "action": action});
            Ask {
                name: action,
                ..Ask::coordination("requests:update", body)
            }
        };
        match op {
            Op::List => Ask::coordination("requests:list", json!({})),
            Op::Claim { request, .. } => update("claim", *request),
            Op::Unclaim { request, .. } => update("unclaim", *request),
        }
    }

    fn good(&self, op: &Op, reply: &Reply) -> Option<Good> {
        let body = reply.body();
        if !matches!(op, Op::List) {
            return self.assignees(&body["request"]).map(Good::Assignees);
        }
        let listed = body["requests"].as_array()?.iter().map(|request| {
            let state = request["state"].as_str()?.to_owned();
            Some((state, self.assignees(request)?))
        });
        listed.collect::<Option<Vec<_>>>().map(Good::Listed)
    }
}
