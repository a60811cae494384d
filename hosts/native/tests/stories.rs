//! Every story against the built server over TCP, in both bindings, and against a desk in this process: the transcripts
//! are the same, byte for byte.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    dead_code,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "../../../tests/support/desk.rs"]
mod desk;
#[path = "../../../tests/support/story_bench.rs"]
mod story_bench;
mod support;

use a2a_edge_stories::{Http, Rpc, Story, Target, directory, play};
use story_bench::StoryBench;
use support::{Desk, Scratch, file};

fn transcript(story: &Story, target: &dyn Target, operator: &str) -> String {
    play(story, target, operator).unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn every_story_has_the_same_transcript_over_tcp_in_both_bindings_and_in_process() {
    let scratch = Scratch::new();
    let server = Desk::start(&scratch.data(), &["--quiet"]);
    let operator = file(&scratch.data(), "operator-token");
    let (remote, local) = (Http::new(server.url()), StoryBench::new());
    let rpc = Rpc::new(Http::new(server.url()));
    for story in Story::read_all(&directory()).unwrap() {
        let there = transcript(&story, &remote, operator.trim());
        let here = transcript(&story, &local, desk::OPERATOR);
        // Two transcripts of a hundred lines are told apart better line by line.
        for (there, here) in there.lines().zip(here.lines()) {
            assert_eq!(there, here, "{}", story.name);
        }
        assert_eq!(there, here, "{}", story.name);
        assert_eq!(
            transcript(&story, &rpc, operator.trim()),
            here,
            "{} over JSON-RPC",
            story.name
        );
    }
    server.stop();
}
