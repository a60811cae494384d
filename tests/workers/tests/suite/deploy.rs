//! `wrangler.toml` deploys as it is, and what lies beside it is safe to deploy.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::npm;

use crate::party::{PLATFORM, scratch};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A Node that runs wrangler: the one that npm installed, else whatever the system has.
fn node() -> PathBuf {
    npm::native_program(PLATFORM.modules(), "", "node-", "node").unwrap_or_else(|_| PathBuf::from("node"))
}

#[test]
fn a_dry_run_of_the_deployment_finds_everything_in_place() {
    let (out, home) = (scratch(), scratch());
    let wrangler = PLATFORM.modules().join("wrangler/bin/wrangler.js");
    let output = Command::new(node())
        .arg(wrangler)
        .args(["deploy", "--dry-run", "--outdir"])
        .arg(out.path())
        .current_dir(root())
        .env("HOME", home.path())
        .env("WRANGLER_SEND_METRICS", "false")
        .env("CI", "true")
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{said}");
    for part in [
        "SESSIONS",
        "Session",
        "DIRECTORY",
        "A2A_EDGE_NAME",
        "--dry-run: exiting now",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(out.path().join("index.js").is_file(), "{said}");
}

#[test]
fn the_example_of_the_secrets_sets_none() {
    let example = std::fs::read_to_string(root().join(".dev.vars.example")).unwrap();
    let lines = example
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    assert_eq!(lines.collect::<Vec<_>>(), ["A2A_EDGE_OPERATOR_TOKEN=\"\""]);
}
