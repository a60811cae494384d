//! Runs the built binary: every wait has an end, and whatever was started is stopped.

#![allow(dead_code, reason = "each test file uses what it needs")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it is"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What a command said, and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// The one JSON document on standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Checks the exit code.
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// The binary, without anything that this process's environment would tell it.
pub(crate) fn binary() -> Command {
    untold(Command::new(env!("CARGO_BIN_EXE_a2a-edge")))
}

/// A command without anything that this process's environment would tell the binary.
pub(crate) fn untold(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        let shown = name.to_string_lossy().to_ascii_lowercase();
        if shown.starts_with("a2a_edge_") || shown.ends_with("_proxy") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs the binary with these words and this input.
pub(crate) fn run_with(words: &[&str], input: &str) -> Said {
    run(binary().args(words), input)
}

/// Runs a command with this input.
pub(crate) fn run(command: &mut Command, input: &str) -> Said {
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = Running(child.unwrap());
    // The command may end without reading its input.
    let _ = child.0.stdin.take().unwrap().write_all(input.as_bytes());
    let out = drain(child.0.stdout.take().unwrap());
    let err = drain(child.0.stderr.take().unwrap());
    let status = child.wait();
    Said {
        code: status.code().unwrap_or(-1),
        out: out.recv_timeout(PATIENCE).unwrap(),
        err: err.recv_timeout(PATIENCE).unwrap(),
    }
}

fn drain(mut stream: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        let _ = tell.send(text);
    });
    told
}

/// A child process that does not outlive the test.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("the command did not end");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A directory of the test's own.
pub(crate) struct Scratch(pub(crate) TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A data directory that is not there yet.
    pub(crate) fn data(&self) -> String {
        self.0.path().join("data").display().to_string()
    }
}

/// A server on a free port.
pub(crate) struct Desk {
    child: Running,
    /// The JSON object it began with.
    pub(crate) welcome: Value,
    lines: Mutex<mpsc::Receiver<String>>,
    log: Mutex<mpsc::Receiver<String>>,
}

impl Desk {
    /// Starts a server on a data directory, with these further options.
    pub(crate) fn start(data: &str, options: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", data, options)
    }

    /// Starts it where another has listened.
    pub(crate) fn start_at(address: &str, data: &str, options: &[&str]) -> Self {
        let mut desk = Self::spawn(address, data, &[&["--json"], options].concat());
        let first = desk.line_with("");
        desk.welcome = serde_json::from_str(&first).unwrap_or_else(|error| panic!("{error}: {first}"));
        desk
    }

    /// Starts a server that speaks to people.
    pub(crate) fn start_for_people(data: &str) -> Self {
        Self::spawn("127.0.0.1:0", data, &[])
    }

    fn spawn(address: &str, data: &str, options: &[&str]) -> Self {
        let mut command = binary();
        command
            .args(["serve", "--listen", address, "--data", data])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = Running(command.spawn().unwrap());
        let log = drain(child.0.stderr.take().unwrap());
        let out = BufReader::new(child.0.stdout.take().unwrap());
        let (tell, lines) = mpsc::channel();
        thread::spawn(move || {
            out.lines()
                .map_while(Result::ok)
                .try_for_each(|line| tell.send(line))
        });
        Self {
            child,
            welcome: Value::Null,
            lines: Mutex::new(lines),
            log: Mutex::new(log),
        }
    }

    /// The next line that it prints with `piece` in it.
    pub(crate) fn line_with(&mut self, piece: &str) -> String {
        let lines = self.lines.get_mut().unwrap();
        loop {
            match lines.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(piece) => return line.trim().to_owned(),
                Ok(_) => {}
                Err(_) => panic!(
                    "no {piece:?}: {:?}",
                    self.log.get_mut().unwrap().recv_timeout(PATIENCE)
                ),
            }
        }
    }

    pub(crate) fn url(&self) -> &str {
        self.welcome["url"].as_str().unwrap()
    }

    /// `host:port`.
    pub(crate) fn address(&self) -> &str {
        self.url().strip_prefix("http://").unwrap()
    }

    /// The token of `owner`, `member` or `client`, which only a first start tells.
    pub(crate) fn token(&self, role: &str) -> &str {
        self.welcome["tokens"][role].as_str().unwrap()
    }

    /// Runs a command as one of the first participants.
    pub(crate) fn run_as(&self, role: &str, words: &[&str]) -> Said {
        self.run(self.token(role), words, "")
    }

    /// Runs a command with a token and an input.
    pub(crate) fn run(&self, token: &str, words: &[&str], input: &str) -> Said {
        let mut command = binary();
        command
            .args(words)
            .env("A2A_EDGE_URL", self.url())
            .env("A2A_EDGE_TOKEN", token);
        run(&mut command, input)
    }

    /// Sends the server a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let script = format!("kill -{name} {}", self.child.0.id());
        assert!(
            Command::new("sh")
                .args(["-c", &script])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Waits for its end; its exit code, and all that it logged.
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let status = self.child.wait();
        let log = self.log.get_mut().unwrap().recv_timeout(PATIENCE);
        (status.code(), log.unwrap())
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn stop(self) -> String {
        self.signal("INT");
        let (code, log) = self.ended();
        assert_eq!(code, Some(0), "{log}");
        log
    }

    /// Ends it as a power cut does.
    pub(crate) fn kill(self) {
        self.signal("KILL");
        drop(self);
    }
}

/// Reads a file of a data directory.
pub(crate) fn file(data: &str, name: &str) -> String {
    std::fs::read_to_string(Path::new(data).join(name)).unwrap()
}
