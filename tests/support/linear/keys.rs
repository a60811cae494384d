//! Idempotency keys: what is done under one is done once, and told again byte for byte.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::hosts::Reply;
use super::super::random::Random;
use super::trial::{Ask, Settled, Trial};
use super::{Answer, Object, refused};

/// Who creates something, under which key, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Creation {
    who: usize,
    key: usize,
    body: usize,
}

/// What was created, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Created(Vec<Creation>);

#[derive(Clone, Debug)]
pub enum Op {
    Create(Creation),
    List,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Good {
    /// The one answer that there is for this creation.
    Made(Creation),
    Listed(Vec<String>),
}

fn title(creation: &Creation) -> String {
    format!("{}/{}/{}", creation.who, creation.key, creation.body)
}

impl Object for Created {
    type Op = Op;
    type Good = Good;

    fn run(&mut self, op: &Op, _: i64) -> Answer<Good> {
        match op {
            Op::List => Ok(Good::Listed(self.0.iter().map(title).collect())),
            Op::Create(new) => {
                let mut under_key = self.0.iter().filter(|it| (it.who, it.key) == (new.who, new.key));
                match under_key.next() {
                    Some(known) if known.body != new.body => refused("IDEMPOTENCY_KEY_REUSED", &[]),
                    Some(_) => Ok(Good::Made(*new)),
                    None => {
                        self.0.push(*new);
                        Ok(Good::Made(*new))
                    }
                }
            }
        }
    }
}

/// Callers that repeat themselves, two with the same credential.
pub struct KeysTrial {
    /// The bytes that each creation was first answered with.
    answers: RefCell<BTreeMap<Creation, String>>,
}

impl Trial for KeysTrial {
    type Object = Created;
    const PARTICIPANTS: usize = 4;
    const ROLE: &'static str = "member";
    const COMES_TO: &'static [&'static str] = &["requests:create", "requests:list", "IDEMPOTENCY_KEY_REUSED"];

    fn prepare(_: &Settled<'_>) -> Value {
        Value::Null
    }

    fn begin(_: &Value) -> (Self, Created) {
        let answers = RefCell::default();
        (Self { answers }, Created::default())
    }

    fn draw(&self, random: &mut Random, who: usize) -> Op {
        if random.one_in(6) {
            return Op::List;
        }
        Op::Create(Creation {
            who,
            key: random.below(2),
            body: usize::from(random.one_in(4)),
        })
    }

    fn ask(&self, op: &Op) -> Ask {
        match op {
            Op::List => Ask::coordination("requests:list", json!({})),
            Op::Create(new) => {
                let body = json!({"title": title(new), "idempotencyKey": format!("k{}", new.key)});
                Ask::coordination("requests:create", body)
            }
        }
    }

    fn good(&self, op: &Op, reply: &Reply) -> Option<Good> {
        match op {
            Op::Create(new) => {
                let mut answers = self.answers.borrow_mut();
                let first = answers.entry(*new).or_insert_with(|| reply.text.clone());
                (*first == reply.text).then_some(Good::Made(*new))
            }
            Op::List => {
                let body = reply.body();
                let requests = body["requests"].as_array()?.iter();
                let titles = requests.map(|request| request["title"].as_str().map(str::to_owned));
                titles.collect::<Option<Vec<_>>>().map(Good::Listed)
            }
        }
    }
}
