//! The hosts, each started for a run with a state of its own.

use std::future::pending;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::{Arc, mpsc};
use std::thread;

use a2a_edge::a2a::card::AgentExtension;
use a2a_edge::desk::{Config, Desk, built_in};
use a2a_edge_native::host::Native;
use a2a_edge_native::server::log::{Format, Log};
use a2a_edge_native::server::{Limits, Server};
use a2a_edge_workers_tests::{Deployment, Platform, Running};
use serde_json::Value;
use tempfile::TempDir;
use xtask::process::{cargo, run, target_dir};

use crate::caller::text;
use crate::{Failure, Outcome};

/// The operator's token of every host that is started here.
pub const OPERATOR: &str = "operators-token-for-the-kit-no-secret";

/// A host of the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the hosts'")]
pub enum Host {
    Native,
    Workers,
}

impl Host {
    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Workers => "workers",
        }
    }
}

impl FromStr for Host {
    type Err = Failure;

    fn from_str(name: &str) -> Result<Self, Failure> {
        let known = [Self::Native, Self::Workers]
            .into_iter()
            .find(|host| host.name() == name);
        known.ok_or_else(|| Failure::new(format!("--host {name}: expected native or workers")))
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

/// An extension that the kit tests the refusal of.
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
    pub address: SocketAddr,
    _kept: Kept,
    _state: TempDir,
}

/// Starts a host that names `public` as its address.
///
/// # Errors
/// It does not build or start.
pub fn start(host: Host, configuration: Configuration, public: &str) -> Outcome<Serving> {
    let state = scratch()?;
    let (url, kept) = match host {
        Host::Native if configuration == Configuration::Required => demanding(public, &state)?,
        Host::Native => native(configuration, public, &state)?,
        Host::Workers => workers(configuration, public, &state)?,
    };
    let address = url.trim_start_matches("http://").parse()?;
    Ok(Serving {
        address,
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

fn native(configuration: Configuration, public: &str, state: &TempDir) -> Outcome<(String, Kept)> {
    run(&mut cargo(&[
        "build",
        "--quiet",
        "--package",
        "a2a-edge-native",
        "--bin",
        "a2a-edge",
    ]))?;
    let binary = target_dir()
        .join("debug")
        .join(format!("a2a-edge{}", std::env::consts::EXE_SUFFIX));
    let mut command = Command::new(binary);
    command
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--json",
            "--quiet",
            "--public-url",
            public,
        ])
        .arg("--data")
        .arg(state.path())
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
fn demanding(public: &str, state: &TempDir) -> Outcome<(String, Kept)> {
    let config = Config {
        base_url: public.to_owned(),
        operator_token: Some(OPERATOR.to_owned()),
        ..Config::default()
    };
    let extension = AgentExtension {
        uri: REQUIRED_EXTENSION.to_owned(),
        description: Some("Demanded of every client".to_owned()),
        required: true,
        params: None,
    };
    let desk = Desk::with(config, built_in().with(extension))?;
    let log = Log {
        format: Format::Text,
        quiet: true,
    };
    let native = Native::open(&state.path().join("sessions.redb"), desk, log);
    let native = Arc::new(native.map_err(|failure| Failure::new(format!("{failure:?}")))?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        runtime.block_on(async {
            let server = Server::bind(([127, 0, 0, 1], 0).into()).await;
            // Nobody waits for it any more if this program has ended.
            let _ = tell.send(server.as_ref().map(Server::address).map_err(ToString::to_string));
            if let Ok(server) = server {
                server.run(native, Limits::default(), log, pending()).await;
            }
        });
    });
    let address = told.recv()?.map_err(Failure::new)?;
    Ok((format!("http://{address}"), Kept::Thread))
}

fn workers(configuration: Configuration, public: &str, state: &TempDir) -> Outcome<(String, Kept)> {
    let platform = Platform::prepare().map_err(|error| Failure::new(error.to_string()))?;
    let mut deployment = Deployment::default()
        .with("A2A_EDGE_OPERATOR_TOKEN", OPERATOR)
        .with("A2A_EDGE_BASE_URL", public);
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

/// A free port on this machine, and its address.
///
/// # Errors
/// There is none.
pub fn front() -> Outcome<(TcpListener, String)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    Ok((listener, url))
}
