//! `participant`: who belongs to a session.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use super::requests::Key;
use super::{Common, Outcome, Report, put, show, word};

const ADD_EXAMPLES: &str = "\
Examples:
  a2a-edge participant add 'Review bot' --kind agent
  a2a-edge participant add 'Ada' --kind human --role admin
  a2a-edge participant add 'Acme CI' --role client --json";

const REVOKE_EXAMPLES: &str = "\
The token stops working at once; what the participant did stays.

Examples:
  a2a-edge participant revoke p_7c1f";

const ROTATE_EXAMPLES: &str = "\
The tokens that the participant had stop working at once, your own too if it is you; what it did stays.

Examples:
  a2a-edge participant rotate p_7c1f";

const LIST_EXAMPLES: &str = "\
Examples:
  a2a-edge participant list";

/// What a participant is.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Kind {
    /// A person
    Human,
    /// A model that acts by itself
    Agent,
    /// A program
    Service,
}

/// What a participant may do.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Role {
    /// All that a member may, and decide
    Admin,
    /// Claim and do work
    Member,
    /// Send work and read its own tasks, nothing else
    Client,
}

/// The commands under `participant`.
#[derive(Debug, Subcommand)]
pub(super) enum Participant {
    /// Add somebody and print their token, once
    #[command(after_long_help = ADD_EXAMPLES)]
    Add(Add),
    /// Take somebody's token away
    #[command(after_long_help = REVOKE_EXAMPLES)]
    Revoke(Revoke),
    /// Give somebody another token, printed once, in place of theirs
    #[command(after_long_help = ROTATE_EXAMPLES)]
    Rotate(Rotate),
    /// List everybody
    #[command(after_long_help = LIST_EXAMPLES)]
    List,
}

/// Options of `participant add`.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// How the others see them
    name: String,
    /// What they are; agent if left out
    #[arg(long)]
    kind: Option<Kind>,
    /// What they may do; member if left out
    #[arg(long)]
    role: Option<Role>,
}

/// Options of `participant revoke`.
#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// Id of the participant
    participant: String,
    #[command(flatten)]
    key: Key,
}

/// Options of `participant rotate`.
#[derive(Debug, Args)]
pub(super) struct Rotate {
    /// Id of the participant
    participant: String,
}

impl Participant {
    pub(super) fn run(self, common: &Common) -> Outcome {
        match self {
            Self::Add(add) => add.run(common),
            Self::Revoke(revoke) => revoke.run(common),
            Self::Rotate(rotate) => rotate.run(common),
            Self::List => list(common),
        }
    }
}

impl Add {
    fn run(self, common: &Common) -> Outcome {
        let mut body = Map::new();
        body.insert("displayName".to_owned(), json!(self.name));
        put(&mut body, "kind", self.kind.map(word));
        put(&mut body, "role", self.role.map(word));
        let answer = common
            .deciding()?
            .operate("participants:add", &Value::Object(body))?;
        let text = show::admitted(&answer);
        Ok(Report::done(text, answer))
    }
}

impl Revoke {
    fn run(self, common: &Common) -> Outcome {
        let mut body = Map::new();
        body.insert("participantId".to_owned(), json!(self.participant));
        self.key.put(&mut body);
        let answer = common
            .deciding()?
            .operate("participants:revoke", &Value::Object(body))?;
        let participant = answer.get("participant").unwrap_or(&Value::Null);
        let text = format!(
            "Revoked; the token no longer works.\n{}",
            show::participant(participant)
        );
        Ok(Report::done(text, answer))
    }
}

impl Rotate {
    fn run(self, common: &Common) -> Outcome {
        let body = json!({ "participantId": self.participant });
        let answer = common.deciding()?.operate("credentials:rotate", &body)?;
        let text = show::admitted(&answer);
        Ok(Report::done(text, answer))
    }
}

fn list(common: &Common) -> Outcome {
    let answer = common.deciding()?.operate("participants:list", &json!({}))?;
    let rows = show::list(&answer, "participants").map(|participant| {
        ["/participantId", "/role", "/kind", "/displayName"].map(|member| show::brief(participant, member))
    });
    let header = ["PARTICIPANT", "ROLE", "KIND", "NAME"];
    let text = show::table(header, rows.collect(), "Nobody.");
    Ok(Report::done(text, answer))
}
