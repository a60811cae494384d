//! `send`: a client's message.

use a2a_edge::dispatch::{ENVELOPE_URI, GATE_URI, WORK_URI};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::{Common, Outcome, Report, follow, input, put, put_list, show, word};
use crate::failure::Failure;
use crate::text::json_line;

const EXAMPLES: &str = "\
A message without a task opens one: a question that members answer, or with --handoff work that the owner
approves first. Sending the same --message-id with the same content again does nothing twice.

Examples:
  a2a-edge send 'Which database does the billing service use?'
  a2a-edge send --handoff 'Fix the flaky login test' --acceptance 'cargo test passes 50 times' --writes 'tests/**'
  a2a-edge send --handoff 'Port the parser' --priority low --label parser - < description.md
  a2a-edge send --status
  a2a-edge send --push https://client.example/hook 'Is the export API rate limited?'
  a2a-edge send --stream 'Is the export API rate limited?'
  a2a-edge send --task t_4b1d 'PostgreSQL 17, please'";

/// The words that stand for the URIs of extensions.
const SHORT_NAMES: [(&str, &str); 3] = [("work", WORK_URI), ("envelope", ENVELOPE_URI), ("gate", GATE_URI)];

/// Which extensions a command asks for.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Activation {
    /// Activate one more extension: its URI, or work, envelope, gate
    #[arg(long = "extension", value_name = "URI")]
    extensions: Vec<String>,
    /// Activate none: the answer says everything in plain text
    #[arg(long, conflicts_with = "extensions")]
    plain: bool,
}

impl Activation {
    /// work/v1 and gate/v1 and whatever was asked for, unless it is to be plain.
    pub(super) fn extensions(&self) -> Vec<String> {
        if self.plain {
            return Vec::new();
        }
        let mut uris = vec![WORK_URI.to_owned(), GATE_URI.to_owned()];
        for name in &self.extensions {
            let known = SHORT_NAMES.iter().find(|(short, _)| short == name);
            let uri = known.map_or(name.as_str(), |(_, uri)| uri);
            if !uris.iter().any(|named| named == uri) {
                uris.push(uri.to_owned());
            }
        }
        uris
    }
}

/// How soon work is wanted.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Priority {
    Urgent,
    High,
    Medium,
    Low,
    None,
}

/// Options of `send`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Send {
    /// What to say; `-` reads standard input, as does leaving it out for a question
    text: Option<String>,
    /// Hand over work under this title (one line, 200 bytes)
    #[arg(long, value_name = "TITLE")]
    handoff: Option<String>,
    /// When the work counts as done; once for each criterion, at most 20
    #[arg(long, value_name = "CRITERION", requires = "handoff")]
    acceptance: Vec<String>,
    /// Path or glob in the repository that the work will write; once for each, at most 50
    #[arg(long, value_name = "PATH", requires = "handoff")]
    writes: Vec<String>,
    /// How soon the work is wanted; a client's word counts up to medium
    #[arg(long, requires = "handoff")]
    priority: Option<Priority>,
    /// Label for the work; once for each, at most 10
    #[arg(long = "label", value_name = "LABEL", requires = "handoff")]
    labels: Vec<String>,
    /// Ask how one handoff stands, or all of them
    #[arg(long, value_name = "TASK", num_args = 0..=1, conflicts_with_all = ["text", "handoff", "task"])]
    status: Option<Option<String>>,
    /// Go on with this task, say to answer its question
    #[arg(long, value_name = "TASK", conflicts_with = "handoff", value_parser = NonEmptyStringValueParser::new())]
    task: Option<String>,
    /// Put the task into this conversation
    #[arg(long, value_name = "CONTEXT", value_parser = NonEmptyStringValueParser::new())]
    context: Option<String>,
    /// Wait until the task ends or needs somebody, as long as the server lets one (the default)
    #[arg(long, overrides_with = "no_wait")]
    wait: bool,
    /// Return once the task is there
    #[arg(long, overrides_with = "wait")]
    no_wait: bool,
    /// Print each change of the task as it comes, until it ends; with --json each event on a line of its own
    #[arg(long, conflicts_with_all = ["wait", "no_wait"])]
    stream: bool,
    /// Have what becomes of the task posted to this address, as the desk's push notifications
    #[arg(long, value_name = "URL", conflicts_with = "status", value_parser = NonEmptyStringValueParser::new())]
    push: Option<String>,
    /// Id of the message; drawn at random if left out
    #[arg(long, value_name = "ID")]
    message_id: Option<String>,
    #[command(flatten)]
    activation: Activation,
}

impl Send {
    pub(super) fn run(self, common: &Common) -> Outcome {
        let extensions = self.activation.extensions();
        let stream = self.stream;
        let body = self.body(&extensions, input::piped)?;
        if stream {
            return streamed(common, extensions, &body);
        }
        let answer = common
            .client()
            .activating(extensions)
            .post("/message:send", &body)?;
        let text = match (answer.get("task"), answer.get("message")) {
            (Some(task), _) => format!("{}{}", show::task(task), then(task)),
            (None, Some(message)) => format!("{}\n", crate::text::quoted(&show::parts(message))),
            (None, None) => return Err(Failure::Unreadable("neither a task nor a message".to_owned())),
        };
        Ok(Report::done(text, answer))
    }

    /// The request (A2A 1.0, §3.2.1). `piped` reads what stands for a text that was left out.
    fn body(
        self,
        extensions: &[String],
        piped: impl FnOnce() -> Result<Option<String>, Failure>,
    ) -> Result<Value, Failure> {
        let work = self.work();
        let text = match (self.text, self.handoff, self.status) {
            (Some(text), ..) => input::text(&text)?,
            // Its title says what it is about; a pipe that nobody closes must not hold it up.
            (None, Some(title), _) => title,
            (None, None, Some(_)) => "Status, please.".to_owned(),
            (None, None, None) => piped()?.filter(|text| !text.is_empty()).ok_or_else(|| {
                Failure::Usage("say something: a2a-edge send TEXT, or pipe it in".to_owned())
            })?,
        };
        let mut message = Map::new();
        let id = self.message_id.map_or_else(random_id, Ok)?;
        message.insert("messageId".to_owned(), json!(id));
        put(&mut message, "contextId", self.context);
        put(&mut message, "taskId", self.task);
        message.insert("role".to_owned(), json!("ROLE_USER"));
        message.insert("parts".to_owned(), json!([{"text": text}]));
        if let Some(work) = work {
            message.insert("metadata".to_owned(), json!({WORK_URI: work}));
        }
        put_list(&mut message, "extensions", extensions);
        let mut body = json!({"message": message});
        let mut configuration = Map::new();
        if self.no_wait {
            configuration.insert("returnImmediately".to_owned(), json!(true));
        }
        let push = self.push.map(|url| json!({ "url": url }));
        put(&mut configuration, "taskPushNotificationConfig", push);
        if let Some(body) = body.as_object_mut().filter(|_| !configuration.is_empty()) {
            body.insert("configuration".to_owned(), Value::Object(configuration));
        }
        Ok(body)
    }

    /// The work/v1 request, for a handoff or a status (work/v1, §8.6).
    fn work(&self) -> Option<Value> {
        let mut work = Map::new();
        if let Some(task) = &self.status {
            work.insert("skill".to_owned(), json!("status"));
            put(&mut work, "task", task.clone());
            return Some(Value::Object(work));
        }
        let title = self.handoff.as_ref()?;
        work.insert("skill".to_owned(), json!("handoff"));
        work.insert("title".to_owned(), json!(title));
        put_list(&mut work, "acceptance", &self.acceptance);
        put_list(&mut work, "writes", &self.writes);
        put(&mut work, "priority", self.priority.map(word));
        put_list(&mut work, "labels", &self.labels);
        Some(Value::Object(work))
    }
}

/// Sends the message and prints what comes of it as it comes.
fn streamed(common: &Common, extensions: Vec<String>, body: &Value) -> Outcome {
    let client = common.client().activating(extensions);
    let mut events = client.stream("POST", "/message:stream", Some(body), None)?;
    while let Some(event) = events.read()? {
        let line = if common.json {
            json_line(&event)
        } else {
            show::of_task(&event)
        };
        if follow::say(&format!("{line}\n"))? == follow::Heard::NoMore {
            break;
        }
    }
    Ok(follow::quiet())
}

/// What can be done about a task that was just sent.
fn then(task: &Value) -> String {
    let id = show::word(task, "/id", "TASK");
    match show::state(task, "/status/state").as_str() {
        "AUTH_REQUIRED" => show::next("the owner decides", &format!("a2a-edge approve {id}")),
        "INPUT_REQUIRED" => show::next("answer", &format!("a2a-edge send --task {id} TEXT")),
        "SUBMITTED" | "WORKING" => show::next("look again later", &format!("a2a-edge task get {id}")),
        _ => String::new(),
    }
}

/// An id that no other message has.
fn random_id() -> Result<String, Failure> {
    let low = getrandom::u64();
    let high = getrandom::u64();
    match (high, low) {
        (Ok(high), Ok(low)) => Ok(format!("m-{high:016x}{low:016x}")),
        (Err(error), _) | (_, Err(error)) => Err(Failure::Local(format!("no randomness: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cli, Command};
    use super::*;
    use clap::Parser as _;

    fn body(words: &[&str]) -> Result<Value, Failure> {
        let line = ["a2a-edge", "send"].iter().chain(words);
        let Ok(Cli {
            command: Command::Send(send),
            ..
        }) = Cli::try_parse_from(line)
        else {
            panic!("{words:?}");
        };
        let extensions = send.activation.extensions();
        send.body(&extensions, || Ok(None))
    }

    #[test]
    fn a_handoff_carries_every_field_in_its_order() {
        let body = body(&[
            "--handoff",
            "T",
            "--label",
            "l",
            "--priority",
            "low",
            "--writes",
            "w",
            "--acceptance",
            "a",
            "--acceptance",
            "b",
            "--message-id",
            "m1",
            "--no-wait",
            "Do it",
        ])
        .unwrap();
        let work = json!({"skill": "handoff", "title": "T", "acceptance": ["a", "b"], "writes": ["w"],
                          "priority": "low", "labels": ["l"]});
        let expected = json!({
            "message": {
                "messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "Do it"}],
                "metadata": {WORK_URI: work}, "extensions": [WORK_URI, GATE_URI],
            },
            "configuration": {"returnImmediately": true},
        });
        assert_eq!(body.to_string(), expected.to_string());
    }

    #[test]
    fn a_plain_message_names_no_extension_and_waits() {
        let body = body(&["--plain", "--message-id", "m1", "--no-wait", "--wait", "hello"]).unwrap();
        let expected =
            json!({"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hello"}]}});
        assert_eq!(body.to_string(), expected.to_string());
    }

    #[test]
    fn a_webhook_comes_with_the_message() {
        let push = |words: &[&str]| body(words).unwrap()["configuration"].clone();
        let config = json!({"url": "https://client.example/hook"});
        assert_eq!(
            push(&["--no-wait", "--push", "https://client.example/hook", "hello"]),
            json!({"returnImmediately": true, "taskPushNotificationConfig": config})
        );
        assert_eq!(
            push(&["--push", "https://client.example/hook", "hello"]),
            json!({"taskPushNotificationConfig": config})
        );
    }

    #[test]
    fn a_status_request_names_its_task_or_none() {
        let work = |words: &[&str]| body(words).unwrap()["message"]["metadata"][WORK_URI].clone();
        assert_eq!(work(&["--status"]), json!({"skill": "status"}));
        assert_eq!(
            work(&["--status", "t1"]),
            json!({"skill": "status", "task": "t1"})
        );
    }

    #[test]
    fn a_message_without_words_is_refused_and_a_handoff_has_its_title() {
        assert!(matches!(body(&[]), Err(Failure::Usage(_))));
        assert_eq!(
            body(&["--handoff", "T"]).unwrap()["message"]["parts"],
            json!([{"text": "T"}])
        );
    }

    #[test]
    fn two_messages_have_two_ids() {
        let id = || body(&["x"]).unwrap()["message"]["messageId"].clone();
        assert_ne!(id(), id());
    }

    #[test]
    fn extensions_are_named_by_uri_or_by_word_and_once() {
        let activation = Activation {
            extensions: ["envelope", WORK_URI, "https://x/y"].map(str::to_owned).to_vec(),
            plain: false,
        };
        assert_eq!(
            activation.extensions(),
            [WORK_URI, GATE_URI, ENVELOPE_URI, "https://x/y"]
        );
    }
}
