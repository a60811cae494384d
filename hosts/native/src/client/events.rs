//! Reading an answer that is a stream of server-sent events.

use std::io::{BufRead, BufReader, Read as _};

use serde_json::Value;
use ureq::BodyReader;

use crate::failure::Failure;

/// The longest line of a stream that is read, in bytes.
const LINE_BYTES: u64 = 16 * 1024 * 1024;

/// The events of a stream, as they come.
pub struct Events {
    lines: BufReader<BodyReader<'static>>,
    /// The id of the last event.
    last: Option<String>,
}

impl Events {
    pub(super) fn new(body: BodyReader<'static>) -> Self {
        Self {
            lines: BufReader::new(body),
            last: None,
        }
    }

    /// The id of the last event, to go on behind it.
    #[must_use]
    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// What the next event says, as soon as there is one; none when the stream has ended or broke off.
    ///
    /// # Errors
    /// What comes is no stream of events.
    pub fn read(&mut self) -> Result<Option<Value>, Failure> {
        let mut data = None;
        while let Some(line) = self.line()? {
            match line.split_once(": ") {
                Some(("id", id)) => self.last = Some(id.to_owned()),
                Some(("data", text)) => {
                    let value = serde_json::from_str(text);
                    data = Some(value.map_err(|error| Failure::Unreadable(format!("an event: {error}")))?);
                }
                // Comments, and fields that say nothing here.
                Some(_) => {}
                None if line.is_empty() && data.is_some() => return Ok(data),
                None => {}
            }
        }
        Ok(None)
    }

    fn line(&mut self) -> Result<Option<String>, Failure> {
        let mut line = Vec::new();
        let mut limited = self.lines.by_ref().take(LINE_BYTES);
        // A connection that breaks ends the stream like any other: its reader goes on behind the last event.
        if limited.read_until(b'\n', &mut line).is_err() || line.pop() != Some(b'\n') {
            return Ok(None);
        }
        let line = String::from_utf8(line);
        line.map(Some)
            .map_err(|error| Failure::Unreadable(format!("an event: {error}")))
    }
}
