//! A host as a process of its own, on a free port.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than anything here takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The operator's token of every host that is started here, unless it is told otherwise.
pub const OPERATOR: &str = "an operator's token for the tests, no secret";

/// A process that does not outlive its owner. It is killed outright: not every host takes another signal while a request
/// is open, and what was acknowledged must survive it anyway.
#[derive(Debug)]
struct Process(Child);

impl Process {
    fn end(&mut self) {
        // Both fail only where there is no process any more.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// A host that listens. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    process: Process,
    url: String,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Running {
    /// Starts a host that prints `{"event":"listen",…,"port":…}`, and waits for that line.
    ///
    /// # Errors
    /// It does not start, or ends at once.
    pub fn start(command: &mut Command) -> Result<Self, String> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let spawned = command.spawn();
        let mut process = Process(spawned.map_err(|error| format!("{command:?}: {error}"))?);
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (tell, told) = mpsc::channel();
        if let Some(errors) = process.0.stderr.take() {
            follow(errors, Arc::clone(&lines), None);
        }
        if let Some(output) = process.0.stdout.take() {
            follow(output, Arc::clone(&lines), Some(tell));
        }
        let port = match told.recv_timeout(PATIENCE) {
            Ok(port) => port,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                return Err(format!("{command:?} does not listen: {:?}", said(&lines)));
            }
        };
        Ok(Self {
            process,
            url: format!("http://127.0.0.1:{port}"),
            lines,
        })
    }

    /// Kills it where it stands.
    pub fn kill(&mut self) {
        self.process.end();
    }

    /// Where it listens.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The id of its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// What it has written so far.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        said(&self.lines)
    }

    /// Waits until a line holds all of these texts, and returns it.
    #[must_use]
    pub fn line_with(&self, texts: &[&str]) -> Option<String> {
        let start = Instant::now();
        loop {
            let mut lines = self.lines().into_iter();
            let found = lines.find(|line| texts.iter().all(|text| line.contains(text)));
            if found.is_some() || start.elapsed() > PATIENCE {
                return found;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

fn said(lines: &Mutex<Vec<String>>) -> Vec<String> {
    lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Keeps every line of a stream, and tells the port that one of them names.
fn follow(
    stream: impl Read + Send + 'static,
    lines: Arc<Mutex<Vec<String>>>,
    tell: Option<mpsc::Sender<u16>>,
) {
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if let (Some(tell), Some(port)) = (&tell, port(&line)) {
                // Nobody listens any more once it is known.
                let _ = tell.send(port);
            }
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    });
}

/// The port in `{"event":"listen","socket":"http","port":8787}`.
fn port(line: &str) -> Option<u16> {
    let (_, rest) = line
        .strip_prefix("{\"event\":\"listen\"")?
        .split_once("\"port\":")?;
    rest.trim_end_matches('}').parse().ok()
}
