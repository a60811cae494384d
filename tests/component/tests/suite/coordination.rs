//! Interfaces `coordination` and `gate`, where no text of JSON alone decides.

use a2a_edge::coordination::catalogue::OPERATIONS;
use a2a_edge::dispatch::gate;
use a2a_edge::doors::coordination;

use crate::instance;

#[test]
fn the_catalogue_and_what_each_operation_takes_are_those_of_the_rust_api() {
    let mut instance = instance();
    let (interface, store) = (instance.core.a2a_edge_core_coordination(), &mut instance.store);
    let catalogue = interface.call_catalogue_json(&mut *store).unwrap();
    assert_eq!(catalogue, coordination::catalogue_json());
    let names = OPERATIONS.iter().map(|operation| operation.name);
    for name in names.chain(["", "claims:acquire"]) {
        for parameters in [
            "{}",
            "[]",
            r#"{"idempotencyKey":""}"#,
            r#"{"resourceId":"/x","leaseSeconds":29,"title":"\u2028","artifacts":[{}]}"#,
        ] {
            let parameters = parameters.to_owned();
            assert_eq!(
                interface
                    .call_validate_json(&mut *store, name, &parameters)
                    .unwrap(),
                coordination::validate_json(name, &parameters),
                "{name} {parameters}"
            );
            assert_eq!(
                interface
                    .call_fingerprint_json(&mut *store, name, &parameters)
                    .unwrap(),
                coordination::fingerprint_json(name, &parameters),
                "{name} {parameters}"
            );
        }
    }
}

#[test]
fn resources_overlap_as_they_do_in_the_rust_api() {
    let mut instance = instance();
    let interface = instance.core.a2a_edge_core_coordination();
    let ids = [
        "src/**",
        "src/é.rs",
        "src/*.rs",
        "tests/*.rs",
        "pr:1",
        "/x",
        "y",
        "a/../b",
        "",
    ];
    let pairs = ids
        .iter()
        .flat_map(|one| ids.iter().map(move |other| (one, other)));
    let mut overlapping = 0;
    for (one, other) in pairs {
        let answer = interface
            .call_overlap_json(&mut instance.store, one, other)
            .unwrap();
        assert_eq!(answer, coordination::overlap_json(one, other), "{one} {other}");
        overlapping += usize::from(answer.contains("\"overlaps\":true"));
    }
    assert!(overlapping > ids.len(), "{overlapping}");
}

#[test]
fn a_gate_s_sentence_is_that_of_the_rust_api() {
    let mut instance = instance();
    let interface = instance.core.a2a_edge_core_gate();
    for gate_type in [
        "wake",
        "task-proposal",
        "tool-approval",
        "scope",
        "no such type",
        "",
    ] {
        let said = interface.call_sentence(&mut instance.store, gate_type).unwrap();
        assert_eq!(said, gate::sentence(gate_type), "{gate_type}");
    }
}
