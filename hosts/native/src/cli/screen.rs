//! `watch` in a terminal: the session as it stands, drawn anew whenever something happens.

use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use a2a_edge::coordination::PATH;
use serde_json::{Value, json};
use terminal_size::{Height, Width, terminal_size};

use super::follow::{self, Heard, quiet, say};
use super::{Outcome, digest, show};
use crate::client::Client;
use crate::failure::Failure;

/// Also when nothing happens: leases and deadlines pass by time alone.
const PULSE: Duration = Duration::from_secs(5);
/// What comes in so short a time is drawn together.
const TOGETHER: Duration = Duration::from_millis(50);
/// The most entries of a section that are asked for.
const ENTRIES: usize = 50;
/// Where nothing says how large the terminal is.
const USUAL: (u16, u16) = (80, 24);
/// From the top left, with nothing left of what was there.
const ANEW: &str = "\x1b[H\x1b[2J\x1b[3J";

/// Whether there is a screen to draw on.
pub(super) fn is_there() -> bool {
    io::stdout().is_terminal()
}

/// Draws until nobody looks any more.
pub(super) fn draw(client: &Client) -> Outcome {
    let (tell, told) = mpsc::channel();
    let listener = client.clone();
    thread::spawn(move || {
        let heard = follow::session(&listener, None, |_| {
            let gone = tell.send(Ok(())).is_err();
            Ok(if gone { Heard::NoMore } else { Heard::Yes })
        });
        // Whoever listens no more needs not know.
        let _ = heard.or_else(|failure| tell.send(Err(failure)));
    });
    let mut picture = drawn(client)?;
    while say(&format!("{ANEW}{picture}"))? == Heard::Yes && wait(&told)? == Heard::Yes {
        picture = match drawn(client) {
            // For how long a server may be away, whoever listens for events says.
            Err(Failure::Unreachable { .. }) => picture,
            drawn => drawn?,
        };
    }
    Ok(quiet())
}

/// Waits until there is something new to draw.
fn wait(told: &Receiver<Result<(), Failure>>) -> Result<Heard, Failure> {
    match told.recv_timeout(PULSE) {
        Ok(event) => event?,
        Err(RecvTimeoutError::Timeout) => return Ok(Heard::Yes),
        Err(RecvTimeoutError::Disconnected) => return Ok(Heard::NoMore),
    }
    thread::sleep(TOGETHER);
    told.try_iter().collect::<Result<(), _>>()?;
    Ok(Heard::Yes)
}

/// The session as it stands now, for the terminal as it is now.
fn drawn(client: &Client) -> Result<String, Failure> {
    let size = terminal_size().map_or(USUAL, |(Width(width), Height(height))| (width, height));
    let there = client.post(&format!("/{PATH}/participants:list"), &json!({}))?;
    let digest = client.post(&format!("/{PATH}/digest:get"), &json!({ "maxItems": ENTRIES }))?;
    Ok(frame(&there, &digest, size))
}

/// Who is there and how the session stands, with as much of each section as there is room for.
fn frame(there: &Value, digest: &Value, (width, height): (u16, u16)) -> String {
    let (width, height) = (usize::from(width), usize::from(height).max(1));
    let whole = |most: usize| {
        format!(
            "{}\n{}",
            digest::standing(digest, most),
            show::present(there, most)
        )
    };
    let fits = |text: &String| text.lines().count() < height;
    // A section of more lines than there are never fits.
    let most = (1..=ENTRIES.min(height))
        .rev()
        .map(whole)
        .find(fits)
        .unwrap_or_else(|| whole(1));
    let line = |line: &str| line.chars().take(width).collect::<String>();
    most.lines()
        .take(height.saturating_sub(1))
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(member: &str, count: usize) -> Value {
        let entry =
            |number: usize| json!({member: format!("{member}-{number:03}"), "title": "é".repeat(300)});
        (1..=count).map(entry).collect()
    }

    fn session(count: usize) -> (Value, Value) {
        let there = json!({"participants": numbered("participantId", count)});
        let digest = json!({"digest": {
            "generatedAt": "2026-07-17T01:00:00.000Z",
            "participants": {"active": 1, "total": count},
            "inbox": {"pending": 2},
            "openRequests": numbered("requestId", count),
            "decisions": numbered("decisionId", count),
        }});
        (there, digest)
    }

    #[test]
    fn all_is_shown_where_there_is_room() {
        let (there, digest) = session(3);
        let frame = frame(&there, &digest, (200, 50));
        for shown in [
            "participantId-001",
            "requestId-003",
            "decisionId-002",
            "2 pending",
        ] {
            assert!(frame.contains(shown), "{shown}: {frame}");
        }
    }

    #[test]
    fn a_small_screen_shows_the_newest_of_each_section() {
        let (there, digest) = session(40);
        let frame = frame(&there, &digest, (40, 24));
        assert!(frame.lines().count() < 24, "{frame}");
        assert!(frame.lines().all(|line| line.chars().count() <= 40), "{frame}");
        for shown in ["requestId-040", "decisionId-040"] {
            assert!(frame.contains(shown), "{shown}: {frame}");
        }
        assert!(!frame.contains("requestId-001"), "{frame}");
    }

    #[test]
    fn no_screen_is_too_small() {
        let (there, digest) = session(5);
        for size in [(0, 0), (1, 1), (0, 9), (9, 0), (9, 3)] {
            assert!(frame(&there, &digest, size).lines().count() < usize::from(size.1).max(2));
        }
    }
}
