//! `session`: the operator's own verb.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::participant::Kind;
use super::{Common, Outcome, Report, put, show, word};
use crate::data;

const CREATE_EXAMPLES: &str = "\
The operator's token is taken from --operator-token, from the environment, or from the data
directory of a server on this machine. It makes sessions and does nothing else.

Examples:
  a2a-edge session create --owner 'Ada'
  a2a-edge session create --owner 'Ada' --kind human --data /var/lib/a2a-edge --json";

/// The commands under `session`.
#[derive(Subcommand)]
pub(super) enum Session {
    /// Make a session and print its owner's token, once
    #[command(after_long_help = CREATE_EXAMPLES)]
    Create(Create),
}

/// Options of `session create`.
#[derive(Args)]
pub(super) struct Create {
    /// Name of the session's owner
    #[arg(long, value_name = "NAME")]
    owner: String,
    /// What the owner is
    #[arg(long)]
    kind: Option<Kind>,
    /// The deployment's own token
    #[arg(long, env = data::OPERATOR_TOKEN, value_name = "TOKEN", hide_env_values = true)]
    operator_token: Option<String>,
    /// Data directory of a server on this machine, to read the operator's token from
    #[arg(long, value_name = "DIRECTORY", default_value = data::DATA_DIRECTORY)]
    data: PathBuf,
}

impl Session {
    pub(super) fn run(self, common: &Common) -> Outcome {
        match self {
            Self::Create(create) => create.run(common),
        }
    }
}

impl Create {
    fn run(self, common: &Common) -> Outcome {
        let token = match self.operator_token {
            Some(token) => token,
            None => data::read_operator_token(&self.data)?,
        };
        let mut owner = Map::new();
        owner.insert("displayName".to_owned(), json!(self.owner));
        put(&mut owner, "kind", self.kind.map(word));
        let mut body = Map::new();
        body.insert("owner".to_owned(), Value::Object(owner));
        let client = common.client_with(Some(token));
        let answer = client.operate("sessions:create", &Value::Object(body))?;
        let mut text = show::admitted(&answer);
        text.push_str(&show::next(
            "add members and clients",
            "A2A_EDGE_TOKEN=TOKEN a2a-edge participant add NAME",
        ));
        Ok(Report::done(text, answer))
    }
}
