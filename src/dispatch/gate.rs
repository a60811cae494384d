//! gate/v1: what a task waits on its owner for (gate/v1, §8.5). It is only written, never read from a client.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::verdict;
use crate::time::Timestamp;

/// A gate that is open.
///
/// As JSON, and nothing else of a gate leaves the host: `{"id","type","openedAt","waitingOn":"owner"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenGate<'a> {
    /// The message that raised it.
    pub id: &'a str,
    /// Such as `task-proposal`; see [`sentence`].
    pub r#type: &'a str,
    /// Since when it is open.
    pub opened_at: Timestamp,
}

impl Serialize for OpenGate<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut gate = serializer.serialize_struct("OpenGate", 4)?;
        gate.serialize_field("id", self.id)?;
        gate.serialize_field("type", self.r#type)?;
        gate.serialize_field("openedAt", &self.opened_at)?;
        gate.serialize_field("waitingOn", "owner")?;
        gate.end()
    }
}

/// gate/v1 metadata, `status.message.metadata[<gate/v1 URI>]`: `{"gates":[…]}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GateState<'a> {
    /// Every open gate in scope.
    pub gates: &'a [OpenGate<'a>],
}

/// What is said to a client that waits for a gate of this type.
#[must_use]
pub fn sentence(gate_type: &str) -> &'static str {
    match gate_type {
        "task-proposal" => "Waiting for the project owner to approve this handoff.",
        "tool-approval" => "Waiting for the project owner to approve a tool call.",
        "scope" => "Waiting for the project owner to approve a change of scope.",
        "wake" => "Waiting for the project owner to approve waking the task.",
        _ => "Waiting for the project owner.",
    }
}

/// Whether a message's data makes it a gate: an object whose `type` is a string that does not begin with `x-`,
/// known or not, whatever the message's kind.
#[must_use]
pub fn is_gate_data(data: &Value) -> bool {
    data.get("type")
        .and_then(Value::as_str)
        .is_some_and(|name| !name.starts_with("x-"))
}

/// The text door of [`is_gate_data`]: a message's data as JSON in, true or false as `result` out.
#[must_use]
pub fn is_gate_data_json(data: &str) -> String {
    verdict::answer(verdict::read(data, "data").map(|data| is_gate_data(&data)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn gate_data_is_an_object_with_a_type_that_is_no_private_one() {
        for (data, gate) in [
            (json!({"type": "wake"}), true),
            (json!({"type": "never-heard-of"}), true),
            (json!({"type": ""}), true),
            (json!({"type": "X-closed"}), true),
            (json!({"type": "x-closed"}), false),
            (json!({"type": 7}), false),
            (json!({}), false),
            (json!([{"type": "wake"}]), false),
            (json!("wake"), false),
            (json!(null), false),
        ] {
            assert_eq!(is_gate_data(&data), gate, "{data}");
            let answer = format!(r#"{{"ok":true,"result":{gate}}}"#);
            assert_eq!(is_gate_data_json(&data.to_string()), answer);
        }
    }

    #[test]
    fn a_gate_shows_four_members_in_order() {
        let gates = [OpenGate {
            id: "m-gate",
            r#type: "wake",
            opened_at: Timestamp::EPOCH,
        }];
        assert_eq!(
            serde_json::to_string(&GateState { gates: &gates }).unwrap(),
            r#"{"gates":[{"id":"m-gate","type":"wake","openedAt":"1970-01-01T00:00:00.000Z","waitingOn":"owner"}]}"#
        );
    }

    #[test]
    fn every_type_has_its_sentence() {
        let all = ["task-proposal", "tool-approval", "scope", "wake", "other"].map(sentence);
        assert_eq!(
            all,
            [
                "Waiting for the project owner to approve this handoff.",
                "Waiting for the project owner to approve a tool call.",
                "Waiting for the project owner to approve a change of scope.",
                "Waiting for the project owner to approve waking the task.",
                "Waiting for the project owner.",
            ]
        );
    }
}
