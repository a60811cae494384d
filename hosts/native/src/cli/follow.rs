//! Following what happens, event by event, until nobody reads on.

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use a2a_edge::coordination::PATH;
use serde_json::Value;

use super::{Report, print, unprinted};
use crate::client::Client;
use crate::failure::Failure;

/// How long a broken connection rests before it is made again, and for how long that is tried.
const REST: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(60);

/// Follows the session's events from behind one of them, or from now on. When the connection breaks it is made again, and
/// nothing is missed.
pub(super) fn session(
    client: &Client,
    mut after: Option<String>,
    mut hear: impl FnMut(&Value) -> Result<Heard, Failure>,
) -> Result<(), Failure> {
    let mut broken: Option<Instant> = None;
    loop {
        match client.stream("GET", &format!("/{PATH}/events:stream"), None, after.as_deref()) {
            Ok(mut events) => {
                broken = None;
                while let Some(event) = events.read()? {
                    if hear(&event)? == Heard::NoMore {
                        return Ok(());
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
