//! Where a task stands, from what a host knows of it: the first row that matches (work/v1, §8.7).
//!
//! The same projection serves every way a client looks at a task. It knows nothing of the past: that a terminal
//! state is final is kept by whoever stores the task.

use std::borrow::Cow;

use serde::Serialize;

use super::SYSTEM_ADDRESS;
use super::facts::{DroppedBy, Facts, Note, Phase, Skill, Stage, TaskFact, WorkItem};
use super::gate::{self, OpenGate};
use super::verdict;
use crate::a2a::TaskState;
use crate::text;

const CANCELED: &str = "Canceled by the client.";
const DECLINED: &str = "Declined by the project owner.";
const DROPPED: &str = "The project owner dropped this task.";
const CLOSED: &str = "Closed by the host.";
const RECIPIENT_DROPPED: &str = "The task this was asked of was dropped.";
const DELETED: &str = "The task was deleted.";
const ANSWERED: &str = "Answered.";
const LANDED: &str = "Landed.";
const WORKING: &str = "Working.";
const APPROVED: &str = "Approved; waiting to be scheduled.";
const NO_TEXT: &str = "(no text)";

/// What work/v1 says of a work item, `metadata[<work/v1 URI>]` of the task and of its status message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WorkState<'a> {
    /// The work item's id.
    pub task: &'a str,
    /// What it is.
    pub title: &'a str,
    /// draft, ready, working, review, landing, landed, dropped, or a word of the host's own.
    pub status: &'a str,
    /// The sub-state of a task that is being worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection<'f> {
    /// The row of the table that matched (work/v1, §8.7), from 1 to 12.
    pub row: u8,
    /// The A2A state.
    pub state: TaskState,
    /// What is said to the client.
    pub text: Cow<'f, str>,
    /// The message whose words the text is.
    pub source: Option<&'f Note<'f>>,
    /// The sub-state, while the task is in review or landing.
    pub stage: Option<Stage>,
    /// Every open gate, while the task waits for one.
    pub gates: &'f [OpenGate<'f>],
    /// The work item, if there is one.
    pub item: Option<&'f WorkItem<'f>>,
}

impl<'f> Projection<'f> {
    /// What work/v1 says of the work item, if there is one.
    #[must_use]
    pub fn work_state(&self) -> Option<WorkState<'f>> {
        self.item.map(|item| WorkState {
            task: item.id,
            title: item.title,
            status: item.status,
            stage: self.stage,
        })
    }
}

/// Where the task stands of which `facts` are known. `system` is the address that speaks for the host, see
/// [`SYSTEM_ADDRESS`].
#[must_use]
pub fn project<'f>(facts: &'f Facts<'f>, system: &str) -> Projection<'f> {
    let case = Case {
        facts,
        system,
        phase: facts.work_item().map(WorkItem::phase),
    };
    ROWS.iter()
        .find_map(|row| row(&case))
        .unwrap_or_else(|| case.working(12))
}

struct Case<'f, 's> {
    facts: &'f Facts<'f>,
    system: &'s str,
    phase: Option<Phase>,
}

type Row = for<'f> fn(&Case<'f, '_>) -> Option<Projection<'f>>;

/// Rows 1 to 11; row 12 is what is left.
const ROWS: [Row; 11] = [
    canceled, rejected, failed, deleted, answered, landed, asked, gated, under_way, approved, held,
];

fn canceled<'f>(case: &Case<'f, '_>) -> Option<Projection<'f>> {
    case.facts.canceled_at?;
    Some(case.says(1, TaskState::Canceled, CANCELED))
}

fn rejected<'f>(case: &Case<'f, '_>) -> Option<Projection<'f>> {
    let facts = case.facts;
    let handoff = facts.skill == Skill::Handoff;
    let choice = facts.answer.as_ref().and_then(|answer| answer.choice);
    let answered_decline = handoff && choice == Some("decline");
    let dropped = handoff && facts.dropped == Some(DroppedBy::Other);
    if facts.declined_at.is_none() && !answered_decline && !dropped {
        return None;
    }
    let approved = facts.work_item().is_some_and(|item| item.approved);
    let accepted = handoff && !answered_decline && (choice.is_some() || approved);
    Some(match case.shown_answer() {
        _ if accepted => case.says(2, TaskState::Rejected, DROPPED),
        Some(answer) => case.quotes(2, TaskState::Rejected, answer, DECLINED),
        None => case.says(2, TaskState::Rejected, DECLINED),
    })
}

fn failed<'f>(case: &Case<'f, '_>) -> Option<Projection<'f>> {
    if case.facts.skill != Skill::Ask {
        return None;
    }
    if let Some(answer) = &case.facts.answer
        && let Some(data) = answer.data
        && data.get("type").is_some_and(|name| name == "x-closed")
        && answer.from == Some(case.system)
    {
        let reason = data.get("reason").and_then(|reason| reason.as_str());
        return Some(match reason.filter(|reason| !text::is_blank(reason)) {
            Some(reason) => Projection {
                source: Some(answer),
                ..case.says(3, TaskState::Failed, reason)
            },
            None => case.quotes(3, TaskState::Failed, answer, CLOSED),
        });
    }
    let dropped = case.facts.recipient_task_dropped;
    dropped.then(|| case.says(3, TaskState::Failed, RECIPIENT_DROPPED))
}

fn deleted<'f>(case: &Case<'f, '_>) -> Option<Projection<'f>> {
    let deleted = case.facts.skill == Skill::Handoff && case.facts.task == Some(TaskFact::Deleted);
    deleted.then(|| case.says(4, TaskState::Failed, DELETED))
}

fn answered<'f>(case: &Case<'f, '_>) -> Option<Projection<'f>> {
    if case.facts.skill != Skill::Ask {
        return None;
    }
    case.facts.answer.as_ref()?;
    Some(match case.shown_answer() {
        Some(answer) => case.quotes(5, TaskState::Completed, answer, ANSWERED),
        None => case.says(5, TaskState::Completed, ANSWERED),
    })
}

fn landed<'f>(case: &Case<'f, '_>) -> Option<Projection<'f>> {
    (case.phase == Some(Phase::Landed)).then(|| case.says(6, TaskState::Completed, LANDED))
}

fn asked<'f>(case: &Case<'f, '_>) -> Option<Projection<'f>> {
    let mut questions = case.facts.open_questions.iter();
    let question = questions.find(|question| !is_gate_traffic(question, case.facts))?;
    Some(case.quotes(7, TaskState::InputRequired, question, NO_TEXT))
}

fn gated<'f>(case: &Case<'f, '_>) -> Option<Projection<'f>> {
    let first = case.facts.open_gates.iter().min_by_key(|gate| gate.opened_at)?;
    Some(Projection {
        gates: &case.facts.open_gates,
        ..case.says(8, TaskState::AuthRequired, gate::sentence(first.r#type))
    })
}

fn under_way<'f>(case: &Case<'f, '_>) -> Option<Projection<'f>> {
    let stage = match case.phase? {
        Phase::Working => None,
        Phase::Review => Some(Stage::Review),
        Phase::Landing => Some(Stage::Landing),
        Phase::Draft | Phase::Queued | Phase::Landed | Phase::Dropped => return None,
    };
    Some(Projection {
        stage,
        ..case.working(9)
    })
}

fn approved<'f>(case: &Case<'f, '_>) -> Option<Projection<'f>> {
    let waiting = matches!(case.phase, Some(Phase::Draft | Phase::Queued))
        && case.facts.work_item().is_some_and(|item| item.approved);
    waiting.then(|| case.says(10, TaskState::Submitted, APPROVED))
}

fn held<'f>(case: &Case<'f, '_>) -> Option<Projection<'f>> {
    let deliveries = &case.facts.root_deliveries;
    let held = case.facts.skill == Skill::Ask
        && !deliveries.is_empty()
        && deliveries.iter().all(|delivery| delivery.is_held());
    held.then(|| Projection {
        text: mailbox(case.facts.root.as_ref()),
        ..case.says(11, TaskState::Submitted, "")
    })
}

fn mailbox<'f>(root: Option<&Note<'f>>) -> Cow<'f, str> {
    match root.map_or(&[][..], |root| &root.to) {
        [] => "Waiting in a mailbox.".into(),
        [one] => format!("Waiting in the mailbox of {one}.").into(),
        several => format!("Waiting in the mailboxes of {}.", several.join(", ")).into(),
    }
}

impl<'f> Case<'f, '_> {
    fn says(&self, row: u8, state: TaskState, text: &'f str) -> Projection<'f> {
        Projection {
            row,
            state,
            text: Cow::Borrowed(text),
            source: None,
            stage: None,
            gates: &[],
            item: self.facts.work_item(),
        }
    }

    /// The words of a message: its body, or else the choice it made, or else `otherwise`.
    fn quotes(&self, row: u8, state: TaskState, note: &'f Note<'f>, otherwise: &'f str) -> Projection<'f> {
        let words = [Some(note.body), note.choice];
        let words = words.into_iter().flatten().find(|words| !text::is_blank(words));
        Projection {
            source: Some(note),
            ..self.says(row, state, words.unwrap_or(otherwise))
        }
    }

    /// Rows 9 and 12: the newest message in scope that a client has not written itself and may see.
    fn working(&self, row: u8) -> Projection<'f> {
        let facts = self.facts;
        let client = facts
            .client
            .or_else(|| facts.root.as_ref().and_then(|root| root.from));
        let mut newest_first = facts.scope.iter().rev();
        let news = newest_first
            .find(|note| (client.is_none() || note.from != client) && !is_gate_traffic(note, facts));
        match news {
            Some(note) => self.quotes(row, TaskState::Working, note, WORKING),
            None => self.says(row, TaskState::Working, WORKING),
        }
    }

    /// The answer, if a client may see it.
    fn shown_answer(&self) -> Option<&'f Note<'f>> {
        let answer = self.facts.answer.as_ref();
        answer.filter(|answer| !is_gate_traffic(answer, self.facts))
    }
}

/// Whether a client may not see a message: it is a gate, or replies to one.
///
/// What it replies to is looked up among the root, the scope, the open questions, the answer and the open gates;
/// what is not found there is no gate.
#[must_use]
pub fn is_gate_traffic(note: &Note<'_>, facts: &Facts<'_>) -> bool {
    let is_gate = |note: &Note<'_>| note.data.is_some_and(gate::is_gate_data);
    if is_gate(note) {
        return true;
    }
    let Some(parent) = note.reply_to else {
        return false;
    };
    facts.open_gates.iter().any(|gate| gate.id == parent)
        || (facts.root.iter())
            .chain(&facts.scope)
            .chain(&facts.open_questions)
            .chain(&facts.answer)
            .any(|other| other.id == Some(parent) && is_gate(other))
}

/// A projection as the text door shows it; its members stand in this order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    row: u8,
    state: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<Stage>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    gates: &'a [OpenGate<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    work: Option<WorkState<'a>>,
}

/// The text door of [`project`]: facts as JSON in; out, as `result`,
/// `{"row","state","text","messageId"?,"stage"?,"gates"?,"work"?}` with the state's short name, such as `WORKING`.
///
/// An empty `system` stands for [`SYSTEM_ADDRESS`]. A bad fact is a fault on its own path, such as
/// `openGates[0].openedAt`.
#[must_use]
pub fn project_json(facts: &str, system: &str) -> String {
    let value = match verdict::read(facts, "facts") {
        Ok(value) => value,
        Err(fault) => return verdict::verdict::<()>(Err(fault)),
    };
    let facts = match Facts::read(&value) {
        Ok(facts) => facts,
        Err(fault) => return verdict::verdict::<()>(Err(fault)),
    };
    let projection = project(&facts, system_or_default(system));
    verdict::answer(Ok(Shown {
        row: projection.row,
        state: projection.state.short_name(),
        text: &projection.text,
        message_id: projection.source.and_then(|note| note.id),
        stage: projection.stage,
        gates: projection.gates,
        work: projection.work_state(),
    }))
}

pub(super) const fn system_or_default(system: &str) -> &str {
    if system.is_empty() { SYSTEM_ADDRESS } else { system }
}
