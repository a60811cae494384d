//! Placing an extension's data on the objects of the protocol (A2A 1.0, §4.6.2; dispatch, §4).

use serde_json::Value;

use crate::a2a::{Artifact, Message, Metadata, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};

/// Where an object takes an extension's data.
#[derive(Debug)]
pub struct Slots<'a> {
    /// The data, each extension's under its own key.
    pub metadata: &'a mut Metadata,
    /// The list that names the extensions whose data is there, on objects that have one.
    pub extensions: Option<&'a mut Vec<String>>,
}

/// An object of the protocol that carries data of extensions.
pub trait HasMetadata {
    /// Where it takes the data.
    fn slots(&mut self) -> Slots<'_>;

    /// Puts `value` under the extension's URI, in place of what was there.
    ///
    /// A message and an artifact also name the URI in their `extensions`, once. A task and an event have no such
    /// list.
    fn put_metadata(&mut self, uri: &str, value: Value) {
        self.put_metadata_under(uri, uri, value);
    }

    /// Like [`put_metadata`](Self::put_metadata), for an extension whose data has a key other than its URI.
    fn put_metadata_under(&mut self, uri: &str, key: &str, value: Value) {
        let slots = self.slots();
        slots.metadata.insert(key.to_owned(), value);
        if let Some(list) = slots.extensions
            && !list.iter().any(|named| named == uri)
        {
            list.push(uri.to_owned());
        }
    }
}

impl HasMetadata for Message {
    fn slots(&mut self) -> Slots<'_> {
        Slots {
            metadata: &mut self.metadata,
            extensions: Some(&mut self.extensions),
        }
    }
}

impl HasMetadata for Artifact {
    fn slots(&mut self) -> Slots<'_> {
        Slots {
            metadata: &mut self.metadata,
            extensions: Some(&mut self.extensions),
        }
    }
}

impl HasMetadata for Task {
    fn slots(&mut self) -> Slots<'_> {
        Slots {
            metadata: &mut self.metadata,
            extensions: None,
        }
    }
}

impl HasMetadata for TaskStatusUpdateEvent {
    fn slots(&mut self) -> Slots<'_> {
        Slots {
            metadata: &mut self.metadata,
            extensions: None,
        }
    }
}

impl HasMetadata for TaskArtifactUpdateEvent {
    fn slots(&mut self) -> Slots<'_> {
        Slots {
            metadata: &mut self.metadata,
            extensions: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a2a::Part;
    use serde_json::{from_value, json};

    const URI: &str = "urn:ext";

    fn artifact() -> Artifact {
        Artifact {
            artifact_id: "a".into(),
            name: None,
            description: None,
            parts: vec![Part::text("x")],
            metadata: Metadata::new(),
            extensions: Vec::new(),
        }
    }

    #[test]
    fn a_message_carries_the_data_and_names_the_uri() {
        let mut message = Message::agent("m", "x");
        message.put_metadata(URI, json!({"a": 1}));
        assert_eq!(message.metadata[URI], json!({"a": 1}));
        assert_eq!(message.extensions, [URI]);
    }

    #[test]
    fn an_artifact_carries_the_data_and_names_the_uri() {
        let mut artifact = artifact();
        artifact.put_metadata(URI, json!(1));
        assert_eq!(artifact.metadata[URI], 1);
        assert_eq!(artifact.extensions, [URI]);
    }

    #[test]
    fn a_task_carries_the_data_and_has_no_list() {
        let mut task: Task =
            from_value(json!({"id": "t", "status": {"state": "TASK_STATE_WORKING"}})).unwrap();
        task.put_metadata(URI, json!(1));
        assert_eq!(
            serde_json::to_value(&task).unwrap(),
            json!({"id": "t", "status": {"state": "TASK_STATE_WORKING"}, "metadata": {URI: 1}})
        );
    }

    #[test]
    fn events_carry_the_data_themselves() {
        let mut status: TaskStatusUpdateEvent =
            from_value(json!({"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}))
                .unwrap();
        status.put_metadata(URI, json!(1));
        assert_eq!(status.metadata[URI], 1);

        let mut update = TaskArtifactUpdateEvent {
            task_id: "t".into(),
            context_id: "c".into(),
            artifact: artifact(),
            append: false,
            last_chunk: false,
            metadata: Metadata::new(),
        };
        update.put_metadata(URI, json!(1));
        assert_eq!(update.metadata[URI], 1);
        assert!(update.artifact.metadata.is_empty());
    }

    #[test]
    fn putting_again_replaces_the_data_and_names_the_uri_once() {
        let mut message = Message::agent("m", "x");
        message.put_metadata("urn:other", json!(0));
        message.put_metadata(URI, json!({"a": 1}));
        message.put_metadata(URI, json!({"b": 2}));
        assert_eq!(message.metadata[URI], json!({"b": 2}));
        assert_eq!(message.metadata["urn:other"], 0);
        assert_eq!(message.extensions, ["urn:other", URI]);
    }

    #[test]
    fn a_key_other_than_the_uri_is_named_by_the_uri() {
        let mut message = Message::agent("m", "x");
        message.put_metadata_under("https://example.com/v1", "example.com/v1", json!(1));
        assert_eq!(message.metadata["example.com/v1"], 1);
        assert_eq!(message.extensions, ["https://example.com/v1"]);
    }
}
