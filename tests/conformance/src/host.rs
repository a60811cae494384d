//! The hosts, each started for a run with a state of its own.

use std::fs;
use std::future::pending;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::{Arc, mpsc};
use std::thread;

use a2a_edge::a2a::card::AgentExtension;
use a2a_edge::desk::{Anonymous, Config, Desk, built_in};
use a2a_edge_native::host::Native;
use a2a_edge_native::server::log::{Format, Log};
use a2a_edge_native::server::{Limits, Server};
use a2a_edge_workers_tests::{Deployment, Platform, Running};
use serde_json::Value;
use tempfile::TempDir;
use xtask::process::{cargo, output, run, target_dir};

use crate::caller::{Cast, cast, text};
use crate::{Failure, Outcome};

/// The operator's token of every host that is started here.
pub const OPERATOR: &str = "operators-token-for-the-kit-no-secret";

/// A host of the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the hosts'")]
pub enum Host {
    Native,
    Workers,
    Spin,
}

impl Host {
    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Workers => "workers",
            Self::Spin => "spin",
        }
    }
}

impl FromStr for Host {
    type Err = Failure;

    fn from_str(name: &str) -> Result<Self, Failure> {
        let known = [Self::Native, Self::Workers, Self::Spin]
            .into_iter()
            .find(|host| host.name() == name);
        known.ok_or_else(|| Failure::new(format!("--host {name}: expected native, workers or spin")))
    }
}

/// What the desk offers beyond the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Configuration {
    /// All of it.
    Full,
    /// Nothing.
    Bare,
    /// All of it, to clients that ask for [`REQUIRED_EXTENSION`]: the kit's never do.
    Required,
}

/// An extension that the kit tests the refusal of. A desk that does not have it takes no notice of it.
pub const REQUIRED_EXTENSION: &str = "urn:a2a:tck:required-extension";

impl Configuration {
    /// Its name in the tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Bare => "bare",
            Self::Required => "required",
        }
    }

    /// The tests that it is for, where they are not all.
    #[must_use]
    pub const fn chosen(self) -> Option<&'static str> {
        match self {
            Self::Full | Self::Bare => None,
            Self::Required => Some("Extension"),
        }
    }
}

/// A process that does not outlive its owner.
#[derive(Debug)]
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only where there is no process any more.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[derive(Debug)]
enum Kept {
    Process {
        _process: Process,
    },
    Running {
        _running: Running,
    },
    /// It ends with this process.
    Thread,
}

/// A host that serves. Dropping it ends it.
#[derive(Debug)]
pub struct Serving {
    /// Where it listens.
    pub url: String,
    /// Who plays in its session. The client is whom callers without a credential act as: the kit sends none.
    pub cast: Cast,
    _kept: Kept,
    _state: TempDir,
}

/// Starts a host, with a session whose client everybody without a credential is.
///
/// # Errors
/// It does not build or start.
pub fn start(host: Host, configuration: Configuration) -> Outcome<Serving> {
    let state = scratch()?;
    let begin = |anonymous: Option<&str>| match (host, anonymous) {
        (Host::Native, Some(anonymous)) if configuration == Configuration::Required => {
            demanding(anonymous, &state)
        }
        (Host::Native, _) => native(configuration, anonymous, &state),
        (Host::Workers, _) => workers(configuration, anonymous, &state),
        (Host::Spin, _) => spin(configuration, anonymous, &state),
    };
    // Nobody is anybody before there is a session: it is made by the same host without the setting.
    let first = begin(None)?;
    let cast = cast(&first.0, OPERATOR)?;
    drop(first);
    let (url, kept) = begin(Some(&cast.anonymous))?;
    Ok(Serving {
        url,
        cast,
        _kept: kept,
        _state: state,
    })
}

/// A folder in memory, where the system has one: the state need not outlast the run.
fn scratch() -> Outcome<TempDir> {
    let memory = Path::new("/dev/shm");
    Ok(if memory.is_dir() {
        TempDir::new_in(memory)?
    } else {
        TempDir::new()?
    })
}

/// Builds a program of the workspace, and tells where it is.
fn built(package: &str, program: &str) -> Outcome<PathBuf> {
    run(&mut cargo(&[
        "build",
        "--quiet",
        "--package",
        package,
        "--bin",
        program,
    ]))?;
    Ok(target_dir()
        .join("debug")
        .join(format!("{program}{}", std::env::consts::EXE_SUFFIX)))
}

fn native(configuration: Configuration, anonymous: Option<&str>, state: &TempDir) -> Outcome<(String, Kept)> {
    let binary = built("a2a-edge-native", "a2a-edge")?;
    let mut command = Command::new(binary);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--json", "--quiet"])
        .arg("--data")
        .arg(state.path())
        .args(
            anonymous
                .map(|anonymous| ["--anonymous", anonymous])
                .into_iter()
                .flatten(),
        )
        .env("A2A_EDGE_OPERATOR_TOKEN", OPERATOR)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command.args(match configuration {
        Configuration::Bare => &["--no-streams", "--no-push"][..],
        Configuration::Full | Configuration::Required => &["--allow-local-webhooks"],
    });
    let mut process = Process(command.spawn()?);
    let mut line = String::new();
    if let Some(output) = process.0.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    let welcome: Value = serde_json::from_str(&line)?;
    Ok((text(&welcome, "/url")?, Kept::Process { _process: process }))
}

/// The native host in this process, with an extension that no host has by itself.
fn demanding(anonymous: &str, state: &TempDir) -> Outcome<(String, Kept)> {
    let anonymous: Anonymous = anonymous.parse().map_err(Failure::new)?;
    let extension = AgentExtension {
        uri: REQUIRED_EXTENSION.to_owned(),
        description: Some("Demanded of every client".to_owned()),
        required: true,
        params: None,
    };
    let log = Log {
        format: Format::Text,
        quiet: true,
    };
    let store = state.path().join("sessions.redb");
    let native = move |base_url: String| {
        let config = Config {
            base_url,
            operator_token: Some(OPERATOR.to_owned()),
            anonymous: Some(anonymous),
            ..Config::default()
        };
        let desk = Desk::with(config, built_in().with(extension)).map_err(|error| error.to_string())?;
        Native::open(&store, desk, log).map_err(|failure| format!("{failure:?}"))
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        runtime.block_on(async {
            let bound = Server::bind(([127, 0, 0, 1], 0).into()).await;
            let started = bound.map_err(|error| error.to_string()).and_then(|server| {
                let url = format!("http://{}", server.address());
                Ok((native(url.clone())?, server, url))
            });
            // Nobody waits for it any more if this program has ended.
            match started {
                Ok((native, server, url)) => {
                    let _ = tell.send(Ok(url));
                    server
                        .run(Arc::new(native), Limits::default(), log, pending())
                        .await;
                }
                Err(why) => {
                    let _ = tell.send(Err(why));
                }
            }
        });
    });
    Ok((told.recv()?.map_err(Failure::new)?, Kept::Thread))
}

fn workers(
    configuration: Configuration,
    anonymous: Option<&str>,
    state: &TempDir,
) -> Outcome<(String, Kept)> {
    let platform = Platform::prepare().map_err(|error| Failure::new(error.to_string()))?;
    let mut deployment = Deployment::default().with("A2A_EDGE_OPERATOR_TOKEN", OPERATOR);
    if let Some(anonymous) = anonymous {
        deployment = deployment.with("A2A_EDGE_ANONYMOUS", anonymous);
    }
    if configuration == Configuration::Bare {
        deployment = deployment
            .with("A2A_EDGE_STREAMS", "off")
            .with("A2A_EDGE_PUSH", "off");
    } else {
        deployment = deployment.with("A2A_EDGE_PUSH", "local");
    }
    let running = platform.start(&deployment, state.path());
    let running = running.map_err(|error| Failure::new(error.to_string()))?;
    Ok((running.url().to_owned(), Kept::Running { _running: running }))
}

/// As in its own tests, by a program that serves the application as Spin does.
fn spin(configuration: Configuration, anonymous: Option<&str>, state: &TempDir) -> Outcome<(String, Kept)> {
    let program = built("a2a-edge-spin-tests", "spin-like")?;
    let folder = target_dir().join("conformance");
    fs::create_dir_all(&folder)?;
    let application = output(Command::new(&program).arg(folder));
    let application = application.ok_or_else(|| Failure::new("the Spin application does not build"))?;
    let mut command = Command::new(program);
    command
        .arg(application.trim())
        .arg(format!("sqlite:{}", state.path().join("store.db").display()))
        .arg(format!("operator_token={OPERATOR}"))
        // Spin does not tell when an application was deployed.
        .arg("card_modified=2026-11-30T00:00:00Z");
    if let Some(anonymous) = anonymous {
        command.arg(format!("anonymous={anonymous}"));
    }
    if configuration == Configuration::Bare {
        command.args(["streams=off", "push=off"]);
    } else {
        command.args(["push=local", "schemes=http,https"]);
    }
    let running = Running::start(&mut command).map_err(Failure::new)?;
    Ok((running.url().to_owned(), Kept::Running { _running: running }))
}
