//! The store of the Cloudflare host in its objects: the suite of every store, in the platform's runtime.

use std::sync::LazyLock;

use a2a_edge::store::{CommitOutcome, Loaded, Record, Snapshot, Store, StoreError};
use a2a_edge_stories::{Http, Target as _};
use a2a_edge_workers_tests::{Running, StoreModule};
use http::Request;
use tempfile::TempDir;

use crate::party::{PLATFORM, scratch};
use crate::wire::{Answer, Ask, Call};

static MODULE: LazyLock<StoreModule> = LazyLock::new(|| PLATFORM.store_module().unwrap());

/// The stores of all sessions, each in the object of its session.
struct Objects {
    http: Http,
    evict: bool,
    _running: Running,
    _place: TempDir,
}

impl Objects {
    fn new(evict: bool) -> Box<Self> {
        let place = scratch();
        let running = MODULE.start(place.path()).unwrap();
        Box::new(Self {
            http: Http::new(running.url()),
            evict,
            _running: running,
            _place: place,
        })
    }

    fn ask(&self, session: &str, ask: Ask) -> Result<Answer, StoreError> {
        let call = Call {
            session: session.to_owned(),
            evict: self.evict,
            ask,
        };
        let body = serde_json::to_vec(&call).unwrap();
        let answer = self.http.call(Request::post("/").body(body).unwrap()).unwrap();
        let body = String::from_utf8_lossy(answer.body());
        match serde_json::from_str(&body).unwrap_or_else(|_| panic!("{}: {body}", answer.status())) {
            Answer::Unavailable(why) => Err(StoreError::Unavailable(why)),
            Answer::Corrupt(why) => Err(StoreError::Corrupt(why)),
            answer => Ok(answer),
        }
    }
}

impl Store for Objects {
    async fn create(&self, session: &str, first: &Record) -> Result<bool, StoreError> {
        match self.ask(session, Ask::Create(first.into()))? {
            Answer::Created(created) => Ok(created),
            other => panic!("{other:?}"),
        }
    }

    async fn load(&self, session: &str, after: u64) -> Result<Option<Loaded>, StoreError> {
        match self.ask(session, Ask::Load { after })? {
            Answer::Loaded(loaded) => Ok(loaded.map(|(snapshot, commits)| Loaded {
                snapshot: snapshot.map(Into::into),
                commits: commits.into_iter().map(Into::into).collect(),
            })),
            other => panic!("{other:?}"),
        }
    }

    async fn history(&self, session: &str, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
        let most = most as u64;
        match self.ask(session, Ask::History { after, most })? {
            Answer::History(records) => Ok(records.into_iter().map(Into::into).collect()),
            other => panic!("{other:?}"),
        }
    }

    async fn commit(&self, session: &str, record: &Record) -> Result<CommitOutcome, StoreError> {
        match self.ask(session, Ask::Commit(record.into()))? {
            Answer::Conflict => Ok(CommitOutcome::Conflict),
            Answer::Committed { compact } => Ok(CommitOutcome::Committed { compact }),
            other => panic!("{other:?}"),
        }
    }

    async fn compact(&self, session: &str, snapshot: &Snapshot) -> Result<(), StoreError> {
        match self.ask(session, Ask::Compact(snapshot.into()))? {
            Answer::Compacted => Ok(()),
            other => panic!("{other:?}"),
        }
    }
}

/// With what objects have in memory.
mod in_one_piece {
    crate::store_suite::store_suite!(super::Objects::new(false));
}

/// With objects that remember nothing from one call to the next, as after an eviction.
mod evicted_all_the_time {
    crate::store_suite::store_suite!(super::Objects::new(true));
}
