//! Every story in the Worker and in a desk in this process. The native host's tests hold it to the same transcripts, so
//! both hosts give the same bytes.

use a2a_edge_stories::{Http, Story, Target, directory, play};
use a2a_edge_workers_tests::{Deployment, Directory, OPERATOR};

use crate::desk;
use crate::party::{PLATFORM, scratch};
use crate::story_bench::StoryBench;

fn transcript(story: &Story, target: &dyn Target, operator: &str) -> String {
    play(story, target, operator).unwrap_or_else(|failure| panic!("{failure}"))
}

fn same_transcripts(deployment: &Deployment) {
    let place = scratch();
    let running = PLATFORM.start(deployment, place.path()).unwrap();
    let (remote, local) = (Http::new(running.url()), StoryBench::new());
    for story in Story::read_all(&directory()).unwrap() {
        let there = transcript(&story, &remote, OPERATOR);
        let here = transcript(&story, &local, desk::OPERATOR);
        for (there, here) in there.lines().zip(here.lines()) {
            assert_eq!(there, here, "{}", story.name);
        }
        assert_eq!(there, here, "{}", story.name);
    }
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
