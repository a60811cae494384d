//! The Spin host over wasmtime: on a store in memory, on SQLite, and on a Redis server.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "../../../support/party.rs"]
mod callers;
#[path = "../../../support/claimants.rs"]
mod claimants;
mod claims;
mod clients;
mod crowds;
#[path = "../../../support/desk.rs"]
mod desk;
mod extension;
#[path = "../../../support/hook.rs"]
mod hook;
mod kills;
mod limits;
#[path = "../../../support/notifications.rs"]
mod notifications;
#[path = "../../../support/official_suite.rs"]
mod official;
#[path = "../../../support/official.rs"]
mod official_clients;
#[path = "../../../support/pages.rs"]
mod pages;
mod party;
mod push;
#[path = "../../../support/reading.rs"]
mod reading;
mod settings;
mod stories;
#[allow(dead_code, reason = "each test uses its part of it")]
#[path = "../../../support/story_bench.rs"]
mod story_bench;
mod streams;
#[path = "../../../support/transcripts.rs"]
mod transcripts;
#[path = "../../../support/writers.rs"]
mod writers;
