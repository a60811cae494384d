//! Push notifications of tasks: where they go, and how far each has been told (A2A 1.0, §3.1.7 to §3.1.10 and §4.3).
//!
//! Nothing is queued. A config keeps the number of the last change of its task that was delivered, as a stream keeps
//! its place; what is to be sent is read from the task when it is sent.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Session;
use super::change::Change;
use super::event::{Commit, Event};
use super::task::TaskRecord;
use crate::a2a::TaskPushNotificationConfig;
use crate::time::Timestamp;

/// How often the delivery of a change is tried before it is given up.
pub const TRIES: u32 = 12;
/// How long the second try waits for, in milliseconds; each later one twice as long as the one before, up to
/// [`LONGEST_WAIT_MS`], and all of them up to a quarter more.
pub const FIRST_WAIT_MS: i64 = 5_000;
/// The longest wait between two tries, in milliseconds, before the quarter.
pub const LONGEST_WAIT_MS: i64 = 3_600_000;

/// A push notification config as the session keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PushRecord {
    /// As its client set it.
    pub config: TaskPushNotificationConfig,
    /// The extensions that were active when it was set: they are in what is sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// The commit that set it: one that is set again is another.
    pub set_by: u64,
    /// The number of the last change of its task that was delivered, or that its client knows otherwise.
    pub known: usize,
    /// How often the next change was tried in vain.
    #[serde(default)]
    pub failures: u32,
    /// When there is something to send, or may be because time alone changes the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// Since when nothing more is sent: its webhook did not take what it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up_at: Option<Timestamp>,
}

/// A config, as it was when something of it was due.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The task.
    pub task_id: String,
    /// The config.
    pub config_id: String,
    /// The commit that set it.
    pub set_by: u64,
}

/// What came of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All that was sent was taken.
    Taken,
    /// The change behind the last that was taken was not; it is tried again until it is given up.
    Failed,
    /// It never will be.
    Refused,
}

/// What came of sending some changes of a config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landed {
    /// Of which.
    pub place: Place,
    /// The number of the last change that was taken.
    pub known: usize,
    /// What came of the one behind it.
    pub outcome: Outcome,
}

/// What a failure leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Then {
    /// Another try, then.
    RetryAt(Timestamp),
    /// Nothing more is sent.
    GiveUp,
}

/// The places to which nothing more is sent once what came of sending is recorded by this commit.
#[must_use]
pub fn given_up(commit: &Commit, landed: &[Landed]) -> Vec<Place> {
    let ids = commit.events.iter().filter_map(|event| match event {
        Event::PushFailed {
            task_id,
            config_id,
            then: Then::GiveUp,
        } => Some((task_id, config_id)),
        _ => None,
    });
    let places = ids.filter_map(|(task_id, config_id)| {
        let mut places = landed.iter().map(|landed| &landed.place);
        places.find(|place| place.task_id == *task_id && place.config_id == *config_id)
    });
    places.cloned().collect()
}

/// The push notification configs of a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pushes {
    /// By task, then by id.
    records: BTreeMap<String, BTreeMap<String, PushRecord>>,
    /// Those of which something is due, by when. In no snapshot: derived from them.
    #[serde(skip)]
    due: BTreeSet<(Timestamp, String, String)>,
}

impl Pushes {
    /// Derives what no snapshot holds.
    pub fn derive(&mut self) {
        let all = self.records.values().flat_map(BTreeMap::values);
        self.due = all.filter_map(entry).collect();
    }

    /// A config of a task.
    #[must_use]
    pub fn get(&self, task_id: &str, config_id: &str) -> Option<&PushRecord> {
        self.records.get(task_id)?.get(config_id)
    }

    /// The config of a place, unless it is gone or was set again.
    #[must_use]
    pub fn at(&self, place: &Place) -> Option<&PushRecord> {
        self.get(&place.task_id, &place.config_id)
            .filter(|record| record.set_by == place.set_by)
    }

    /// The configs of a task, by id.
    pub fn of_task(&self, task_id: &str) -> impl Iterator<Item = &PushRecord> {
        self.records.get(task_id).into_iter().flat_map(BTreeMap::values)
    }

    /// When something is next due to be sent, unless the session moves on before.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, ..)| *at)
    }

    /// When something is next due that is not due yet.
    #[must_use]
    pub fn due_after(&self, now: Timestamp) -> Option<Timestamp> {
        self.due.iter().map(|(at, ..)| *at).find(|at| *at > now)
    }

    /// The configs of which something is due, the longest due first.
    pub fn due(&self, now: Timestamp) -> impl Iterator<Item = Place> {
        let due = self.due.iter().take_while(move |(at, ..)| *at <= now);
        due.filter_map(|(_, task_id, config_id)| {
            let set_by = self.get(task_id, config_id)?.set_by;
            Some(Place {
                task_id: task_id.clone(),
                config_id: config_id.clone(),
                set_by,
            })
        })
    }

    /// Keeps a config; one of the same id is no more.
    fn put(&mut self, record: PushRecord) {
        let (task_id, config_id) = (record.config.task_id.clone(), record.config.id.clone());
        self.remove(&task_id, &config_id);
        self.due.extend(entry(&record));
        self.records.entry(task_id).or_default().insert(config_id, record);
    }

    fn remove(&mut self, task_id: &str, config_id: &str) {
        let Some(of_task) = self.records.get_mut(task_id) else {
            return;
        };
        if let Some(record) = of_task.remove(config_id)
            && let Some(entry) = entry(&record)
        {
            self.due.remove(&entry);
        }
        if of_task.is_empty() {
            self.records.remove(task_id);
        }
    }

    fn change(&mut self, task_id: &str, config_id: &str, change: impl FnOnce(&mut PushRecord)) {
        let record = self.records.get_mut(task_id).and_then(|it| it.get_mut(config_id));
        if let Some(record) = record {
            let before = entry(record);
            change(record);
            let after = entry(record);
            if before != after {
                before.map(|entry| self.due.remove(&entry));
                self.due.extend(after);
            }
        }
    }
}

/// A config's entry among those of which something is due.
fn entry(record: &PushRecord) -> Option<(Timestamp, String, String)> {
    let config = &record.config;
    let due = record.due.filter(|_| record.given_up_at.is_none());
    due.map(|at| (at, config.task_id.clone(), config.id.clone()))
}

impl PushRecord {
    /// Looks when something is due, as of `at`: its task has had so many changes, and time alone may change it then.
    fn look(&mut self, changes: usize, changes_at: Option<Timestamp>, at: Timestamp) {
        self.due = match self.due {
            _ if self.given_up_at.is_some() => None,
            _ if self.known >= changes => changes_at,
            // A try that is put off stays so, and what is due stays due since.
            Some(due) if self.failures > 0 || due <= at => Some(due),
            _ => Some(at),
        };
    }
}

impl Session {
    /// The push notification configs.
    #[must_use]
    pub const fn pushes(&self) -> &Pushes {
        &self.pushes
    }

    /// The number that a config begins behind which is set now: it begins with the status as it stands, so that nothing
    /// that happened since its client last looked is missed.
    #[must_use]
    pub fn push_beginning(&self, task: &TaskRecord, now: Timestamp) -> usize {
        // What time has brought about is the status as it stands, and will have the next number.
        if self.due_change(task, now).is_some() {
            return task.told();
        }
        let is_status = |change: &Change| matches!(change, Change::Status(_));
        let before = task.changes.iter().rposition(is_status).unwrap_or_default();
        task.forgotten.saturating_add(before)
    }

    pub(super) fn push_set(&mut self, record: &PushRecord, at: Timestamp) {
        let task_id = record.config.task_id.clone();
        self.pushes.put(record.clone());
        self.push_look(&task_id, at);
    }

    pub(super) fn push_deleted(&mut self, task_id: &str, config_id: &str) {
        self.pushes.remove(task_id, config_id);
    }

    pub(super) fn push_delivered(&mut self, task_id: &str, config_id: &str, known: usize, at: Timestamp) {
        self.pushes.change(task_id, config_id, |record| {
            record.known = known;
            record.failures = 0;
        });
        self.push_look(task_id, at);
    }

    pub(super) fn push_failed(&mut self, task_id: &str, config_id: &str, then: Then, at: Timestamp) {
        self.pushes.change(task_id, config_id, |record| {
            record.failures = record.failures.saturating_add(1);
            match then {
                Then::RetryAt(retry_at) => record.due = Some(retry_at),
                Then::GiveUp => {
                    record.due = None;
                    record.given_up_at = Some(at);
                }
            }
        });
    }

    /// Who is no longer let in is told nothing more.
    pub(super) fn push_revoked(&mut self, participant_id: &str) {
        let mine = |task_id: &&String| {
            let task = self.tasks.get(task_id.as_str());
            task.is_none_or(|task| task.opened_by == participant_id)
        };
        let tasks: Vec<String> = self.pushes.records.keys().filter(mine).cloned().collect();
        for task_id in tasks {
            let ids: Vec<String> = self
                .pushes
                .of_task(&task_id)
                .map(|it| it.config.id.clone())
                .collect();
            ids.iter().for_each(|id| self.pushes.remove(&task_id, id));
        }
    }

    /// Looks when something of a task's configs is due, after a change at `at`.
    pub(super) fn push_look(&mut self, task_id: &str, at: Timestamp) {
        if !self.pushes.records.contains_key(task_id) {
            return;
        }
        let Some(task) = self.tasks.get(task_id) else {
            return;
        };
        let (changes, changes_at) = (task.told(), self.due_at(task, at));
        let ids: Vec<String> = self
            .pushes
            .of_task(task_id)
            .map(|it| it.config.id.clone())
            .collect();
        for config_id in ids {
            self.pushes
                .change(task_id, &config_id, |record| record.look(changes, changes_at, at));
        }
    }
}
