//! The functions that the component and the npm package export.

use a2a_edge::coordination::catalogue;
use a2a_edge::dispatch::work::{self, Handoffs};
use a2a_edge::dispatch::{
    address, artifact, delivery, draft, envelope, gate, inbound, placement, projection, render,
};
use a2a_edge::doors::{activation, coordination};
use a2a_edge::serve::Config;
use serde_json::Value;

use crate::{Corpus, Random, Target, spoil};

/// A function from texts to a verdict.
struct Function {
    name: &'static str,
    /// How many texts it takes.
    takes: usize,
    call: fn(&[String]) -> String,
}

const FUNCTIONS: &[Function] = &[
    Function::new("work.validate-json", 1, |a| {
        work::validate_json(&a[0], Handoffs::Taken)
    }),
    Function::new("work.validate-json.refused", 1, |a| {
        work::validate_json(&a[0], Handoffs::Refused)
    }),
    Function::new("work.shape-draft-json", 1, |a| draft::shape_json(&a[0])),
    Function::new("envelope.validate-json", 1, |a| envelope::validate_json(&a[0])),
    Function::new("envelope.opening-json", 1, |a| {
        envelope::opening_json(&a[0], Handoffs::Taken)
    }),
    Function::new("envelope.write-back-json", 1, |a| {
        envelope::write_back_json(&a[0])
    }),
    Function::new("envelope.parse-address-json", 1, |a| address::parse_json(&a[0])),
    Function::new("envelope.recipients-json", 1, |a| address::recipients_json(&a[0])),
    Function::new("envelope.deliver-json", 3, |a| {
        delivery::deliver_json(&a[0], &a[1], &a[2])
    }),
    Function::new("gate.is-gate-data-json", 1, |a| gate::is_gate_data_json(&a[0])),
    Function::new("projection.project-json", 2, |a| {
        projection::project_json(&a[0], &a[1])
    }),
    Function::new("shaping.task-json", 4, |a| {
        placement::task_json(&a[0], &a[1], &a[2], &a[3])
    }),
    Function::new("shaping.validate-artifact-json", 1, |a| {
        artifact::validate_json(&a[0])
    }),
    Function::new("shaping.artifact-json", 1, |a| artifact::render_json(&a[0], true)),
    Function::new("shaping.artifact-json.plain", 1, |a| {
        artifact::render_json(&a[0], false)
    }),
    Function::new("shaping.metadata-budget-json", 1, |a| {
        placement::metadata_budget_json(&a[0])
    }),
    Function::new("shaping.inbound-json", 1, |a| inbound::inbound_json(&a[0])),
    Function::new("shaping.push-json", 1, |a| render::push_json(&a[0])),
    Function::new("shaping.digest-json", 1, |a| render::digest_json(&a[0])),
    Function::new("activation.parse-header-json", 1, |a| {
        activation::parse_header_json(&a[0])
    }),
    Function::new("activation.requested-json", 2, |a| {
        activation::requested_json(&a[0], &a[1])
    }),
    Function::new("activation.format-header-json", 1, |a| {
        activation::format_header_json(&a[0])
    }),
    Function::new("activation.required-missing-json", 2, |a| {
        activation::required_missing_json(&a[0], &a[1])
    }),
    Function::new("activation.activate-json", 2, |a| {
        activation::activate_json(&a[0], &a[1])
    }),
    Function::new("activation.declare-on-card-json", 2, |a| {
        activation::declare_on_card_json(&a[0], &a[1])
    }),
    Function::new("coordination.validate-json", 2, |a| {
        coordination::validate_json(operation(&a[0]), &a[1])
    }),
    Function::new("coordination.fingerprint-json", 2, |a| {
        coordination::fingerprint_json(operation(&a[0]), &a[1])
    }),
    Function::new("coordination.overlap-json", 2, |a| {
        coordination::overlap_json(&a[0], &a[1])
    }),
    // No verdict, but what it reads is the host's to write.
    Function::new("session.desk.open", 1, |a| {
        let fault = Config::from_json(&a[0]).err();
        fault.map_or_else(
            || TAKEN.to_owned(),
            |fault| serde_json::json!(fault.to_string()).to_string(),
        )
    }),
];

const TAKEN: &str = r#"{"ok":true}"#;

impl Function {
    const fn new(name: &'static str, takes: usize, call: fn(&[String]) -> String) -> Self {
        Self { name, takes, call }
    }
}

/// One of the operations, whatever the text is.
fn operation(text: &str) -> &'static str {
    let sum = text
        .bytes()
        .fold(0_usize, |sum, byte| sum.wrapping_add(byte.into()));
    catalogue::OPERATIONS[sum % catalogue::OPERATIONS.len()].name
}

pub fn targets() -> Vec<Box<dyn Target>> {
    FUNCTIONS
        .iter()
        .map(|function| Box::new(function) as Box<dyn Target>)
        .collect()
}

impl Target for &'static Function {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&self, corpus: &Corpus, random: &mut Random) -> Result<(), String> {
        let arguments: Vec<String> = (0..self.takes).map(|_| argument(corpus, random)).collect();
        let answer = (self.call)(&arguments);
        let shown = || format!("{arguments:?} gives {answer}");
        if (self.call)(&arguments) != answer {
            return Err(format!("not the same twice: {}", shown()));
        }
        let value: Value =
            serde_json::from_str(&answer).map_err(|error| format!("no JSON: {error}: {}", shown()))?;
        well_formed(&value)
            .then_some(())
            .ok_or_else(|| format!("no verdict: {}", shown()))
    }
}

/// A JSON text or, where the corpus has one, a plain one.
fn argument(corpus: &Corpus, random: &mut Random) -> String {
    if random.one_in(6) {
        let text = random.pick(&corpus.texts).clone().into_bytes();
        return String::from_utf8_lossy(&spoil::bytes(text, random)).into_owned();
    }
    spoil::text(corpus, random)
}

/// A verdict that says no says why; anything else that is given is a value.
fn well_formed(verdict: &Value) -> bool {
    let told = |fault: &Value, member: &str| fault[member].as_str().is_some_and(|text| !text.is_empty());
    match verdict.get("ok") {
        Some(Value::Bool(false)) => {
            let error = &verdict["error"];
            told(error, "code")
                && (told(error, "field") && told(error, "message") || error["violations"].is_array())
        }
        _ => true,
    }
}
