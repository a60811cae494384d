//! Every story in the Worker and in a desk in this process.

use a2a_edge_workers_tests::{Deployment, Directory};

use crate::party::{PLATFORM, scratch};
use crate::transcripts::same;

fn same_transcripts(deployment: &Deployment) {
    let place = scratch();
    same(&PLATFORM.start(deployment, place.path()).unwrap());
}

#[test]
fn every_story_has_the_same_transcript_in_the_worker_and_in_process() {
    same_transcripts(&Deployment::default());
}

#[test]
fn a_directory_that_lags_or_fails_changes_no_transcript() {
    for directory in [Directory::Stale, Directory::Failing] {
        same_transcripts(&Deployment::default().directory(directory));
    }
}
