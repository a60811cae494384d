//! Actors that get whole stories through whatever hosts there are, and what must then be in the store.

use std::cell::RefCell;
use std::collections::BTreeMap;

use a2a_edge::session::{Commit, Session};
use a2a_edge::store::{HeadSwap, Limits, Memory, Store, StoreError};
use pollster::block_on;
use serde_json::{Value, json};

use super::hosts::{COORDINATION, Process, Reply, Tokens, WORK, World, settle};
use super::random::Random;

/// So small that the store compacts all the time.
pub const LIMITS: Limits = Limits {
    value: 200_000,
    inline: 2_000,
    tail_bytes: 8_000,
    tail_commits: 5,
    segment: 4_000,
    segments: 2,
};

pub fn store<K: a2a_edge::store::KeyValue>(keys: K) -> HeadSwap<K> {
    HeadSwap::with_limits(keys, LIMITS)
}

/// The log of a session, and its state by replaying it.
pub fn log(memory: &Memory, session_id: &str) -> (Vec<Commit>, Session) {
    let store = store(memory.clone());
    let records = block_on(store.history(session_id, 0, usize::MAX)).unwrap();
    let commits: Vec<Commit> = records
        .iter()
        .map(|it| serde_json::from_slice(&it.bytes).unwrap())
        .collect();
    let mut session = Session::default();
    for commit in &commits {
        assert!(session.apply(commit), "the log has no gap");
    }
    let loaded = block_on(store.load(session_id, 0)).unwrap().unwrap();
    let mut shortcut = loaded
        .snapshot
        .map_or_else(Session::default, |it| Session::restore(&it.bytes).unwrap());
    for record in &loaded.commits {
        assert!(shortcut.apply(&serde_json::from_slice(&record.bytes).unwrap()));
    }
    assert!(
        session.snapshot() == shortcut.snapshot(),
        "loading and replaying differ"
    );
    (commits, session)
}

/// What an actor asked for, under a key or a message id, and what it was answered in the end.
#[derive(Clone, Debug)]
pub struct Asked {
    pub actor: usize,
    pub path: &'static str,
    pub token: String,
    pub body: Value,
    pub reply: Option<Reply>,
}

pub type Journal = RefCell<Vec<Asked>>;

/// A way to get a request through: tries one host after another until one answers for it.
pub struct Fleet<'a, S, F: Fn() -> S> {
    world: &'a World,
    /// A host for a process that has died.
    replace: F,
    hosts: RefCell<Vec<std::rc::Rc<Process<'a, S>>>>,
    random: RefCell<Random>,
    tries: usize,
}

impl<'a, S: Store, F: Fn() -> S> Fleet<'a, S, F> {
    pub fn new(world: &'a World, hosts: usize, seed: u64, tries: usize, replace: F) -> Self {
        let made = (0..hosts).map(|_| std::rc::Rc::new(Process::new(world, replace())));
        Self {
            world,
            hosts: RefCell::new(made.collect()),
            replace,
            random: RefCell::new(Random(seed)),
            tries,
        }
    }

    pub fn any(&self) -> (usize, std::rc::Rc<Process<'a, S>>) {
        let hosts = self.hosts.borrow();
        let index = self.random.borrow_mut().below(hosts.len());
        (index, std::rc::Rc::clone(&hosts[index]))
    }

    /// Asks until a host answers with anything but 503; what is asked can be repeated without harm.
    pub async fn ask(
        &self,
        journal: &Journal,
        actor: usize,
        path: &'static str,
        token: &str,
        body: Value,
    ) -> Option<Reply> {
        let place = journal.borrow().len();
        journal.borrow_mut().push(Asked {
            actor,
            path,
            token: token.to_owned(),
            body: body.clone(),
            reply: None,
        });
        for _ in 0..self.tries {
            let (index, host) = self.any();
            let reply = host.call("POST", path, token, &both(), &body).await;
            for fault in host.faults.borrow().iter() {
                assert!(matches!(fault, StoreError::Unavailable(_)), "{fault}");
            }
            if reply.status != 503 {
                assert!(reply.status < 500, "{}", reply.text);
                journal.borrow_mut()[place].reply = Some(reply.clone());
                return Some(reply);
            }
            assert!(reply.retry_after);
            // Whatever was the matter with that process, another one takes its place.
            self.hosts.borrow_mut()[index] = std::rc::Rc::new(Process::new(self.world, (self.replace)()));
        }
        None
    }
}

pub fn both() -> String {
    format!("{COORDINATION},{WORK}")
}

pub const SEND: &str = "/message:send";
pub const UPDATE: &str = "/extensions/session-coordination/v1/requests:update";
pub const CREATE: &str = "/extensions/session-coordination/v1/requests:create";
pub const APPROVE: &str = "/operator/v1/tasks:approve";

pub fn handoff(message_id: &str) -> Value {
    json!({
        "message": {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": "Please."}],
            "metadata": {WORK: {"skill": "handoff", "title": message_id}}},
        "configuration": {"returnImmediately": true},
    })
}

/// A client hands work off, the owner approves it, a member claims it, reports and lands it: all under keys.
pub async fn whole_story<S: Store, F: Fn() -> S>(
    fleet: &Fleet<'_, S, F>,
    journal: &Journal,
    tokens: &Tokens,
    actor: usize,
) {
    let (client, member) = (
        &tokens.clients[actor % tokens.clients.len()],
        &tokens.members[actor % tokens.members.len()],
    );
    let name = format!("m-{actor}");
    let Some(sent) = fleet.ask(journal, actor, SEND, client, handoff(&name)).await else {
        return;
    };
    let task = sent.ok()["task"]["id"].clone();
    let body = json!({"taskId": task, "idempotencyKey": name});
    let Some(approved) = fleet.ask(journal, actor, APPROVE, &tokens.owner, body).await else {
        return;
    };
    let request = approved.ok()["task"]["requestId"].clone();
    let steps = [
        json!({"action": "claim"}),
        json!({"action": "progress", "note": format!("{name}/0"), "stage": "review"}),
        json!({"action": "progress", "note": format!("{name}/1"), "stage": "landing"}),
        json!({"action": "complete", "note": format!("{name}/2")}),
    ];
    for (step, mut body) in steps.into_iter().enumerate() {
        body["requestId"] = request.clone();
        body["idempotencyKey"] = json!(format!("{name}/{step}"));
        let Some(reply) = fleet.ask(journal, actor, UPDATE, member, body).await else {
            return;
        };
        reply.ok();
    }
}

/// Whether what the store holds is what was acknowledged, and nothing twice.
pub fn verify(memory: &Memory, session_id: &str, journal: &Journal) {
    let (commits, session) = log(memory, session_id);
    // Under a key or message id there is one commit at most, and there is one if it was acknowledged.
    let mut kept: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for commit in &commits {
        if let Some(remembered) = &commit.remembered {
            let key = format!("{} {}", remembered.credential_id, remembered.key);
            kept.entry(key).or_default().push(commit.seq);
        }
        for event in serde_json::to_value(commit).unwrap()["events"]
            .as_array()
            .unwrap()
        {
            if let Some(event) = event.get("sendRecorded") {
                let key = format!("{} {}", event["participantId"], event["messageId"]);
                kept.entry(key).or_default().push(commit.seq);
            }
        }
    }
    assert!(kept.values().all(|seqs| seqs.len() == 1), "doubled: {kept:?}");
    let mut order: BTreeMap<usize, u64> = BTreeMap::new();
    for asked in journal
        .borrow()
        .iter()
        .filter(|asked| asked.reply.as_ref().is_some_and(|it| it.status == 200))
    {
        let name = asked
            .body
            .get("idempotencyKey")
            .unwrap_or(&asked.body["message"]["messageId"]);
        let name = name.as_str().unwrap();
        let token = a2a_edge::session::Token::parse(&asked.token).unwrap();
        let caller = session.authenticate(&token).unwrap();
        let key = match asked.path {
            SEND => format!("\"{}\" \"{name}\"", caller.participant_id),
            _ => format!("{} {name}", caller.credential_id),
        };
        let seq = kept
            .get(&key)
            .unwrap_or_else(|| panic!("acknowledged and lost: {asked:?}"))[0];
        let before = order.insert(asked.actor, seq);
        assert!(
            before.is_none_or(|before| before < seq),
            "out of order: {asked:?}"
        );
    }
    for request in session.requests() {
        let mut notes: Vec<&str> = request.notes.iter().map(|note| note.body.as_str()).collect();
        let told = notes.clone();
        notes.sort_unstable();
        notes.dedup();
        assert_eq!(told, notes, "every note once and in order");
    }
    check_repeats(memory, journal, commits.len() as u64, session_id);
}

/// A repeat of anything acknowledged is answered with the same bytes and adds nothing.
pub fn check_repeats(memory: &Memory, journal: &Journal, last: u64, session_id: &str) {
    let world = World::new();
    world.now.set(1_784_250_000_000 + 3_600_000);
    let host = Process::new(&world, store(memory.clone()));
    for asked in journal.borrow().iter() {
        let Some(reply) = asked.reply.as_ref().filter(|reply| reply.status == 200) else {
            continue;
        };
        let again = block_on(host.call("POST", asked.path, &asked.token, &both(), &asked.body));
        if asked.path == SEND {
            // The task is shown as it now stands; it is the same one.
            assert_eq!(again.ok()["task"]["id"], reply.ok()["task"]["id"]);
        } else {
            assert_eq!(again.text, reply.text, "{asked:?}");
        }
    }
    let loaded = block_on(store(memory.clone()).history(session_id, last, 1)).unwrap();
    assert!(loaded.is_empty(), "a repeat added a commit");
}

pub fn settled(world: &World, members: usize, clients: usize) -> (Memory, Tokens) {
    let memory = Memory::default();
    let host = Process::new(world, store(memory.clone()));
    let tokens = block_on(settle(&host, members, clients));
    (memory, tokens)
}
