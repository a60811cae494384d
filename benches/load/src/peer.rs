//! The servers that are compared, each a process of its own.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use xtask::process::{cargo, run, target_dir};
use xtask::{Failure, Outcome, npm, pip};

use crate::http::Connection;

/// The operator's token of the desk that is measured.
const OPERATOR: &str = "operators-token-for-the-load-no-secret";

/// A server that listens.
pub struct Peer {
    /// Its name.
    pub name: String,
    /// What a task that it has acknowledged survives.
    pub keeps: &'static str,
    /// Where it listens.
    pub address: SocketAddr,
    /// The credentials of its clients, who take turns; none where it asks for none.
    pub tokens: Vec<String>,
    _process: Process,
    _state: Option<TempDir>,
}

/// A process that does not outlive its owner.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only where there is no process any more.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn spawned(command: &mut Command) -> Outcome<Process> {
    let started = command.stdin(Stdio::null()).spawn();
    started
        .map(Process)
        .map_err(|error| failure("cannot start a server", &error))
}

fn failure(what: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("{what}: {error}"))
}

/// A port that was free a moment ago.
fn free_port() -> Outcome<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    listener
        .map(|address| address.port())
        .map_err(|error| failure("no free port", &error))
}

fn in_memory(name: &str, mut command: Command) -> Outcome<Peer> {
    let port = free_port()?;
    command.arg(port.to_string());
    Ok(Peer {
        name: name.to_owned(),
        keeps: "nothing (memory)",
        address: (Ipv4Addr::LOCALHOST, port).into(),
        tokens: Vec::new(),
        _process: spawned(&mut command)?,
        _state: None,
    })
}

/// The SDK for Python, in a virtual environment of its own.
///
/// # Errors
/// It cannot be installed or started.
pub fn python() -> Outcome<Peer> {
    let source = xtask::process::root().join("benches/peers/python");
    let mut command = Command::new(pip::install("benches/peers/python", "load-python")?);
    command.arg(source.join("server.py"));
    let wanted = read(&source.join("requirements.txt"))?;
    in_memory(&format!("a2a-sdk {}", pinned(&wanted, "a2a-sdk==")), command)
}

/// The SDK for JavaScript.
///
/// # Errors
/// It cannot be installed or started.
pub fn javascript() -> Outcome<Peer> {
    let source = xtask::process::root().join("benches/peers/js");
    let modules = npm::install("benches/peers/js", "load-js")?;
    let home = modules.parent().unwrap_or(&modules);
    fs::copy(source.join("server.js"), home.join("server.js"))
        .map_err(|error| failure("cannot write", &error))?;
    let manifest = read(&source.join("package.json"))?;
    let manifest: Value = serde_json::from_str(&manifest).map_err(|error| failure("package.json", &error))?;
    let version = manifest
        .pointer("/dependencies/@a2a-js~1sdk")
        .and_then(Value::as_str);
    let mut command = Command::new("node");
    command
        .arg("server.js")
        .current_dir(home)
        .env("NODE_ENV", "production");
    in_memory(&format!("@a2a-js/sdk {}", version.unwrap_or_default()), command)
}

/// The crate a2a-protocol-server, built with optimisation.
///
/// # Errors
/// It does not build or start.
pub fn rust() -> Outcome<Peer> {
    let source = xtask::process::root().join("benches/peers/rust");
    let place = target_dir().join("tools").join("load-rust");
    let mut build = cargo(&["build", "--release", "--quiet", "--locked", "--manifest-path"]);
    run(build
        .arg(source.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&place))?;
    let manifest = read(&source.join("Cargo.toml"))?;
    let binary = place
        .join("release")
        .join(format!("peer{}", std::env::consts::EXE_SUFFIX));
    let version = pinned(&manifest, "a2a-protocol-types = \"=");
    in_memory(&format!("a2a-protocol-server {version}"), Command::new(binary))
}

/// The native host with its store on the disk that the build is on, and clients in so many sessions.
///
/// # Errors
/// It does not build or start.
pub async fn native(sessions: usize) -> Outcome<Peer> {
    let mut build = cargo(&["build", "--release", "--quiet", "--package", "a2a-edge-native"]);
    run(build.args(["--bin", "a2a-edge"]))?;
    let state = TempDir::new_in(target_dir()).map_err(|error| failure("no place for the store", &error))?;
    let binary = target_dir()
        .join("release")
        .join(format!("a2a-edge{}", std::env::consts::EXE_SUFFIX));
    let mut command = Command::new(binary);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--json", "--quiet"])
        .args(["--limit", "open-requests=10000000"])
        .arg("--data")
        .arg(state.path())
        .env("A2A_EDGE_OPERATOR_TOKEN", OPERATOR)
        .stdout(Stdio::piped());
    let mut process = spawned(&mut command)?;
    let mut line = String::new();
    if let Some(output) = process.0.stdout.take() {
        let read = BufReader::new(output).read_line(&mut line);
        read.map_err(|error| failure("the host says nothing", &error))?;
    }
    let welcome: Value = serde_json::from_str(&line).map_err(|error| failure("the host", &error))?;
    let url = text(&welcome, "/url")?;
    let address = url.trim_start_matches("http://").parse();
    let address: SocketAddr = address.map_err(|error| failure(&url, &error))?;
    let mut tokens = Vec::new();
    for _ in 0..sessions {
        tokens.push(client(address).await?);
    }
    let plural = if sessions == 1 { "session" } else { "sessions" };
    Ok(Peer {
        name: format!("a2a-edge, {sessions} {plural}"),
        keeps: "a power cut (disk)",
        address,
        tokens,
        _process: process,
        _state: Some(state),
    })
}

/// The token of a client in a new session.
async fn client(address: SocketAddr) -> Outcome<String> {
    let created = operate(address, OPERATOR, "sessions:create", &json!({})).await?;
    let owner = text(&created, "/token")?;
    let body = json!({"displayName": "load", "role": "client"});
    text(
        &operate(address, &owner, "participants:add", &body).await?,
        "/token",
    )
}

async fn operate(address: SocketAddr, token: &str, verb: &str, body: &Value) -> Outcome<Value> {
    let body = body.to_string();
    let request = format!(
        "POST /operator/v1/{verb} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = Connection::open(address)
        .await
        .map_err(|error| failure(verb, &error))?;
    let answer = connection.exchange(request.as_bytes()).await;
    let answer = answer.map_err(|error| failure(verb, &error))?;
    if answer.status != 200 {
        return Err(failure(verb, &String::from_utf8_lossy(answer.body)));
    }
    serde_json::from_slice(answer.body).map_err(|error| failure(verb, &error))
}

fn text(answer: &Value, pointer: &str) -> Outcome<String> {
    let found = answer.pointer(pointer).and_then(Value::as_str);
    found.map(str::to_owned).ok_or_else(|| failure(pointer, answer))
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| failure(&path.display().to_string(), &error))
}

/// The version that a manifest pins behind `name`.
fn pinned<'a>(manifest: &'a str, name: &str) -> &'a str {
    let line = manifest.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_default().trim_end_matches('"')
}
