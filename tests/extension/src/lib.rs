//! An extension that does what no extension should, where a request says so. Its options are `{"uri","required"?,"does"?}`.
//!
//! A request asks for `urn:does:PLACE:WHAT` beside it. PLACE is a function of the interface; WHAT it does there is to `trap`,
//! `loop`, `grow`, or to give a `text` that is no JSON, an `array` where an object is asked for, or `nothing` where there
//! was a message. The option `does` says the same of `declaration`. Otherwise it notes on every object, under its URI, what
//! stood on it before.

#[allow(missing_docs, reason = "the glue is documented where it comes from, in wit/")]
mod bindings {
    wit_bindgen::generate!({ path: "../../wit", world: "extension" });
}

use bindings::exports::a2a_edge::core::hooks::{
    Activation, Context, Entry, Guest, HandledRequest, HandledResponse, OptionFault, Refusal, Request,
    Response,
};
use serde_json::{Value, json};

struct Rogue;

impl Guest for Rogue {
    fn declaration(options: Option<String>) -> Result<Entry, OptionFault> {
        let options = value(options.as_deref().unwrap_or_default());
        let Some(uri) = options["uri"].as_str() else {
            return Err(OptionFault {
                name: "uri".to_owned(),
                rule: "expected a text".to_owned(),
            });
        };
        let (_, params) = at("declaration", &options, "{}".to_owned());
        Ok(Entry {
            uri: uri.to_owned(),
            description: None,
            required: options["required"] == true,
            params: Some(params),
        })
    }

    fn activate(options: Option<String>, requested: Vec<String>, _: Context) -> Result<Activation, Refusal> {
        let does = requested.iter().find_map(|uri| uri.strip_prefix("urn:does:"));
        let options = value(options.as_deref().unwrap_or_default());
        let state = json!({"uri": options["uri"], "does": does});
        Ok(Activation::Active(at("activate", &state, state.to_string()).1))
    }

    fn handle_request(request: Request, activation: String) -> Result<HandledRequest, Refusal> {
        let (kept, params) = at("handle-request", &value(&activation), request.params);
        Ok(HandledRequest {
            message: request.message.filter(|_| kept),
            params,
            activation,
        })
    }

    fn handle_response(response: Response, activation: String) -> HandledResponse {
        let options = value(&activation);
        let mut payload = value(&response.payload);
        let uri = options["uri"].as_str().unwrap_or_default();
        let before: Vec<String> = payload["metadata"]
            .as_object()
            .map(|metadata| metadata.keys().cloned().collect())
            .unwrap_or_default();
        payload["metadata"][uri] = json!(before);
        HandledResponse {
            payload: at("handle-response", &options, payload.to_string()).1,
            activation,
        }
    }
}

/// What is given at this place instead of `good`, and whether a message is.
fn at(place: &str, options: &Value, good: String) -> (bool, String) {
    let does = options["does"].as_str().and_then(|does| does.split_once(':'));
    match does.filter(|does| does.0 == place).map(|does| does.1) {
        Some("trap") => trap(),
        Some("loop") => loop {
            std::hint::black_box(());
        },
        Some("grow") => grow(),
        Some("text") => (true, "no JSON".to_owned()),
        Some("array") => (true, "[]".to_owned()),
        Some("nothing") => (false, good),
        _ => (true, good),
    }
}

#[allow(clippy::panic, reason = "what it is for")]
fn trap() -> ! {
    panic!("as it was told")
}

fn grow() -> ! {
    let mut all = Vec::new();
    loop {
        all.push(std::hint::black_box(vec![1_u8; 1024 * 1024]));
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

// Native linkers do not take the names of these symbols.
#[cfg(target_arch = "wasm32")]
bindings::export!(Rogue with_types_in bindings);
