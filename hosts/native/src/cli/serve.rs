//! `serve`: sessions on this machine, over HTTP.

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use a2a_edge::agent::card::{CardKey, Document};
use a2a_edge::desk::{self, Anonymous};
use a2a_edge::extension::Builder;
use a2a_edge::guard::Reach;
use a2a_edge::http::cors::Origins;
use a2a_edge::serve::{Config, ConfigError, Desk};
use clap::Args;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::welcome::Welcome;
use super::{finish, print, unprinted};
use crate::bootstrap::first_session;
use crate::data::{self, DataDirectory};
use crate::delivery;
use crate::failure::{Failure, exit};
use crate::host::Native;
use crate::outbound::Webhooks;
use crate::server::log::{self, Format, Level, Log};
use crate::server::{Limits, Server, signals};

const EXAMPLES: &str = "\
The first start in an empty data directory makes a session and prints the tokens of its owner, of a member and of
a client, once. The operator's token, which makes further sessions, is taken from the environment, or generated
and kept in the data directory. The server is for one machine, and its HTTP for a machine or a network that is
trusted: put a proxy with TLS in front of it for any other, and tell its address with --public-url.

Ctrl-C ends it: what is in flight is answered, what is stored is on disk.

Examples:
  a2a-edge serve
  a2a-edge serve --listen 127.0.0.1:0 --data /tmp/desk --json
  a2a-edge serve --listen 0.0.0.0:8420 --public-url https://desk.example.org --log json
  a2a-edge serve --card card.json --card-key key.pem --input-mode text/markdown
  a2a-edge serve --anonymous k7wq2m4xvb3n6zp5/p-4b1d
  a2a-edge serve --extension brief.wasm=brief.json
  a2a-edge serve --limit participants=200 --limit open-requests=50000";

/// The file of the store, in the data directory.
const STORE_FILE: &str = "sessions.redb";
/// How long notifications on their way get to arrive when the server stops.
const LAST_NOTIFICATIONS: Duration = Duration::from_secs(2);
/// How long tasks get to see that the server has stopped.
const LAST_TASKS: Duration = Duration::from_secs(1);

/// Options of `serve`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Serve {
    /// Address to listen on; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8420")]
    listen: SocketAddr,
    /// Directory that keeps everything
    #[arg(long, value_name = "DIRECTORY", default_value = data::DATA_DIRECTORY)]
    data: PathBuf,
    /// Address that clients see, where it is another than the one listened on
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Name of the agent, on its card
    #[arg(long)]
    name: Option<String>,
    /// What the agent is for, on its card
    #[arg(long)]
    description: Option<String>,
    /// File with what the card says, as JSON; --name and --description come before it
    #[arg(long, value_name = "FILE")]
    card: Option<PathBuf>,
    /// File with the private key on P-256 that signs the card, as PEM or JWK
    #[arg(long, value_name = "FILE")]
    card_key: Option<PathBuf>,
    /// Take parts of this media type too, such as text/markdown or image/*; once for each
    #[arg(long = "input-mode", value_name = "TYPE")]
    input_modes: Vec<String>,
    /// Let callers without a token act as this client of this session
    #[arg(long, value_name = "SESSION/PARTICIPANT", value_parser = |text: &str| text.parse::<Anonymous>())]
    anonymous: Option<Anonymous>,
    /// Let pages of this origin call from a browser, such as https://app.example.org, or * for all; once for each
    #[arg(long = "allowed-origin", value_name = "ORIGIN")]
    allowed_origins: Vec<String>,
    /// Longest that a send waits for its task, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=300))]
    wait_limit: u32,
    /// Offer no streams about tasks
    #[arg(long)]
    no_streams: bool,
    /// Offer no push notifications
    #[arg(long)]
    no_push: bool,
    /// Let push notifications go to this machine and its network, and over plain http: for development
    #[arg(long, conflicts_with = "no_push")]
    allow_local_webhooks: bool,
    /// How long a stream is silent before a comment says that it is still there, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=300))]
    keep_alive: u32,
    /// Connections open at once
    #[arg(long, value_name = "CONNECTIONS", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_connections: u32,
    /// Longest that a client may take to send a request, or pause between two, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3600))]
    read_timeout: u32,
    #[cfg(feature = "extensions")]
    #[command(flatten)]
    extensions: super::extensions::Extensions,
    /// How much each session may hold, such as live-claims=500; once for each limit
    #[arg(long = "limit", value_name = "NAME=NUMBER")]
    limits: Vec<String>,
    /// How the lines on standard error look
    #[arg(long, default_value = "text")]
    log: Format,
    /// Leave out the line for each request
    #[arg(long)]
    quiet: bool,
}

impl Serve {
    pub(super) fn run(self, json: bool) -> u8 {
        match self.serve(json) {
            Ok(()) => exit::DONE,
            Err(failure) => finish(Err(failure), json),
        }
    }

    fn serve(self, json: bool) -> Result<(), Failure> {
        let directory = DataDirectory::open(&self.data)?;
        let given = std::env::var_os(data::OPERATOR_TOKEN).filter(|token| !token.is_empty());
        let operator = directory.operator_token(given.map(|token| token.to_string_lossy().into_owned()))?;
        let runtime = Runtime::new().map_err(|error| Failure::Local(format!("no runtime: {error}")))?;
        let outcome = runtime.block_on(self.serve_from(&directory, operator, json));
        runtime.shutdown_timeout(LAST_TASKS);
        outcome
    }

    async fn serve_from(
        &self,
        directory: &DataDirectory,
        operator: String,
        json: bool,
    ) -> Result<(), Failure> {
        let log = Log {
            format: self.log,
            quiet: self.quiet,
        };
        report_panics(log);
        // From here on a signal ends the server in good order, however early it comes.
        let stop = signals::stop().map_err(|error| Failure::Local(format!("no signals: {error}")))?;
        let server = Server::bind(self.listen).await.map_err(|error| {
            Failure::Local(format!(
                "cannot listen on {}: {error}; name another address with --listen",
                self.listen
            ))
        })?;
        let local = local_url(server.address());
        if self.public_url.is_none() && server.address().ip().is_unspecified() {
            log.warn(
                "card",
                "it names an address of this machine only: tell the one for others with --public-url",
            );
        }
        let config = self.config(&local, operator.clone())?;
        let desk = Desk::with(config, self.speaking(log)?).map_err(|error| bad_setting(&error))?;
        let native = Arc::new(Native::open(&directory.file(STORE_FILE), desk, log)?);
        self.check_anonymous(&native).await?;
        match directory.session()? {
            Some(session) => {
                if !native.has_session(&session).await? {
                    return Err(lost_session(&session, directory));
                }
                greet(
                    &Welcome {
                        url: local,
                        session,
                        tokens: None,
                    },
                    json,
                )?;
            }
            None => {
                let first = first_session(&native, &operator).await?;
                greet(
                    &Welcome {
                        url: local,
                        session: first.id.clone(),
                        tokens: Some(first.tokens),
                    },
                    json,
                )?;
                // Only now: a crash before the tokens were shown leads to another session, not to one that
                // nobody can enter.
                directory.remember_session(&first.id)?;
            }
        }
        let address = server.address().to_string();
        log.event(Level::Info, "listen", &[("address", json!(address))]);
        let pushing = self.reach().map(|reach| {
            let webhooks = Webhooks::new(reach, log);
            tokio::spawn(delivery::run(Arc::clone(&native), webhooks))
        });
        let stop = async {
            stop.await;
            native.close();
        };
        server.run(Arc::clone(&native), self.limits(), log, stop).await;
        // What is on its way is let land; what does not in time is sent again after the next start.
        if let Some(pushing) = pushing {
            let _ = timeout(LAST_NOTIFICATIONS, pushing).await;
        }
        log.event(Level::Info, "stopped", &[]);
        Ok(())
    }

    fn config(&self, local: &str, operator: String) -> Result<Config, Failure> {
        let defaults = Config::default();
        let mut limits = defaults.limits;
        for limit in &self.limits {
            let fault = |rule| Failure::Usage(format!("--limit {}: {rule}", limit.escape_debug()));
            limits.set(limit).map_err(fault)?;
        }
        let public = self
            .public_url
            .as_deref()
            .map(|url| url.trim_end_matches('/').to_owned());
        let mut card = self.document()?;
        // What the command line says comes before the file.
        card.name = card.name.filter(|_| self.name.is_none());
        card.description = card.description.filter(|_| self.description.is_none());
        Ok(Config {
            base_url: public.unwrap_or_else(|| local.to_owned()),
            name: self.name.clone().unwrap_or(defaults.name),
            description: self.description.clone().unwrap_or(defaults.description),
            card,
            card_key: self.key()?,
            input_modes: self.input_modes.clone(),
            allowed_origins: self.origins()?,
            anonymous: self.anonymous.clone(),
            card_modified: Some(log::now()),
            operator_token: Some(operator),
            blocking_limit_ms: self.wait_limit.saturating_mul(1000),
            streaming: !self.no_streams,
            keep_alive_ms: self.keep_alive.saturating_mul(1000),
            webhooks: self.reach(),
            limits,
            ..defaults
        })
    }

    /// The extensions: those of the desk itself, then those of the command line.
    fn speaking(&self, log: Log) -> Result<Builder, Failure> {
        let built_in = desk::built_in();
        #[cfg(feature = "extensions")]
        return self.extensions.add_to(built_in, log);
        #[cfg(not(feature = "extensions"))]
        {
            let _ = log;
            Ok(built_in)
        }
    }

    /// The pages that may call.
    fn origins(&self) -> Result<Origins, Failure> {
        let fault = |rule| Failure::Usage(format!("--allowed-origin: {rule}"));
        self.allowed_origins.join(",").parse().map_err(fault)
    }

    /// How far push notifications reach.
    fn reach(&self) -> Option<Reach> {
        match (self.no_push, self.allow_local_webhooks) {
            (true, _) => None,
            (false, false) => Some(Reach::Public),
            (false, true) => Some(Reach::Anywhere),
        }
    }

    /// What the file of --card says.
    fn document(&self) -> Result<Document, Failure> {
        let Some(file) = &self.card else {
            return Ok(Document::default());
        };
        let fault = |why: &dyn Display| Failure::Usage(format!("--card {}: {why}", file.display()));
        let bytes = std::fs::read(file).map_err(|error| fault(&error))?;
        Document::parse(&bytes).map_err(|error| fault(&error))
    }

    /// The key in the file of --card-key.
    fn key(&self) -> Result<Option<CardKey>, Failure> {
        let Some(file) = &self.card_key else {
            return Ok(None);
        };
        let fault = |why: &dyn Display| Failure::Usage(format!("--card-key {}: {why}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|error| fault(&error))?;
        CardKey::parse(&text).map(Some).map_err(|error| fault(&error))
    }

    /// Whoever acts without a token must be somebody of a session that is here.
    async fn check_anonymous(&self, native: &Native) -> Result<(), Failure> {
        match &self.anonymous {
            Some(anonymous) if !native.has_session(&anonymous.session_id).await? => Err(Failure::Usage(
                format!("--anonymous: there is no session {} here", anonymous.session_id),
            )),
            _ => Ok(()),
        }
    }

    fn limits(&self) -> Limits {
        let read = Duration::from_secs(self.read_timeout.into());
        Limits {
            connections: usize::try_from(self.max_connections).unwrap_or(usize::MAX),
            head: read,
            body: read,
            ..Limits::default()
        }
    }
}

/// What is said when the store is not the one that the first start wrote to: serving it would answer every token
/// of the session as if it had been revoked.
fn lost_session(session: &str, directory: &DataDirectory) -> Failure {
    Failure::Local(format!(
        "{} does not have the session {} that the first start made: put back the file that does, or name another \
         data directory with --data",
        directory.file(STORE_FILE).display(),
        session.escape_debug(),
    ))
}

fn greet(welcome: &Welcome, json: bool) -> Result<(), Failure> {
    print(&if json { welcome.json() } else { welcome.text() }).map_err(|error| unprinted(&error))
}

/// The address that a client on this machine uses.
fn local_url(address: SocketAddr) -> String {
    let ip = match address.ip() {
        ip if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

/// A setting at fault, by the option that gave it.
fn bad_setting(error: &ConfigError) -> Failure {
    let option = match error.setting {
        "base_url" => "--public-url",
        "operator_token" => data::OPERATOR_TOKEN,
        "input_modes" => "--input-mode",
        "extensions" => "--extension",
        "name" => "--name",
        "description" => "--description",
        other => other,
    };
    Failure::Usage(format!("{option}: {}", error.rule))
}

/// A panic is one line of the log like any other. Its message stays out: it may hold what a client sent.
fn report_panics(log: Log) {
    std::panic::set_hook(Box::new(move |panic| {
        let at = panic.location().map(ToString::to_string);
        log.event(Level::Error, "panic", &[("at", json!(at))]);
    }));
}
