//! Where the three extensions stand on A2A objects, and what a client reads that activates none (work/v1, §8.3).

use serde::Serialize;
use serde_json::Value;

use super::artifact::{Answer, artifacts};
use super::envelope::Written;
use super::facts::Facts;
use super::gate::{self, GateState};
use super::projection::{Projection, project, system_or_default};
use super::verdict::{self, Fault};
use super::{BUDGET, ENVELOPE_URI, GATE_URI, WORK_URI};
use crate::a2a::{Artifact, Message, Metadata, Part, Task, TaskState, TaskStatus};
use crate::extension::HasMetadata as _;
use crate::json;
use crate::text;

/// Which of the three extensions are active for a request. Metadata is only written for those that are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Active {
    /// work/v1
    pub work: bool,
    /// envelope/v1
    pub envelope: bool,
    /// gate/v1
    pub gate: bool,
}

impl Active {
    /// Those whose URIs are among these, letter by letter.
    #[must_use]
    pub fn of<S: AsRef<str>>(uris: &[S]) -> Self {
        let active = |uri| uris.iter().any(|active| active.as_ref() == uri);
        Self {
            work: active(WORK_URI),
            envelope: active(ENVELOPE_URI),
            gate: active(GATE_URI),
        }
    }
}

fn put_on_message(message: &mut Message, uri: &str, data: &impl Serialize) {
    // Only a map with keys that are no strings fails, and no extension's data holds one.
    let data = serde_json::to_value(data).unwrap_or_default();
    message.put_metadata(uri, data);
}

/// Writes back a message's envelope, if envelope/v1 is active.
pub fn put_envelope(message: &mut Message, written: &Written<'_>, active: Active) {
    if active.envelope {
        put_on_message(message, ENVELOPE_URI, written);
    }
}

/// The `status.message` of a task: its text, and the metadata of the extensions that are active.
///
/// Its first part is the projection's text. What an inactive extension would have said beyond that stands as plain
/// text in a second part: the choices of a question or the one of an answer, the other gates, the work item.
/// The message has the id of the message it quotes, else `message_id`.
#[must_use]
pub fn status_message(projection: &Projection<'_>, active: Active, message_id: &str) -> Message {
    let id = projection.source.and_then(|note| note.id).unwrap_or(message_id);
    let mut message = Message::agent(id, projection.text.as_ref());
    let lines = plain_lines(projection, active);
    if !lines.is_empty() {
        message.parts.push(Part::text(lines.join("\n")));
    }
    if active.work
        && let Some(state) = projection.work_state()
    {
        put_on_message(&mut message, WORK_URI, &state);
    }
    if let Some(written) = projection.source.and_then(|note| note.written()) {
        put_envelope(&mut message, &written, active);
    }
    if active.gate && !projection.gates.is_empty() {
        let gates = projection.gates;
        put_on_message(&mut message, GATE_URI, &GateState { gates });
    }
    message
}

fn plain_lines(projection: &Projection<'_>, active: Active) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(note) = projection.source.filter(|_| !active.envelope) {
        if projection.state == TaskState::InputRequired && !note.choices.is_empty() {
            lines.push(format!("Choices: {}", note.choices.join(", ")));
        }
        if projection.state == TaskState::Completed
            && let Some(choice) = note.choice.filter(|_| !text::is_blank(note.body))
        {
            lines.push(format!("Choice: {choice}"));
        }
    }
    if !active.gate {
        for gate in projection.gates {
            let sentence = gate::sentence(gate.r#type);
            if sentence != projection.text && !lines.iter().any(|line| line == sentence) {
                lines.push(sentence.to_owned());
            }
        }
    }
    if let Some(item) = projection.work_state().filter(|_| !active.work) {
        let stage = item.stage.filter(|stage| stage.as_str() != item.status);
        let stage = stage.map(|stage| format!(" ({})", stage.as_str()));
        let (title, status) = (item.title, item.status);
        lines.push(format!(
            "{title}: {status}{} [{}]",
            stage.unwrap_or_default(),
            item.task
        ));
    }
    lines
}

/// Puts the work item's state on a task, if work/v1 is active.
pub fn put_work_state(task: &mut Task, projection: &Projection<'_>, active: Active) {
    if active.work
        && let Some(state) = projection.work_state()
    {
        task.put_metadata(WORK_URI, serde_json::to_value(state).unwrap_or_default());
    }
}

/// The answer artifact of a task: there is one when an ask has an answer that the client may see.
#[must_use]
pub fn answer(projection: &Projection<'_>) -> Option<Answer> {
    let note = projection.source.filter(|_| projection.row == 5)?;
    Some(Answer {
        message_id: note.id.unwrap_or_default().to_owned(),
        text: projection.text.clone().into_owned(),
        choice: note.choice.map(str::to_owned),
    })
}

/// A whole task as a client sees it, but for its history.
#[must_use]
pub fn task(
    facts: &Facts<'_>,
    projection: &Projection<'_>,
    active: Active,
    status: TaskStatus,
    host_artifacts: Vec<Artifact>,
) -> Task {
    let answer = answer(projection);
    let mut task = Task {
        id: facts.id.unwrap_or_default().to_owned(),
        context_id: facts.context_id.map(str::to_owned),
        status,
        artifacts: artifacts(host_artifacts, answer.as_ref(), &facts.work, active.work),
        history: Vec::new(),
        metadata: Metadata::new(),
    };
    put_work_state(&mut task, projection, active);
    task
}

/// Checks that all metadata on one message together, active or not, takes at most [`BUDGET`] bytes of compact JSON.
///
/// # Errors
/// Invalid on `message.metadata`.
pub fn metadata_budget(metadata: &Metadata) -> Result<(), Fault> {
    if json::compact_len(metadata) <= BUDGET {
        return Ok(());
    }
    Err(Fault::invalid(
        "message.metadata",
        format!("expected at most {BUDGET} bytes of compact JSON"),
    ))
}

/// The text door of [`metadata_budget`]: a message's `metadata` as JSON in, `{"ok":true}` or the fault out.
#[must_use]
pub fn metadata_budget_json(metadata: &str) -> String {
    let outcome = verdict::read(metadata, "message.metadata").and_then(|metadata| match &metadata {
        Value::Null => Ok(()),
        Value::Object(metadata) => metadata_budget(metadata),
        _ => Err(Fault::invalid("message.metadata", "expected an object")),
    });
    verdict::verdict(outcome)
}

/// The text door of [`task`]: facts as JSON, the system address (empty for the default), the active URIs as a JSON
/// list and an id for the status message in, the A2A task as `result` out.
#[must_use]
pub fn task_json(facts: &str, system: &str, active: &str, message_id: &str) -> String {
    let read = || Ok((verdict::read(facts, "facts")?, verdict::read(active, "active")?));
    let (facts, uris) = match read() {
        Ok(both) => both,
        Err(fault) => return verdict::verdict::<()>(Err(fault)),
    };
    let task = || {
        let facts = Facts::read(&facts)?;
        let uris = uris
            .as_array()
            .and_then(|uris| uris.iter().map(Value::as_str).collect());
        let uris: Vec<&str> = uris.ok_or_else(|| Fault::invalid("active", "expected a list of URIs"))?;
        let projection = project(&facts, system_or_default(system));
        let active = Active::of(&uris);
        let status = TaskStatus {
            state: projection.state,
            message: Some(status_message(&projection, active, message_id)),
            timestamp: None,
        };
        Ok(task(&facts, &projection, active, status, Vec::new()))
    };
    verdict::answer(task())
}
