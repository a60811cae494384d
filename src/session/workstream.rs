//! Workstreams: scopes of coordination with an owner, versions and a history that nobody rewrites (session
//! coordination, §9.1).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::time::Timestamp;

/// How far a workstream is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lifecycle {
    /// Not agreed on yet: how each begins.
    Proposed,
    /// Being worked on.
    Active,
    /// Set aside.
    Paused,
    /// Done.
    Completed,
    /// Closed for good: read, and never changed.
    Archived,
}

/// Something outside or inside the session that a workstream is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resource {
    /// What it is.
    pub kind: ResourceKind,
    /// Its id: that of a record of the session, or one line of at most 512 characters for what is outside.
    pub id: String,
}

/// What a link may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "each is the record of the same name")]
pub enum ResourceKind {
    Request,
    Claim,
    Question,
    Decision,
    Knowledge,
    Task,
    /// Whatever the session has no record of.
    External,
}

/// That a resource belongs to a workstream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// What.
    pub resource: Resource,
    /// Who linked it.
    pub linked_by: String,
    /// When.
    pub linked_at: Timestamp,
}

/// What somebody says for how a workstream stands, as it was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewEvidence {
    /// One line, at most 40 characters.
    pub kind: String,
    /// At most 1,000 characters.
    pub summary: String,
    /// An https URL of at most 2,048 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// Evidence, with who gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// One line, at most 40 characters.
    pub kind: String,
    /// At most 1,000 characters.
    pub summary: String,
    /// An https URL of at most 2,048 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Who gave it.
    pub from: String,
    /// When.
    pub at: Timestamp,
}

/// Where the work stands and how it goes on, as it was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewCheckpoint {
    /// At most 4,000 characters.
    pub summary: String,
    /// At most 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A checkpoint, with who set it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// At most 4,000 characters.
    pub summary: String,
    /// At most 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Who set it.
    pub from: String,
    /// When.
    pub at: Timestamp,
}

/// A workstream as the session keeps it and as the wire shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workstream {
    /// Made by the server.
    pub workstream_id: String,
    /// One line, at most 200 characters.
    pub title: String,
    /// At most 4,000 characters.
    pub intent: String,
    /// Who answers for it.
    pub owner: String,
    /// Who works on it, the owner aside: at most 50.
    pub participants: Vec<String>,
    /// How far it is.
    pub lifecycle: Lifecycle,
    /// Oldest first.
    pub evidence: Vec<Evidence>,
    /// The latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// Oldest first.
    pub links: Vec<Link>,
    /// 1, and one more with every change.
    pub version: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What an update sets; at least one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Update {
    /// A new title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A new intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// A new owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// All participants from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participants: Option<Vec<String>>,
    /// How far it is from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
    /// Evidence that comes behind what is there: at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add_evidence: Vec<NewEvidence>,
    /// A new checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<NewCheckpoint>,
}

impl Update {
    /// Whether it sets nothing but what a workstream's participants may: evidence and the checkpoint.
    #[must_use]
    pub const fn is_a_report(&self) -> bool {
        self.title.is_none()
            && self.intent.is_none()
            && self.owner.is_none()
            && self.participants.is_none()
            && self.lifecycle.is_none()
    }
}

/// What can happen to a workstream. Each holds what it brought, and nothing that was there before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WorkstreamChange {
    /// Some of it was set anew.
    Updated(Box<Update>),
    /// A resource was linked to it.
    Linked {
        /// What.
        resource: Resource,
    },
    /// A resource's link went from one workstream to another; each of the two has this in its history.
    LinkMoved {
        /// What.
        resource: Resource,
        /// The workstream that held it.
        from: String,
        /// The workstream that holds it.
        to: String,
    },
    /// A resource's link was taken away.
    Unlinked {
        /// What.
        resource: Resource,
    },
}

impl WorkstreamChange {
    /// What the event of it is called.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Updated(_) => "workstream.updated",
            Self::Linked { .. } => "workstream.linked",
            Self::LinkMoved { .. } => "workstream.link-moved",
            Self::Unlinked { .. } => "workstream.unlinked",
        }
    }

    /// What it brought, as members of an object.
    #[must_use]
    pub fn brought(&self) -> Value {
        // As it is kept, that object stands under the change's name.
        match json!(self) {
            Value::Object(mut kept) => kept.values_mut().next().map(Value::take),
            _ => None,
        }
        .unwrap_or_default()
    }
}

impl Workstream {
    /// Whether it can be changed, and counts among the session's open ones.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.lifecycle != Lifecycle::Archived
    }

    /// The link to a resource.
    #[must_use]
    pub fn link(&self, resource: &Resource) -> Option<&Link> {
        self.links.iter().find(|link| link.resource == *resource)
    }

    /// The workstream after a change to it, one version further.
    #[must_use]
    pub fn changed(&self, change: &WorkstreamChange, by: &str, at: Timestamp) -> Self {
        let mut after = self.clone();
        after.change(change, by, at);
        after
    }

    fn change(&mut self, change: &WorkstreamChange, by: &str, at: Timestamp) {
        match change {
            WorkstreamChange::Updated(update) => self.update(update, by, at),
            WorkstreamChange::Linked { resource } => self.put_link(resource, by, at),
            WorkstreamChange::LinkMoved { resource, to, .. } if *to == self.workstream_id => {
                self.put_link(resource, by, at);
            }
            WorkstreamChange::LinkMoved { resource, .. } | WorkstreamChange::Unlinked { resource } => {
                self.links.retain(|link| link.resource != *resource);
            }
        }
        self.version = self.version.saturating_add(1);
        self.updated_at = at;
    }

    fn put_link(&mut self, resource: &Resource, by: &str, at: Timestamp) {
        self.links.push(Link {
            resource: resource.clone(),
            linked_by: by.to_owned(),
            linked_at: at,
        });
    }

    fn update(&mut self, update: &Update, by: &str, at: Timestamp) {
        let set = |field: &mut String, value: &Option<String>| {
            if let Some(value) = value {
                field.clone_from(value);
            }
        };
        set(&mut self.title, &update.title);
        set(&mut self.intent, &update.intent);
        set(&mut self.owner, &update.owner);
        if let Some(participants) = &update.participants {
            self.participants.clone_from(participants);
        }
        self.lifecycle = update.lifecycle.unwrap_or(self.lifecycle);
        self.evidence
            .extend(update.add_evidence.iter().map(|given| Evidence {
                kind: given.kind.clone(),
                summary: given.summary.clone(),
                url: given.url.clone(),
                from: by.to_owned(),
                at,
            }));
        if let Some(said) = &update.checkpoint {
            self.checkpoint = Some(Checkpoint {
                summary: said.summary.clone(),
                next: said.next.clone(),
                from: by.to_owned(),
                at,
            });
        }
    }
}

/// How a workstream began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    title: String,
    intent: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    participants: Vec<String>,
}

/// Something in the history of a workstream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Happened {
    Changed(WorkstreamChange),
    Created(Origin),
}

impl Happened {
    const fn name(&self) -> &'static str {
        match self {
            Self::Created(_) => "workstream.created",
            Self::Changed(change) => change.name(),
        }
    }

    fn brought(&self) -> Value {
        match self {
            Self::Created(origin) => json!(origin),
            Self::Changed(change) => change.brought(),
        }
    }
}

/// An event of a workstream's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryEvent {
    seq: u64,
    actor: String,
    at: Timestamp,
    version: u32,
    what: Happened,
}

impl HistoryEvent {
    /// The event as the wire shows it: `{seq, type, actor, at, data}`. `seq` is the number of the session's commit;
    /// `data` is the workstream's `version` after it, and what the event brought.
    #[must_use]
    pub fn record(&self) -> Value {
        let mut data = json!({ "version": self.version });
        if let (Some(data), Value::Object(brought)) = (data.as_object_mut(), self.what.brought()) {
            data.extend(brought);
        }
        json!({"seq": self.seq, "type": self.what.name(), "actor": self.actor, "at": self.at, "data": data})
    }
}

/// Who changed something, when, and in which commit of the session.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The commit's number.
    pub seq: u64,
    /// The session's time.
    pub at: Timestamp,
    /// The participant that acted.
    pub by: &'a str,
}

/// The workstreams of a session. What is derived from them is in no snapshot; [`Workstreams::derive`] makes it anew.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Workstreams {
    records: BTreeMap<String, Workstream>,
    /// Ids in the order they were made in.
    order: Vec<String>,
    /// By workstream, oldest first: only ever longer.
    histories: BTreeMap<String, Vec<HistoryEvent>>,
    /// By resource: the one workstream that it is linked to.
    #[serde(skip)]
    holders: BTreeMap<Resource, String>,
    #[serde(skip)]
    open: usize,
}

impl Workstreams {
    /// Derives what no snapshot holds.
    pub fn derive(&mut self) {
        self.open = self.records.values().filter(|one| one.is_open()).count();
        let links = self.records.values().flat_map(|one| {
            let holder = |link: &Link| (link.resource.clone(), one.workstream_id.clone());
            one.links.iter().map(holder)
        });
        self.holders = links.collect();
    }

    /// Keeps a new workstream.
    pub fn create(&mut self, workstream: Workstream, step: Step<'_>) {
        let origin = Origin {
            title: workstream.title.clone(),
            intent: workstream.intent.clone(),
            participants: workstream.participants.clone(),
        };
        self.note(
            &workstream.workstream_id,
            workstream.version,
            Happened::Created(origin),
            step,
        );
        self.open = self.open.saturating_add(1);
        self.order.push(workstream.workstream_id.clone());
        self.records.insert(workstream.workstream_id.clone(), workstream);
    }

    /// Lets something happen to a workstream.
    pub fn change(&mut self, workstream_id: &str, change: &WorkstreamChange, step: Step<'_>) {
        let Some(workstream) = self.records.get_mut(workstream_id) else {
            return;
        };
        let was_open = workstream.is_open();
        workstream.change(change, step.by, step.at);
        let version = workstream.version;
        if was_open && !workstream.is_open() {
            self.open = self.open.saturating_sub(1);
        }
        match change {
            WorkstreamChange::Updated(_) => {}
            WorkstreamChange::Unlinked { resource } => {
                self.holders.remove(resource);
            }
            WorkstreamChange::LinkMoved { resource, to, .. } => {
                self.holders.insert(resource.clone(), to.clone());
            }
            WorkstreamChange::Linked { resource } => {
                self.holders.insert(resource.clone(), workstream_id.to_owned());
            }
        }
        self.note(workstream_id, version, Happened::Changed(change.clone()), step);
    }

    fn note(&mut self, workstream_id: &str, version: u32, what: Happened, step: Step<'_>) {
        let history = self.histories.entry(workstream_id.to_owned()).or_default();
        history.push(HistoryEvent {
            seq: step.seq,
            actor: step.by.to_owned(),
            at: step.at,
            version,
            what,
        });
    }

    /// A workstream.
    #[must_use]
    pub fn get(&self, workstream_id: &str) -> Option<&Workstream> {
        self.records.get(workstream_id)
    }

    /// The workstreams, in the order they were made in.
    pub fn in_order(&self) -> impl DoubleEndedIterator<Item = &Workstream> {
        self.order.iter().filter_map(|id| self.records.get(id))
    }

    /// The history of a workstream, oldest first.
    #[must_use]
    pub fn history(&self, workstream_id: &str) -> &[HistoryEvent] {
        self.histories.get(workstream_id).map_or(&[], Vec::as_slice)
    }

    /// The workstream that a resource is linked to.
    #[must_use]
    pub fn holder(&self, resource: &Resource) -> Option<&Workstream> {
        self.holders.get(resource).and_then(|id| self.records.get(id))
    }

    /// How many are not archived.
    #[must_use]
    pub const fn open_count(&self) -> usize {
        self.open
    }
}
