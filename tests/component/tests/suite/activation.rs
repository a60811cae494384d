//! Interface `activation`.

use a2a_edge::a2a::card::{AgentCapabilities, AgentCard, AgentExtension};
use a2a_edge::extension::{Registry, header};
use a2a_edge_component_tests::exports::a2a_edge::core::activation::Declaration;
use a2a_edge_component_tests::exports::a2a_edge::core::types::FaultCode;
use serde_json::{Value, json};

use crate::instance;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn declaration(uri: &str, required: bool) -> Declaration {
    Declaration {
        uri: uri.to_owned(),
        description: None,
        required,
        params: None,
    }
}

fn card(extensions: &[&str]) -> AgentCard {
    let listed = |uri: &&str| AgentExtension {
        uri: (*uri).to_owned(),
        description: Some("the card's own".to_owned()),
        required: false,
        params: None,
    };
    AgentCard {
        name: "desk".to_owned(),
        description: "takes tasks".to_owned(),
        supported_interfaces: Vec::new(),
        provider: None,
        version: "1".to_owned(),
        documentation_url: None,
        capabilities: AgentCapabilities {
            extensions: extensions.iter().map(listed).collect(),
            ..AgentCapabilities::default()
        },
        security_schemes: Default::default(),
        security_requirements: Vec::new(),
        default_input_modes: Vec::new(),
        default_output_modes: Vec::new(),
        skills: Vec::new(),
        signatures: Vec::new(),
        icon_url: None,
    }
}

#[test]
fn headers_are_read_and_written_as_the_rust_api_does() {
    let mut instance = instance();
    let activation = instance.core.a2a_edge_core_activation();
    for values in [
        &[][..],
        &[""],
        &["urn:a,urn:b"],
        &[" urn:a\t, ,urn:b,", "urn:b , urn:c"],
        &["urn:é", "\u{a0}urn:a"],
    ] {
        let parsed = activation
            .call_parse_header(&mut instance.store, &texts(values))
            .unwrap();
        assert_eq!(parsed, header::parse(values), "{values:?}");
        let written = activation
            .call_format_header(&mut instance.store, &parsed)
            .unwrap();
        assert_eq!(written, header::format(&parsed), "{values:?}");
        let message = texts(&["urn:b", "urn:d,urn:e"]);
        let requested = activation
            .call_requested(&mut instance.store, &texts(values), &message)
            .unwrap();
        assert_eq!(requested, header::requested(values, &message), "{values:?}");
    }
}

#[test]
fn declared_and_requested_extensions_are_active_in_the_order_of_declaration() {
    let mut instance = instance();
    let activation = instance.core.a2a_edge_core_activation();
    let declared = texts(&["urn:a/v1", "urn:b/v1", "urn:c/v1"]);
    let requested = texts(&["urn:c/v1", "urn:b/v2", "urn:z", "urn:a/v1"]);
    let active = activation
        .call_activate(&mut instance.store, &declared, &requested)
        .unwrap();
    assert_eq!(active, ["urn:a/v1", "urn:c/v1"]);
}

#[test]
fn every_required_extension_that_is_missing_is_named() {
    let mut instance = instance();
    let activation = instance.core.a2a_edge_core_activation();
    let declared = [
        ("urn:a", true),
        ("urn:b", false),
        ("urn:c", true),
        ("urn:d", true),
    ]
    .map(|(uri, required)| declaration(uri, required));
    let requested = texts(&["urn:c"]);
    let missing = activation
        .call_required_missing(&mut instance.store, &declared, &requested)
        .unwrap();
    assert_eq!(missing, ["urn:a", "urn:d"]);
}

#[test]
fn declarations_are_merged_into_the_card_as_the_rust_api_does() {
    let mut instance = instance();
    let activation = instance.core.a2a_edge_core_activation();
    for own in [&[][..], &["urn:a"], &["urn:x", "urn:b", "urn:x"]] {
        let mut merged = card(own);
        let text = serde_json::to_string(&merged).unwrap();
        let registry = ["urn:a", "urn:b"]
            .into_iter()
            .fold(Registry::builder(), |builder, uri| {
                builder.with(AgentExtension {
                    uri: uri.to_owned(),
                    description: None,
                    required: false,
                    params: Some(json!({"one": 1})),
                })
            });
        registry.build().unwrap().merge_into(&mut merged);
        let declared = ["urn:a", "urn:b"].map(|uri| Declaration {
            params: Some(r#"{ "one": 1 }"#.to_owned()),
            ..declaration(uri, false)
        });
        let answer = activation
            .call_declare_on_card(&mut instance.store, &text, &declared)
            .unwrap();
        assert_eq!(answer.unwrap(), serde_json::to_string(&merged).unwrap());
    }
}

#[test]
fn what_else_stands_on_the_card_stays_there() {
    let mut instance = instance();
    let activation = instance.core.a2a_edge_core_activation();
    let text = r#"{"iconUrl":"https://a.example/i.png","capabilities":{"streaming":true},"signatures":[]}"#
        .to_owned();
    let answer = activation
        .call_declare_on_card(&mut instance.store, &text, &[declaration("urn:a", true)])
        .unwrap()
        .unwrap();
    let card: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(
        card,
        json!({
            "iconUrl": "https://a.example/i.png",
            "capabilities": {"streaming": true, "extensions": [{"uri": "urn:a", "required": true}]},
            "signatures": [],
        })
    );
}

#[test]
fn a_card_of_another_shape_is_refused_on_the_field() {
    let mut instance = instance();
    let activation = instance.core.a2a_edge_core_activation();
    let bad_params = Declaration {
        params: Some("1".to_owned()),
        ..declaration("urn:b", false)
    };
    for (card, declared, field) in [
        ("", vec![], "card"),
        ("[]", vec![], "card"),
        (r#"{"capabilities":1}"#, vec![], "card.capabilities"),
        (
            r#"{"capabilities":{"extensions":{}}}"#,
            vec![],
            "card.capabilities.extensions",
        ),
        (
            "{}",
            vec![declaration("urn:a", false), bad_params],
            "declared[1].params",
        ),
    ] {
        let fault = activation
            .call_declare_on_card(&mut instance.store, &card.to_owned(), &declared)
            .unwrap()
            .unwrap_err();
        assert_eq!(
            (fault.code, fault.field.as_str()),
            (FaultCode::Invalid, field),
            "{card}"
        );
    }
}
