//! Prints how long each contender takes, what that is in megabytes a second, and how many times the Rust API's time.
//!
//! `--quick` takes fewer turns; `--corpus FILE` also writes what those in Node are given.

use std::error::Error;
use std::hint::black_box;

use a2a_edge_benches::contenders::{Component, Schema, native_projects, native_takes};
use a2a_edge_benches::corpus::{beyond_schema, full_size, minimal, requests, rows};
use a2a_edge_session_benches::contest::{self, Contest};

fn main() -> Result<(), Box<dyn Error>> {
    let turns = contest::turns();
    let corpus = std::env::args()
        .skip_while(|argument| argument != "--corpus")
        .nth(1);
    if let Some(path) = corpus {
        std::fs::write(path, node_corpus().to_string())?;
    }
    let (mut component, schema) = (Component::new()?, Schema::new()?);
    agree(&mut component, &schema)?;

    contest::head("a handoff, validated from bytes");
    for (name, request) in [("minimal", minimal()), ("full-size", full_size())] {
        let mut contest = Contest::new(format!("{name}, {} bytes", request.len()), request.len());
        contest.enter("native", || native_takes(black_box(&request)));
        contest.enter("component", || {
            component.takes(black_box(&request)).unwrap_or_default()
        });
        contest.enter("jsonschema", || schema.takes(black_box(&request)));
        contest.run(turns);
    }

    contest::head("facts, projected from text");
    for (row, facts) in rows() {
        let mut contest = Contest::new(format!("row {row}, {} bytes", facts.len()), facts.len());
        contest.enter("native", || native_projects(black_box(&facts)).len());
        contest.enter("component", || {
            component
                .projects(black_box(&facts))
                .map_or(0, |answer| answer.len())
        });
        contest.run(turns);
    }

    println!("\nWhat JSON Schema cannot say, and the other two hold to:");
    for (_, _, rule) in beyond_schema() {
        println!("- {rule}");
    }
    Ok(())
}

/// What the contenders in Node are given: every request that is text, and the two that are measured, by name.
fn node_corpus() -> serde_json::Value {
    let text = |request: &Vec<u8>| String::from_utf8(request.clone()).ok();
    let requests: Vec<String> = requests().iter().filter_map(text).collect();
    let (minimal, full) = (text(&minimal()), text(&full_size()));
    serde_json::json!({"requests": requests, "measured": {"minimal": minimal, "full-size": full}})
}

/// Holds the contenders to one judgement of every request, and to one projection of every row's facts.
fn agree(component: &mut Component, schema: &Schema) -> Result<(), Box<dyn Error>> {
    let requests = requests();
    for request in &requests {
        let takes = native_takes(request);
        if component.takes(request)? != takes || schema.takes(request) != takes {
            return Err(format!("the contenders disagree on {}", String::from_utf8_lossy(request)).into());
        }
    }
    for (row, facts) in rows() {
        if component.projects(&facts)? != native_projects(&facts) {
            return Err(format!("the component projects row {row} in its own way").into());
        }
    }
    println!("All contenders agree on {} requests and 12 rows.", requests.len());
    Ok(())
}
