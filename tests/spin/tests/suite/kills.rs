//! An instance or its store is killed in the middle of the work: what was acknowledged is there afterwards.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use a2a_edge_spin_tests::Deployment;
use a2a_edge_stories::server::{PATIENCE, Running};
use tempfile::TempDir;

use crate::callers::{Caller, Session};
use crate::party::{Redis, sqlite, start};
use crate::writers::{Kept, check, write};

const KILLS: usize = 20;
const INSTANCES: usize = 4;
/// Acknowledged writes of a life before it ends.
const WRITES: usize = 25;

/// On disk: this is about durability.
fn on_disk() -> TempDir {
    TempDir::new_in(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap()
}

/// Four processes with an instance each on one store, each with a writer.
struct Load {
    deployment: Deployment,
    running: Vec<Running>,
    session: Session,
    kept: Kept,
}

impl Load {
    fn new(deployment: &Deployment) -> Self {
        let deployment = deployment.clone().with("instances", "1");
        let running: Vec<Running> = (0..INSTANCES).map(|_| start(&deployment)).collect();
        Self {
            session: Session::create(&Caller::of(&running[0])),
            kept: Kept::default(),
            deployment,
            running,
        }
    }

    /// Lets all write until enough is acknowledged, then kills what `kill` says under their load, and checks.
    fn live(&mut self, life: usize, kill: impl FnOnce(&Self)) {
        let (over, done) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for (writer, running) in self.running.iter().enumerate() {
                let (caller, name) = (Caller::of(running), format!("m-{life}-{writer}"));
                let (token, kept, over, done) = (&self.session.client, &self.kept, &over, &done);
                scope.spawn(move || write(&caller, token, &name, kept, over, done));
            }
            let start = Instant::now();
            while done.load(Ordering::Relaxed) < WRITES {
                assert!(start.elapsed() < PATIENCE, "life {life}: nothing is written");
                thread::sleep(Duration::from_millis(1));
            }
            kill(self);
            over.store(true, Ordering::Relaxed);
        });
        // Not the one that may be gone.
        let reader = &self.running[(life + 1) % INSTANCES];
        check(life, &Caller::of(reader), &self.session.client, &self.kept);
    }

    fn kill_instances(mut self) {
        for life in 0..KILLS {
            let next = life % INSTANCES;
            self.live(life, |load| kill(load.running[next].pid()));
            self.running[next] = start(&self.deployment);
        }
        assert!(self.kept.lock().unwrap().len() >= KILLS * WRITES);
    }
}

/// Kills a process where it stands.
fn kill(pid: u32) {
    let killed = std::process::Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status();
    assert!(killed.unwrap().success());
}

#[test]
fn every_acknowledged_write_survives_20_kills_of_an_instance_on_sqlite() {
    let place = on_disk();
    Load::new(&sqlite(&place)).kill_instances();
}

#[test]
fn every_acknowledged_write_survives_20_kills_of_an_instance_on_redis() {
    let redis = Redis::start(on_disk());
    Load::new(&redis.deployment()).kill_instances();
}

#[test]
fn every_acknowledged_write_survives_20_kills_of_redis() {
    let mut redis = Redis::start(on_disk());
    let mut load = Load::new(&redis.deployment());
    for life in 0..KILLS {
        load.live(life, |_| redis.kill_and_restart());
    }
    assert!(load.kept.lock().unwrap().len() >= KILLS * WRITES);
}
