//! Validates a work/v1 request from standard input with the component.
//!
//! Usage: `cargo run --package a2a-edge-example -- target/a2a-edge-validators.wasm < request.json`

use std::error::Error;
use std::path::Path;

use bindings::exports::a2a_edge::core::work::{Handoffs, Request};
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store};

#[allow(
    missing_docs,
    reason = "the bindings are documented where they come from, in wit/"
)]
mod bindings {
    wasmtime::component::bindgen!({ path: "../../wit", world: "validators" });
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("expected the path of the component")?;
    let request = std::io::read_to_string(std::io::stdin())?;
    println!("{}", judge(Path::new(&path), request)?);
    Ok(())
}

/// What the component says of a request, in a line.
fn judge(component: &Path, request: String) -> wasmtime::Result<String> {
    let engine = Engine::default();
    let component = Component::from_file(&engine, component)?;
    let mut store = Store::new(&engine, ());
    // The component imports nothing, so the linker stays empty.
    let core = bindings::Validators::instantiate(&mut store, &component, &Linker::new(&engine))?;
    let work = core.a2a_edge_core_work();
    Ok(match work.call_validate(&mut store, &request, Handoffs::Taken)? {
        Ok(Some(Request::Handoff(handoff))) => format!("a handoff: {}", handoff.title),
        Ok(Some(Request::Status(task))) => format!("a look at {}", task.as_deref().unwrap_or("all handoffs")),
        Ok(None) => "no request".to_owned(),
        Err(fault) => format!("{}: {}", fault.field, fault.message),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_component_is_asked() {
        let component = xtask::component::build(xtask::component::VALIDATORS).unwrap();
        let judge = |request: &str| judge(&component, request.to_owned()).unwrap();
        assert_eq!(
            judge(r#"{"skill":"handoff","title":"Fix it"}"#),
            "a handoff: Fix it"
        );
        assert_eq!(judge(r#"{"skill":"status"}"#), "a look at all handoffs");
        assert_eq!(judge("null"), "no request");
        let refused = judge(r#"{"skill":"handoff","title":"Fix it","writes":["../up"]}"#);
        assert!(
            refused.starts_with("work.writes[0]: expected a path"),
            "{refused}"
        );
    }
}
