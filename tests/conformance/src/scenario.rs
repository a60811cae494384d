//! What the kit expects of an agent, by how the id of its message begins.
//!
//! These prefixes are the kit's, and only the member that plays them knows of them: the desk never looks at a message's
//! id for meaning.

use std::time::Duration;

use serde_json::{Value, json};

/// How long the kit takes a stream to be silent: its scenarios wait for once or twice of it.
const STREAMING_TIMEOUT: Duration = Duration::from_secs(2);

/// One thing that a member does about a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Hands in something, and goes on.
    HandIn(Value),
    /// Lets time pass.
    Wait(Duration),
    /// Asks the client, and is done until it answers.
    Ask,
    /// Waits for a decision of the owner's.
    Hold,
    /// Ends the work with an answer, and with what is handed in.
    Complete(&'static str, Vec<Value>),
    /// Answers with a message instead of a task.
    Answer(&'static str),
}

/// What to do about a message with this id: the longest prefix counts, and whatever else there is, is completed.
#[must_use]
pub fn steps(message_id: &str) -> Vec<Step> {
    let known = scenarios()
        .into_iter()
        .filter(|(prefix, _)| message_id.starts_with(prefix));
    known
        .max_by_key(|(prefix, _)| prefix.len())
        .map_or_else(|| vec![done()], |(_, steps)| steps)
}

fn done() -> Step {
    Step::Complete("Hello from TCK", Vec::new())
}

fn scenarios() -> Vec<(&'static str, Vec<Step>)> {
    let yields = |artifact: Value| vec![Step::Complete("Hello from TCK", vec![artifact])];
    let streams = |artifact: Value| vec![Step::HandIn(artifact), done()];
    let waits = |times: u32| vec![Step::Wait(STREAMING_TIMEOUT.saturating_mul(times)), done()];
    vec![
        ("tck-complete-task", vec![done()]),
        ("tck-input-required", vec![Step::Ask]),
        ("tck-auth-required", vec![Step::Hold]),
        ("tck-artifact-text", yields(text("Generated text content"))),
        ("tck-artifact-file", yields(file())),
        ("tck-artifact-file-url", yields(url())),
        (
            "tck-artifact-data",
            yields(artifact(json!({"data": {"key": "value", "count": 42}}))),
        ),
        (
            "tck-message-response",
            vec![Step::Answer("Direct message response")],
        ),
        ("tck-stream-001", streams(text("Stream hello from TCK"))),
        ("tck-stream-003", streams(text("Stream task lifecycle"))),
        ("tck-stream-ordering-001", streams(text("Ordered output"))),
        ("tck-stream-artifact-text", streams(text("Streamed text content"))),
        ("tck-stream-artifact-file", streams(file())),
        ("tck-delayed-complete", waits(1)),
        ("test-resubscribe-message-id", waits(2)),
    ]
}

fn artifact(part: Value) -> Value {
    json!({"artifactId": "output", "parts": [part]})
}

fn text(text: &str) -> Value {
    artifact(json!({ "text": text }))
}

/// "tck" in base64.
fn file() -> Value {
    artifact(json!({"raw": "dGNr", "filename": "output.txt", "mediaType": "text/plain"}))
}

fn url() -> Value {
    let address = "https://example.com/output.txt";
    artifact(json!({"url": address, "filename": "output.txt", "mediaType": "text/plain"}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_counts_and_anything_else_is_completed() {
        assert_eq!(
            steps("tck-artifact-file-url-0a1b2c3d"),
            [Step::Complete("Hello from TCK", vec![url()])]
        );
        assert_eq!(
            steps("tck-artifact-file-0a1b2c3d"),
            [Step::Complete("Hello from TCK", vec![file()])]
        );
        assert_eq!(steps("tck-svc-002-ext-0a1b2c3d"), [done()]);
        assert_eq!(steps("m-1"), [done()]);
    }
}
