//! timestamp/v1, the reference extension: when a request arrived and when each part of its answer left.
//!
//! It uses every hook, and shows what each is for. Under [`URI`] a client may put on its message
//!
//! - `sentAt`: when it sent the message, an RFC 3339 time,
//!
//! and finds there, on the message as the agent keeps it and on every task, message or event that answers it,
//!
//! - `receivedAt`: when the request arrived,
//! - `label`: whose clock that is, if the extension is configured with one,
//! - `sentAt`: as the client gave it, in UTC,
//! - `answeredAt`: when the object left; not on the client's own message.
//!
//! Times are RFC 3339 in UTC with milliseconds.

use serde_json::{Map, Value, json};

use super::{
    Activation, Extension, FromOptions, HasMetadata, HookRequest, HookResponse, InitError, Method,
    RequestContext,
};
use crate::a2a::Message;
use crate::a2a::card::AgentExtension;
use crate::refusal::Refusal;
use crate::text;
use crate::time::Timestamp;

/// Identifies the extension; a name, not an address.
pub const URI: &str = "urn:a2a-edge:extensions/timestamp/v1";

/// The most bytes of the option `label`.
pub const LABEL_LIMIT: usize = 64;

/// The extension. Its options are
///
/// - `label`: a name for the agent's clock, one line of at most [`LABEL_LIMIT`] bytes, not blank; also on the card,
///   in `params`,
/// - `required`: whether every request must activate it; a boolean, false when left out.
#[derive(Clone, Debug)]
pub struct TimestampExtension {
    declaration: AgentExtension,
    label: Option<String>,
}

impl FromOptions for TimestampExtension {
    fn init(options: &Value) -> Result<Self, InitError> {
        let bad = |option: &str, rule: String| InitError::new(URI, option, rule);
        let none = Map::new();
        let options = match options {
            Value::Null => &none,
            Value::Object(options) => options,
            _ => return Err(bad("", "expected an object".to_owned())),
        };
        let (mut label, mut required) = (None, false);
        for (option, value) in options {
            match (option.as_str(), value) {
                ("label", Value::String(text)) if is_label(text) => label = Some(text.clone()),
                ("label", _) => {
                    let rule = format!("expected one line of at most {LABEL_LIMIT} bytes, not blank");
                    return Err(bad(option, rule));
                }
                ("required", Value::Bool(flag)) => required = *flag,
                ("required", _) => return Err(bad(option, "expected a boolean".to_owned())),
                _ => return Err(bad(option, "expected one of label and required".to_owned())),
            }
        }
        let declaration = AgentExtension {
            uri: URI.to_owned(),
            description: Some("Says when a request arrived and when its answers left.".to_owned()),
            required,
            params: label.as_ref().map(|label| json!({"label": label})),
        };
        Ok(Self { declaration, label })
    }
}

fn is_label(text: &str) -> bool {
    !text::is_blank(text) && !text::has_line_break(text) && text.len() <= LABEL_LIMIT
}

impl Extension for TimestampExtension {
    fn declaration(&self) -> &AgentExtension {
        &self.declaration
    }

    /// Takes part where something of the answer can carry times, and remembers when the request arrived.
    fn activate(&self, _requested: &[String], context: &RequestContext) -> Result<Activation, Refusal> {
        if !context.method.is_some_and(Method::answers_with_tasks) {
            return Ok(Activation::Skip);
        }
        let mut stamp = json!({"receivedAt": context.now});
        if let Some(label) = &self.label {
            set(&mut stamp, "label", json!(label));
        }
        Ok(Activation::Active(stamp))
    }

    /// Checks what the client says, remembers it, and marks the message.
    fn handle_request(&self, request: &mut HookRequest<'_>, stamp: &mut Value) -> Result<(), Refusal> {
        let Some(message) = request.message.as_deref_mut() else {
            return Ok(());
        };
        if let Some(sent_at) = sent_at(message)? {
            set(stamp, "sentAt", json!(sent_at));
        }
        message.put_metadata(URI, stamp.clone());
        Ok(())
    }

    fn handle_response(&self, response: &mut HookResponse<'_>, stamp: &mut Value) -> Result<(), Refusal> {
        let mut answered = stamp.clone();
        set(&mut answered, "answeredAt", json!(response.now));
        response.payload.put_metadata(URI, answered);
        Ok(())
    }
}

/// When the client says it sent the message, if it does.
fn sent_at(message: &Message) -> Result<Option<Timestamp>, Refusal> {
    let Some(claimed) = message.metadata.get(URI) else {
        return Ok(None);
    };
    let field = format!("message.metadata[{URI}]");
    let Some(claimed) = claimed.as_object() else {
        return Err(Refusal::invalid(field, "expected an object"));
    };
    let Some(sent_at) = claimed.get("sentAt") else {
        return Ok(None);
    };
    match sent_at.as_str().unwrap_or_default().parse() {
        Ok(time) => Ok(Some(time)),
        Err(rule) => Err(Refusal::invalid(format!("{field}.sentAt"), rule.to_string())),
    }
}

/// Adds a member to a stamp, which is an object from the start.
fn set(stamp: &mut Value, member: &str, value: Value) {
    if let Some(members) = stamp.as_object_mut() {
        members.insert(member.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::{Activations, Registry};

    const ARRIVED: Timestamp = Timestamp::from_millis(1_784_250_000_000);

    fn made(options: &Value) -> Result<TimestampExtension, String> {
        TimestampExtension::init(options).map_err(|error| error.to_string())
    }

    fn activate(options: &Value, method: Option<Method>) -> Activations {
        let registry = Registry::builder()
            .with_options::<TimestampExtension>(options)
            .build()
            .unwrap();
        let context = RequestContext {
            method,
            now: ARRIVED,
            tenant: None,
        };
        registry.negotiate(&[URI.to_owned()], &context).unwrap()
    }

    /// What the request hook makes of a message with this metadata under the URI.
    fn receive(active: &mut Activations, claimed: Option<Value>) -> Result<Message, Refusal> {
        let mut message = Message::agent("m-1", "hi");
        if let Some(claimed) = claimed {
            message.metadata.insert(URI.to_owned(), claimed);
        }
        active.run_request(&mut HookRequest {
            method: Method::SendMessage,
            now: ARRIVED,
            message: Some(&mut message),
            params: &mut json!({}),
        })?;
        Ok(message)
    }

    fn answer(active: &mut Activations) -> Message {
        let mut answer = Message::agent("m-2", "done");
        let mut response = HookResponse {
            method: Method::SendMessage,
            now: ARRIVED.plus_millis(250),
            params: &json!({}),
            payload: (&mut answer).into(),
        };
        active.run_response(&mut response).unwrap();
        answer
    }

    #[test]
    fn no_options_are_fine() {
        let extension = made(&Value::Null).unwrap();
        assert_eq!(extension.declaration().uri, URI);
        assert!(!extension.declaration().required);
        assert_eq!(extension.declaration().params, None);
        assert!(made(&json!({})).is_ok());
    }

    #[test]
    fn its_options_show_on_the_card() {
        let extension = made(&json!({"label": "edge-1", "required": true})).unwrap();
        assert!(extension.declaration().required);
        assert_eq!(extension.declaration().params, Some(json!({"label": "edge-1"})));
    }

    #[test]
    fn a_label_of_64_bytes_is_taken_and_one_of_65_is_not() {
        assert!(made(&json!({"label": "é".repeat(32)})).is_ok());
        let error = made(&json!({"label": "é".repeat(32) + "x"})).unwrap_err();
        assert_eq!(
            error,
            format!("option label of extension {URI}: expected one line of at most 64 bytes, not blank")
        );
    }

    #[test]
    fn a_label_is_one_line_and_not_blank() {
        for label in [
            json!(""),
            json!(" \u{FEFF}"),
            json!("a\nb"),
            json!("a\u{2028}"),
            json!(7),
            json!(null),
        ] {
            assert!(made(&json!({"label": label})).is_err(), "{label}");
        }
    }

    #[test]
    fn an_option_of_the_wrong_type_or_an_unknown_one_names_itself() {
        for (options, named) in [
            (json!({"required": "yes"}), "option required of extension"),
            (json!({"required": null}), "option required of extension"),
            (json!({"lable": "x"}), "option lable of extension"),
            (json!([]), "options of extension"),
        ] {
            let error = made(&options).unwrap_err();
            assert!(error.starts_with(named), "{error}");
        }
    }

    #[test]
    fn it_takes_part_where_the_answer_can_carry_times() {
        for method in Method::ALL {
            let active = activate(&Value::Null, Some(method));
            assert_eq!(active.is_active(URI), method.answers_with_tasks(), "{method}");
        }
        assert!(!activate(&Value::Null, None).is_active(URI));
    }

    #[test]
    fn the_message_is_marked_on_its_way_in() {
        let mut active = activate(&json!({"label": "edge-1"}), Some(Method::SendMessage));
        let message = receive(&mut active, None).unwrap();
        let mark = json!({"receivedAt": "2026-07-17T01:00:00.000Z", "label": "edge-1"});
        assert_eq!(message.metadata[URI], mark);
        assert_eq!(message.extensions, [URI]);
    }

    #[test]
    fn the_answer_says_when_the_request_arrived_and_when_it_left() {
        let mut active = activate(&Value::Null, Some(Method::SendMessage));
        receive(&mut active, None).unwrap();
        let stamp =
            json!({"receivedAt": "2026-07-17T01:00:00.000Z", "answeredAt": "2026-07-17T01:00:00.250Z"});
        assert_eq!(answer(&mut active).metadata[URI], stamp);
    }

    #[test]
    fn when_the_client_sent_it_comes_back_in_utc() {
        let mut active = activate(&Value::Null, Some(Method::SendMessage));
        let claimed = json!({"sentAt": "2026-07-17T02:59:59+02:00"});
        let message = receive(&mut active, Some(claimed)).unwrap();
        assert_eq!(message.metadata[URI]["sentAt"], "2026-07-17T00:59:59.000Z");
        assert_eq!(
            answer(&mut active).metadata[URI]["sentAt"],
            "2026-07-17T00:59:59.000Z"
        );
    }

    #[test]
    fn what_a_client_says_of_the_agents_clock_does_not_count() {
        let mut active = activate(&Value::Null, Some(Method::SendMessage));
        let claimed = json!({"receivedAt": "1999-01-01T00:00:00Z", "answeredAt": "x", "label": "me"});
        let message = receive(&mut active, Some(claimed)).unwrap();
        assert_eq!(
            message.metadata[URI],
            json!({"receivedAt": "2026-07-17T01:00:00.000Z"})
        );
    }

    #[test]
    fn a_bad_time_of_the_client_is_refused_on_its_field() {
        for (claimed, field) in [
            (
                json!({"sentAt": "yesterday"}),
                format!("message.metadata[{URI}].sentAt"),
            ),
            (json!({"sentAt": 1}), format!("message.metadata[{URI}].sentAt")),
            (json!({"sentAt": null}), format!("message.metadata[{URI}].sentAt")),
            (json!("now"), format!("message.metadata[{URI}]")),
            (json!(null), format!("message.metadata[{URI}]")),
        ] {
            let mut active = activate(&Value::Null, Some(Method::SendMessage));
            let refusal = receive(&mut active, Some(claimed)).unwrap_err();
            let fields: Vec<&str> = refusal
                .violations
                .iter()
                .map(|fault| fault.field.as_str())
                .collect();
            assert_eq!(fields, [field]);
        }
    }
}
