//! A call of a store over HTTP: one JSON object there, one back. The test speaks it as the object does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use a2a_edge::store::{Record, Snapshot};

/// What is asked of the store of a session.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) session: String,
    /// Whether what the object has in memory is forgotten first, as it is after an eviction.
    pub(crate) evict: bool,
    pub(crate) ask: Ask,
}

/// One method of the store.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Ask {
    Create(Bytes),
    Load { after: u64 },
    History { after: u64, most: u64 },
    Commit(Bytes),
    Compact(Bytes),
}

/// What the store says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    Created(bool),
    Loaded(Option<(Option<Bytes>, Vec<Bytes>)>),
    History(Vec<Bytes>),
    Conflict,
    Committed { compact: bool },
    Compacted,
    Unavailable(String),
    Corrupt(String),
}

/// A record, or a snapshot without a nonce.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Bytes {
    seq: u64,
    nonce: String,
    bytes: String,
}

impl From<&Record> for Bytes {
    fn from(Record { seq, nonce, bytes }: &Record) -> Self {
        Self {
            seq: *seq,
            nonce: nonce.clone(),
            bytes: STANDARD.encode(bytes),
        }
    }
}

impl From<&Snapshot> for Bytes {
    fn from(Snapshot { seq, bytes }: &Snapshot) -> Self {
        Self {
            seq: *seq,
            nonce: String::new(),
            bytes: STANDARD.encode(bytes),
        }
    }
}

impl From<Bytes> for Record {
    fn from(Bytes { seq, nonce, bytes }: Bytes) -> Self {
        let bytes = STANDARD.decode(bytes).unwrap_or_default();
        Self { seq, nonce, bytes }
    }
}

impl From<Bytes> for Snapshot {
    fn from(kept: Bytes) -> Self {
        let Record { seq, bytes, .. } = kept.into();
        Self { seq, bytes }
    }
}
