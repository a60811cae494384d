//! `watch`: what happens in the session, as it happens: one line for each event, or in a terminal a picture of it all.

use a2a_edge::coordination::{PATH, URI};
use clap::Args;
use serde_json::json;

use super::{Common, Outcome, follow, screen, show};
use crate::text::json_line;

const EXAMPLES: &str = "\
In a terminal the session is drawn as it stands, anew whenever something happens, until Ctrl-C. Elsewhere, or with
--lines or --after, who is there comes first, then each event on a line of its own; with --json each event is a
document on a line of its own. When the connection breaks it is made again, and nothing is missed.

Examples:
  a2a-edge watch
  a2a-edge watch --lines
  a2a-edge watch --after 0
  a2a-edge watch --json";

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
            return screen::draw(&client);
        }
        if !common.json {
            let there = client.post(&format!("/{PATH}/participants:list"), &json!({}))?;
            follow::say(&show::present(&there, usize::MAX))?;
        }
        follow::session(&client, self.after, |event| {
            let line = if common.json {
                json_line(event)
            } else {
                show::event(event)
            };
            follow::say(&format!("{line}\n"))
        })?;
        Ok(follow::quiet())
    }
}
