//! The command line: what can be asked, and how the answer is shown.

mod artifacts;
mod card;
mod claims;
mod decide;
mod decisions;
mod digest;
#[cfg(feature = "extensions")]
mod extensions;
mod follow;
mod inbox;
mod input;
mod knowledge;
mod participant;
mod pointer;
mod presence;
mod project;
mod questions;
mod requests;
mod screen;
mod send;
mod serve;
mod session;
mod show;
mod task;
mod validate;
mod watch;
mod welcome;
mod workstreams;

use std::io::{self, Write as _};
use std::process::ExitCode;

use a2a_edge::session::Token;
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde_json::{Map, Value};

use crate::client::Client;
use crate::failure::{Failure, exit};
use crate::text::json_line;

const AFTER_HELP: &str = "\
Start here:
  a2a-edge serve                          a server, a session, and its tokens
  a2a-edge send --handoff 'Fix the build' a client hands over work
  a2a-edge task open                      the owner sees it
  a2a-edge approve TASK                   the owner lets it run
  a2a-edge requests list --state open     a member finds it

Exit codes:
  0  done
  1  the server refused, or the verdict is that the input is not valid
  2  the command line, or a file it names, is not as it must be
  3  no server answers at the address
  4  the token is missing, unknown or not enough
  5  the server failed, its answer cannot be read, or this machine stands in the way
  6  nothing came before the time to wait was up";

/// An A2A 1.0 task desk: clients hand over work, the owner decides, members do it.
#[derive(Parser)]
#[command(name = "a2a-edge", version, after_help = AFTER_HELP, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Clone, Args)]
#[command(next_help_heading = "Connection and output")]
struct Common {
    /// Address of the agent
    #[arg(
        long,
        global = true,
        env = "A2A_EDGE_URL",
        hide_env_values = true,
        value_name = "URL",
        default_value = "http://127.0.0.1:8420"
    )]
    url: String,
    /// Token of the participant that acts
    #[arg(
        long,
        global = true,
        env = "A2A_EDGE_TOKEN",
        value_name = "TOKEN",
        hide_env_values = true
    )]
    token: Option<String>,
    /// Session to address, where the address alone does not tell
    #[arg(
        long,
        global = true,
        env = "A2A_EDGE_TENANT",
        value_name = "SESSION",
        hide_env_values = true
    )]
    tenant: Option<String>,
    /// Print exactly one JSON document, errors included
    #[arg(long, global = true)]
    json: bool,
}

impl Common {
    /// A client that acts as the participant whose token was given.
    fn client(&self) -> Client {
        self.client_with(self.token.clone())
    }

    /// A client for the owner's verbs, whose path names no session: if one is named, it must be the token's.
    fn deciding(&self) -> Result<Client, Failure> {
        let session = self.token.as_deref().and_then(Token::parse);
        let named = self.tenant.as_deref().filter(|tenant| !tenant.is_empty());
        match (named, session) {
            (Some(named), Some(token)) if named != token.session() => Err(Failure::Usage(format!(
                "--tenant {}: the token is of another session",
                named.escape_debug()
            ))),
            _ => Ok(self.client()),
        }
    }

    /// A client that acts with another token, or with none.
    fn client_with(&self, token: Option<String>) -> Client {
        // A variable that is set to nothing is one that is not set.
        let said = |text: &String| !text.is_empty();
        let tenant = self.tenant.as_deref().filter(|tenant| !tenant.is_empty());
        Client::new(&self.url, tenant, token.filter(said))
    }
}

#[derive(Subcommand)]
enum Command {
    /// Serve sessions on this machine
    Serve(serve::Serve),
    /// Make sessions (with the operator's token)
    #[command(subcommand)]
    Session(session::Session),
    /// Add, revoke and list the people and agents of a session (owner, admin)
    #[command(subcommand)]
    Participant(participant::Participant),
    /// Send a message: a question, a handoff of work, or a status request (client)
    Send(send::Send),
    /// Look at tasks and cancel them
    #[command(subcommand)]
    Task(task::Task),
    /// Let a handed-over task run (owner, admin)
    Approve(decide::Approve),
    /// Refuse a handed-over task (owner, admin)
    Decline(decide::Decline),
    /// End a question that nobody will answer (owner, admin)
    Close(decide::Close),
    /// End a task that was approved (owner, admin)
    Drop(decide::Drop),
    /// Find, claim and finish work (member)
    #[command(subcommand)]
    Requests(requests::Requests),
    /// Say that you are there (member)
    #[command(subcommand)]
    Presence(presence::Presence),
    /// Say how you are getting on (member)
    #[command(subcommand)]
    Status(presence::Status),
    /// Keep others off what you work on, for a while (member)
    #[command(subcommand)]
    Claims(claims::Claims),
    /// Ask the others, or the client of a task, and answer (member)
    #[command(subcommand)]
    Questions(questions::Questions),
    /// See what waits for you, or wait for it (member)
    #[command(subcommand)]
    Inbox(inbox::Inbox),
    /// Record what was decided (member)
    #[command(subcommand)]
    Decisions(decisions::Decisions),
    /// Keep work on one matter together, and say how far it is (member)
    #[command(subcommand)]
    Workstreams(workstreams::Workstreams),
    /// Read what is known, propose more, and decide about it (member; owner, admin)
    #[command(subcommand)]
    Knowledge(knowledge::Knowledge),
    /// See how the session stands and what happened last (member)
    Digest(digest::Digest),
    /// Follow the session: who is there, and what happens (member)
    Watch(watch::Watch),
    /// Check a work/v1 or envelope/v1 request, without a server
    Validate(validate::Validate),
    /// Tell a task's state from its facts, without a server
    Project(project::Project),
    /// Show an agent's card
    Card(card::Card),
}

/// What a command has to say.
struct Report {
    /// For people; ends with a line break.
    text: String,
    /// For machines.
    json: Value,
    /// One of [`exit`].
    code: u8,
}

impl Report {
    const fn done(text: String, json: Value) -> Self {
        Self {
            text,
            json,
            code: exit::DONE,
        }
    }
}

type Outcome = Result<Report, Failure>;

/// Runs the command that the process was started with.
#[must_use]
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(asked) => return misread(&asked),
    };
    let json = cli.common.json;
    let outcome = match cli.command {
        Command::Serve(serve) => return ExitCode::from(serve.run(json)),
        Command::Session(session) => session.run(&cli.common),
        Command::Participant(participant) => participant.run(&cli.common),
        Command::Send(send) => send.run(&cli.common),
        Command::Task(task) => task.run(&cli.common),
        Command::Approve(approve) => approve.run(&cli.common),
        Command::Decline(decline) => decline.run(&cli.common),
        Command::Close(close) => close.run(&cli.common),
        Command::Drop(drop) => drop.run(&cli.common),
        Command::Requests(requests) => requests.run(&cli.common),
        Command::Presence(presence) => presence.run(&cli.common),
        Command::Status(status) => status.run(&cli.common),
        Command::Claims(claims) => claims.run(&cli.common),
        Command::Questions(questions) => questions.run(&cli.common),
        Command::Inbox(inbox) => inbox.run(&cli.common),
        Command::Decisions(decisions) => decisions.run(&cli.common),
        Command::Workstreams(workstreams) => workstreams.run(&cli.common),
        Command::Knowledge(knowledge) => knowledge.run(&cli.common),
        Command::Digest(digest) => digest.run(&cli.common),
        Command::Watch(watch) => watch.run(&cli.common),
        Command::Validate(validate) => validate.run(),
        Command::Project(project) => project.run(),
        Command::Card(card) => card.run(&cli.common),
    };
    ExitCode::from(finish(outcome, json))
}

/// Shows help, or what is wrong with the command line: to a program as a document, if it asks for one anywhere.
fn misread(asked: &clap::Error) -> ExitCode {
    let mut words = std::env::args_os().skip(1).take_while(|word| word != "--");
    if asked.use_stderr() && words.any(|word| word == "--json") {
        let said = asked.to_string();
        let why = said.trim().trim_start_matches("error: ").to_owned();
        return ExitCode::from(finish(Err(Failure::Usage(why)), true));
    }
    asked.exit()
}

/// Prints what came of a command; answers its exit code.
fn finish(outcome: Outcome, json: bool) -> u8 {
    let shown = outcome.and_then(|report| {
        let line = (json && !report.json.is_null()).then(|| format!("{}\n", json_line(&report.json)));
        match print(line.as_deref().unwrap_or(&report.text)) {
            // Whoever closed it wants no more, which is no failure of the command.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unprinted(&error)),
            _ => Ok(report.code),
        }
    });
    shown.unwrap_or_else(|failure| {
        if json {
            // If nothing can be printed, standard error and the exit code still say so.
            let _ = print(&format!("{}\n", json_line(&failure.json())));
        }
        let _ = io::stderr().write_all(failure.text().as_bytes());
        failure.exit_code()
    })
}

/// Writes to standard output.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

fn unprinted(error: &io::Error) -> Failure {
    Failure::Local(format!("standard output: {error}"))
}

/// Adds a member to a JSON object unless there is nothing to say.
fn put<T: Into<Value>>(object: &mut Map<String, Value>, member: &str, value: Option<T>) {
    if let Some(value) = value {
        object.insert(member.to_owned(), value.into());
    }
}

/// As [`put`], for lists: an empty one is left out.
fn put_list<T: Clone + Into<Value>>(object: &mut Map<String, Value>, member: &str, list: &[T]) {
    put(object, member, (!list.is_empty()).then(|| list.to_vec()));
}

/// A choice as the command line spells it, which is how the wire spells it too.
fn word(choice: impl ValueEnum) -> String {
    choice
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    /// Every command without subcommands, with the words that lead to it.
    fn leaves(command: &clap::Command, path: &str, found: &mut Vec<(String, clap::Command)>) {
        for sub in command.get_subcommands() {
            let path = format!("{path} {}", sub.get_name());
            if sub.has_subcommands() {
                leaves(sub, &path, found);
            } else {
                found.push((path, sub.clone()));
            }
        }
    }

    #[test]
    fn every_command_shows_an_example_of_itself_that_parses() {
        let mut found = Vec::new();
        leaves(&Cli::command(), "a2a-edge", &mut found);
        assert!(found.len() > 20, "{}", found.len());
        for (path, mut command) in found {
            let help = command.render_long_help().to_string();
            let (_, examples) = help
                .split_once("Examples:\n")
                .unwrap_or_else(|| panic!("{path} has no examples"));
            let lines = examples.lines().filter(|line| line.starts_with("  a2a-edge "));
            assert!(examples.contains(&path), "{path}");
            for line in lines {
                // What stands before a pipe makes the input; what stands after `<` or `|` is the shell's.
                let line = line.get(line.find("a2a-edge").unwrap()..).unwrap();
                let line = line.split(" < ").next().unwrap();
                if let Err(error) = Cli::try_parse_from(words(line)) {
                    panic!("{line}: {error}");
                }
            }
        }
    }

    #[test]
    fn a_page_token_may_begin_with_a_hyphen() {
        let mut found = Vec::new();
        leaves(&Cli::command(), "a2a-edge", &mut found);
        let pages = found.iter().filter_map(|(path, command)| {
            let page = command.get_arguments().find(|arg| arg.get_id() == "page")?;
            Some((path, page.is_allow_hyphen_values_set()))
        });
        let pages: Vec<_> = pages.collect();
        assert!(pages.len() >= 4, "{pages:?}");
        assert!(pages.iter().all(|(_, allowed)| *allowed), "{pages:?}");
    }

    /// The words of a shell line, with single quotes only.
    fn words(line: &str) -> Vec<String> {
        let pieces = line.split('\'').enumerate();
        let mut words = vec![String::new()];
        for (index, piece) in pieces {
            if index % 2 == 1 {
                words.last_mut().unwrap().push_str(piece);
                continue;
            }
            let mut parts = piece.split(' ');
            words.last_mut().unwrap().push_str(parts.next().unwrap());
            words.extend(parts.map(str::to_owned));
        }
        words.retain(|word| !word.is_empty());
        words
    }

    #[test]
    fn the_help_lists_every_exit_code() {
        let help = Cli::command().render_help().to_string();
        for code in exit::DONE..=exit::NOTHING {
            assert!(help.contains(&format!("\n  {code}  ")), "{code}");
        }
    }
}
