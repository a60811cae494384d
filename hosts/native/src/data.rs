//! What a server keeps on its machine: the data directory, with the operator's token and the name of the first
//! session. The store keeps its own file there.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Where a server keeps everything, unless it is told otherwise.
pub const DATA_DIRECTORY: &str = ".a2a-edge";
/// Variable of the environment that names the operator's token.
pub const OPERATOR_TOKEN: &str = "A2A_EDGE_OPERATOR_TOKEN";

const OPERATOR_FILE: &str = "operator-token";
const LOCK_FILE: &str = "lock";
const SESSION_FILE: &str = "session";
/// The shortest operator's token that is taken, in bytes.
const TOKEN_MIN: usize = 32;
/// The longest, in bytes.
const TOKEN_MAX: usize = 512;

/// A data directory that no other server has while this value lives.
#[derive(Debug)]
pub struct DataDirectory {
    path: PathBuf,
    /// Held for its lock; the system lets go of it when the process ends, however it ends.
    _lock: File,
}

impl DataDirectory {
    /// Takes a data directory for this process, and makes it if it is not there.
    ///
    /// # Errors
    /// Another server has it, or the system does not let this one.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let fail = |error: io::Error| Failure::Local(format!("data directory {}: {error}", path.display()));
        make_private_directory(path).map_err(fail)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK_FILE))
            .map_err(fail)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(Failure::Local(format!(
                "data directory {} is in use by another a2a-edge server; stop it, or name another with --data",
                path.display()
            ))),
            Err(TryLockError::Error(error)) => Err(fail(error)),
        }
    }

    /// A file in the directory.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The operator's token: `given`, or what the directory holds, or a new one that it holds from now on.
    ///
    /// # Errors
    /// A token that is too weak or cannot stand in a header, or a file that cannot be read or written.
    pub fn operator_token(&self, given: Option<String>) -> Result<String, Failure> {
        if let Some(token) = given {
            return checked(token, OPERATOR_TOKEN);
        }
        let path = self.file(OPERATOR_FILE);
        if let Some(token) = read_token(&path)? {
            return Ok(token);
        }
        let mut secret = [0_u8; 32];
        getrandom::fill(&mut secret).map_err(|error| Failure::Local(format!("no randomness: {error}")))?;
        let token = secret
            .iter()
            .fold("a2ao_".to_owned(), |token, byte| format!("{token}{byte:02x}"));
        write_private(&path, &token)
            .map_err(|error| Failure::Local(format!("{}: {error}", path.display())))?;
        Ok(token)
    }

    /// The session that the first start made, if it came to that.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn session(&self) -> Result<Option<String>, Failure> {
        read_line(&self.file(SESSION_FILE))
    }

    /// Remembers the session that the first start made.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn remember_session(&self, session: &str) -> Result<(), Failure> {
        let path = self.file(SESSION_FILE);
        write_private(&path, session).map_err(|error| Failure::Local(format!("{}: {error}", path.display())))
    }
}

/// The operator's token that a server on this machine keeps in its data directory.
///
/// # Errors
/// There is none, or it cannot be read by this user.
pub fn read_operator_token(data: &Path) -> Result<String, Failure> {
    let path = data.join(OPERATOR_FILE);
    read_token(&path)?.ok_or_else(|| {
        Failure::Usage(format!(
            "no operator's token in {}: name the server's data directory with --data, or the token with \
             --operator-token or {OPERATOR_TOKEN}",
            path.display()
        ))
    })
}

fn read_token(path: &Path) -> Result<Option<String>, Failure> {
    let token = read_line(path)?;
    token
        .map(|token| checked(token, &path.display().to_string()))
        .transpose()
}

/// The only line of a file, or `None` if there is no file.
fn read_line(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim_end().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::Usage(format!("{}: {error}", path.display()))),
    }
}

/// A token that can stand in a header and that nobody guesses.
fn checked(token: String, origin: &str) -> Result<String, Failure> {
    let fits = (TOKEN_MIN..=TOKEN_MAX).contains(&token.len());
    if fits && token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(token);
    }
    Err(Failure::Usage(format!(
        "{origin}: expected {TOKEN_MIN} to {TOKEN_MAX} visible ASCII characters"
    )))
}

/// Makes a directory that only its owner enters, and what it lies in; one that exists stays as it is.
fn make_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Writes a file that only its owner reads, whole or not at all.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = path.with_extension("new");
    // What a crash left, or somebody else put there, may be readable by others.
    let _ = fs::remove_file(&unfinished);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&unfinished)?;
    file.write_all(format!("{text}\n").as_bytes())?;
    file.sync_all()?;
    fs::rename(&unfinished, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_token_is_kept_where_only_its_owner_reads() {
        let scratch = tempfile::tempdir().unwrap();
        assert!(matches!(
            read_operator_token(scratch.path()),
            Err(Failure::Usage(_))
        ));
        let data = DataDirectory::open(scratch.path()).unwrap();
        let token = data.operator_token(None).unwrap();
        assert_eq!(token.len(), 69);
        assert_eq!(data.operator_token(None).unwrap(), token);
        assert_eq!(read_operator_token(scratch.path()).unwrap(), token);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&data.file(OPERATOR_FILE)), 0o600);
            let deeper = scratch.path().join("a/b");
            DataDirectory::open(&deeper).unwrap();
            assert_eq!(mode(&deeper), 0o700);
        }
    }

    #[test]
    fn a_given_token_is_taken_and_not_kept() {
        let scratch = tempfile::tempdir().unwrap();
        let data = DataDirectory::open(scratch.path()).unwrap();
        let take = |length| data.operator_token(Some("x".repeat(length)));
        assert!(take(31).is_err());
        assert_eq!(take(32).unwrap().len(), 32);
        assert_eq!(take(512).unwrap().len(), 512);
        assert!(take(513).is_err());
        assert!(
            data.operator_token(Some("a token of some length, with spaces in it".to_owned()))
                .is_err()
        );
        assert!(!data.file(OPERATOR_FILE).exists());
    }

    #[test]
    fn a_directory_has_one_server_at_a_time() {
        let scratch = tempfile::tempdir().unwrap();
        let first = DataDirectory::open(scratch.path()).unwrap();
        let Err(Failure::Local(why)) = DataDirectory::open(scratch.path()) else {
            panic!("two servers in one directory");
        };
        assert!(why.contains("in use by another a2a-edge server"), "{why}");
        drop(first);
        DataDirectory::open(scratch.path()).unwrap();
    }

    #[test]
    fn the_first_session_is_remembered() {
        let scratch = tempfile::tempdir().unwrap();
        let data = DataDirectory::open(scratch.path()).unwrap();
        assert_eq!(data.session().unwrap(), None);
        data.remember_session("s_1").unwrap();
        assert_eq!(data.session().unwrap().as_deref(), Some("s_1"));
    }
}
