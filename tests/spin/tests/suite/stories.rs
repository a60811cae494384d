//! Every story on every store, by four instances in turn.

use a2a_edge_spin_tests::Deployment;

use crate::callers::scratch;
use crate::party::{Redis, sqlite, start};
use crate::transcripts::same;

/// Plays them all; a story asks when the card changed last, which only the deployment knows.
fn played(deployment: Deployment) {
    same(&start(&deployment.with("card_modified", "2026-07-17T01:00:00Z")));
}

#[test]
fn every_story_has_the_same_transcript_on_a_store_in_memory() {
    played(Deployment::on("memory"));
}

#[test]
fn every_story_has_the_same_transcript_on_sqlite() {
    let place = scratch();
    played(sqlite(&place));
}

#[test]
fn every_story_has_the_same_transcript_on_redis() {
    let redis = Redis::start(scratch());
    played(redis.deployment());
}

#[test]
fn an_instance_for_each_request_changes_no_transcript() {
    played(Deployment::on("memory").with("requests", "1"));
}
