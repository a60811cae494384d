//! Claims: who holds a lease on what, and until when.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::super::hosts::Reply;
use super::super::random::Random;
use super::trial::{Ask, Settled, Trial, millis};
use super::{Answer, Object, refused};

const RESOURCES: [&str; 3] = ["src/**", "src/a.rs", "docs/b.md"];
const LEASE_MS: i64 = 30_000;

/// The first is a glob that holds the second; the third is apart.
fn overlap(one: usize, other: usize) -> bool {
    one == other || one + other == 1
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Lease {
    fence: u64,
    resource: usize,
    shared: bool,
    holder: usize,
    expires: i64,
    released: bool,
}

/// All leases that ever were; a lease is known by its fence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Claims {
    leases: Vec<Lease>,
    /// The session's time never goes back.
    latest: i64,
}

#[derive(Clone, Debug)]
pub enum Op {
    Acquire {
        who: usize,
        resource: usize,
        shared: bool,
    },
    Release {
        who: usize,
        fence: u64,
    },
    Check {
        who: usize,
        resource: usize,
        shared: bool,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Good {
    Held { fence: u64, expires: i64 },
    Released { fence: u64 },
    InTheWay(Vec<u64>),
}

impl Claims {
    fn in_the_way(&self, who: usize, resource: usize, shared: bool, time: i64) -> Vec<u64> {
        let rivals = self.leases.iter().filter(|lease| {
            !lease.released
                && time < lease.expires
                && lease.holder != who
                && overlap(lease.resource, resource)
                && !(lease.shared && shared)
        });
        rivals.map(|lease| lease.fence).collect()
    }
}

impl Object for Claims {
    type Op = Op;
    type Good = Good;

    fn run(&mut self, op: &Op, now: i64) -> Answer<Good> {
        let time = now.max(self.latest);
        match *op {
            Op::Check {
                who,
                resource,
                shared,
            } => Ok(Good::InTheWay(self.in_the_way(who, resource, shared, time))),
            Op::Acquire {
                who,
                resource,
                shared,
            } => {
                let mut live = self
                    .leases
                    .iter_mut()
                    .filter(|it| !it.released && time < it.expires);
                let own = live
                    .find(|it| it.holder == who && it.resource == resource && it.shared == shared)
                    .map(|lease| {
                        lease.expires = time + LEASE_MS;
                        lease.fence
                    });
                let fence = match own {
                    Some(fence) => fence,
                    None => {
                        let rivals = self.in_the_way(who, resource, shared, time);
                        if !rivals.is_empty() {
                            return refused("CLAIM_CONFLICT", &rivals);
                        }
                        let fence = self.leases.len() as u64 + 1;
                        self.leases.push(Lease {
                            fence,
                            resource,
                            shared,
                            holder: who,
                            expires: time + LEASE_MS,
                            released: false,
                        });
                        fence
                    }
                };
                self.latest = time;
                Ok(Good::Held {
                    fence,
                    expires: time + LEASE_MS,
                })
            }
            Op::Release { who, fence } => {
                let Some(lease) = self.leases.iter_mut().find(|lease| lease.fence == fence) else {
                    return refused("CLAIM_NOT_FOUND", &[]);
                };
                if lease.holder != who {
                    return refused("NOT_OWNER", &[]);
                }
                if lease.released || lease.expires <= time {
                    return refused("CLAIM_NOT_ACTIVE", &[]);
                }
                lease.released = true;
                self.latest = time;
                Ok(Good::Released { fence })
            }
        }
    }
}

/// Callers at claims, who learn of each other's leases from the answers.
pub struct ClaimsTrial {
    /// The ids of leases by their fence.
    ids: RefCell<Vec<(u64, String)>>,
}

impl ClaimsTrial {
    fn learn(&self, claim: &Value) -> u64 {
        let fence = claim["fence"].as_u64().unwrap();
        let mut ids = self.ids.borrow_mut();
        if !ids.iter().any(|(known, _)| *known == fence) {
            ids.push((fence, claim["claimId"].as_str().unwrap().to_owned()));
        }
        fence
    }

    fn fences(&self, claims: &Value) -> Vec<u64> {
        claims
            .as_array()
            .into_iter()
            .flatten()
            .map(|it| self.learn(it))
            .collect()
    }
}

impl Trial for ClaimsTrial {
    type Object = Claims;
    const PARTICIPANTS: usize = 4;
    const ROLE: &'static str = "member";
    const COMES_TO: &'static [&'static str] = &[
        "claims:acquire",
        "claims:release",
        "claims:check",
        "CLAIM_CONFLICT",
        "CLAIM_NOT_ACTIVE",
        "NOT_OWNER",
    ];

    fn prepare(_: &Settled<'_>) -> Value {
        Value::Null
    }

    fn begin(_: &Value) -> (Self, Claims) {
        let ids = RefCell::default();
        (Self { ids }, Claims::default())
    }

    fn draw(&self, random: &mut Random, who: usize) -> Op {
        let (resource, shared) = (random.below(RESOURCES.len()), random.one_in(3));
        let ids = self.ids.borrow();
        match random.below(8) {
            0..=1 if !ids.is_empty() => Op::Release {
                who,
                fence: random.pick(&ids).0,
            },
            2 => Op::Check {
                who,
                resource,
                shared,
            },
            _ => Op::Acquire {
                who,
                resource,
                shared,
            },
        }
    }

    fn ask(&self, op: &Op) -> Ask {
        let wanted = |resource: usize, shared| {
            let claim_type = if shared { "shared" } else { "exclusive" };
            json!({"resourceId": RESOURCES[resource], "claimType": claim_type})
        };
        match op {
            Op::Acquire { resource, shared, .. } => {
                let mut body = wanted(*resource, *shared);
                body["leaseSeconds"] = json!(LEASE_MS / 1000);
                Ask::coordination("claims:acquire", body)
            }
            Op::Check { resource, shared, .. } => {
                Ask::coordination("claims:check", json!({"resources": [wanted(*resource, *shared)]}))
            }
            Op::Release { fence, .. } => {
                let ids = self.ids.borrow();
                let (_, id) = ids.iter().find(|(known, _)| known == fence).unwrap();
                Ask::coordination("claims:release", json!({"claimId": id}))
            }
        }
    }

    fn good(&self, op: &Op, reply: &Reply) -> Option<Good> {
        let body = reply.body();
        Some(match op {
            Op::Acquire { .. } => Good::Held {
                fence: self.learn(&body["claim"]),
                expires: millis(&body["claim"]["expiresAt"])?,
            },
            Op::Release { .. } => Good::Released {
                fence: self.learn(&body["claim"]),
            },
            Op::Check { .. } => {
                let result = &body["results"][0];
                let fences = self.fences(&result["conflicts"]);
                (result["available"] == fences.is_empty()).then_some(Good::InTheWay(fences))?
            }
        })
    }

    fn facts(&self, detail: &Value) -> Vec<u64> {
        self.fences(&detail["conflicts"])
    }
}
