//! The Cloudflare host in workerd, the platform's own runtime: started on a free port, with a state of its own.

mod config;

use std::error::Error;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

pub use config::{Deployment, Directory};
use xtask::{npm, workers};

/// Longer than anything here takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The operator's token of every deployment here, unless it is told otherwise.
pub const OPERATOR: &str = "an operator's token for the tests, no secret";

/// Whatever goes wrong when a runtime is started.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// The bundle and the runtime, built and installed once.
#[derive(Clone, Debug)]
pub struct Platform {
    bundle: PathBuf,
    workerd: PathBuf,
    modules: PathBuf,
}

impl Platform {
    /// Builds the bundle as `cargo xtask workers` does, and installs the runtime if it is not there.
    ///
    /// # Errors
    /// One of them fails.
    pub fn prepare() -> Outcome<Self> {
        let bundle = workers::build()
            .map_err(|failure| format!("`cargo xtask workers` must work before its tests can: {failure}"))?;
        let modules = npm::install("tests/workers/tools", "workers-tests")?;
        let workerd = npm::native_program(&modules, "@cloudflare", "workerd-", "workerd")?;
        Ok(Self {
            bundle,
            workerd,
            modules,
        })
    }

    /// Where npm put its packages.
    #[must_use]
    pub fn modules(&self) -> &Path {
        &self.modules
    }

    /// The directory of the bundle.
    #[must_use]
    pub fn bundle(&self) -> &Path {
        &self.bundle
    }

    /// Starts a deployment whose objects are kept in a folder of `place`, and waits until it listens.
    ///
    /// # Errors
    /// The runtime does not start, or ends at once.
    pub fn start(&self, deployment: &Deployment, place: &Path) -> Outcome<Running> {
        fs::create_dir_all(place.join("state"))?;
        for file in workers::FILES {
            fs::copy(self.bundle.join(file), place.join(file))?;
        }
        deployment.write(place)?;
        let mut command = Command::new(&self.workerd);
        command
            .args(["serve", "deployment.capnp", "--experimental", "--control-fd=1"])
            .current_dir(place)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = Process(command.spawn()?);
        Running::listening(child)
    }
}

/// A process that does not outlive its owner. It is killed outright: the runtime takes no other signal while a request
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

/// A runtime that listens. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    process: Process,
    url: String,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Running {
    fn listening(mut process: Process) -> Outcome<Self> {
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
                return Err(format!("workerd does not listen: {:?}", said(&lines)).into());
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
