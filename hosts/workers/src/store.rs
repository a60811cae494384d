//! The SQLite storage of an object, as the core's store of one session needs it. The platform runs one object of a name
//! at a time, lets no other write to its storage, and holds an answer back until what was written before it is durable.

use std::fmt::Display;

use a2a_edge::store::{Database, Snapshot, SqlValue, Sqlite, StoreError};
use serde_json::json;
use worker::{SqlStorageValue, Storage, console_log};

/// The store of the one session that an object has.
pub type ObjectStore = Sqlite<Rows>;

/// The storage of an object.
pub struct Rows(pub Storage);

impl Database for Rows {
    fn run(&self, statement: &str, values: Vec<SqlValue>) -> Result<Vec<Vec<SqlValue>>, StoreError> {
        let values: Vec<SqlStorageValue> = values.into_iter().map(outward).collect();
        let cursor = self.0.sql().exec(statement, values).map_err(unavailable)?;
        let row = |row: worker::Result<Vec<SqlStorageValue>>| {
            let row = row.map_err(unavailable)?;
            row.into_iter().map(inward).collect()
        };
        cursor.raw().map(row).collect()
    }

    fn loaded(&self, session: &str, snapshot: u64, commits: usize) {
        let line = json!({"event": "load", "session": session, "snapshot": snapshot, "commits": commits});
        console_log!("{line}");
    }

    fn compacted(&self, session: &str, Snapshot { seq, bytes }: &Snapshot) {
        let line = json!({"event": "compact", "session": session, "seq": seq, "bytes": bytes.len()});
        console_log!("{line}");
    }
}

fn outward(value: SqlValue) -> SqlStorageValue {
    match value {
        SqlValue::Null => SqlStorageValue::Null,
        SqlValue::Integer(number) => SqlStorageValue::Integer(number),
        SqlValue::Text(text) => SqlStorageValue::String(text),
        SqlValue::Blob(bytes) => SqlStorageValue::Blob(bytes),
    }
}

fn inward(value: SqlStorageValue) -> Result<SqlValue, StoreError> {
    match value {
        SqlStorageValue::Null => Ok(SqlValue::Null),
        SqlStorageValue::Integer(number) => Ok(SqlValue::Integer(number)),
        SqlStorageValue::String(text) => Ok(SqlValue::Text(text)),
        SqlStorageValue::Blob(bytes) => Ok(SqlValue::Blob(bytes)),
        SqlStorageValue::Boolean(_) | SqlStorageValue::Float(_) => Err(StoreError::Corrupt(
            "a column has another type than it must".to_owned(),
        )),
    }
}

fn unavailable(error: impl Display) -> StoreError {
    StoreError::Unavailable(error.to_string())
}
