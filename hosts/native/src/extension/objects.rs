//! A2A objects as text for an extension, and back.

use a2a_edge::a2a::Message;
use a2a_edge::extension::Payload;
use a2a_edge::json;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::bindings::exports::a2a_edge::core::hooks::PayloadKind;

/// An object as text.
pub(super) fn text(object: &impl Serialize) -> String {
    json::to_string(&json!(object))
}

/// One object of an answer, with its kind.
pub(super) fn payload(payload: &Payload<'_>) -> (PayloadKind, String) {
    match payload {
        Payload::Task(task) => (PayloadKind::Task, text(task)),
        Payload::Message(message) => (PayloadKind::Message, text(message)),
        Payload::StatusUpdate(event) => (PayloadKind::StatusUpdate, text(event)),
        Payload::ArtifactUpdate(event) => (PayloadKind::ArtifactUpdate, text(event)),
    }
}

/// Reads a message.
pub(super) fn message(value: Value) -> Result<Message, String> {
    read(value)
}

/// Puts an object of the same kind in a payload's place.
pub(super) fn replace(payload: &mut Payload<'_>, value: Value) -> Result<(), String> {
    match payload {
        Payload::Task(task) => **task = read(value)?,
        Payload::Message(message) => **message = read(value)?,
        Payload::StatusUpdate(event) => **event = read(value)?,
        Payload::ArtifactUpdate(event) => **event = read(value)?,
    }
    Ok(())
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}
