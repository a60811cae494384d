//! The runtime is killed in the middle of its work: what it has acknowledged is there afterwards.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use a2a_edge_workers_tests::Deployment;
use tempfile::TempDir;

use crate::party::{Caller, PLATFORM, Session};
use crate::writers::{Kept, check, write};

const KILLS: usize = 20;
const WRITERS: usize = 4;
/// Acknowledged writes of a life before it ends.
const WRITES: usize = 25;

#[test]
fn every_acknowledged_write_survives_20_kills_under_load() {
    // On disk: this is about durability.
    let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let deployment = Deployment::default();
    let mut running = PLATFORM.start(&deployment, place.path()).unwrap();
    let session = Session::create(&Caller::of(&running));
    let kept = Kept::default();
    for life in 0..KILLS {
        let (over, done) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (caller, name) = (Caller::of(&running), format!("m-{life}-{writer}"));
                let (token, kept, over, done) = (&session.client, &kept, &over, &done);
                scope.spawn(move || write(&caller, token, &name, kept, over, done));
            }
            while done.load(Ordering::Relaxed) < WRITES {
                thread::sleep(Duration::from_millis(1));
            }
            running.kill();
            over.store(true, Ordering::Relaxed);
        });
        running = PLATFORM.start(&deployment, place.path()).unwrap();
        check(life, &Caller::of(&running), &session.client, &kept);
    }
    assert!(kept.lock().unwrap().len() >= KILLS * WRITES);
}
