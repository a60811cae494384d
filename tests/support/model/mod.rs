//! The rules of session coordination, once more and as plainly as they can be said: records are JSON objects in lists,
//! and every rule is a line that looks through them. It is written from the reference, shares no code with the desk,
//! and knows nothing of storage, indices or events.

pub mod claims;
pub mod draw;
pub mod knowledge;
pub mod requests;
pub mod talk;
pub mod workstreams;

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub const LIVE_CLAIMS: usize = 5;
pub const OPEN_REQUESTS: usize = 5;
pub const OPEN_WORKSTREAMS: usize = 3;
pub const LINKS: usize = 2;
pub const EVIDENCE: usize = 3;
pub const ENTRIES: usize = 2;
pub const PENDING: usize = 3;

/// Why something was refused: the reason, and for `INVALID_ARGUMENT` the field.
pub type Answer = Result<Value, String>;

pub fn refused<T>(reason: &str) -> Result<T, String> {
    Err(reason.to_owned())
}

pub struct Person {
    pub id: String,
    pub role: &'static str,
    pub revoked: bool,
    /// What it last announced.
    pub presence: Option<Value>,
}

/// Something in inboxes.
pub struct Item {
    pub kind: &'static str,
    pub subject: Value,
    pub from: String,
    pub at: i64,
    pub to: Audience,
    /// By reader: the state it gave the item, and whether the matter was settled by then.
    pub marks: BTreeMap<String, (String, bool)>,
}

pub enum Audience {
    These(Vec<String>),
    WhoCan(String),
    Everyone,
}

/// What an item is known by: when, what it tells of, and which.
pub type ItemKey = (i64, String, String);

#[derive(Default)]
pub struct Model {
    pub now: i64,
    pub people: Vec<Person>,
    pub claims: Vec<Value>,
    pub requests: Vec<Value>,
    pub questions: Vec<Value>,
    pub decisions: Vec<Value>,
    pub proposals: Vec<Value>,
    /// By entry: its id, and its versions.
    pub entries: Vec<(Value, Vec<Value>)>,
    pub workstreams: Vec<Value>,
    pub items: Vec<Item>,
    /// By claim: what its holder made of its lapse.
    pub lapses: BTreeMap<String, String>,
    /// The ids of items, as far as they were listed.
    pub item_ids: BTreeMap<ItemKey, String>,
}

pub fn text<'a>(record: &'a Value, member: &str) -> &'a str {
    record[member].as_str().unwrap_or_default()
}

pub fn int(record: &Value, member: &str) -> i64 {
    record[member].as_i64().unwrap_or_default()
}

pub fn list<'a>(record: &'a Value, member: &str) -> &'a [Value] {
    record[member].as_array().map_or(&[], Vec::as_slice)
}

pub fn has(record: &Value, member: &str, value: &str) -> bool {
    list(record, member).iter().any(|it| it == value)
}

/// The record of an id.
pub fn find<'a>(records: &'a [Value], member: &str, id: &str, reason: &str) -> Result<&'a Value, String> {
    let found = records.iter().find(|it| it[member] == id);
    found.ok_or_else(|| reason.to_owned())
}

pub fn find_mut<'a>(records: &'a mut [Value], member: &str, id: &str) -> &'a mut Value {
    records.iter_mut().find(|it| it[member] == id).unwrap()
}

impl Model {
    pub fn person(&self, id: &str) -> Option<&Person> {
        self.people.iter().find(|one| one.id == id)
    }

    pub fn decides(&self, who: usize) -> bool {
        matches!(self.people[who].role, "owner" | "admin")
    }

    pub fn taking_part(&self, id: &str) -> Result<&Person, String> {
        let known = self.person(id).filter(|one| !one.revoked);
        known.ok_or_else(|| "PARTICIPANT_NOT_FOUND".to_owned())
    }

    pub fn all_taking_part(&self, ids: &[Value]) -> Result<(), String> {
        ids.iter()
            .try_for_each(|id| self.taking_part(id.as_str().unwrap()).map(drop))
    }

    /// A workstream that a new record names.
    pub fn named_workstream(&self, body: &Value) -> Result<(), String> {
        let Some(id) = body["workstreamId"].as_str() else {
            return Ok(());
        };
        let workstream = find(&self.workstreams, "workstreamId", id, "WORKSTREAM_NOT_FOUND")?;
        if workstream["lifecycle"] == "archived" {
            return refused("WORKSTREAM_ARCHIVED");
        }
        Ok(())
    }

    /// Carries out an operation, and says what of its answer must be so.
    pub fn run(&mut self, who: usize, operation: &str, body: &Value) -> Answer {
        match operation {
            "participants.list" => Ok(self.list_participants(body)),
            "presence.announce" => Ok(self.announce(who, body)),
            "status.announce" => self
                .named_workstream(body)
                .map(|()| json!({"event": {"at": self.now}})),
            "claims.check" => Ok(self.check(who, body)),
            "claims.acquire" => self.acquire(who, body),
            "claims.release" => self.release(who, body),
            "requests.create" => self.create_request(who, body),
            "requests.list" => Ok(self.list_requests(who, body)),
            "requests.update" => self.update_request(who, body),
            "questions.ask" => self.ask(who, body),
            "questions.answer" => self.answer(who, body),
            "inbox.list" => Ok(self.list_inbox(who, body)),
            "inbox.update" => self.update_inbox(who, body),
            "decisions.record" => self.record_decision(who, body),
            "knowledge.propose" => self.propose(who, body),
            "knowledge:accept" => self.accept(who, body),
            "knowledge:reject" => self.reject(who, body),
            "knowledge.list" => Ok(self.list_knowledge(body)),
            "knowledge.read" => self.read_knowledge(body),
            "workstreams.create" => self.create_workstream(who, body),
            "workstreams.list" => Ok(self.list_workstreams(body)),
            "workstreams.get" => self.get_workstream(body),
            "workstreams.update" => self.update_workstream(who, body),
            "workstreams.link" => self.link(who, body),
            "workstreams.unlink" => self.unlink(who, body),
            other => panic!("no such operation: {other}"),
        }
    }

    /// Takes the ids that the desk made from its answer.
    pub fn learn(&mut self, operation: &str, answer: &Value) {
        let (records, record, member) = match operation {
            "claims.acquire" => (&mut self.claims, "claim", "claimId"),
            "requests.create" => (&mut self.requests, "request", "requestId"),
            "questions.ask" => (&mut self.questions, "question", "questionId"),
            "decisions.record" => (&mut self.decisions, "decision", "decisionId"),
            "knowledge.propose" => (&mut self.proposals, "proposal", "proposalId"),
            "workstreams.create" => (&mut self.workstreams, "workstream", "workstreamId"),
            "knowledge:accept" => {
                let id = &answer["proposal"]["knowledgeId"];
                let new = self.entries.iter_mut().find(|(known, _)| known.is_null());
                new.into_iter().for_each(|(known, _)| known.clone_from(id));
                let accepted = text(&answer["proposal"], "proposalId");
                find_mut(&mut self.proposals, "proposalId", accepted)["knowledgeId"] = id.clone();
                return;
            }
            "inbox.list" => return self.learn_items(answer),
            _ => return,
        };
        let id = &answer[record][member];
        if let Some(new) = records.last_mut().filter(|it| it[member].is_null()) {
            new[member].clone_from(id);
            if let Some(item) = self.items.last_mut().filter(|it| it.subject.is_null()) {
                item.subject.clone_from(id);
            }
        }
    }
}

/// Where an answer is not what the model says; what the model does not mention is not looked at. Times are numbers
/// in the model; a member without a value is absent.
pub fn difference(expected: &Value, actual: &Value, path: &str) -> Option<String> {
    let differs = || Some(format!("{path}: expected {expected}, got {actual}"));
    match (expected, actual) {
        (Value::Object(members), Value::Object(_)) => members
            .iter()
            .find_map(|(name, value)| difference(value, &actual[name.as_str()], &format!("{path}.{name}"))),
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => wanted
            .iter()
            .zip(found)
            .enumerate()
            .find_map(|(index, (wanted, found))| difference(wanted, found, &format!("{path}[{index}]"))),
        (Value::Number(wanted), Value::String(_)) => {
            let time: Option<a2a_edge::time::Timestamp> = serde_json::from_value(actual.clone()).ok();
            if time.map(|time| time.as_millis()) == wanted.as_i64() {
                None
            } else {
                differs()
            }
        }
        _ if expected == actual => None,
        _ => differs(),
    }
}
