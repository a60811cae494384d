//! Those who compete. Each takes bytes, as they come from the network.

use std::error::Error;

use a2a_edge::dispatch::work::{Handoffs, validate};
use a2a_edge::dispatch::{SYSTEM_ADDRESS, projection};
use a2a_edge::json;
use a2a_edge_component_tests::exports::a2a_edge::core::work::Handoffs as Taking;
use a2a_edge_component_tests::{Compiled, Instance};
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// Whether the Rust API takes a work/v1 request.
#[must_use]
pub fn native_takes(request: &[u8]) -> bool {
    json::parse(request).is_ok_and(|request| validate(Some(&request), Handoffs::Taken).is_ok())
}

/// The projection of facts by the Rust API.
#[must_use]
pub fn native_projects(facts: &str) -> String {
    projection::project_json(facts, SYSTEM_ADDRESS)
}

/// The component, one instance for all calls.
pub struct Component {
    instance: Instance,
}

impl Component {
    /// Builds the component and makes the instance.
    ///
    /// # Errors
    /// It does not build or cannot be instantiated.
    pub fn new() -> Result<Self, Box<dyn Error>> {
        let instance = Compiled::build()?.instantiate()?;
        Ok(Self { instance })
    }

    /// Whether it takes a work/v1 request. The component takes text, so the bytes are first held to be UTF-8, as
    /// whoever passes them on has to.
    ///
    /// # Errors
    /// The call traps.
    pub fn takes(&mut self, request: &[u8]) -> wasmtime::Result<bool> {
        let Ok(request) = std::str::from_utf8(request) else {
            return Ok(false);
        };
        let Instance { core, store } = &mut self.instance;
        let verdict =
            core.a2a_edge_core_work()
                .call_validate_json(store, &request.to_owned(), Taking::Taken)?;
        Ok(verdict == r#"{"ok":true}"#)
    }

    /// Its projection of facts.
    ///
    /// # Errors
    /// The call traps.
    pub fn projects(&mut self, facts: &String) -> wasmtime::Result<String> {
        let Instance { core, store } = &mut self.instance;
        core.a2a_edge_core_projection()
            .call_project_json(store, facts, Some(SYSTEM_ADDRESS))
    }
}

/// The JSON Schema validator, with the faster of its two engines for patterns.
pub struct Schema(Validator);

impl Schema {
    /// Compiles the schema of work/v1 requests.
    ///
    /// # Errors
    /// It is no schema.
    pub fn new() -> Result<Self, Box<dyn Error>> {
        let schema: Value = serde_json::from_str(include_str!("../work-request.schema.json"))?;
        let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
        Ok(Self(options.build(&schema)?))
    }

    /// Whether a request is JSON and satisfies the schema.
    #[must_use]
    pub fn takes(&self, request: &[u8]) -> bool {
        serde_json::from_slice(request).is_ok_and(|request: Value| self.0.is_valid(&request))
    }
}
