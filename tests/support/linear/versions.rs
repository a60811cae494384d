//! Workstreams: a write is for one version, and a link is in one place.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::super::hosts::Reply;
use super::super::random::Random;
use super::trial::{Ask, Settled, Trial, texts};
use super::{Answer, Object, refused};

const WORKSTREAMS: usize = 2;
const RESOURCES: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Workstream {
    version: u64,
    title: String,
    /// What is linked, in the order in which it was.
    links: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Workstreams([Workstream; WORKSTREAMS]);

/// A workstream and the version that the caller knows.
type At = (usize, u64);

#[derive(Clone, Debug)]
pub enum Op {
    Update(At, String),
    Link(At, usize),
    Move { to: At, from: At, resource: usize },
    Unlink(At, usize),
    Get(usize),
}

/// The workstream as the answer shows it, and the one that a link came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Good(Workstream, Option<Workstream>);

impl Workstreams {
    fn check(&self, (workstream, expected): At) -> Answer<()> {
        match self.0[workstream].version {
            version if version == expected => Ok(()),
            version => refused("VERSION_CONFLICT", &[workstream as u64, version]),
        }
    }

    fn holder(&self, resource: usize) -> Option<usize> {
        self.0.iter().position(|it| it.links.contains(&resource))
    }

    fn write(&mut self, workstream: usize, write: impl FnOnce(&mut Workstream)) -> Answer<Good> {
        let written = &mut self.0[workstream];
        write(written);
        written.version += 1;
        Ok(Good(written.clone(), None))
    }
}

impl Object for Workstreams {
    type Op = Op;
    type Good = Good;

    fn run(&mut self, op: &Op, _: i64) -> Answer<Good> {
        match op {
            Op::Get(workstream) => Ok(Good(self.0[*workstream].clone(), None)),
            Op::Update(at, title) => {
                self.check(*at)?;
                self.write(at.0, |it| it.title.clone_from(title))
            }
            Op::Link(at, resource) => {
                self.check(*at)?;
                match self.holder(*resource) {
                    Some(holder) if holder == at.0 => refused("ALREADY_LINKED", &[]),
                    Some(holder) => refused("LINKED_ELSEWHERE", &[holder as u64, self.0[holder].version]),
                    None => self.write(at.0, |it| it.links.push(*resource)),
                }
            }
            Op::Move { to, from, resource } => {
                self.check(*to)?;
                self.check(*from)?;
                match self.holder(*resource) {
                    Some(holder) if holder == to.0 => return refused("ALREADY_LINKED", &[]),
                    Some(_) => {}
                    None => return refused("NOT_LINKED", &[]),
                }
                let Good(source, _) = self.write(from.0, |it| it.links.retain(|one| one != resource))?;
                let Good(target, _) = self.write(to.0, |it| it.links.push(*resource))?;
                Ok(Good(target, Some(source)))
            }
            Op::Unlink(at, resource) => {
                self.check(*at)?;
                if !self.0[at.0].links.contains(resource) {
                    return refused("NOT_LINKED", &[]);
                }
                self.write(at.0, |it| it.links.retain(|one| one != resource))
            }
        }
    }
}

/// Callers that write to the same workstreams, by the versions that they have heard of.
pub struct VersionsTrial {
    ids: Vec<String>,
    /// What was last heard of each.
    known: RefCell<[Workstream; WORKSTREAMS]>,
}

impl VersionsTrial {
    fn index(&self, id: &Value) -> Option<usize> {
        self.ids.iter().position(|known| id == known.as_str())
    }

    fn workstream(&self, record: &Value) -> Option<Workstream> {
        let index = self.index(&record["workstreamId"])?;
        let links = record["links"].as_array()?.iter();
        let links = links.map(|link| link["resource"]["id"].as_str()?.parse().ok());
        let workstream = Workstream {
            version: record["version"].as_u64()?,
            title: record["title"].as_str()?.to_owned(),
            links: links.collect::<Option<_>>()?,
        };
        self.known.borrow_mut()[index] = workstream.clone();
        Some(workstream)
    }
}

impl Trial for VersionsTrial {
    type Object = Workstreams;
    const PARTICIPANTS: usize = 8;
    const ROLE: &'static str = "admin";
    const COMES_TO: &'static [&'static str] = &[
        "workstreams:update",
        "workstreams:link",
        "move",
        "workstreams:unlink",
        "workstreams:get",
        "VERSION_CONFLICT",
        "ALREADY_LINKED",
        "LINKED_ELSEWHERE",
        "NOT_LINKED",
    ];

    fn prepare(settled: &Settled<'_>) -> Value {
        let create = |_| {
            let made = settled.coordinate("workstreams:create", &json!({"title": "new", "intent": "i"}));
            made["workstream"]["workstreamId"].clone()
        };
        (0..WORKSTREAMS).map(create).collect()
    }

    fn begin(prepared: &Value) -> (Self, Workstreams) {
        let new = || Workstream {
            version: 1,
            title: "new".to_owned(),
            links: Vec::new(),
        };
        let trial = Self {
            ids: texts(prepared),
            known: RefCell::new([new(), new()]),
        };
        (trial, Workstreams([new(), new()]))
    }

    fn draw(&self, random: &mut Random, who: usize) -> Op {
        let (workstream, resource) = (random.below(WORKSTREAMS), random.below(RESOURCES));
        let known = self.known.borrow();
        let at = |workstream: usize| (workstream, known[workstream].version);
        let other = 1 - workstream;
        match random.below(8) {
            0 => Op::Get(workstream),
            1 => Op::Update(at(workstream), format!("by {who}")),
            2 => Op::Unlink(at(workstream), resource),
            3..=5 if known[other].links.contains(&resource) => Op::Move {
                to: at(workstream),
                from: at(other),
                resource,
            },
            6 if random.one_in(4) => Op::Move {
                to: at(workstream),
                from: at(other),
                resource,
            },
            _ => Op::Link(at(workstream), resource),
        }
    }

    fn ask(&self, op: &Op) -> Ask {
        let body = |(workstream, version): At| json!({"workstreamId": self.ids[workstream], "expectedVersion": version});
        let with = |at: At, resource: usize| {
            let mut body = body(at);
            body["resource"] = json!({"kind": "external", "id": resource.to_string()});
            body
        };
        match op {
            Op::Get(workstream) => {
                let body = json!({"workstreamId": self.ids[*workstream]});
                Ask::coordination("workstreams:get", body)
            }
            Op::Update(at, title) => {
                let mut body = body(*at);
                body["title"] = json!(title);
                Ask::coordination("workstreams:update", body)
            }
            Op::Link(at, resource) => Ask::coordination("workstreams:link", with(*at, *resource)),
            Op::Unlink(at, resource) => Ask::coordination("workstreams:unlink", with(*at, *resource)),
            Op::Move { to, from, resource } => {
                let mut whole = with(*to, *resource);
                whole["from"] = body(*from);
                Ask {
                    name: "move",
                    ..Ask::coordination("workstreams:link", whole)
                }
            }
        }
    }

    fn good(&self, _: &Op, reply: &Reply) -> Option<Good> {
        let body = reply.body();
        let moved_from = match &body["movedFrom"] {
            Value::Null => None,
            from => Some(self.workstream(from)?),
        };
        Some(Good(self.workstream(&body["workstream"])?, moved_from))
    }

    fn facts(&self, detail: &Value) -> Vec<u64> {
        let index = self.index(&detail["workstreamId"]).map(|index| index as u64);
        let version = detail["current"].as_u64().or(detail["version"].as_u64());
        index.into_iter().chain(version).collect()
    }
}
