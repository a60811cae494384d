//! Deployments that run, and the stores beneath them.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use a2a_edge_spin_tests::redis::Server;
use a2a_edge_spin_tests::{Deployment, Platform};
use a2a_edge_stories::server::{PATIENCE, Running};
use tempfile::TempDir;

use crate::callers::{Caller, Session};

/// Built and composed by the first test that asks.
static PLATFORM: LazyLock<Platform> =
    LazyLock::new(|| Platform::prepare(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap());

pub(crate) fn start(deployment: &Deployment) -> Running {
    let program = env!("CARGO_BIN_EXE_spin-like");
    PLATFORM.start(program, deployment).unwrap()
}

/// A deployment of one file of SQLite.
pub(crate) fn sqlite(place: &TempDir) -> Deployment {
    let path = place.path().join("sqlite_key_value.db");
    Deployment::on(format!("sqlite:{}", path.display()))
}

/// A Redis server that keeps what it has acknowledged.
pub(crate) struct Redis {
    child: Child,
    port: u16,
    place: TempDir,
}

impl Redis {
    pub(crate) fn start(place: TempDir) -> Self {
        // Free again before the server asks for it.
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map(|listener| listener.local_addr());
        let port = free.unwrap().unwrap().port();
        let child = Self::spawn(port, &place);
        Self { child, port, place }
    }

    fn spawn(port: u16, place: &TempDir) -> Child {
        let program = xtask::redis::program().unwrap_or_else(|failure| panic!("{failure}"));
        let child = Command::new(program)
            .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", ""])
            .args(["--appendonly", "yes", "--appendfsync", "always", "--dir"])
            .arg(place.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let (server, start) = (Server::at(port), Instant::now());
        while server.call(&[b"PING"]).is_err() {
            assert!(start.elapsed() < PATIENCE, "redis-server does not listen");
            thread::sleep(Duration::from_millis(10));
        }
        child
    }

    pub(crate) fn deployment(&self) -> Deployment {
        Deployment::on(format!("redis:{}", self.port))
    }

    /// Kills it where it stands, and starts it again on what it has.
    pub(crate) fn kill_and_restart(&mut self) {
        self.end();
        self.child = Self::spawn(self.port, &self.place);
    }

    fn end(&mut self) {
        // Both fail only where there is no process any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.end();
    }
}

/// A deployment that runs, with a session.
pub(crate) struct Party {
    pub(crate) running: Running,
    pub(crate) caller: Caller,
    pub(crate) session: Session,
}

impl Party {
    pub(crate) fn new(deployment: &Deployment) -> Self {
        let running = start(deployment);
        let caller = Caller::of(&running);
        Self {
            session: Session::create(&caller),
            running,
            caller,
        }
    }

    /// Everything that was written about the calls so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.caller.lines(&self.running)
    }
}

/// What notifies webhooks on this machine, too.
pub(crate) fn with_webhooks() -> Party {
    Party::new(&Deployment::on("memory").with_local_webhooks())
}

/// What notifies as it does unless it is told otherwise.
pub(crate) fn as_it_is() -> Party {
    Party::new(&Deployment::on("memory"))
}

/// What notifies nobody.
pub(crate) fn without_push() -> Party {
    Party::new(&Deployment::on("memory").with("push", "off"))
}
