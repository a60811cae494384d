//! Every text door, by the way into the component and by the one into the Rust API.

use a2a_edge::dispatch::work::Handoffs;
use a2a_edge::dispatch::{
    ENVELOPE_URI, GATE_URI, WORK_URI, address, artifact, delivery, draft, envelope, gate, inbound, placement,
    projection, render, work,
};
use a2a_edge::doors::coordination;
use a2a_edge_component_tests::Instance;
use a2a_edge_component_tests::exports::a2a_edge::core::work::Handoffs as Taking;

const MEMBER: &str = "human:wyat";
const OPERATION: &str = "requests.create";

/// A function from text to text, in both worlds.
pub(crate) struct Door {
    pub(crate) name: &'static str,
    pub(crate) native: fn(&str) -> String,
    component: fn(&mut Instance, &String) -> wasmtime::Result<String>,
}

impl Door {
    /// What the component answers. A trap fails the test, and would leave the instance unusable.
    pub(crate) fn component(&self, instance: &mut Instance, text: &str) -> String {
        let answer = (self.component)(instance, &text.to_owned());
        answer.unwrap_or_else(|trap| panic!("{} trapped: {trap}", self.name))
    }

    /// Asks both, and holds their answers equal byte for byte.
    pub(crate) fn agree(&self, instance: &mut Instance, text: &str) -> String {
        let answer = self.component(instance, text);
        let native = (self.native)(text);
        assert_eq!(answer, native, "{} of {:.1000}", self.name, text);
        answer
    }
}

/// All of them; those with further arguments once for each kind of these.
pub(crate) const DOORS: [Door; 24] = [
    Door {
        name: "work.validate-json",
        native: |text| work::validate_json(text, Handoffs::Taken),
        component: |it, text| {
            it.core
                .a2a_edge_core_work()
                .call_validate_json(&mut it.store, text, Taking::Taken)
        },
    },
    Door {
        name: "work.validate-json without handoffs",
        native: |text| work::validate_json(text, Handoffs::Refused),
        component: |it, text| {
            it.core
                .a2a_edge_core_work()
                .call_validate_json(&mut it.store, text, Taking::Refused)
        },
    },
    Door {
        name: "work.shape-draft-json",
        native: draft::shape_json,
        component: |it, text| {
            it.core
                .a2a_edge_core_work()
                .call_shape_draft_json(&mut it.store, text)
        },
    },
    Door {
        name: "envelope.validate-json",
        native: envelope::validate_json,
        component: |it, text| {
            it.core
                .a2a_edge_core_envelope()
                .call_validate_json(&mut it.store, text)
        },
    },
    Door {
        name: "envelope.opening-json",
        native: |text| envelope::opening_json(text, Handoffs::Taken),
        component: |it, text| {
            it.core
                .a2a_edge_core_envelope()
                .call_opening_json(&mut it.store, text, Taking::Taken)
        },
    },
    Door {
        name: "envelope.opening-json without handoffs",
        native: |text| envelope::opening_json(text, Handoffs::Refused),
        component: |it, text| {
            it.core
                .a2a_edge_core_envelope()
                .call_opening_json(&mut it.store, text, Taking::Refused)
        },
    },
    Door {
        name: "envelope.parse-address-json",
        native: address::parse_json,
        component: |it, text| {
            it.core
                .a2a_edge_core_envelope()
                .call_parse_address_json(&mut it.store, text)
        },
    },
    Door {
        name: "envelope.recipients-json",
        native: address::recipients_json,
        component: |it, text| {
            it.core
                .a2a_edge_core_envelope()
                .call_recipients_json(&mut it.store, text)
        },
    },
    Door {
        name: "envelope.deliver-json from a sender",
        native: |text| delivery::deliver_json(text, r#"{"to":["human:ada"]}"#, "{}"),
        component: |it, text| {
            let (message, directory) = (r#"{"to":["human:ada"]}"#.to_owned(), "{}".to_owned());
            let envelope = it.core.a2a_edge_core_envelope();
            envelope.call_deliver_json(&mut it.store, text, &message, &directory)
        },
    },
    Door {
        name: "envelope.deliver-json of a message by a directory",
        native: |text| delivery::deliver_json(MEMBER, text, text),
        component: |it, text| {
            it.core
                .a2a_edge_core_envelope()
                .call_deliver_json(&mut it.store, MEMBER, text, text)
        },
    },
    Door {
        name: "gate.is-gate-data-json",
        native: gate::is_gate_data_json,
        component: |it, text| {
            it.core
                .a2a_edge_core_gate()
                .call_is_gate_data_json(&mut it.store, text)
        },
    },
    Door {
        name: "coordination.validate-json",
        native: |text| coordination::validate_json(OPERATION, text),
        component: |it, text| {
            it.core
                .a2a_edge_core_coordination()
                .call_validate_json(&mut it.store, OPERATION, text)
        },
    },
    Door {
        name: "coordination.fingerprint-json",
        native: |text| coordination::fingerprint_json(OPERATION, text),
        component: |it, text| {
            it.core
                .a2a_edge_core_coordination()
                .call_fingerprint_json(&mut it.store, OPERATION, text)
        },
    },
    Door {
        name: "projection.project-json",
        native: |text| projection::project_json(text, ""),
        component: |it, text| {
            it.core
                .a2a_edge_core_projection()
                .call_project_json(&mut it.store, text, None)
        },
    },
    Door {
        name: "projection.project-json with another system",
        native: |text| projection::project_json(text, MEMBER),
        component: |it, text| {
            it.core
                .a2a_edge_core_projection()
                .call_project_json(&mut it.store, text, Some(MEMBER))
        },
    },
    Door {
        name: "shaping.task-json",
        native: |text| placement::task_json(text, "", "[]", "m"),
        component: |it, text| {
            it.core
                .a2a_edge_core_shaping()
                .call_task_json(&mut it.store, text, None, &[], "m")
        },
    },
    Door {
        name: "shaping.task-json with everything active",
        native: |text| {
            let active = format!("[\"{WORK_URI}\",\"{ENVELOPE_URI}\",\"{GATE_URI}\"]");
            placement::task_json(text, MEMBER, &active, text)
        },
        component: |it, text| {
            let active = [WORK_URI, ENVELOPE_URI, GATE_URI].map(str::to_owned);
            it.core
                .a2a_edge_core_shaping()
                .call_task_json(&mut it.store, text, Some(MEMBER), &active, text)
        },
    },
    Door {
        name: "shaping.validate-artifact-json",
        native: artifact::validate_json,
        component: |it, text| {
            it.core
                .a2a_edge_core_shaping()
                .call_validate_artifact_json(&mut it.store, text)
        },
    },
    Door {
        name: "shaping.artifact-json",
        native: |text| artifact::render_json(text, false),
        component: |it, text| {
            it.core
                .a2a_edge_core_shaping()
                .call_artifact_json(&mut it.store, text, false)
        },
    },
    Door {
        name: "shaping.artifact-json with work/v1 active",
        native: |text| artifact::render_json(text, true),
        component: |it, text| {
            it.core
                .a2a_edge_core_shaping()
                .call_artifact_json(&mut it.store, text, true)
        },
    },
    Door {
        name: "shaping.metadata-budget-json",
        native: placement::metadata_budget_json,
        component: |it, text| {
            it.core
                .a2a_edge_core_shaping()
                .call_metadata_budget_json(&mut it.store, text)
        },
    },
    Door {
        name: "shaping.inbound-json",
        native: inbound::inbound_json,
        component: |it, text| {
            it.core
                .a2a_edge_core_shaping()
                .call_inbound_json(&mut it.store, text)
        },
    },
    Door {
        name: "shaping.push-json",
        native: render::push_json,
        component: |it, text| {
            it.core
                .a2a_edge_core_shaping()
                .call_push_json(&mut it.store, text)
        },
    },
    Door {
        name: "shaping.digest-json",
        native: render::digest_json,
        component: |it, text| {
            it.core
                .a2a_edge_core_shaping()
                .call_digest_json(&mut it.store, text)
        },
    },
];

/// A door by its name.
pub(crate) fn door(name: &str) -> &'static Door {
    DOORS
        .iter()
        .find(|door| door.name == name)
        .unwrap_or_else(|| panic!("there is no door {name}"))
}
