//! The one alarm of an object, for all that is put off: it rings at the earliest of the times that were asked for.

use std::cell::Cell;

use a2a_edge::time::Timestamp;
use serde_json::json;
use worker::{Result, Storage, console_warn};

/// When the alarm rings, as far as it is known.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// It has to be asked for.
    Nothing,
    /// Then, or never.
    Set(Option<Timestamp>),
}

/// The alarm of one object. It outlives a crash.
pub struct Alarm {
    storage: Storage,
    known: Cell<Known>,
}

impl Alarm {
    pub fn new(storage: Storage) -> Self {
        Self {
            storage,
            known: Cell::new(Known::Nothing),
        }
    }

    /// Rings then, if not before. Whoever asks asks again with the next commit, so a failure is only reported.
    pub async fn ring_by(&self, at: Timestamp) {
        if let Err(error) = self.set(at).await {
            self.known.set(Known::Nothing);
            let line = json!({"event": "alarm", "why": error.to_string()});
            console_warn!("{line}");
        }
    }

    async fn set(&self, at: Timestamp) -> Result<()> {
        if let Known::Nothing = self.known.get() {
            let set = self.storage.get_alarm().await?.map(Timestamp::from_millis);
            // Somebody else may have set it meanwhile.
            if let Known::Nothing = self.known.get() {
                self.known.set(Known::Set(set));
            }
        }
        if matches!(self.known.get(), Known::Set(Some(set)) if set <= at) {
            return Ok(());
        }
        self.known.set(Known::Set(Some(at)));
        let wait = i64::try_from(at.millis_since(crate::now())).unwrap_or(i64::MAX);
        self.storage.set_alarm(wait).await
    }

    /// It has rung, and is set no more.
    pub fn rung(&self) {
        self.known.set(Known::Set(None));
    }
}
