//! How a task looks to the client that asks: the same for every operation that shows one.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::status_message_id;
use crate::a2a::decode::{Decoder, at};
use crate::a2a::{
    Artifact, Chunk, Message, Part, Role, Task, TaskArtifactUpdateEvent, TaskStatus, TaskStatusUpdateEvent,
};
use crate::coordination;
use crate::desk::Desk;
use crate::dispatch::artifact::{Results, WorkArtifact};
use crate::dispatch::envelope::Kind;
use crate::dispatch::facts::Note;
use crate::dispatch::gate::OpenGate;
use crate::dispatch::placement::{self, Active};
use crate::dispatch::projection::{Projection, project};
use crate::dispatch::{SYSTEM_ADDRESS, WORK_URI};
use crate::extension::{Activations, HasMetadata as _, Registry};
use crate::session::Session;
use crate::session::change::{Source, Standing};
use crate::session::task::{Gate, Mail, Shown, Skill, TaskRecord, WorkStatus};
use crate::time::Timestamp;

/// How much of a task is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    /// How many of the newest messages; none means all.
    pub(super) history: Option<usize>,
    /// Whether its artifacts are shown.
    pub(super) artifacts: bool,
}

/// Reads `historyLength`: a whole number that is not negative.
pub(super) fn history_length(
    decoder: &mut Decoder,
    object: &Map<String, Value>,
    path: &str,
) -> Option<usize> {
    let length = decoder.int(object, "historyLength", path)?;
    let shown = usize::try_from(length).ok();
    if shown.is_none() {
        decoder.fault(
            at(path, "historyLength"),
            "expected a whole number that is not negative",
        );
    }
    shown
}

/// A session at an instant, as the extensions that are active let it be seen.
pub(super) struct View<'a> {
    session: &'a Session,
    active: Active,
    registry: &'a Registry,
    activations: &'a Activations,
    now: Timestamp,
}

impl<'a> View<'a> {
    pub(super) fn new(
        desk: &'a Desk,
        session: &'a Session,
        activations: &'a Activations,
        now: Timestamp,
    ) -> Self {
        let uris: Vec<&str> = activations.uris().collect();
        Self {
            session,
            active: Active::of(&uris),
            registry: &desk.registry,
            activations,
            now,
        }
    }

    pub(super) const fn session(&self) -> &'a Session {
        self.session
    }

    pub(super) const fn now(&self) -> Timestamp {
        self.now
    }

    /// A task as the client sees it.
    pub(super) fn task(&self, record: &TaskRecord, shape: Shape) -> Task {
        let (host_artifacts, results) = self.artifacts(record, shape.artifacts);
        let mut facts = self.session.facts(record, self.now);
        facts.work = std::borrow::Cow::Owned(results);
        let projection = project(&facts, SYSTEM_ADDRESS);
        let shown = self.session.standing_by(record, &projection, self.now);
        let status = self.status(record, &projection, shown);
        let mut task = placement::task(&facts, &projection, self.active, status, host_artifacts);
        if !shape.artifacts {
            task.artifacts.clear();
        }
        task.history = self.history(record, shape.history);
        if self.activations.is_active(coordination::URI)
            && let Some(request) = self.session.request_of(record)
        {
            let standing = request.standing(self.now);
            let metadata = coordination::projection::metadata(&request.request_id, &standing);
            task.put_metadata_under(coordination::URI, coordination::METADATA_KEY, metadata);
        }
        task
    }

    /// The status of a task: as `shown`, with what else there is to say of it.
    fn status(&self, record: &TaskRecord, projection: &Projection<'_>, shown: Shown) -> TaskStatus {
        let id = status_message_id(&record.task_id, shown.state.short_name());
        let mut message = placement::status_message(projection, self.active, &id);
        self.belong(&mut message, record);
        if let Some(first) = message.parts.first_mut() {
            *first = Part::text(shown.text);
        }
        TaskStatus {
            state: shown.state,
            message: Some(message),
            timestamp: Some(shown.at),
        }
    }

    /// A status that a task had, as the client is told of it.
    pub(super) fn status_update(&self, record: &TaskRecord, standing: &Standing) -> TaskStatusUpdateEvent {
        let source = standing.source.as_ref().and_then(|source| match source {
            Source::Mail(id) => self.session.mail(id).map(Mail::note),
            Source::System => self.session.answer(record, self.now),
        });
        let gates: Vec<OpenGate<'_>> = record
            .gates
            .iter()
            .filter(|gate| standing.gates.contains(&gate.id))
            .map(Gate::as_open)
            .collect();
        let status = standing.work.map_or("", WorkStatus::as_str);
        let item = record.work_item.as_ref().map(|item| item.fact(status));
        let words = source.as_ref().map_or("", |note| note.body);
        let projection = Projection {
            row: standing.row,
            state: standing.state,
            text: Cow::Borrowed(standing.text.as_deref().unwrap_or(words)),
            source: source.as_ref(),
            stage: standing.stage,
            gates: &gates,
            item: item.as_ref(),
        };
        let shown = Shown {
            state: standing.state,
            text: projection.text.clone().into_owned(),
            at: standing.at,
        };
        let mut update = TaskStatusUpdateEvent {
            task_id: record.task_id.clone(),
            context_id: record.context_id.clone(),
            status: self.status(record, &projection, shown),
            metadata: Map::new(),
        };
        if let Some(state) = projection.work_state().filter(|_| self.active.work) {
            update.put_metadata(WORK_URI, json!(state));
        }
        if self.activations.is_active(coordination::URI)
            && let (Some(request_id), Some(standing)) = (&record.request_id, &standing.request)
        {
            let metadata = coordination::projection::metadata(request_id, standing);
            update.put_metadata_under(coordination::URI, coordination::METADATA_KEY, metadata);
        }
        update
    }

    /// Something that a task yielded, as the client is told of it.
    pub(super) fn artifact_update(
        &self,
        record: &TaskRecord,
        artifact: Artifact,
        chunk: Chunk,
    ) -> TaskArtifactUpdateEvent {
        TaskArtifactUpdateEvent {
            task_id: record.task_id.clone(),
            context_id: record.context_id.clone(),
            artifact,
            append: chunk.append,
            last_chunk: chunk.last,
            metadata: Map::new(),
        }
    }

    /// An artifact that was handed in, as the client sees it.
    pub(super) fn handed_in(&self, artifact: &Artifact) -> Artifact {
        match WorkArtifact::of(artifact, "") {
            Ok(Some(work)) => work.render(self.active.work),
            Ok(None) | Err(_) => artifact.clone(),
        }
    }

    /// The answer of an ask, as an artifact.
    pub(super) fn answer(&self, record: &TaskRecord) -> Option<Artifact> {
        let facts = self.session.facts(record, self.now);
        let answer = placement::answer(&project(&facts, SYSTEM_ADDRESS))?;
        Some(answer.render(self.active.work))
    }

    /// What was handed in, apart: the host's own artifacts, and what work/v1 has a form for.
    fn artifacts(&self, record: &TaskRecord, wanted: bool) -> (Vec<Artifact>, Results) {
        let (mut own, mut given, mut results) = (Vec::new(), None, Results::default());
        let request = self.session.request_of(record).filter(|_| wanted);
        for artifact in request.iter().flat_map(|request| &request.artifacts) {
            match WorkArtifact::of(artifact, "") {
                Ok(Some(WorkArtifact::Pr(pr))) => results.pr = Some(pr),
                Ok(Some(WorkArtifact::Diffstat(diffstat))) => results.diffstat = Some(diffstat),
                Ok(Some(WorkArtifact::Evidence(evidence))) => results.evidence = Some(evidence),
                Ok(Some(WorkArtifact::Answer(answer))) => given = Some(answer),
                Ok(None) | Err(_) => own.push(artifact.clone()),
            }
        }
        // An ask's answer is shown from the message that completed it; a handoff has none of its own.
        let given = given.filter(|_| record.skill == Skill::Handoff);
        own.extend(given.map(|answer| answer.render(self.active.work)));
        (own, results)
    }

    fn belong(&self, message: &mut Message, record: &TaskRecord) {
        message.context_id = Some(record.context_id.clone());
        message.task_id = Some(record.task_id.clone());
    }

    /// The newest messages that the client may see, oldest first.
    fn history(&self, record: &TaskRecord, limit: Option<usize>) -> Vec<Message> {
        let ids = std::iter::once(&record.root).chain(&record.scope);
        let seen: Vec<&Mail> = ids
            .filter_map(|id| self.session.mail(id))
            .filter(|mail| !self.session.is_gate_traffic(mail))
            .collect();
        let skipped = limit.map_or(0, |limit| seen.len().saturating_sub(limit));
        seen.into_iter()
            .skip(skipped)
            .map(|mail| self.message(mail, record))
            .collect()
    }

    /// A message of the session as an A2A message: a client's as it was sent. All others are the agent's but the one
    /// that opened the task: who asks the session for work may well do it too.
    pub(super) fn message(&self, mail: &Mail, record: &TaskRecord) -> Message {
        let mut message = mail.sent.clone().unwrap_or_else(|| {
            let mut message = Message::agent(&mail.id, &mail.body);
            if mail.id == record.root {
                message.role = Role::User;
            }
            message
        });
        self.belong(&mut message, record);
        self.keep_active(&mut message);
        if let Some(written) = mail.note().written() {
            placement::put_envelope(&mut message, &written, self.active);
        }
        message
    }

    /// The message that answers the send which opened a task, in place of the task.
    pub(super) fn direct_answer(&self, record: &TaskRecord) -> Option<Message> {
        let answer = record.answer.as_ref().filter(|_| record.answered_directly)?;
        let mut message = self.message(self.session.mail(answer)?, record);
        message.task_id = None;
        Some(message)
    }

    /// The answer to a message that opened no task: with envelope/v1 active it tells the message's id and thread.
    pub(super) fn received(&self, mail: &Mail) -> Message {
        let id = format!("re-{}", mail.id);
        let mut message = Message::agent(&id, "Received.");
        message.context_id = mail.sent.as_ref().and_then(|sent| sent.context_id.clone());
        let note = Note {
            id: Some(&id),
            thread: Some(&mail.thread),
            reply_to: Some(&mail.id),
            from: Some(SYSTEM_ADDRESS),
            kind: Some(Kind::Notice.as_str()),
            ..Note::default()
        };
        if let Some(written) = note.written() {
            placement::put_envelope(&mut message, &written, self.active);
        }
        message
    }

    /// Takes away what was said to extensions of the agent that this request did not activate; those that it did,
    /// and that have data on the message, are named in its list (work/v1, §8.3).
    fn keep_active(&self, message: &mut Message) {
        for uri in self.registry.declared_uris() {
            let named = message.extensions.iter().any(|named| named == uri);
            if !self.activations.is_active(uri) {
                message.metadata.shift_remove(uri);
                message.extensions.retain(|named| named != uri);
            } else if message.metadata.contains_key(uri) && !named {
                message.extensions.push(uri.to_owned());
            }
        }
    }
}
