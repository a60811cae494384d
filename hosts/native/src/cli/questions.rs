//! `questions`: what participants ask each other, and the clients of their tasks.

use a2a_edge::coordination;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::requests::Key;
use super::{Common, Outcome, Report, input, put, put_list, show};
use crate::client::Client;
use crate::failure::Failure;

const ASK_EXAMPLES: &str = "\
Whoever is asked finds the question in its inbox. A client is asked with the request of its own task, which waits
for the answer.

Examples:
  a2a-edge questions ask 'Merge now, or wait for the release?' --choice merge --choice wait
  a2a-edge questions ask 'Who knows this parser?' --capability rust
  a2a-edge questions ask 'Which region first?' --request req-teidvh6k2xabtn5l --to p-xk4n2m7wq3vb6zp5";

const ANSWER_EXAMPLES: &str = "\
Examples:
  a2a-edge questions answer question-k7wq2m4xvb3n6zp5 --choice wait
  a2a-edge questions answer question-k7wq2m4xvb3n6zp5 'Ask Ada: she wrote it'";

/// The commands under `questions`.
#[derive(Debug, Subcommand)]
pub(super) enum Questions {
    /// Ask participants, or the client of a request's task
    #[command(after_long_help = ASK_EXAMPLES)]
    Ask(Ask),
    /// Answer a question, once
    #[command(after_long_help = ANSWER_EXAMPLES)]
    Answer(Answer),
}

/// Options of `questions ask`.
#[derive(Debug, Args)]
pub(super) struct Ask {
    /// What is asked; `-` reads standard input
    body: String,
    /// Ask this participant; once for each. Everyone if left out
    #[arg(long, value_name = "PARTICIPANT", conflicts_with = "capability")]
    to: Vec<String>,
    /// Ask whoever announces that it can do this
    #[arg(long, value_name = "CAPABILITY")]
    capability: Option<String>,
    /// An answer to choose from; once for each
    #[arg(long = "choice", value_name = "CHOICE")]
    choices: Vec<String>,
    /// Id of the request that it is about
    #[arg(long, value_name = "REQUEST")]
    request: Option<String>,
    /// Id of the workstream that it belongs to
    #[arg(long, value_name = "WORKSTREAM")]
    workstream: Option<String>,
    #[command(flatten)]
    key: Key,
}

/// Options of `questions answer`.
#[derive(Debug, Args)]
pub(super) struct Answer {
    /// Id of the question
    question: String,
    /// The answer; `-` reads standard input
    #[arg(required_unless_present = "choice")]
    body: Option<String>,
    /// One of the question's choices
    #[arg(long, value_name = "CHOICE")]
    choice: Option<String>,
    #[command(flatten)]
    key: Key,
}

impl Questions {
    pub(super) fn run(self, common: &Common) -> Outcome {
        let client = common.client().activating(vec![coordination::URI.to_owned()]);
        match self {
            Self::Ask(ask) => ask.run(&client),
            Self::Answer(answer) => answer.run(&client),
        }
    }
}

fn call(client: &Client, verb: &str, body: Map<String, Value>) -> Result<Value, Failure> {
    let path = format!("/extensions/session-coordination/v1/questions:{verb}");
    client.post(&path, &Value::Object(body))
}

fn report(answer: Value, then: &str) -> Report {
    let question = answer.get("question").unwrap_or(&Value::Null);
    Report::done(format!("{}{then}", show::question(question)), answer)
}

impl Ask {
    fn run(self, client: &Client) -> Outcome {
        let mut body = Map::new();
        body.insert("body".to_owned(), json!(input::text(&self.body)?));
        put_list(&mut body, "to", &self.to);
        put(&mut body, "capability", self.capability);
        put_list(&mut body, "choices", &self.choices);
        put(&mut body, "requestId", self.request);
        put(&mut body, "workstreamId", self.workstream);
        self.key.put(&mut body);
        let answer = call(client, "ask", body)?;
        let then = show::next("wait for the answer", "a2a-edge inbox list --watch --kind answer");
        Ok(report(answer, &then))
    }
}

impl Answer {
    fn run(self, client: &Client) -> Outcome {
        let mut body = Map::new();
        body.insert("questionId".to_owned(), json!(self.question));
        put(
            &mut body,
            "body",
            self.body.as_deref().map(input::text).transpose()?,
        );
        put(&mut body, "choice", self.choice);
        self.key.put(&mut body);
        Ok(report(call(client, "answer", body)?, ""))
    }
}
