//! Every story, played against a desk in this process over a store in memory.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
#![allow(
    clippy::panic,
    clippy::arithmetic_side_effects,
    dead_code,
    reason = "the bench is shared with other tests"
)]

#[path = "../../support/desk.rs"]
mod desk;
#[path = "../../support/story_bench.rs"]
mod story_bench;

use a2a_edge_stories::{Rpc, Story, directory, play};
use story_bench::{Forgetful, StoryBench};

#[test]
fn every_story_plays_against_a_desk_in_this_process() {
    let bench = StoryBench::new();
    let stories = Story::read_all(&directory()).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(stories.len() >= 14, "{}", stories.len());
    for story in &stories {
        play(story, &bench, desk::OPERATOR).unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[test]
fn a_desk_that_keeps_nothing_in_memory_answers_the_same() {
    let (bench, forgetful) = (StoryBench::new(), Forgetful(StoryBench::new()));
    for story in Story::read_all(&directory()).unwrap() {
        let kept = play(&story, &bench, desk::OPERATOR).unwrap_or_else(|failure| panic!("{failure}"));
        let loaded = play(&story, &forgetful, desk::OPERATOR).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(loaded, kept, "{}", story.name);
    }
}

#[test]
fn every_story_is_the_same_over_json_rpc() {
    let (bench, rpc) = (StoryBench::new(), Rpc::new(StoryBench::new()));
    for story in Story::read_all(&directory()).unwrap() {
        let http = play(&story, &bench, desk::OPERATOR).unwrap_or_else(|failure| panic!("{failure}"));
        let told = play(&story, &rpc, desk::OPERATOR).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(told, http, "{}", story.name);
    }
    assert!(rpc.calls() > 150, "{}", rpc.calls());
}

#[test]
fn a_story_plays_the_same_twice() {
    let bench = StoryBench::new();
    let stories = Story::read_all(&directory()).unwrap();
    let story = stories
        .iter()
        .find(|story| story.name == "a-handoff-lands")
        .unwrap();
    let [first, second] = [(); 2].map(|()| play(story, &bench, desk::OPERATOR).unwrap());
    assert_eq!(first, second);
    assert!(first.contains("\nclient> GET /tasks/${task}\n< 200\n"), "{first}");
    assert!(first.contains(r#""id":"${task}""#), "{first}");
}

#[test]
fn a_failure_says_where_and_what() {
    let story = br#"{"shows": "What fails.", "steps": [
        {"as": "owner", "does": "lists", "call": "GET /tasks",
            "expect": {"status": 400, "body": {"tasks": [], "totalSize": 1, "nextPageToken": ""}}}]}"#;
    let story = Story::parse("wrong", story).unwrap();
    let failure = play(&story, &StoryBench::new(), desk::OPERATOR).unwrap_err();
    let told = failure.to_string();
    let expected = "wrong, step 1: lists\n  owner> GET /tasks\n  (- expected, + came)\n  \
        status\n    - 400\n    + 200\n  body.totalSize\n    - 1\n    + 0\n  body.pageSize\n    -\n    + 50\n  \
        the whole answer: ";
    assert!(told.starts_with(expected), "{told}");
}
