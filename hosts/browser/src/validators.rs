//! Activation, work/v1, envelope/v1 and gate/v1, the projection and shaping.

use a2a_edge::dispatch::verdict::Fault;
use a2a_edge::dispatch::work::Handoffs;
use a2a_edge::dispatch::{
    address, artifact, delivery, draft, envelope, gate, inbound, placement, projection, render, work,
};
use a2a_edge::doors::activation;
use wasm_bindgen::prelude::wasm_bindgen;

crate::doors! {
    parseHeader parse_header(values) = activation::parse_header_json;
    requested requested(header_values, message_extensions) = activation::requested_json;
    formatHeader format_header(uris) = activation::format_header_json;
    requiredMissing required_missing(declared, requested) = activation::required_missing_json;
    activate activate(declared, requested) = activation::activate_json;
    declareOnCard declare_on_card(card, declared) = activation::declare_on_card_json;
    shapeDraft shape_draft(request) = draft::shape_json;
    writeBack write_back(message) = envelope::write_back_json;
    parseAddress parse_address(address) = address::parse_json;
    recipients recipients(message) = address::recipients_json;
    deliver deliver(sender, message, directory) = delivery::deliver_json;
    isGateData is_gate_data(data) = gate::is_gate_data_json;
    project project(facts, system) = projection::project_json;
    task task(facts, system, active, message_id) = placement::task_json;
    validateArtifact validate_artifact(artifact) = artifact::validate_json;
    metadataBudget metadata_budget(metadata) = placement::metadata_budget_json;
    inbound inbound(message) = inbound::inbound_json;
    push push(message) = render::push_json;
    digest digest(message) = render::digest_json;
}

const fn handoffs(taken: bool) -> Handoffs {
    if taken { Handoffs::Taken } else { Handoffs::Refused }
}

/// `validateWork`: see the door; undefined for `{"ok":true}`.
#[wasm_bindgen(js_name = validateWork)]
#[must_use]
pub fn validate_work(request: &str, taken: bool) -> Option<String> {
    work::fault_json(request, handoffs(taken))
}

/// `validateEnvelope`: see the door; undefined for `{"ok":true}`.
#[wasm_bindgen(js_name = validateEnvelope)]
#[must_use]
pub fn validate_envelope(request: &str) -> Option<String> {
    envelope::fault_json(request)
}

/// `opening`: see the door.
#[wasm_bindgen]
#[must_use]
pub fn opening(metadata: &str, taken: bool) -> String {
    envelope::opening_json(metadata, handoffs(taken))
}

/// `artifact`: see the door.
#[wasm_bindgen]
#[must_use]
pub fn artifact(artifact: &str, work_active: bool) -> String {
    artifact::render_json(artifact, work_active)
}

/// `gateSentence`: what is said to a client that waits for a gate of this type.
#[wasm_bindgen(js_name = gateSentence)]
#[must_use]
pub fn gate_sentence(gate_type: &str) -> String {
    gate::sentence(gate_type).to_owned()
}

/// `a2aPath`: the field of a fault as a path into the client's A2A request.
#[wasm_bindgen(js_name = a2aPath)]
#[must_use]
pub fn a2a_path(field: &str) -> String {
    Fault::invalid(field, "").a2a_path()
}
