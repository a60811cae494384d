//! The objects of A2A 1.0 that the desk speaks in (package `lf.a2a.v1`).
//!
//! Everything here is written as ProtoJSON asks: camelCase, enum names, no nulls, empty members left out.
//! [`decode`] reads what strangers send, leniently where ProtoJSON is lenient, and names every field at fault.

mod base64;
pub mod card;
pub mod decode;
mod push;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub use push::{AuthenticationInfo, TaskPushNotificationConfig};

use crate::time::Timestamp;

/// The protocol version this crate speaks.
pub const PROTOCOL_VERSION: &str = "1.0";

/// A `google.protobuf.Struct`: the `metadata` of an object.
pub type Metadata = Map<String, Value>;

/// Who speaks (A2A 1.0, §4.1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The client.
    #[serde(rename = "ROLE_USER")]
    User,
    /// The agent.
    #[serde(rename = "ROLE_AGENT")]
    Agent,
}

/// Where a task stands (A2A 1.0, §4.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are A2A's own")]
pub enum TaskState {
    #[serde(rename = "TASK_STATE_SUBMITTED")]
    Submitted,
    #[serde(rename = "TASK_STATE_WORKING")]
    Working,
    #[serde(rename = "TASK_STATE_COMPLETED")]
    Completed,
    #[serde(rename = "TASK_STATE_FAILED")]
    Failed,
    #[serde(rename = "TASK_STATE_CANCELED")]
    Canceled,
    #[serde(rename = "TASK_STATE_INPUT_REQUIRED")]
    InputRequired,
    #[serde(rename = "TASK_STATE_REJECTED")]
    Rejected,
    #[serde(rename = "TASK_STATE_AUTH_REQUIRED")]
    AuthRequired,
}

impl TaskState {
    /// Every state, in the order of the protocol's numbers, which begin at 1.
    pub const ALL: [Self; 8] = [
        Self::Submitted,
        Self::Working,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::InputRequired,
        Self::Rejected,
        Self::AuthRequired,
    ];

    /// The name without its prefix, such as `WORKING`.
    #[must_use]
    pub const fn short_name(self) -> &'static str {
        match self {
            Self::Submitted => "SUBMITTED",
            Self::Working => "WORKING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Canceled => "CANCELED",
            Self::InputRequired => "INPUT_REQUIRED",
            Self::Rejected => "REJECTED",
            Self::AuthRequired => "AUTH_REQUIRED",
        }
    }

    /// Whether a task in this state never changes again.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected
        )
    }

    /// Whether a task in this state waits for somebody before it can go on.
    #[must_use]
    pub const fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "TASK_STATE_{}", self.short_name())
    }
}

/// What a part holds: exactly one of these (A2A 1.0, §4.1.6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Content {
    /// Text.
    Text(String),
    /// Bytes, in padded standard base64.
    Raw(String),
    /// Where the content is.
    Url(String),
    /// Any JSON value, null included.
    Data(Value),
}

/// One piece of a message or of an artifact (A2A 1.0, §4.1.6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "Members")]
pub struct Part {
    /// What it holds.
    #[serde(flatten)]
    pub content: Content,
    /// What else is said of it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Metadata,
    /// The name of the file it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

/// The members of a part as they are read. To read a flattened field, every value would be held back first.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    text: Option<String>,
    raw: Option<String>,
    url: Option<String>,
    #[serde(default, deserialize_with = "some")]
    data: Option<Value>,
    #[serde(default)]
    metadata: Metadata,
    filename: Option<String>,
    media_type: Option<String>,
}

/// Null is a value.
fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl TryFrom<Members> for Part {
    type Error = &'static str;

    fn try_from(members: Members) -> Result<Self, Self::Error> {
        let content = match (members.text, members.raw, members.url, members.data) {
            (Some(text), None, None, None) => Content::Text(text),
            (None, Some(raw), None, None) => Content::Raw(raw),
            (None, None, Some(url), None) => Content::Url(url),
            (None, None, None, Some(data)) => Content::Data(data),
            _ => return Err("expected exactly one of text, raw, url and data"),
        };
        Ok(Self {
            content,
            metadata: members.metadata,
            filename: members.filename,
            media_type: members.media_type,
        })
    }
}

impl Part {
    /// A part of this content and nothing else.
    #[must_use]
    pub fn new(content: Content) -> Self {
        Self {
            content,
            metadata: Map::new(),
            filename: None,
            media_type: None,
        }
    }

    /// A part of text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Text(text.into()))
    }

    /// A part of JSON.
    #[must_use]
    pub fn data(value: Value) -> Self {
        Self::new(Content::Data(value))
    }
}

/// One turn of a conversation (A2A 1.0, §4.1.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Chosen by its sender.
    pub message_id: String,
    /// The conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// The task it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Who speaks.
    pub role: Role,
    /// At least one.
    pub parts: Vec<Part>,
    /// Data of extensions, each under its own key.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Metadata,
    /// URIs of the extensions that contributed to the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// Tasks it refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference_task_ids: Vec<String>,
}

impl Message {
    /// A message of the agent with one text part.
    #[must_use]
    pub fn agent(message_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            message_id: message_id.into(),
            context_id: None,
            task_id: None,
            role: Role::Agent,
            parts: vec![Part::text(text)],
            metadata: Map::new(),
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        }
    }
}

/// An output of a task (A2A 1.0, §4.1.7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Unique within its task.
    pub artifact_id: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// At least one.
    pub parts: Vec<Part>,
    /// Data of extensions, each under its own key.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Metadata,
    /// URIs of the extensions that contributed to the artifact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}

impl Artifact {
    /// Takes in a further chunk: its parts go after those that are there; of all else it has the last word (A2A 1.0,
    /// §4.2.2).
    pub fn append(&mut self, chunk: &Self) {
        self.parts.extend_from_slice(&chunk.parts);
        let words = |new: &Option<String>, old: &mut Option<String>| {
            if new.is_some() {
                old.clone_from(new);
            }
        };
        words(&chunk.name, &mut self.name);
        words(&chunk.description, &mut self.description);
        self.metadata.extend(
            chunk
                .metadata
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        for uri in &chunk.extensions {
            if !self.extensions.contains(uri) {
                self.extensions.push(uri.clone());
            }
        }
    }
}

/// How much of an artifact an update brings (A2A 1.0, §4.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chunk {
    /// Whether its parts go after those already there under the same artifact id.
    pub append: bool,
    /// Whether nothing more of the artifact follows.
    pub last: bool,
}

impl Chunk {
    /// All of an artifact at once.
    pub const WHOLE: Self = Self {
        append: false,
        last: true,
    };
}

/// What is handed in of an artifact at once: all of it, or a chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct Handover {
    /// The artifact, or the chunk.
    pub artifact: Artifact,
    /// How much of it that is.
    pub chunk: Chunk,
}

/// A task's state, with what there is to say about it (A2A 1.0, §4.1.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    /// Where the task stands.
    pub state: TaskState,
    /// For the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

/// A unit of work (A2A 1.0, §4.1.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Made by the server.
    pub id: String,
    /// The conversation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// Where it stands.
    pub status: TaskStatus,
    /// What it has yielded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// Its messages, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Message>,
    /// Data of extensions, each under its own key.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Metadata,
}

/// The answer to SendMessage: exactly one of these (A2A 1.0, §3.2.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SendMessageResponse {
    /// The message opened or continued a task.
    Task(Task),
    /// The message is answered directly.
    Message(Message),
}

/// A change of a task's status, on a stream or to a webhook (A2A 1.0, §4.2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatusUpdateEvent {
    /// The task that changed.
    pub task_id: String,
    /// The conversation it belongs to; unlike a task, an event always names it.
    pub context_id: String,
    /// Where the task stands now.
    pub status: TaskStatus,
    /// Data of extensions, each under its own key.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Metadata,
}

/// An artifact, or a further piece of one, on a stream or to a webhook (A2A 1.0, §4.2.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskArtifactUpdateEvent {
    /// The task that yielded it.
    pub task_id: String,
    /// The conversation it belongs to; unlike a task, an event always names it.
    pub context_id: String,
    /// The artifact, or the piece.
    pub artifact: Artifact,
    /// Whether its parts go after those already sent under the same artifact id; left out when not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub append: bool,
    /// Whether nothing more of the artifact follows; left out when not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub last_chunk: bool,
    /// Data of extensions, each under its own key.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Metadata,
}

/// One event of a stream: exactly one of these (A2A 1.0, §3.2.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StreamResponse {
    /// The task as it stands: how a stream about a task begins.
    Task(Task),
    /// The message that answers directly: then the only event.
    Message(Message),
    /// Its status changed.
    StatusUpdate(TaskStatusUpdateEvent),
    /// It yielded something.
    ArtifactUpdate(TaskArtifactUpdateEvent),
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Reads an event and holds it to be written as it was read.
    fn event(wire: Value) -> StreamResponse {
        let event: StreamResponse = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&event).unwrap(), wire);
        event
    }

    #[test]
    fn a_status_update_is_written_as_the_proto_names_it() {
        let update = event(json!({"statusUpdate": {
            "taskId": "t", "contextId": "c",
            "status": {"state": "TASK_STATE_WORKING", "timestamp": "2026-07-17T01:00:00.000Z"},
            "metadata": {"urn:x": 1},
        }}));
        assert!(matches!(update, StreamResponse::StatusUpdate(_)));
    }

    #[test]
    fn an_artifact_update_leaves_out_flags_that_are_false() {
        let artifact = json!({"artifactId": "a", "parts": [{"text": "chunk"}]});
        event(json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": artifact}}));
        event(
            json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": artifact,
            "append": true, "lastChunk": true}}),
        );
    }

    #[test]
    fn a_chunk_goes_after_the_parts_and_has_the_last_word_of_the_rest() {
        let read = |wire: Value| serde_json::from_value::<Artifact>(wire).unwrap();
        let mut log = read(json!({
            "artifactId": "log", "name": "Log", "parts": [{"text": "one"}],
            "metadata": {"urn:a": 1, "urn:b": 1}, "extensions": ["urn:a"],
        }));
        log.append(&read(json!({
            "artifactId": "log", "description": "All of it", "parts": [{"text": "two"}],
            "metadata": {"urn:b": 2}, "extensions": ["urn:a", "urn:b"],
        })));
        let whole = json!({
            "artifactId": "log", "name": "Log", "description": "All of it",
            "parts": [{"text": "one"}, {"text": "two"}],
            "metadata": {"urn:a": 1, "urn:b": 2}, "extensions": ["urn:a", "urn:b"],
        });
        assert_eq!(log, read(whole));
    }

    #[test]
    fn a_stream_also_carries_a_task_or_a_message() {
        let task = event(json!({"task": {"id": "t", "status": {"state": "TASK_STATE_SUBMITTED"}}}));
        assert!(matches!(task, StreamResponse::Task(_)));
        let message =
            event(json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]}}));
        assert!(matches!(message, StreamResponse::Message(_)));
    }
}
