//! Knowledge: a proposal is decided about once, and becomes a version of what it went out from.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::super::hosts::Reply;
use super::super::random::Random;
use super::trial::{Ask, Settled, Trial};
use super::{Answer, Object, refused};

/// A proposal goes by its title, which no other has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Proposal {
    title: String,
    base: u64,
    decided: bool,
}

/// One entry, and what was proposed for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Knowledge {
    version: u64,
    title: String,
    proposals: Vec<Proposal>,
}

#[derive(Clone, Debug)]
pub enum Op {
    Propose { title: String, base: u64 },
    Accept { title: String, confirm: bool },
    Reject { title: String },
    Read,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Good {
    Proposed { title: String, base: u64 },
    Accepted { title: String, version: u64 },
    Rejected { title: String },
    Entry { title: String, version: u64 },
}

impl Knowledge {
    fn undecided(&mut self, title: &str) -> Answer<&mut Proposal> {
        match self.proposals.iter_mut().find(|it| it.title == title) {
            None => refused("PROPOSAL_NOT_FOUND", &[]),
            Some(proposal) if proposal.decided => refused("PROPOSAL_DECIDED", &[]),
            Some(proposal) => Ok(proposal),
        }
    }
}

impl Object for Knowledge {
    type Op = Op;
    type Good = Good;

    fn run(&mut self, op: &Op, _: i64) -> Answer<Good> {
        match op {
            Op::Read => Ok(Good::Entry {
                title: self.title.clone(),
                version: self.version,
            }),
            Op::Propose { title, base } => {
                if *base > self.version {
                    return refused("KNOWLEDGE_VERSION_NOT_FOUND", &[]);
                }
                self.proposals.push(Proposal {
                    title: title.clone(),
                    base: *base,
                    decided: false,
                });
                Ok(Good::Proposed {
                    title: title.clone(),
                    base: *base,
                })
            }
            Op::Reject { title } => {
                self.undecided(title)?.decided = true;
                Ok(Good::Rejected { title: title.clone() })
            }
            Op::Accept { title, confirm } => {
                let version = self.version;
                let proposal = self.undecided(title)?;
                if proposal.base < version && !confirm {
                    return refused("VERSION_CONFLICT", &[version]);
                }
                proposal.decided = true;
                self.version += 1;
                self.title.clone_from(title);
                Ok(Good::Accepted {
                    title: title.clone(),
                    version: self.version,
                })
            }
        }
    }
}

/// Admins who propose and decide, by the version that they have heard of.
pub struct KnowledgeTrial {
    knowledge_id: String,
    version: RefCell<u64>,
    /// Titles of proposals that were acknowledged, with their ids.
    proposals: RefCell<Vec<(String, String)>>,
    made: RefCell<usize>,
}

impl KnowledgeTrial {
    fn heard(&self, version: u64) -> u64 {
        *self.version.borrow_mut() = version;
        version
    }
}

impl Trial for KnowledgeTrial {
    type Object = Knowledge;
    const PARTICIPANTS: usize = 4;
    const ROLE: &'static str = "admin";
    const COMES_TO: &'static [&'static str] = &[
        "knowledge:propose",
        "knowledge:accept",
        "knowledge:reject",
        "knowledge:read",
        "PROPOSAL_DECIDED",
        "VERSION_CONFLICT",
    ];

    fn prepare(settled: &Settled<'_>) -> Value {
        let made = settled.coordinate("knowledge:propose", &json!({"title": "new", "body": "b"}));
        let accept = json!({"proposalId": made["proposal"]["proposalId"]});
        settled.operate("knowledge:accept", &accept)["proposal"]["knowledgeId"].clone()
    }

    fn begin(prepared: &Value) -> (Self, Knowledge) {
        let trial = Self {
            knowledge_id: prepared.as_str().unwrap().to_owned(),
            version: RefCell::new(1),
            proposals: RefCell::default(),
            made: RefCell::new(0),
        };
        let knowledge = Knowledge {
            version: 1,
            title: "new".to_owned(),
            proposals: Vec::new(),
        };
        (trial, knowledge)
    }

    fn draw(&self, random: &mut Random, _: usize) -> Op {
        let proposals = self.proposals.borrow();
        // The latest are the least decided about.
        let recent = &proposals[proposals.len().saturating_sub(3)..];
        let kind = random.below(8);
        if recent.is_empty() || kind < 3 {
            *self.made.borrow_mut() += 1;
            return Op::Propose {
                title: format!("p{}", self.made.borrow()),
                base: *self.version.borrow(),
            };
        }
        let (title, _) = random.pick(recent).clone();
        match kind {
            3 => Op::Read,
            4 => Op::Reject { title },
            _ => Op::Accept {
                title,
                confirm: random.one_in(4),
            },
        }
    }

    fn ask(&self, op: &Op) -> Ask {
        let about = |title: &str| {
            let proposals = self.proposals.borrow();
            let known = proposals.iter().find(|(known, _)| known == title);
            json!({"proposalId": known.unwrap().1})
        };
        match op {
            Op::Read => Ask::coordination("knowledge:read", json!({"knowledgeId": self.knowledge_id})),
            Op::Propose { title, base } => {
                let entry = &self.knowledge_id;
                let body = json!({"knowledgeId": entry, "title": title, "body": "b", "baseVersion": base});
                Ask::coordination("knowledge:propose", body)
            }
            Op::Reject { title } => Ask::operator("knowledge:reject", about(title)),
            Op::Accept { title, confirm } => {
                let mut body = about(title);
                body["confirm"] = json!(confirm);
                Ask::operator("knowledge:accept", body)
            }
        }
    }

    fn good(&self, op: &Op, reply: &Reply) -> Option<Good> {
        let body = reply.body();
        let proposal = &body["proposal"];
        let title = || proposal["title"].as_str().map(str::to_owned);
        Some(match op {
            Op::Read => Good::Entry {
                title: body["entry"]["title"].as_str()?.to_owned(),
                version: self.heard(body["entry"]["version"].as_u64()?),
            },
            Op::Propose { .. } => {
                let id = proposal["proposalId"].as_str()?.to_owned();
                self.proposals.borrow_mut().push((title()?, id));
                Good::Proposed {
                    title: title()?,
                    base: proposal["baseVersion"].as_u64()?,
                }
            }
            Op::Reject { .. } => Good::Rejected { title: title()? },
            Op::Accept { .. } => Good::Accepted {
                title: title()?,
                version: self.heard(proposal["version"].as_u64()?),
            },
        })
    }

    fn facts(&self, detail: &Value) -> Vec<u64> {
        detail["current"].as_u64().into_iter().collect()
    }
}
