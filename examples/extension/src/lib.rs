//! brief/v1: messages have at most so many words, and answers tell how many the message had.
//!
//! The option `most` says how many: a whole number of at least 1. It stands on the card, so that a client can keep to it.
//!
//! Build it with `cargo xtask component`, and load it with
//! `a2a-edge serve --extension target/a2a-edge-example-extension.wasm=brief.json`.

#[allow(missing_docs, reason = "the glue is documented where it comes from, in wit/")]
mod bindings {
    wit_bindgen::generate!({ path: "../../wit", world: "extension" });
}

use bindings::exports::a2a_edge::core::hooks::{
    Activation, Context, Entry, Guest, HandledRequest, HandledResponse, OptionFault, Refusal, RefusalCode,
    Request, Response, Violation,
};
use serde_json::{Value, json};

/// Identifies the extension; a name, not an address.
const URI: &str = "urn:example:extensions/brief/v1";

struct Brief;

impl Guest for Brief {
    fn declaration(options: Option<String>) -> Result<Entry, OptionFault> {
        Ok(Entry {
            uri: URI.to_owned(),
            description: Some("Messages have at most so many words.".to_owned()),
            required: false,
            params: Some(json!({"most": most(options)?}).to_string()),
        })
    }

    /// Takes part where there is a message, and remembers how many words it may have.
    fn activate(options: Option<String>, _: Vec<String>, context: Context) -> Result<Activation, Refusal> {
        let sends = ["SendMessage", "SendStreamingMessage"];
        if !context
            .method
            .is_some_and(|method| sends.contains(&method.as_str()))
        {
            return Ok(Activation::Skip);
        }
        // The declaration has shown that the options are good.
        let most = most(options).unwrap_or(u64::MAX);
        Ok(Activation::Active(json!({"most": most}).to_string()))
    }

    /// Counts the words, and refuses a message that has too many.
    fn handle_request(request: Request, activation: String) -> Result<HandledRequest, Refusal> {
        let mut state = value(&activation);
        let words = request
            .message
            .as_deref()
            .map_or(0, |message| words(&value(message)));
        let most = state.get("most").and_then(Value::as_u64).unwrap_or(u64::MAX);
        if words > most {
            let field = "message.parts".to_owned();
            let description = format!("expected at most {most} words, not {words}");
            return Err(Refusal {
                code: RefusalCode::InvalidArgument,
                message: format!("{field}: {description}"),
                violations: vec![Violation { field, description }],
            });
        }
        set(&mut state, "words", json!(words));
        Ok(HandledRequest {
            message: request.message,
            params: request.params,
            activation: state.to_string(),
        })
    }

    /// Tells how many words the message had, under the URI.
    fn handle_response(response: Response, activation: String) -> HandledResponse {
        let mut payload = value(&response.payload);
        let words = value(&activation).get("words").cloned().unwrap_or_default();
        let told = json!({"words": words});
        match payload.get_mut("metadata") {
            Some(metadata) => set(metadata, URI, told),
            None => set(&mut payload, "metadata", json!({URI: told})),
        }
        HandledResponse {
            payload: payload.to_string(),
            activation,
        }
    }
}

/// How many words a message may have: 100 unless the options say otherwise.
fn most(options: Option<String>) -> Result<u64, OptionFault> {
    let fault = |option: &str, rule: &str| OptionFault {
        name: option.to_owned(),
        rule: rule.to_owned(),
    };
    let Some(options) = options else {
        return Ok(100);
    };
    let Value::Object(options) = value(&options) else {
        return Err(fault("", "expected an object"));
    };
    if let Some(unknown) = options.keys().find(|option| *option != "most") {
        return Err(fault(unknown, "expected most"));
    }
    let most = options
        .get("most")
        .and_then(Value::as_u64)
        .filter(|most| *most > 0);
    most.ok_or_else(|| fault("most", "expected a whole number of at least 1"))
}

/// How many words the texts of a message have.
fn words(message: &Value) -> u64 {
    let parts = message.get("parts").and_then(Value::as_array);
    let texts = parts
        .into_iter()
        .flatten()
        .filter_map(|part| part.get("text")?.as_str());
    texts
        .map(|text| u64::try_from(text.split_whitespace().count()).unwrap_or(u64::MAX))
        .sum()
}

/// What the host gives is JSON.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn set(object: &mut Value, member: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(member.to_owned(), value);
    }
}

// Native linkers do not take the names of these symbols.
#[cfg(target_arch = "wasm32")]
bindings::export!(Brief with_types_in bindings);
