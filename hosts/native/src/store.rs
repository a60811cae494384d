//! The embedded durable store: one file, kept by redb.
//!
//! Writing is by one thread, which takes all changes that wait, makes them in one transaction, waits once for the
//! disk, and answers them all: while it waits for the disk the next ones gather. Reading is by a few threads of its
//! own. So no asynchronous task ever waits for the disk.

mod file;
mod tables;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use a2a_edge::store::{CommitOutcome, Loaded, Record, Snapshot, Store, StoreError};
use redb::Database;
use tokio::sync::oneshot;

use file::DatabaseFile;
use tables::Change;

/// Changes that one transaction takes at most.
const BATCH: usize = 1024;

/// Threads that read.
const READERS: usize = 2;

/// Why a store could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// Another process (or this one) has it open.
    InUse(PathBuf),
    /// The file is no store, is damaged, or was written by a later version.
    Corrupt(PathBuf, String),
    /// The file could not be read or written.
    Io(PathBuf, String),
}

impl fmt::Display for OpenError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(path) => write!(out, "{} is in use by another process", path.display()),
            Self::Corrupt(path, why) => write!(out, "{} is not a sound store: {why}", path.display()),
            Self::Io(path, why) => write!(out, "{} could not be opened: {why}", path.display()),
        }
    }
}

impl std::error::Error for OpenError {}

type Answer = Result<CommitOutcome, StoreError>;

/// A change that waits for the writer, and where its answer goes.
struct Write {
    session: String,
    change: Change,
    answer: oneshot::Sender<Answer>,
}

type Read = Box<dyn FnOnce(&DatabaseFile) + Send>;

/// A [`Store`] in one file, for one process at a time.
///
/// A commit is answered when it is on the disk. After the disk has failed, calls fail with [`StoreError::Unavailable`]
/// until the file can be opened anew, which is tried with every call, at most once a second. Dropping the store first
/// makes all changes that were asked for.
#[derive(Debug)]
pub struct Embedded {
    /// `None` only while the store is dropped.
    writes: Option<mpsc::Sender<Write>>,
    reads: Option<mpsc::Sender<Read>>,
    threads: Vec<JoinHandle<()>>,
    transactions: Arc<AtomicU64>,
}

impl Embedded {
    /// Opens the store in the file at `path`, which is created (for its owner alone) if there is none. The folder
    /// must exist. Everything in the file is checked first, at about the speed of the disk.
    ///
    /// # Errors
    ///
    /// [`OpenError`], each with the path.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let owned = path.to_owned();
        let file = DatabaseFile::open(Box::new(move || file::open(&owned)))?;
        Self::start(&Arc::new(file)).map_err(|error| OpenError::Io(path.to_owned(), error.to_string()))
    }

    fn start(database: &Arc<DatabaseFile>) -> io::Result<Self> {
        let (writes, waiting) = mpsc::channel();
        let (reads, asked) = mpsc::channel::<Read>();
        let mut store = Self {
            writes: Some(writes),
            reads: Some(reads),
            threads: Vec::new(),
            transactions: Arc::default(),
        };
        let (writer, transactions) = (Arc::clone(database), Arc::clone(&store.transactions));
        store.spawn("store-writer", move || {
            write_all(&writer, &waiting, &transactions)
        })?;
        let asked = Arc::new(Mutex::new(asked));
        for _ in 0..READERS {
            let (reader, asked) = (Arc::clone(database), Arc::clone(&asked));
            store.spawn("store-reader", move || {
                while let Some(read) = next(&asked) {
                    read(&reader);
                }
            })?;
        }
        Ok(store)
    }

    fn spawn(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.threads
            .push(thread::Builder::new().name(name.to_owned()).spawn(run)?);
        Ok(())
    }

    /// How many transactions were written since the store was opened.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        self.transactions.load(Ordering::Relaxed)
    }

    /// The ids of all sessions, in their order.
    ///
    /// # Errors
    ///
    /// As for reading a session.
    pub async fn sessions(&self) -> Result<Vec<String>, StoreError> {
        self.read(tables::sessions).await
    }

    async fn write(&self, session: &str, change: Change) -> Answer {
        let (answer, answered) = oneshot::channel();
        let write = Write {
            session: session.to_owned(),
            change,
            answer,
        };
        self.writes
            .as_ref()
            .and_then(|writes| writes.send(write).ok())
            .ok_or_else(stopped)?;
        answered.await.map_err(|_| stopped())?
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Database) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let read: Read = Box::new(move |database: &DatabaseFile| {
            // Nobody waits any more if the request has ended.
            let _ = answer.send(database.with(read));
        });
        self.reads
            .as_ref()
            .and_then(|reads| reads.send(read).ok())
            .ok_or_else(stopped)?;
        answered.await.map_err(|_| stopped())?
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        // The threads end when they have done all that was asked.
        self.writes = None;
        self.reads = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Store for Embedded {
    /// redb holds a lock on its file, so no other process writes to it.
    fn is_exclusive(&self) -> bool {
        true
    }

    /// The writer takes changes in the order in which they were sent to it.
    fn is_queue(&self) -> bool {
        true
    }

    async fn create(&self, session: &str, first: &Record) -> Result<bool, StoreError> {
        let outcome = self.write(session, Change::Create(first.clone())).await?;
        Ok(matches!(outcome, CommitOutcome::Committed { .. }))
    }

    async fn load(&self, session: &str, after: u64) -> Result<Option<Loaded>, StoreError> {
        let session = session.to_owned();
        self.read(move |database| tables::load(database, &session, after))
            .await
    }

    async fn history(&self, session: &str, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
        let session = session.to_owned();
        self.read(move |database| tables::history(database, &session, after, most))
            .await
    }

    async fn commit(&self, session: &str, record: &Record) -> Result<CommitOutcome, StoreError> {
        self.write(session, Change::Commit(record.clone())).await
    }

    async fn compact(&self, session: &str, snapshot: &Snapshot) -> Result<(), StoreError> {
        self.write(session, Change::Compact(snapshot.clone()))
            .await
            .map(drop)
    }
}

/// The writer: one transaction for all that waits.
fn write_all(database: &DatabaseFile, waiting: &mpsc::Receiver<Write>, transactions: &AtomicU64) {
    while let Ok(first) = waiting.recv() {
        let batch: Vec<Write> = std::iter::once(first)
            .chain(waiting.try_iter().take(BATCH))
            .collect();
        let changes = batch.iter().map(|write| (write.session.as_str(), &write.change));
        let outcomes = database.with(|database| tables::change(database, changes));
        if matches!(outcomes, Ok((_, true))) {
            transactions.fetch_add(1, Ordering::Relaxed);
        }
        // Even a conflict may be with another change of the batch, so none is answered before it is on the disk.
        let answers: Vec<Answer> = match outcomes {
            Ok((outcomes, _)) => outcomes.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error); batch.len()],
        };
        for (write, answer) in batch.into_iter().zip(answers) {
            let _ = write.answer.send(answer);
        }
    }
}

fn next(asked: &Mutex<mpsc::Receiver<Read>>) -> Option<Read> {
    asked.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the store's threads have stopped".to_owned())
}
