//! The file of the embedded store: opened, and opened anew after the disk has failed.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use a2a_edge::store::StoreError;
use redb::{Builder, Database, DatabaseError, StorageError};

use super::{OpenError, tables};

/// Bytes that are kept in memory of what was read from the file.
const CACHE: usize = 64 << 20;

/// How long a file rests that could not be opened anew.
const REST: Duration = Duration::from_secs(1);

pub(super) type Opener = Box<dyn Fn() -> Result<Database, OpenError> + Send + Sync>;

/// An open file. redb serves nothing more of one after the disk has failed.
pub(super) struct DatabaseFile {
    opener: Opener,
    /// `None` while it can't be opened.
    database: RwLock<Option<Database>>,
    failed: AtomicBool,
    /// When it was last opened anew, or that was tried.
    tried: Mutex<Option<Instant>>,
}

impl fmt::Debug for DatabaseFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("DatabaseFile").finish_non_exhaustive()
    }
}

impl DatabaseFile {
    pub(super) fn open(opener: Opener) -> Result<Self, OpenError> {
        Ok(Self {
            database: RwLock::new(Some(opener()?)),
            opener,
            failed: AtomicBool::new(false),
            tried: Mutex::default(),
        })
    }

    /// Reads or changes what is in it.
    pub(super) fn with<T>(
        &self,
        run: impl FnOnce(&Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.mend();
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let closed = || StoreError::Unavailable("the file could not be opened again".to_owned());
        let database = database.as_ref().ok_or_else(closed)?;
        let outcome = guard(|| run(database));
        if matches!(outcome, Err(StoreError::Unavailable(_))) {
            self.failed.store(true, Ordering::Release);
        }
        outcome
    }

    /// Opens it anew if the disk has failed, and that was not tried just now.
    fn mend(&self) {
        if !self.failed.load(Ordering::Acquire) {
            return;
        }
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        let rests = tried.is_some_and(|tried| tried.elapsed() < REST);
        if rests || !self.failed.load(Ordering::Acquire) {
            return;
        }
        *tried = Some(Instant::now());
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        // It locks its file until it is gone, and writes to it on its way.
        let old = database.take();
        let gone = catch_unwind(AssertUnwindSafe(|| drop(old)));
        *database = gone.ok().and_then(|()| (self.opener)().ok());
        self.failed.store(database.is_none(), Ordering::Release);
    }
}

/// Opens the file at `path`, after looking at everything in it.
pub(super) fn open(path: &Path) -> Result<Database, OpenError> {
    create(path).map_err(|error| OpenError::Io(path.to_owned(), error.to_string()))?;
    let opened = catch_unwind(|| {
        Builder::new()
            .set_cache_size(CACHE)
            .set_check_integrity_on_open(true)
            .create(path)
    })
    .map_err(|_| OpenError::Corrupt(path.to_owned(), "it could not be read to the end".to_owned()))?;
    let database = opened.map_err(|error| open_error(path, error))?;
    guard(|| tables::prepare(&database)).map_err(|error| match error {
        StoreError::Corrupt(why) => OpenError::Corrupt(path.to_owned(), why),
        StoreError::Unavailable(why) => OpenError::Io(path.to_owned(), why),
    })?;
    Ok(database)
}

/// redb trusts its file: damage done while it is open can make it panic.
fn guard<T>(run: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(StoreError::Corrupt("reading the file came to no end".to_owned())))
}

/// Makes sure that there is a file, and that it is still there after a crash of the machine.
fn create(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if cfg!(unix) {
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

fn open_error(path: &Path, error: DatabaseError) -> OpenError {
    let path = path.to_owned();
    match error {
        DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => OpenError::InUse(path),
        DatabaseError::Storage(StorageError::Io(error)) if error.kind() != io::ErrorKind::InvalidData => {
            OpenError::Io(path, error.to_string())
        }
        error => OpenError::Corrupt(path, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use a2a_edge::store::Record;
    use redb::StorageBackend;
    use redb::backends::FileBackend;

    use super::super::tables::Change;
    use super::*;

    /// A disk that is full while it is told to be.
    #[derive(Debug)]
    struct Disk {
        file: FileBackend,
        full: Arc<AtomicBool>,
    }

    impl Disk {
        fn room(&self) -> io::Result<()> {
            match self.full.load(Ordering::Relaxed) {
                true => Err(io::ErrorKind::StorageFull.into()),
                false => Ok(()),
            }
        }
    }

    impl StorageBackend for Disk {
        fn len(&self) -> io::Result<u64> {
            self.file.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.file.read(offset, out)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.room()?;
            self.file.set_len(len)
        }

        fn sync_data(&self) -> io::Result<()> {
            self.room()?;
            self.file.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.room()?;
            self.file.write(offset, data)
        }
    }

    #[test]
    fn a_store_goes_on_when_the_disk_has_room_again_and_has_lost_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let full = Arc::new(AtomicBool::new(false));
        let disk = Arc::clone(&full);
        let file = DatabaseFile::open(Box::new(move || {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path);
            let disk = Disk {
                file: FileBackend::new(file.unwrap()).unwrap(),
                full: Arc::clone(&disk),
            };
            let database = Builder::new().create_with_backend(disk);
            let database = database.map_err(|error| open_error(&path, error))?;
            tables::prepare(&database).map_err(|error| OpenError::Io(path.clone(), error.to_string()))?;
            Ok(database)
        }))
        .unwrap();
        let record = |seq| Record {
            seq,
            nonce: format!("n-{seq}"),
            bytes: vec![b'x'; 4_096],
        };
        let write = |change| file.with(|database| tables::change(database, std::iter::once(("s", &change))));
        let seqs = || {
            let history = file.with(|database| tables::history(database, "s", 0, 9))?;
            Ok::<_, StoreError>(history.into_iter().map(|record| record.seq).collect::<Vec<_>>())
        };
        write(Change::Create(record(1))).unwrap();
        full.store(true, Ordering::Relaxed);
        for _ in 0..3 {
            assert!(matches!(
                write(Change::Commit(record(2))),
                Err(StoreError::Unavailable(_))
            ));
        }
        full.store(false, Ordering::Relaxed);
        std::thread::sleep(REST);
        assert_eq!(seqs(), Ok(vec![1]));
        write(Change::Commit(record(2))).unwrap();
        assert_eq!(seqs(), Ok(vec![1, 2]));
    }
}
