//! Stories played against a host and against a desk in this process. The native host's tests hold it to the same
//! transcripts, so all hosts give the same bytes.

use a2a_edge_stories::server::{OPERATOR, Running};
use a2a_edge_stories::{Http, Story, Target, directory, play};

use crate::desk;
use crate::story_bench::StoryBench;

fn transcript(story: &Story, target: &dyn Target, operator: &str) -> String {
    play(story, target, operator).unwrap_or_else(|failure| panic!("{failure}"))
}

/// Plays every story against both.
pub(crate) fn same(running: &Running) {
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
