//! Reading A2A objects from JSON as ProtoJSON does: camelCase or snake_case names, enum names or numbers, numbers
//! as text, nulls as absence, unknown members ignored. Every field at fault is named.

use serde_json::{Map, Value};

use super::{Artifact, Content, Message, Metadata, Part, Role, TaskState, base64};
use crate::refusal::Violation;
use crate::text;

/// The most bytes of a `messageId` (envelope/v1, §8.8).
pub const MESSAGE_ID_LIMIT: usize = 200;

/// The most bytes of a `contextId`.
pub const CONTEXT_ID_LIMIT: usize = 256;

/// A member of an object by its camelCase name or, failing that, its snake_case one; null counts as absent.
#[must_use]
pub fn member<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let found = object.get(name).or_else(|| {
        if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        let mut snake = String::with_capacity(name.len().saturating_add(4));
        for c in name.chars() {
            if c.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(c.to_ascii_lowercase());
        }
        object.get(&snake)
    });
    found.filter(|value| !value.is_null())
}

/// A state by its name, with or without its prefix's absence forgiven: `TASK_STATE_WORKING` or its number.
#[must_use]
pub fn task_state(value: &Value) -> Option<TaskState> {
    if let Some(number) = integer(value).filter(|_| value.is_number()) {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        return TaskState::ALL.get(index).copied();
    }
    let name = value.as_str()?.strip_prefix("TASK_STATE_")?;
    TaskState::ALL
        .into_iter()
        .find(|state| state.short_name() == name)
}

/// A whole number, written as a number (`3`, `3.0`) or as text (`"3"`), within `int32`.
#[must_use]
pub fn integer(value: &Value) -> Option<i32> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => {
            if let Some(whole) = number.as_i64() {
                return i32::try_from(whole).ok();
            }
            let float = number.as_f64()?;
            let in_range = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&float);
            #[allow(
                clippy::cast_possible_truncation,
                reason = "whole and within i32, as just checked"
            )]
            (in_range && float.fract() == 0.0).then_some(float as i32)
        }
        _ => None,
    }
}

/// The path of a member of what is at `path`; nothing is before the members of a whole request.
pub(crate) fn at(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// Collects the fields at fault while objects are read.
///
/// A reader goes on after a fault, with a stand-in for the value, so that one answer names every fault of a
/// request; whoever uses it looks at [`Decoder::finish`] before the values.
#[derive(Debug, Default)]
pub struct Decoder {
    violations: Vec<Violation>,
}

impl Decoder {
    /// A decoder that has found nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What was read, unless some field was at fault.
    ///
    /// # Errors
    /// Every field at fault, in the order they were met.
    pub fn finish<T>(self, value: T) -> Result<T, Vec<Violation>> {
        if self.violations.is_empty() {
            Ok(value)
        } else {
            Err(self.violations)
        }
    }

    /// Notes that a field breaks a rule.
    pub fn fault(&mut self, field: impl Into<String>, description: impl Into<String>) {
        self.violations.push(Violation {
            field: field.into(),
            description: description.into(),
        });
    }

    /// An object, or a fault on `path`.
    pub fn object<'a>(&mut self, value: &'a Value, path: &str) -> Option<&'a Map<String, Value>> {
        let object = value.as_object();
        if object.is_none() {
            self.fault(path, "expected an object");
        }
        object
    }

    /// An optional text that is not empty; ProtoJSON's empty text is absence.
    pub fn text(&mut self, object: &Map<String, Value>, name: &str, path: &str) -> Option<String> {
        match member(object, name)? {
            Value::String(text) if text.is_empty() => None,
            Value::String(text) => Some(text.clone()),
            _ => {
                self.fault(at(path, name), "expected a string");
                None
            }
        }
    }

    /// An optional `contextId`, of at most [`CONTEXT_ID_LIMIT`] bytes.
    pub fn context_id(&mut self, object: &Map<String, Value>, path: &str) -> Option<String> {
        let id = self.text(object, "contextId", path)?;
        if id.len() > CONTEXT_ID_LIMIT {
            let rule = format!("expected at most {CONTEXT_ID_LIMIT} bytes");
            self.fault(at(path, "contextId"), rule);
        }
        Some(id)
    }

    /// An optional boolean.
    pub fn flag(&mut self, object: &Map<String, Value>, name: &str, path: &str) -> Option<bool> {
        let value = member(object, name)?;
        let flag = value.as_bool();
        if flag.is_none() {
            self.fault(at(path, name), "expected a boolean");
        }
        flag
    }

    /// An optional `int32`.
    pub fn int(&mut self, object: &Map<String, Value>, name: &str, path: &str) -> Option<i32> {
        let number = integer(member(object, name)?);
        if number.is_none() {
            self.fault(at(path, name), "expected a whole number");
        }
        number
    }

    /// A list of texts; absent is empty.
    pub fn texts(&mut self, object: &Map<String, Value>, name: &str, path: &str) -> Vec<String> {
        let Some(value) = member(object, name) else {
            return Vec::new();
        };
        let Some(items) = value.as_array() else {
            self.fault(at(path, name), "expected a list of strings");
            return Vec::new();
        };
        let mut texts = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match item.as_str() {
                Some(text) => texts.push(text.to_owned()),
                None => self.fault(format!("{}[{index}]", at(path, name)), "expected a string"),
            }
        }
        texts
    }

    /// A `google.protobuf.Struct`; absent is empty.
    pub fn metadata(&mut self, object: &Map<String, Value>, path: &str) -> Metadata {
        match member(object, "metadata") {
            None => Map::new(),
            Some(Value::Object(map)) => map.clone(),
            Some(_) => {
                self.fault(at(path, "metadata"), "expected an object");
                Map::new()
            }
        }
    }

    fn role(&mut self, object: &Map<String, Value>, path: &str) -> Role {
        let role = match member(object, "role") {
            Some(Value::String(name)) if name == "ROLE_USER" => Some(Role::User),
            Some(Value::String(name)) if name == "ROLE_AGENT" => Some(Role::Agent),
            Some(value @ Value::Number(_)) => match integer(value) {
                Some(1) => Some(Role::User),
                Some(2) => Some(Role::Agent),
                _ => None,
            },
            _ => None,
        };
        role.unwrap_or_else(|| {
            self.fault(format!("{path}.role"), "expected ROLE_USER or ROLE_AGENT");
            Role::User
        })
    }

    fn content(&mut self, object: &Map<String, Value>, path: &str) -> Option<Content> {
        // `data` may be null and still be there, so it is looked up without the rule that null is absence.
        let data = object.get("data");
        let others = ["text", "raw", "url"].map(|name| (name, member(object, name)));
        let mut present = others
            .iter()
            .filter_map(|(name, value)| value.map(|value| (*name, value)));
        let content = match (present.next(), data) {
            (None, Some(data)) => Some(Content::Data(data.clone())),
            (Some((name, value)), None | Some(Value::Null)) if present.next().is_none() => {
                let Some(text) = value.as_str() else {
                    self.fault(at(path, name), "expected a string");
                    return None;
                };
                match name {
                    "text" => Some(Content::Text(text.to_owned())),
                    "url" => Some(Content::Url(text.to_owned())),
                    _ => match base64::normalised(text) {
                        Some(bytes) => Some(Content::Raw(bytes)),
                        None => {
                            self.fault(format!("{path}.raw"), "expected base64");
                            return None;
                        }
                    },
                }
            }
            _ => None,
        };
        if content.is_none() {
            self.fault(path, "expected exactly one of text, raw, url and data");
        }
        content
    }

    fn part(&mut self, value: &Value, path: &str) -> Option<Part> {
        let object = self.object(value, path)?;
        let content = self.content(object, path);
        let metadata = self.metadata(object, path);
        let filename = self.text(object, "filename", path);
        let media_type = self.text(object, "mediaType", path);
        Some(Part {
            content: content?,
            metadata,
            filename,
            media_type,
        })
    }

    /// The parts of a message or an artifact: at least one.
    pub fn parts(&mut self, object: &Map<String, Value>, path: &str) -> Vec<Part> {
        let path = format!("{path}.parts");
        let items = match member(object, "parts").map(Value::as_array) {
            Some(Some(items)) if !items.is_empty() => items,
            _ => {
                self.fault(path, "expected a list of at least one part");
                return Vec::new();
            }
        };
        let mut parts = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            parts.extend(self.part(item, &format!("{path}[{index}]")));
        }
        parts
    }

    /// A message as a client sends it.
    pub fn message(&mut self, value: &Value, path: &str) -> Option<Message> {
        let object = self.object(value, path)?;
        let message_id = match member(object, "messageId") {
            Some(Value::String(id))
                if !text::is_blank(id) && !text::has_line_break(id) && id.len() <= MESSAGE_ID_LIMIT =>
            {
                id.clone()
            }
            _ => {
                let rule = format!("expected one line of at most {MESSAGE_ID_LIMIT} bytes, not blank");
                self.fault(format!("{path}.messageId"), rule);
                String::new()
            }
        };
        Some(Message {
            message_id,
            context_id: self.context_id(object, path),
            task_id: self.text(object, "taskId", path),
            role: self.role(object, path),
            parts: self.parts(object, path),
            metadata: self.metadata(object, path),
            extensions: self.texts(object, "extensions", path),
            reference_task_ids: self.texts(object, "referenceTaskIds", path),
        })
    }

    /// An artifact as a member hands it in.
    pub fn artifact(&mut self, value: &Value, path: &str) -> Option<Artifact> {
        let object = self.object(value, path)?;
        let artifact_id = self.text(object, "artifactId", path).unwrap_or_else(|| {
            self.fault(
                format!("{path}.artifactId"),
                "expected a string that is not empty",
            );
            String::new()
        });
        Some(Artifact {
            artifact_id,
            name: self.text(object, "name", path),
            description: self.text(object, "description", path),
            parts: self.parts(object, path),
            metadata: self.metadata(object, path),
            extensions: self.texts(object, "extensions", path),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(value: &Value) -> Result<Message, Vec<String>> {
        let mut decoder = Decoder::new();
        let message = decoder.message(value, "message");
        decoder
            .finish(message)
            .map(|message| message.expect("no fault, so there is a message"))
            .map_err(|faults| faults.into_iter().map(|fault| fault.field).collect())
    }

    #[test]
    fn both_spellings_enum_numbers_nulls_and_unknown_members_are_read() {
        let camel =
            json!({"messageId": "m", "contextId": "c", "role": "ROLE_USER", "parts": [{"text": "hi"}]});
        let snake = json!({"message_id": "m", "context_id": "c", "role": 1, "task_id": null, "taskId": "",
            "parts": [{"text": "hi", "media_type": null, "data": null}], "kind": "message"});
        assert_eq!(message(&camel), message(&snake));
        assert!(message(&camel).is_ok());
    }

    #[test]
    fn every_fault_of_a_message_is_named() {
        let faults = message(
            &json!({"messageId": " ", "role": "user", "parts": [], "metadata": [],
            "contextId": 7, "extensions": ["a", 1]}),
        )
        .unwrap_err();
        assert_eq!(
            faults,
            [
                "message.messageId",
                "message.contextId",
                "message.role",
                "message.parts",
                "message.metadata",
                "message.extensions[1]"
            ]
        );
    }

    #[test]
    fn a_message_id_of_200_bytes_is_taken_and_one_of_201_is_not() {
        let with_id = |id: String| message(&json!({"messageId": id, "role": 1, "parts": [{"text": ""}]}));
        assert!(with_id("é".repeat(100)).is_ok());
        assert_eq!(
            with_id("é".repeat(100) + "x"),
            Err(vec!["message.messageId".into()])
        );
        assert_eq!(
            with_id("a\u{2028}b".into()),
            Err(vec!["message.messageId".into()])
        );
    }

    #[test]
    fn a_context_id_of_256_bytes_is_taken_and_one_of_257_is_not() {
        let within = |id: String| {
            message(&json!({"messageId": "m", "contextId": id, "role": 1, "parts": [{"text": ""}]}))
        };
        assert!(within("é".repeat(128)).is_ok());
        assert_eq!(
            within("é".repeat(128) + "x"),
            Err(vec!["message.contextId".into()])
        );
    }

    #[test]
    fn a_part_holds_exactly_one_content() {
        let part = |value: Value| message(&json!({"messageId": "m", "role": 1, "parts": [value]}));
        assert_eq!(part(json!({})), Err(vec!["message.parts[0]".into()]));
        assert_eq!(
            part(json!({"text": "a", "url": "b"})),
            Err(vec!["message.parts[0]".into()])
        );
        assert_eq!(
            part(json!({"text": "a", "data": 1})),
            Err(vec!["message.parts[0]".into()])
        );
        assert_eq!(
            part(json!({"text": 1})),
            Err(vec!["message.parts[0].text".into()])
        );
        assert_eq!(part(json!("a")), Err(vec!["message.parts[0]".into()]));
        let data = part(json!({"data": null})).unwrap();
        assert_eq!(
            serde_json::to_value(&data.parts).unwrap(),
            json!([{"data": null}])
        );
        let raw = part(json!({"raw": "_-8"})).unwrap();
        assert_eq!(raw.parts.first().unwrap().content, Content::Raw("/+8=".into()));
        assert_eq!(
            part(json!({"raw": "*"})),
            Err(vec!["message.parts[0].raw".into()])
        );
    }

    #[test]
    fn states_are_read_by_name_and_by_number() {
        assert_eq!(
            task_state(&json!("TASK_STATE_AUTH_REQUIRED")),
            Some(TaskState::AuthRequired)
        );
        assert_eq!(task_state(&json!(8)), Some(TaskState::AuthRequired));
        for bad in [
            json!(0),
            json!(9),
            json!(-1),
            json!("WORKING"),
            json!("2"),
            json!(null),
            json!(1.5),
        ] {
            assert_eq!(task_state(&bad), None, "{bad}");
        }
        assert_eq!(integer(&json!("12")), Some(12));
        assert_eq!(integer(&json!(12.0)), Some(12));
        assert_eq!(integer(&json!(2_147_483_648_i64)), None);
    }
}
