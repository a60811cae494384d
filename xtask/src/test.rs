//! `cargo xtask test`: everything that must hold.

use std::time::Instant;

use crate::process::{self, cargo};
use crate::{Failure, Outcome, browser, component, deny, setup, spin, wit, workers};

struct Step {
    name: &'static str,
    run: fn() -> Outcome,
}

const STEPS: &[Step] = &[
    Step {
        name: "toolchain",
        run: toolchain,
    },
    Step {
        name: "format",
        run: || check(&["fmt", "--all", "--check"]),
    },
    Step {
        name: "core for wasm32-unknown-unknown",
        run: || core_for(setup::UNKNOWN),
    },
    Step {
        name: "core for wasm32-wasip2",
        run: || core_for(setup::WASIP2),
    },
    Step {
        name: "interfaces",
        run: || wit::run(&[]),
    },
    Step {
        name: "components",
        run: || component::run(&[]),
    },
    Step {
        name: "workers",
        run: || workers::run(&[]),
    },
    Step {
        name: "browser",
        run: || browser::run(&[]),
    },
    Step {
        name: "spin",
        run: || spin::run(&[]),
    },
    Step {
        name: "clippy",
        run: || check(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    },
    Step {
        name: "tests",
        run: || check(&["test", "--workspace"]),
    },
    // Its warnings are about duplicates, which `cargo xtask deny` shows to whoever wants to know.
    Step {
        name: "dependencies",
        run: || deny::check("error"),
    },
];

/// Runs every step in order, each with its time, and stops at the first that fails.
///
/// # Errors
/// A step fails, or any argument is given.
pub fn run(arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(Failure::new(format!(
            "`test` takes no arguments, not `{argument}`"
        )));
    }
    let start = Instant::now();
    for (number, step) in (1..).zip(STEPS) {
        println!("[{number}/{}] {}", STEPS.len(), step.name);
        let begun = Instant::now();
        (step.run)().map_err(|failure| Failure::new(format!("{}: {failure}", step.name)))?;
        println!(
            "[{number}/{}] {} ok, {:.1} s",
            STEPS.len(),
            step.name,
            begun.elapsed().as_secs_f64()
        );
    }
    println!("everything holds, {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn toolchain() -> Outcome {
    setup::components()?;
    setup::targets(&[setup::UNKNOWN, setup::WASIP2])
}

fn check(arguments: &[&str]) -> Outcome {
    process::run(&mut cargo(arguments))
}

fn core_for(target: &str) -> Outcome {
    check(&["check", "--package", "a2a-edge", "--target", target])
}
