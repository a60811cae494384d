//! Interface `shaping`.

use a2a_edge::dispatch::{artifact, inbound, placement, render};
use a2a_edge::json;
use serde_json::Value;

use crate::Core;
use crate::bindings::exports::a2a_edge::core::shaping::{BodyAndData, Fault, Guest};
use crate::fault::{result_of, text_of};

impl Guest for Core {
    fn task_json(facts: String, system: Option<String>, active: Vec<String>, message_id: String) -> String {
        let active = Value::from(active).to_string();
        placement::task_json(&facts, &system.unwrap_or_default(), &active, &message_id)
    }

    fn validate_artifact_json(artifact: String) -> String {
        artifact::validate_json(&artifact)
    }

    fn artifact_json(artifact: String, work_active: bool) -> String {
        artifact::render_json(&artifact, work_active)
    }

    fn metadata_budget_json(metadata: String) -> String {
        placement::metadata_budget_json(&metadata)
    }

    fn metadata_budget(metadata: String) -> Result<(), Fault> {
        result_of(&placement::metadata_budget_json(&metadata)).map(drop)
    }

    fn inbound_json(message: String) -> String {
        inbound::inbound_json(&message)
    }

    fn inbound(message: String) -> Result<BodyAndData, Fault> {
        let inbound = result_of(&inbound::inbound_json(&message))?;
        Ok(BodyAndData {
            body: text_of(&inbound, "body"),
            data: inbound.get("data").map(json::to_string),
        })
    }

    fn push_json(message: String) -> String {
        render::push_json(&message)
    }

    fn digest_json(message: String) -> String {
        render::digest_json(&message)
    }
}
