//! The Cloudflare host in the platform's runtime.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "../../../support/party.rs"]
mod callers;
mod card;
#[path = "../../../support/claimants.rs"]
mod claimants;
mod claims;
mod clients;
mod deploy;
#[path = "../../../support/desk.rs"]
mod desk;
mod directory;
mod documents;
#[path = "../../../support/hook.rs"]
mod hook;
mod kills;
#[path = "../../../support/notifications.rs"]
mod notifications;
mod odd;
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
mod rebuild;
mod settings;
mod store;
#[path = "../../../support/store_suite.rs"]
mod store_suite;
mod stories;
#[allow(dead_code, reason = "each test uses its part of it")]
#[path = "../../../support/story_bench.rs"]
mod story_bench;
mod streams;
#[path = "../../../support/transcripts.rs"]
mod transcripts;
mod traps;
#[path = "../../store/src/wire.rs"]
mod wire;
#[path = "../../../support/writers.rs"]
mod writers;
