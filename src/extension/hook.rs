//! What hooks get to see and change.

use serde_json::Value;

use super::Method;
use super::metadata::{HasMetadata, Slots};
use crate::a2a::{
    Message, SendMessageResponse, StreamResponse, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent,
};
use crate::time::Timestamp;

/// A decoded request on its way to the agent.
#[derive(Debug)]
pub struct HookRequest<'a> {
    /// The operation that was called.
    pub method: Method,
    /// When the request arrived.
    pub now: Timestamp,
    /// The message of a send; none for every other method.
    pub message: Option<&'a mut Message>,
    /// The members of the proto's request message as a JSON object, without `message`, which stands beside it.
    pub params: &'a mut Value,
}

/// One object of an answer on its way to the client.
#[derive(Debug)]
pub struct HookResponse<'a> {
    /// The operation that is answered.
    pub method: Method,
    /// When the object leaves.
    pub now: Timestamp,
    /// The parameters of the request as its hooks left them.
    pub params: &'a Value,
    /// The object.
    pub payload: Payload<'a>,
}

/// What a response hook may change: one object of an answer, in place.
#[derive(Debug)]
pub enum Payload<'a> {
    /// Of a send, get or cancel, one of a list's, or the first event of a stream.
    Task(&'a mut Task),
    /// The direct answer to a send, or the only event of a stream.
    Message(&'a mut Message),
    /// An event.
    StatusUpdate(&'a mut TaskStatusUpdateEvent),
    /// An event.
    ArtifactUpdate(&'a mut TaskArtifactUpdateEvent),
}

impl HasMetadata for Payload<'_> {
    fn slots(&mut self) -> Slots<'_> {
        match self {
            Self::Task(task) => task.slots(),
            Self::Message(message) => message.slots(),
            Self::StatusUpdate(event) => event.slots(),
            Self::ArtifactUpdate(event) => event.slots(),
        }
    }
}

impl<'a> From<&'a mut Task> for Payload<'a> {
    fn from(task: &'a mut Task) -> Self {
        Self::Task(task)
    }
}

impl<'a> From<&'a mut Message> for Payload<'a> {
    fn from(message: &'a mut Message) -> Self {
        Self::Message(message)
    }
}

impl<'a> From<&'a mut SendMessageResponse> for Payload<'a> {
    fn from(response: &'a mut SendMessageResponse) -> Self {
        match response {
            SendMessageResponse::Task(task) => Self::Task(task),
            SendMessageResponse::Message(message) => Self::Message(message),
        }
    }
}

impl<'a> From<&'a mut StreamResponse> for Payload<'a> {
    fn from(event: &'a mut StreamResponse) -> Self {
        match event {
            StreamResponse::Task(task) => Self::Task(task),
            StreamResponse::Message(message) => Self::Message(message),
            StreamResponse::StatusUpdate(event) => Self::StatusUpdate(event),
            StreamResponse::ArtifactUpdate(event) => Self::ArtifactUpdate(event),
        }
    }
}
