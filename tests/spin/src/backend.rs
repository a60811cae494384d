//! The stores behind Spin's key-value interfaces, with the manners that Spin's own back ends have: what a swap is bound
//! to, and what it reports.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::redis::{Reply, Server};

/// Whatever a store says when it can't.
pub type Outcome<T> = Result<T, String>;

/// A store that all instances share.
pub trait Backend: Send + Sync {
    /// The value of a key.
    ///
    /// # Errors
    /// The store can't say.
    fn get(&self, key: &str) -> Outcome<Option<Vec<u8>>>;
    /// Sets a key.
    ///
    /// # Errors
    /// The store can't.
    fn set(&self, key: &str, value: &[u8]) -> Outcome<()>;
    /// Removes a key.
    ///
    /// # Errors
    /// The store can't.
    fn delete(&self, key: &str) -> Outcome<()>;
    /// A swap of a key that is bound to nothing yet.
    ///
    /// # Errors
    /// The store can't be reached.
    fn compare(&self, key: &str) -> Outcome<Box<dyn Swap>>;
}

/// A swap on its way.
pub trait Swap: Send {
    /// The key's present value, which the swap is bound to from now on.
    ///
    /// # Errors
    /// The store can't say.
    fn current(&mut self) -> Outcome<Option<Vec<u8>>>;
    /// Sets the key if its value is the one the swap is bound to; without one it is bound to any. Gives what is
    /// reported, true or not.
    ///
    /// # Errors
    /// The store can't.
    fn swap(&mut self, value: &[u8]) -> Outcome<bool>;
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A store in memory.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

struct MemorySwap {
    store: Memory,
    key: String,
    bound: Option<Vec<u8>>,
}

impl Backend for Memory {
    fn get(&self, key: &str) -> Outcome<Option<Vec<u8>>> {
        Ok(locked(&self.0).get(key).cloned())
    }

    fn set(&self, key: &str, value: &[u8]) -> Outcome<()> {
        locked(&self.0).insert(key.to_owned(), value.to_vec());
        Ok(())
    }

    fn delete(&self, key: &str) -> Outcome<()> {
        locked(&self.0).remove(key);
        Ok(())
    }

    fn compare(&self, key: &str) -> Outcome<Box<dyn Swap>> {
        Ok(Box::new(MemorySwap {
            store: self.clone(),
            key: key.to_owned(),
            bound: None,
        }))
    }
}

impl Swap for MemorySwap {
    fn current(&mut self) -> Outcome<Option<Vec<u8>>> {
        self.bound = self.store.get(&self.key)?;
        Ok(self.bound.clone())
    }

    fn swap(&mut self, value: &[u8]) -> Outcome<bool> {
        let mut entries = locked(&self.store.0);
        if self.bound.is_some() && entries.get(&self.key) != self.bound.as_ref() {
            return Ok(false);
        }
        entries.insert(self.key.clone(), value.to_vec());
        Ok(true)
    }
}

/// A store that overwrites whatever is there, as none may.
#[derive(Clone, Default)]
pub struct Careless(pub Memory);

struct CarelessSwap {
    store: Memory,
    key: String,
}

impl Backend for Careless {
    fn get(&self, key: &str) -> Outcome<Option<Vec<u8>>> {
        self.0.get(key)
    }

    fn set(&self, key: &str, value: &[u8]) -> Outcome<()> {
        self.0.set(key, value)
    }

    fn delete(&self, key: &str) -> Outcome<()> {
        self.0.delete(key)
    }

    fn compare(&self, key: &str) -> Outcome<Box<dyn Swap>> {
        Ok(Box::new(CarelessSwap {
            store: self.0.clone(),
            key: key.to_owned(),
        }))
    }
}

impl Swap for CarelessSwap {
    fn current(&mut self) -> Outcome<Option<Vec<u8>>> {
        self.store.get(&self.key)
    }

    fn swap(&mut self, value: &[u8]) -> Outcome<bool> {
        self.store.set(&self.key, value).map(|()| true)
    }
}

/// One file of SQLite, as Spin keeps its default store: a swap of an absent key sets it whatever is there by then.
#[derive(Clone)]
pub struct Sqlite(Arc<Mutex<Connection>>);

struct SqliteSwap {
    store: Sqlite,
    key: String,
    bound: Option<Vec<u8>>,
}

const UPSERT: &str = "INSERT INTO spin_key_value (store, key, value) VALUES ('default', ?1, ?2)
    ON CONFLICT (store, key) DO UPDATE SET value = ?2";

impl Sqlite {
    /// Opens the file, which is made if it is not there.
    ///
    /// # Errors
    /// It can't be, or is no database.
    pub fn open(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute(
            "CREATE TABLE IF NOT EXISTS spin_key_value (store TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
                PRIMARY KEY (store, key))",
            [],
        )?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    fn run(&self, statement: &str, parameters: impl rusqlite::Params) -> Outcome<usize> {
        let connection = locked(&self.0);
        let mut statement = connection.prepare_cached(statement).map_err(said)?;
        statement.execute(parameters).map_err(said)
    }
}

fn said(error: rusqlite::Error) -> String {
    error.to_string()
}

impl Backend for Sqlite {
    fn get(&self, key: &str) -> Outcome<Option<Vec<u8>>> {
        let connection = locked(&self.0);
        let select = "SELECT value FROM spin_key_value WHERE store = 'default' AND key = ?1";
        let mut statement = connection.prepare_cached(select).map_err(said)?;
        statement
            .query_row([key], |row| row.get(0))
            .optional()
            .map_err(said)
    }

    fn set(&self, key: &str, value: &[u8]) -> Outcome<()> {
        self.run(UPSERT, params![key, value]).map(drop)
    }

    fn delete(&self, key: &str) -> Outcome<()> {
        let delete = "DELETE FROM spin_key_value WHERE store = 'default' AND key = ?1";
        self.run(delete, [key]).map(drop)
    }

    fn compare(&self, key: &str) -> Outcome<Box<dyn Swap>> {
        Ok(Box::new(SqliteSwap {
            store: self.clone(),
            key: key.to_owned(),
            bound: None,
        }))
    }
}

impl Swap for SqliteSwap {
    fn current(&mut self) -> Outcome<Option<Vec<u8>>> {
        self.bound = self.store.get(&self.key)?;
        Ok(self.bound.clone())
    }

    fn swap(&mut self, value: &[u8]) -> Outcome<bool> {
        let changed = match &self.bound {
            Some(bound) => {
                let update = "UPDATE spin_key_value SET value = ?2
                    WHERE store = 'default' AND key = ?1 AND value = ?3";
                self.store.run(update, params![self.key, value, bound])?
            }
            None => self.store.run(UPSERT, params![self.key, value])?,
        };
        Ok(changed == 1)
    }
}

/// A Redis server: guarded by WATCH on a connection of the swap's own, and reported to have failed whatever came of it.
#[derive(Clone)]
pub struct Redis(Arc<Server>);

struct RedisSwap {
    connection: Server,
    key: String,
}

impl Redis {
    /// The server that listens on a port of this machine.
    #[must_use]
    pub fn at(port: u16) -> Self {
        Self(Arc::new(Server::at(port)))
    }
}

impl Backend for Redis {
    fn get(&self, key: &str) -> Outcome<Option<Vec<u8>>> {
        value(self.0.call(&[b"GET", key.as_bytes()])?)
    }

    fn set(&self, key: &str, value: &[u8]) -> Outcome<()> {
        self.0.call(&[b"SET", key.as_bytes(), value]).map(drop)
    }

    fn delete(&self, key: &str) -> Outcome<()> {
        self.0.call(&[b"DEL", key.as_bytes()]).map(drop)
    }

    fn compare(&self, key: &str) -> Outcome<Box<dyn Swap>> {
        Ok(Box::new(RedisSwap {
            connection: self.0.another(),
            key: key.to_owned(),
        }))
    }
}

impl Swap for RedisSwap {
    fn current(&mut self) -> Outcome<Option<Vec<u8>>> {
        self.connection.call(&[b"WATCH", self.key.as_bytes()])?;
        value(self.connection.call(&[b"GET", self.key.as_bytes()])?)
    }

    fn swap(&mut self, value: &[u8]) -> Outcome<bool> {
        self.connection.call(&[b"MULTI"])?;
        self.connection.call(&[b"SET", self.key.as_bytes(), value])?;
        self.connection.call(&[b"EXEC"])?;
        Ok(false)
    }
}

fn value(reply: Reply) -> Outcome<Option<Vec<u8>>> {
    match reply {
        Reply::Bytes(bytes) => Ok(Some(bytes)),
        Reply::Nothing => Ok(None),
        Reply::Other => Err("redis: expected a value".to_owned()),
    }
}
