//! What a host knows of a task: all that the projection looks at (work/v1, §8.7).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::artifact::Results;
use super::delivery::DeliveryState;
use super::envelope::{RefType, Reference, Written};
use super::field::{Null, Object, Path};
use super::gate::OpenGate;
use super::verdict::Fault;
use crate::time::Timestamp;

/// What a task was opened for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Skill {
    /// A question.
    #[default]
    Ask,
    /// A piece of work.
    Handoff,
}

/// How far a piece of work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words are work/v1's own")]
pub enum Phase {
    Draft,
    Queued,
    Working,
    Review,
    Landing,
    Landed,
    Dropped,
}

impl Phase {
    const WORDS: [(&'static str, Self); 7] = [
        ("draft", Self::Draft),
        ("queued", Self::Queued),
        ("working", Self::Working),
        ("review", Self::Review),
        ("landing", Self::Landing),
        ("landed", Self::Landed),
        ("dropped", Self::Dropped),
    ];

    /// The phase that a status means when the host names none; a status of the host's own means working.
    #[must_use]
    pub fn of_status(status: &str) -> Self {
        match status {
            "draft" => Self::Draft,
            "ready" => Self::Queued,
            "review" => Self::Review,
            "landing" => Self::Landing,
            "landed" => Self::Landed,
            "dropped" => Self::Dropped,
            _ => Self::Working,
        }
    }
}

/// The sub-state of a task that is being worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The work is being looked at.
    Review,
    /// The work is being merged.
    Landing,
}

impl Stage {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Review => "review",
            Self::Landing => "landing",
        }
    }
}

/// Who dropped a work item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DroppedBy {
    /// The client that handed it over.
    Client,
    /// Anybody else.
    Other,
}

/// A work item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkItem<'a> {
    /// Its id at the host.
    pub id: &'a str,
    /// What it is.
    pub title: &'a str,
    /// draft, ready, working, review, landing, landed, dropped, or a word of the host's own.
    pub status: &'a str,
    /// How far it is, when the status does not say so.
    pub phase: Option<Phase>,
    /// Whether a deciding principal has approved it.
    pub approved: bool,
}

impl WorkItem<'_> {
    /// How far it is.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase.unwrap_or_else(|| Phase::of_status(self.status))
    }
}

/// The work item of a handoff, or what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskFact<'a> {
    /// It is there.
    Item(WorkItem<'a>),
    /// It is no longer there.
    Deleted,
}

/// A message in the conversation of a task. What is not known is left empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Note<'a> {
    /// Its id at the host.
    pub id: Option<&'a str>,
    /// The message that began its thread.
    pub thread: Option<&'a str>,
    /// The message it replies to.
    pub reply_to: Option<&'a str>,
    /// The address it is from.
    pub from: Option<&'a str>,
    /// The addresses it is for.
    pub to: Vec<&'a str>,
    /// What it is.
    pub kind: Option<&'a str>,
    /// Its text.
    pub body: &'a str,
    /// Whether its sender waits for an answer.
    pub blocking: bool,
    /// The answers it offers.
    pub choices: Vec<&'a str>,
    /// The answer it picks.
    pub choice: Option<&'a str>,
    /// What it refers to.
    pub refs: Vec<Reference<&'a str>>,
    /// Its data.
    pub data: Option<&'a Value>,
}

impl<'a> Note<'a> {
    /// Reads a message from JSON with its members in camel case; null is absence, unknown members are ignored.
    ///
    /// # Errors
    /// The first member of the wrong type, under `whole`.
    pub fn read(value: &'a Value, whole: &str) -> Result<Self, Fault> {
        note(Object::read(value, Path::Root(whole), Null::Absent)?)
    }

    /// The envelope/v1 metadata of the message, if the host knows who sent which message.
    #[must_use]
    pub fn written(&'a self) -> Option<Written<'a>> {
        let id = self.id?;
        Some(Written {
            id,
            thread: self.thread.unwrap_or(id),
            from: self.from?,
            kind: self.kind.unwrap_or("message"),
            reply_to: self.reply_to,
            blocking: self.blocking,
            choices: &self.choices,
            choice: self.choice,
            refs: &self.refs,
        })
    }
}

/// All that is known of a task. Everything is optional; `Facts::default()` is an ask of which nothing is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts<'a> {
    /// The A2A task.
    pub id: Option<&'a str>,
    /// The A2A conversation.
    pub context_id: Option<&'a str>,
    /// What it was opened for.
    pub skill: Skill,
    /// The address of the client.
    pub client: Option<&'a str>,
    /// When it was opened.
    pub created_at: Option<Timestamp>,
    /// When the client canceled it.
    pub canceled_at: Option<Timestamp>,
    /// When the owner declined it.
    pub declined_at: Option<Timestamp>,
    /// The message that opened it.
    pub root: Option<Note<'a>>,
    /// The messages the client may see, oldest first.
    pub scope: Vec<Note<'a>>,
    /// How each delivery of the root stands.
    pub root_deliveries: Vec<DeliveryState>,
    /// The answer to the root.
    pub answer: Option<Note<'a>>,
    /// The questions that wait for the client, first opened first.
    pub open_questions: Vec<Note<'a>>,
    /// The gates that wait for the owner.
    pub open_gates: Vec<OpenGate<'a>>,
    /// The work item of a handoff.
    pub task: Option<TaskFact<'a>>,
    /// Who dropped the work item.
    pub dropped: Option<DroppedBy>,
    /// Whether the work item that an ask was for has been dropped.
    pub recipient_task_dropped: bool,
    /// What the work has yielded.
    pub work: Cow<'a, Results>,
}

impl<'a> Facts<'a> {
    /// Reads facts from JSON with its members in camel case; null is absence, unknown members are ignored.
    ///
    /// # Errors
    /// The first member of the wrong type, such as `openGates[0].openedAt`.
    pub fn read(value: &'a Value) -> Result<Self, Fault> {
        let facts = Object::read(value, Path::Root("facts"), Null::Absent)?.named("");
        Ok(Self {
            id: facts.text("id")?,
            context_id: facts.text("contextId")?,
            skill: facts
                .word("skill", &[("ask", Skill::Ask), ("handoff", Skill::Handoff)])?
                .unwrap_or_default(),
            client: facts.text("client")?,
            created_at: facts.time("createdAt")?,
            canceled_at: facts.time("canceledAt")?,
            declined_at: facts.time("declinedAt")?,
            root: facts.object("root", note)?,
            scope: facts.objects("scope", note)?,
            root_deliveries: facts.list("rootDeliveries", usize::MAX, delivery)?,
            answer: facts.object("answer", note)?,
            open_questions: facts.objects("openQuestions", note)?,
            open_gates: facts.objects("openGates", gate)?,
            task: match facts.get("task").and_then(Value::as_str) {
                Some("deleted") => Some(TaskFact::Deleted),
                _ => facts.object("task", work_item)?.map(TaskFact::Item),
            },
            dropped: facts.word(
                "dropped",
                &[("client", DroppedBy::Client), ("other", DroppedBy::Other)],
            )?,
            recipient_task_dropped: facts.flag("recipientTaskDropped")?.unwrap_or_default(),
            work: Cow::Owned(facts.object("work", Results::read)?.unwrap_or_default()),
        })
    }

    /// The work item, if there is one.
    #[must_use]
    pub const fn work_item(&self) -> Option<&WorkItem<'a>> {
        match &self.task {
            Some(TaskFact::Item(item)) => Some(item),
            Some(TaskFact::Deleted) | None => None,
        }
    }
}

fn note<'a>(note: Object<'a, '_>) -> Result<Note<'a>, Fault> {
    Ok(Note {
        id: note.text("id")?,
        thread: note.text("thread")?,
        reply_to: note.text("replyTo")?,
        from: note.text("from")?,
        to: note.list("to", usize::MAX, text)?,
        kind: note.text("kind")?,
        body: note.text("body")?.unwrap_or_default(),
        blocking: note.flag("blocking")?.unwrap_or_default(),
        choices: note.list("choices", usize::MAX, text)?,
        choice: note.text("choice")?,
        refs: note.objects("refs", reference)?,
        data: note.get("data"),
    })
}

fn text<'a>(value: &'a Value, path: Path<'_>) -> Result<&'a str, Fault> {
    value.as_str().ok_or_else(|| path.fault("expected a string"))
}

fn reference<'a>(entry: Object<'a, '_>) -> Result<Reference<&'a str>, Fault> {
    let r#type = entry.word("type", &RefType::WORDS)?;
    Ok(Reference {
        r#type: r#type.ok_or_else(|| entry.fault("type", "expected task or message"))?,
        id: entry.required_text("id")?,
    })
}

fn delivery(value: &Value, path: Path<'_>) -> Result<DeliveryState, Fault> {
    text(value, path).map(DeliveryState::of)
}

fn gate<'a>(gate: Object<'a, '_>) -> Result<OpenGate<'a>, Fault> {
    let opened_at = gate.time("openedAt")?;
    Ok(OpenGate {
        id: gate.required_text("id")?,
        r#type: gate.required_text("type")?,
        opened_at: opened_at.ok_or_else(|| gate.fault("openedAt", "expected a time"))?,
    })
}

fn work_item<'a>(item: Object<'a, '_>) -> Result<WorkItem<'a>, Fault> {
    Ok(WorkItem {
        id: item.required_text("id")?,
        title: item.required_text("title")?,
        status: item.required_text("status")?,
        phase: item.word("phase", &Phase::WORDS)?,
        approved: item.flag("approved")?.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_bad_fact_is_named() {
        for (facts, field) in [
            (json!([]), "facts"),
            (json!({"id": 1}), "id"),
            (json!({"skill": "status"}), "skill"),
            (json!({"canceledAt": "yesterday"}), "canceledAt"),
            (json!({"root": "m-1"}), "root"),
            (json!({"root": {"to": ["a", 1]}}), "root.to[1]"),
            (json!({"scope": {}}), "scope"),
            (json!({"scope": [{}, {"body": 1}]}), "scope[1].body"),
            (
                json!({"scope": [{"refs": [{"type": "file", "id": "x"}]}]}),
                "scope[0].refs[0].type",
            ),
            (json!({"rootDeliveries": [true]}), "rootDeliveries[0]"),
            (
                json!({"openGates": [{"id": "m", "type": "wake"}]}),
                "openGates[0].openedAt",
            ),
            (
                json!({"openGates": [{"id": "m", "openedAt": "2026-07-17T01:00:00Z"}]}),
                "openGates[0].type",
            ),
            (json!({"task": "gone"}), "task"),
            (json!({"task": {"id": "t", "title": "T"}}), "task.status"),
            (
                json!({"task": {"id": "t", "title": "T", "status": "s", "phase": "s"}}),
                "task.phase",
            ),
            (json!({"dropped": true}), "dropped"),
            (json!({"recipientTaskDropped": "yes"}), "recipientTaskDropped"),
            (
                json!({"work": {"pr": {"url": "ftp://x", "number": 1}}}),
                "work.pr.url",
            ),
            (json!({"work": {"diffstat": 1}}), "work.diffstat"),
        ] {
            assert_eq!(Facts::read(&facts).unwrap_err().field, field, "{facts}");
        }
    }

    #[test]
    fn nulls_and_unknown_members_are_nothing() {
        let facts =
            json!({"canceledAt": null, "task": null, "work": {"pr": null}, "answer": null, "mood": 1});
        assert_eq!(Facts::read(&facts), Ok(Facts::default()));
    }

    #[test]
    fn a_status_says_the_phase_when_no_phase_is_named() {
        for (status, phase) in [
            ("draft", Phase::Draft),
            ("ready", Phase::Queued),
            ("working", Phase::Working),
            ("review", Phase::Review),
            ("landing", Phase::Landing),
            ("landed", Phase::Landed),
            ("dropped", Phase::Dropped),
            ("qa", Phase::Working),
            ("queued", Phase::Working),
            ("", Phase::Working),
        ] {
            assert_eq!(Phase::of_status(status), phase, "{status}");
        }
    }
}
