//! What a trial asks of a desk, and how its answers are read.

use a2a_edge::store::{HeadSwap, Memory};
use a2a_edge::time::Timestamp;
use serde_json::Value;

use super::super::hosts::{COORDINATION, Process, Reply, Tokens};
use super::super::random::Random;
use super::{Answer, Object, Refused};

/// A call as it goes over HTTP.
pub struct Ask {
    /// What [`Trial::COMES_TO`] calls it.
    pub name: &'static str,
    pub path: String,
    pub extensions: &'static str,
    pub body: Value,
}

impl Ask {
    pub fn coordination(operation: &'static str, body: Value) -> Self {
        Self {
            name: operation,
            path: format!("/extensions/session-coordination/v1/{operation}"),
            extensions: COORDINATION,
            body,
        }
    }

    pub fn operator(verb: &'static str, body: Value) -> Self {
        Self {
            name: verb,
            path: format!("/operator/v1/{verb}"),
            extensions: "",
            body,
        }
    }
}

/// A session with its participants, before any trial.
pub struct Settled<'a> {
    pub host: Process<'a, HeadSwap<Memory>>,
    pub tokens: Tokens,
}

impl Settled<'_> {
    pub fn coordinate(&self, operation: &str, body: &Value) -> Value {
        pollster::block_on(self.host.coordinate(&self.tokens.owner, operation, body)).ok()
    }

    pub fn operate(&self, verb: &str, body: &Value) -> Value {
        pollster::block_on(self.host.operate(&self.tokens.owner, verb, body)).ok()
    }

    /// The ids of those who take part in the trial, in the order of their tokens.
    pub fn participants(&self) -> Vec<String> {
        let list = self.coordinate("participants:list", &Value::Object(serde_json::Map::new()));
        let all = list["participants"].as_array().unwrap().iter().skip(1);
        all.map(|it| it["participantId"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// Callers at an object of the desk, and the plain object beside it.
pub trait Trial: Sized {
    type Object: Object;
    /// How many take part; the owner of the session does not.
    const PARTICIPANTS: usize;
    const ROLE: &'static str;
    /// Everything that calls come to in enough histories: the names of those that succeed, and the reasons.
    const COMES_TO: &'static [&'static str];

    /// Makes what the trial is about; what is returned goes to every history.
    fn prepare(settled: &Settled<'_>) -> Value;

    /// A new history, and the object at its beginning.
    fn begin(prepared: &Value) -> (Self, Self::Object);

    /// What participant `who` asks next, by what was learned so far.
    fn draw(&self, random: &mut Random, who: usize) -> <Self::Object as Object>::Op;

    fn ask(&self, op: &<Self::Object as Object>::Op) -> Ask;

    /// What a success says; `None` if it says what none may.
    fn good(
        &self,
        op: &<Self::Object as Object>::Op,
        reply: &Reply,
    ) -> Option<<Self::Object as Object>::Good>;

    /// The numbers in the structured detail of a refusal.
    fn facts(&self, detail: &Value) -> Vec<u64> {
        let _ = detail;
        Vec::new()
    }

    fn read(
        &self,
        op: &<Self::Object as Object>::Op,
        reply: &Reply,
    ) -> Answer<<Self::Object as Object>::Good> {
        if reply.status == 200 {
            let unheard_of = || Refused {
                reason: format!("answered with {}", reply.text),
                facts: Vec::new(),
            };
            return self.good(op, reply).ok_or_else(unheard_of);
        }
        Err(Refused {
            reason: reply.reason(),
            facts: self.facts(&reply.body()["error"]["details"][1]),
        })
    }
}

pub fn texts(values: &Value) -> Vec<String> {
    let texts = values.as_array().into_iter().flatten();
    texts.map(|it| it.as_str().unwrap().to_owned()).collect()
}

pub fn millis(time: &Value) -> Option<i64> {
    let time: Timestamp = serde_json::from_value(time.clone()).ok()?;
    Some(time.as_millis())
}
