//! Every conformance vector that needs no host, through the component.

use std::cell::RefCell;

use a2a_edge_component_tests::Instance;
use a2a_edge_component_tests::exports::a2a_edge::core::work::Handoffs;

use crate::instance;
use crate::support::{Doors, FILES, Native, vector_step, vectors};

/// The text doors of one instance of the component.
struct Component(RefCell<Instance>);

impl Doors for Component {
    fn validate_work(&self, request: &str, takes_handoffs: bool) -> String {
        let it = &mut *self.0.borrow_mut();
        let handoffs = if takes_handoffs {
            Handoffs::Taken
        } else {
            Handoffs::Refused
        };
        it.core
            .a2a_edge_core_work()
            .call_validate_json(&mut it.store, &request.to_owned(), handoffs)
            .unwrap()
    }

    fn validate_envelope(&self, request: &str) -> String {
        let it = &mut *self.0.borrow_mut();
        it.core
            .a2a_edge_core_envelope()
            .call_validate_json(&mut it.store, &request.to_owned())
            .unwrap()
    }

    fn metadata_budget(&self, metadata: &str) -> String {
        let it = &mut *self.0.borrow_mut();
        it.core
            .a2a_edge_core_shaping()
            .call_metadata_budget_json(&mut it.store, &metadata.to_owned())
            .unwrap()
    }

    fn project(&self, facts: &str, system: &str) -> String {
        let it = &mut *self.0.borrow_mut();
        let system = Some(system).filter(|system| !system.is_empty());
        it.core
            .a2a_edge_core_projection()
            .call_project_json(&mut it.store, &facts.to_owned(), system)
            .unwrap()
    }

    fn parse_address(&self, address: &str) -> String {
        let it = &mut *self.0.borrow_mut();
        it.core
            .a2a_edge_core_envelope()
            .call_parse_address_json(&mut it.store, address)
            .unwrap()
    }

    fn recipients(&self, message: &str) -> String {
        let it = &mut *self.0.borrow_mut();
        it.core
            .a2a_edge_core_envelope()
            .call_recipients_json(&mut it.store, &message.to_owned())
            .unwrap()
    }

    fn deliver(&self, sender: &str, message: &str, directory: &str) -> String {
        let it = &mut *self.0.borrow_mut();
        let (message, directory) = (message.to_owned(), directory.to_owned());
        it.core
            .a2a_edge_core_envelope()
            .call_deliver_json(&mut it.store, sender, &message, &directory)
            .unwrap()
    }
}

#[test]
fn the_component_answers_every_vector_as_the_rust_api_does() {
    let component = Component(RefCell::new(instance()));
    for (file, text) in FILES {
        let mut steps = 0;
        for vector in vectors(text) {
            let id = &vector["id"];
            for step in vector["when"].as_array().unwrap() {
                let answer = vector_step(&component, &vector["given"], step);
                let answer = answer.unwrap_or_else(|| panic!("{id}: unknown operation in {step}"));
                assert_eq!(
                    Some(answer),
                    vector_step(&Native, &vector["given"], step),
                    "{id}: {step}"
                );
                steps += 1;
            }
        }
        assert!(steps > 0, "{file} has no steps");
    }
}

#[test]
fn the_component_answers_every_vector_as_the_vector_expects() {
    let component = Component(RefCell::new(instance()));
    for vector in FILES.iter().flat_map(|(_, text)| vectors(text)) {
        let (id, steps) = (&vector["id"], vector["when"].as_array().unwrap());
        let expected = vector["then"]["steps"].as_array().unwrap();
        assert_eq!(steps.len(), expected.len(), "{id}");
        for (step, expected) in steps.iter().zip(expected) {
            let answer = vector_step(&component, &vector["given"], step).unwrap();
            let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer["ok"], expected["ok"], "{id}: {answer}");
            for part in ["error", "result"] {
                for (member, value) in expected[part].as_object().into_iter().flatten() {
                    assert_eq!(&answer[part][member], value, "{id}: {part}.{member}: {answer}");
                }
            }
        }
    }
}
