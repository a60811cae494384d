//! What the session knows of a task, in the form that the projection looks at, and where the task stands by it.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::Session;
use super::request::{Request, RequestState};
use super::task::{Gate, Mail, Shown, Skill, TaskRecord, WorkItem, WorkStatus};
use crate::a2a::TaskState;
use crate::dispatch::artifact::Results;
use crate::dispatch::delivery::DeliveryState;
use crate::dispatch::envelope::Reference;
use crate::dispatch::facts::{self, DroppedBy, Facts, Note, TaskFact};
use crate::dispatch::gate::{self, OpenGate};
use crate::dispatch::projection::{Projection, project};
use crate::time::Timestamp;

pub use crate::dispatch::SYSTEM_ADDRESS;

/// How the address of a work item begins.
pub(super) const WORK_ITEM: &str = "task:";

const CANCELED_WITHIN: &str = "Canceled by a participant of the session.";
const EXPIRED: &str = "The request expired before anybody completed it.";

/// The data of the system's answer to an ask whose time ran out.
static EXPIRED_DATA: LazyLock<Value> = LazyLock::new(|| json!({"type": "x-closed", "reason": EXPIRED}));

impl Mail {
    /// The message as the projection looks at it.
    #[must_use]
    pub fn note(&self) -> Note<'_> {
        Note {
            id: Some(&self.id),
            thread: Some(&self.thread),
            reply_to: self.reply_to.as_deref(),
            from: Some(&self.from),
            to: self.to.iter().map(String::as_str).collect(),
            kind: Some(self.kind.as_str()),
            body: &self.body,
            blocking: self.blocking,
            choices: self.choices.iter().map(String::as_str).collect(),
            choice: self.choice.as_deref(),
            refs: self.refs.iter().map(Reference::borrowed).collect(),
            data: self.data.as_ref(),
        }
    }
}

impl WorkItem {
    /// The work item as the projection looks at it, with a status that it has or had.
    #[must_use]
    pub fn fact<'a>(&'a self, status: &'a str) -> facts::WorkItem<'a> {
        facts::WorkItem {
            id: &self.id,
            title: &self.draft.title,
            status,
            phase: None,
            approved: self.approved,
        }
    }
}

impl Gate {
    /// The gate as the projection looks at it.
    #[must_use]
    pub fn as_open(&self) -> OpenGate<'_> {
        OpenGate {
            id: &self.id,
            r#type: &self.gate_type,
            opened_at: self.opened_at,
        }
    }
}

/// A word of the system itself that no message of the session carries.
fn system_note<'a>(body: &'a str, data: Option<&'a Value>) -> Note<'a> {
    Note {
        from: Some(SYSTEM_ADDRESS),
        kind: Some("answer"),
        body,
        data,
        ..Note::default()
    }
}

impl Session {
    /// All that the projection looks at, as of `now`.
    #[must_use]
    pub fn facts<'a>(&'a self, task: &'a TaskRecord, now: Timestamp) -> Facts<'a> {
        let notes = |ids: &'a [String]| {
            ids.iter()
                .filter_map(|id| self.mail(id))
                .map(Mail::note)
                .collect()
        };
        let root = self.mail(&task.root).map(Mail::note);
        let delivery = if task.delivered {
            DeliveryState::Notified
        } else {
            DeliveryState::Held
        };
        let root_deliveries = root.iter().flat_map(|root| &root.to).map(|_| delivery).collect();
        let open_gates = task.open_gates().map(Gate::as_open);
        Facts {
            id: Some(&task.task_id),
            context_id: Some(&task.context_id),
            skill: match task.skill {
                Skill::Ask => facts::Skill::Ask,
                Skill::Handoff => facts::Skill::Handoff,
            },
            client: root.as_ref().and_then(|root| root.from),
            created_at: Some(task.opened_at),
            canceled_at: task.canceled.as_ref().map(|ending| ending.at),
            declined_at: task.declined.as_ref().map(|ending| ending.at),
            // What was answered in time stays answered.
            recipient_task_dropped: task.state() != TaskState::Completed
                && self.is_stranded(root.iter().flat_map(|root| root.to.iter().copied())),
            root_deliveries,
            scope: notes(&task.scope),
            answer: self.answer(task, now),
            open_questions: notes(&task.open_questions),
            open_gates: open_gates.collect(),
            task: task
                .work_item
                .as_ref()
                .map(|item| TaskFact::Item(item.fact(item.status.as_str()))),
            dropped: match (&task.dropped, &task.canceled) {
                (Some(_), _) => Some(DroppedBy::Other),
                (None, Some(_)) => Some(DroppedBy::Client),
                (None, None) => None,
            },
            work: Cow::Owned(Results::default()),
            root,
        }
    }

    /// The answer to the task's first message: one that was given, or what the system says in its place.
    #[must_use]
    pub fn answer<'a>(&'a self, task: &'a TaskRecord, now: Timestamp) -> Option<Note<'a>> {
        if let Some(answer) = task.answer.as_ref().and_then(|id| self.mail(id)) {
            return Some(answer.note());
        }
        if let Some(text) = task.declined.as_ref().and_then(|ending| ending.text.as_ref()) {
            return Some(system_note(text, None));
        }
        let expired = self
            .request_of(task)
            .is_some_and(|it| it.state_at(now) == RequestState::Expired);
        expired.then(|| system_note(EXPIRED, Some(&EXPIRED_DATA)))
    }

    /// Whether one of these recipients is a work item that was dropped.
    pub(super) fn is_stranded<'a>(&self, mut recipients: impl Iterator<Item = &'a str>) -> bool {
        recipients.any(|address| {
            let id = address.strip_prefix(WORK_ITEM);
            let task = id.and_then(|id| self.task_of_work_item(id));
            let item = task.and_then(|task| task.work_item.as_ref());
            item.is_some_and(|item| item.status == WorkStatus::Dropped)
        })
    }

    /// The asks of a work item.
    pub(super) fn asked_of(&self, item: &WorkItem) -> impl Iterator<Item = &TaskRecord> {
        let address = format!("{WORK_ITEM}{}", item.id);
        self.tasks.values().filter(move |task| {
            let root = self.mail.get(&task.root);
            task.skill == Skill::Ask && root.is_some_and(|root| root.to.contains(&address))
        })
    }

    /// The request that carries a task, once there is one.
    #[must_use]
    pub fn request_of(&self, task: &TaskRecord) -> Option<&Request> {
        self.request(task.request_id.as_ref()?)
    }

    /// The task whose handoff drafted a work item.
    #[must_use]
    pub fn task_of_work_item(&self, work_item_id: &str) -> Option<&TaskRecord> {
        self.task(self.work_items.get(work_item_id)?)
    }

    /// Whether a client may not see a message: it is a gate, or replies to one.
    #[must_use]
    pub fn is_gate_traffic(&self, mail: &Mail) -> bool {
        let is_gate = |mail: &Mail| mail.data.as_ref().is_some_and(gate::is_gate_data);
        is_gate(mail)
            || mail
                .reply_to
                .as_ref()
                .and_then(|id| self.mail(id))
                .is_some_and(is_gate)
    }

    /// Where a task stands as of `now`, and since when. What has ended stays as it ended.
    #[must_use]
    pub fn standing(&self, task: &TaskRecord, now: Timestamp) -> Shown {
        if task.state().is_terminal() {
            return task.shown();
        }
        let facts = self.facts(task, now);
        self.standing_by(task, &project(&facts, SYSTEM_ADDRESS), now)
    }

    /// [`standing`](Self::standing), by a projection of the task's facts as of `now`.
    #[must_use]
    pub fn standing_by(&self, task: &TaskRecord, projection: &Projection<'_>, now: Timestamp) -> Shown {
        let told = task.shown();
        if told.state.is_terminal() {
            return told;
        }
        let text = sentence(task, projection);
        if projection.state == told.state && text == told.text {
            return told;
        }
        // Between two commits only time changes what is seen, and then since the moment that it was up.
        let lapsed = self.request_of(task).and_then(|request| lapsed_at(request, now));
        Shown {
            state: projection.state,
            text: text.into_owned(),
            at: lapsed.unwrap_or(now),
        }
    }

    /// Records where a task stands after an event at `at`, and where those stand that were asked of its work item.
    pub(super) fn refresh(&mut self, task_id: &str, at: Timestamp) {
        let Some(task) = self.tasks.get(task_id) else {
            return;
        };
        let dropped = task
            .work_item
            .as_ref()
            .filter(|item| item.status == WorkStatus::Dropped);
        let stranded = dropped.into_iter().flat_map(|item| self.asked_of(item));
        let moved: Vec<_> = std::iter::once(task)
            .chain(stranded)
            .filter(|task| !task.state().is_terminal())
            .map(|task| (task.task_id.clone(), self.outlook(task, at)))
            .collect();
        for (id, (shown, standing)) in moved {
            if let Some(task) = self.tasks.get_mut(&id) {
                task.follow(standing, shown.text);
            }
            self.push_look(&id, at);
        }
    }
}

/// When a request's time ran out, if it has by `now`.
pub(super) fn lapsed_at(request: &Request, now: Timestamp) -> Option<Timestamp> {
    request.expires_at.filter(|at| *at <= now)
}

/// The sentence that goes with a state.
fn sentence<'f>(task: &TaskRecord, projection: &Projection<'f>) -> Cow<'f, str> {
    let within = task
        .canceled
        .as_ref()
        .is_some_and(|ending| ending.by != task.opened_by);
    if projection.state == TaskState::Canceled && within {
        return Cow::Borrowed(CANCELED_WITHIN);
    }
    projection.text.clone()
}
