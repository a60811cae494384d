//! Running the steps of the conformance vectors through the text doors of `dispatch`, wherever those doors are.

use a2a_edge::dispatch::{address, delivery, envelope, placement, projection, work};
use serde_json::Value;

/// The text doors that the vectors' operations go through. Each gives a verdict as JSON.
pub(crate) trait Doors {
    fn validate_work(&self, request: &str, takes_handoffs: bool) -> String;
    fn validate_envelope(&self, request: &str) -> String;
    fn metadata_budget(&self, metadata: &str) -> String;
    fn project(&self, facts: &str, system: &str) -> String;
    fn parse_address(&self, address: &str) -> String;
    fn recipients(&self, message: &str) -> String;
    fn deliver(&self, sender: &str, message: &str, directory: &str) -> String;
}

/// The doors of the Rust library itself.
pub(crate) struct Native;

impl Doors for Native {
    fn validate_work(&self, request: &str, takes_handoffs: bool) -> String {
        let handoffs = if takes_handoffs {
            work::Handoffs::Taken
        } else {
            work::Handoffs::Refused
        };
        work::validate_json(request, handoffs)
    }

    fn validate_envelope(&self, request: &str) -> String {
        envelope::validate_json(request)
    }

    fn metadata_budget(&self, metadata: &str) -> String {
        placement::metadata_budget_json(metadata)
    }

    fn project(&self, facts: &str, system: &str) -> String {
        projection::project_json(facts, system)
    }

    fn parse_address(&self, address: &str) -> String {
        address::parse_json(address)
    }

    fn recipients(&self, message: &str) -> String {
        address::recipients_json(message)
    }

    fn deliver(&self, sender: &str, message: &str, directory: &str) -> String {
        delivery::deliver_json(sender, message, directory)
    }
}

/// The files whose vectors need no host.
pub(crate) const FILES: [(&str, &str); 5] = [
    ("work-ext", include_str!("../vectors/work-ext.json")),
    ("envelope-ext", include_str!("../vectors/envelope-ext.json")),
    ("projection", include_str!("../vectors/projection.json")),
    ("peers", include_str!("../vectors/peers.json")),
    (
        "written-from-the-seed",
        include_str!("../vectors/written-from-the-seed.json"),
    ),
];

/// The vectors of a file, with the default system address in the place of `$system`.
pub(crate) fn vectors(file: &str) -> Vec<Value> {
    let named = file.replace("\"$system\"", "\"agent:dispatch\"");
    let file: Value = serde_json::from_str(&named).expect("a vector file is JSON");
    file["vectors"]
        .as_array()
        .expect("a vector file has vectors")
        .clone()
}

/// The verdict on one step of a vector, as text; none for an operation that is not known here.
pub(crate) fn vector_step(doors: &impl Doors, given: &Value, step: &Value) -> Option<String> {
    let text = |name: &str| step[name].as_str().expect("a text").to_owned();
    let json = |name: &str| step[name].to_string();
    let sender = || step["as"]["address"].as_str().expect("an address").to_owned();
    Some(match (step["op"].as_str()?, step["extension"].as_str()) {
        ("a2a.validate", Some("work")) => doors.validate_work(&json("raw"), true),
        ("a2a.validate", Some("envelope")) => doors.validate_envelope(&json("raw")),
        ("a2a.metadata", None) => doors.metadata_budget(&json("metadata")),
        ("a2a.project", None) => doors.project(&json("facts"), ""),
        ("parseAddress", None) => doors.parse_address(&text("input")),
        ("validate", None) => doors.recipients(&json("input")),
        ("send", None) => doors.deliver(&sender(), &json("input"), &given.to_string()),
        _ => return None,
    })
}
