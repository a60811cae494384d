//! Every story on every store, by four instances in turn.

use a2a_edge_spin_tests::Deployment;

use crate::callers::scratch;
use crate::party::{Redis, sqlite, start};
use crate::transcripts::same;

#[test]
fn every_story_has_the_same_transcript_on_a_store_in_memory() {
    same(&start(&Deployment::on("memory")));
}

#[test]
fn every_story_has_the_same_transcript_on_sqlite() {
    let place = scratch();
    same(&start(&sqlite(&place)));
}

#[test]
fn every_story_has_the_same_transcript_on_redis() {
    let redis = Redis::start(scratch());
    same(&start(&redis.deployment()));
}

#[test]
fn an_instance_for_each_request_changes_no_transcript() {
    same(&start(&Deployment::on("memory").with("requests", "1")));
}
