//! `watch` and `send --stream`: what happens, as it happens; but in a terminal, where `watch` draws, one line for each event.

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use a2a_edge::coordination::{PATH, URI};
use clap::Args;
use serde_json::Value;

use super::{Common, Outcome, Report, digest, print, screen, show, unprinted};
use crate::client::{Client, Events};
use crate::failure::Failure;
use crate::text::{json_line, quoted};

const EXAMPLES: &str = "\
In a terminal the session is drawn as it stands, anew whenever something happens, until Ctrl-C. Elsewhere, or with
--lines or --after, who is there comes first, then each event on a line of its own; with --json each event is a
document on a line of its own. When the connection breaks it is made again, and nothing is missed.

Examples:
  a2a-edge watch
  a2a-edge watch --lines
  a2a-edge watch --after 0
  a2a-edge watch --json";

/// How long a broken connection rests before it is made again, and for how long that is tried.
pub(super) const REST: Duration = Duration::from_secs(1);
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Options of `watch`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Watch {
    /// Begin behind this event; 0 is the session's beginning
    #[arg(long, value_name = "EVENT")]
    after: Option<String>,
    /// Each event on a line of its own, in a terminal too
    #[arg(long)]
    lines: bool,
}

impl Watch {
    pub(super) fn run(self, common: &Common) -> Outcome {
        let client = common.client().activating(vec![URI.to_owned()]);
        if screen::is_there() && !common.json && !self.lines && self.after.is_none() {
            return screen::show(&client);
        }
        if !common.json {
            let there = client.post(&format!("/{PATH}/participants:list"), &serde_json::json!({}))?;
            say(&present(&there, usize::MAX))?;
        }
        let mut after = self.after;
        let mut broken: Option<Instant> = None;
        loop {
            match open(&client, after.as_deref()) {
                Ok(mut events) => {
                    broken = None;
                    while let Some(event) = events.read()? {
                        let line = if common.json {
                            json_line(&event)
                        } else {
                            told(&event)
                        };
                        if say(&format!("{line}\n"))? == Heard::NoMore {
                            return Ok(quiet());
                        }
                    }
                    after = events.last().map(str::to_owned).or(after);
                }
                Err(failure @ Failure::Unreachable { .. }) => {
                    if broken.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                        return Err(failure);
                    }
                }
                Err(failure) => return Err(failure),
            }
            sleep(REST);
        }
    }
}

pub(super) fn open(client: &Client, after: Option<&str>) -> Result<Events, Failure> {
    client.stream("GET", &format!("/{PATH}/events:stream"), None, after)
}

/// Whether anybody reads on.
#[derive(PartialEq, Eq)]
pub(super) enum Heard {
    Yes,
    NoMore,
}

pub(super) fn say(text: &str) -> Result<Heard, Failure> {
    match print(text) {
        Ok(()) => Ok(Heard::Yes),
        // Whoever closed it wants no more, which is no failure of the command.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Heard::NoMore),
        Err(error) => Err(unprinted(&error)),
    }
}

/// A report of nothing: all was said on the way.
pub(super) const fn quiet() -> Report {
    Report {
        text: String::new(),
        json: Value::Null,
        code: crate::failure::exit::DONE,
    }
}

/// Who takes part: the last `most` that were admitted.
pub(super) fn present(answer: &Value, most: usize) -> String {
    let (_, newest) = digest::newest(show::list(answer, "participants"), most);
    let rows: Vec<[String; 3]> = newest
        .into_iter()
        .map(|one| {
            [
                show::cell(one, "/participantId"),
                show::cell(one, "/presence/state"),
                show::cell(one, "/displayName"),
            ]
        })
        .collect();
    show::table(["PARTICIPANT", "PRESENCE", "NAME"], rows, "Nobody takes part.")
}

/// An event of the session, as a line: when, what, by whom, and what it is about.
pub(super) fn told(event: &Value) -> String {
    let about = [
        "/data/claim/resourceId",
        "/data/request/title",
        "/data/status",
        "/data/note",
        "/data/displayName",
        "/data/activity",
        "/data/state",
        "/data/requestId",
        "/data/claimId",
        "/data/taskId",
    ];
    let about = about.iter().find(|pointer| event.pointer(pointer).is_some());
    let actor = match event.get("actor") {
        Some(_) => show::cell(event, "/actor"),
        None => "-".to_owned(),
    };
    [
        show::cell(event, "/at"),
        show::cell(event, "/eventId"),
        show::cell(event, "/type"),
        actor,
        about
            .map(|pointer| show::brief(event, pointer))
            .unwrap_or_default(),
    ]
    .join("  ")
}

/// An event about a task, as a line.
pub(super) fn of_task(event: &Value) -> String {
    if let Some(task) = event.get("task") {
        let id = show::cell(task, "/id");
        return format!("task {id}: {}", status(task));
    }
    if let Some(update) = event.get("statusUpdate") {
        return status(update);
    }
    if let Some(artifact) = event.pointer("/artifactUpdate/artifact") {
        return format!("artifact {}", show::cell(artifact, "/artifactId"));
    }
    let message = event.get("message").unwrap_or(event);
    quoted(&show::parts(message))
}

fn status(holder: &Value) -> String {
    let state = show::state(holder, "/status/state");
    let words = holder.pointer("/status/message/parts/0");
    let words = words.map(|part| show::brief(part, "/text")).unwrap_or_default();
    format!("{state}  {words}")
}
