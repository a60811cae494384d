//! Workers KV as the directory: which sessions exist, known everywhere without asking their objects, and what the
//! agent's card says.
//!
//! KV is late by up to a minute, so nothing is decided by it. An entry of a session is written only after its session
//! exists, says nothing but that, and is never changed, because sessions are not deleted: an entry that is there is true
//! however old it is. One that is missing means nothing, and the session's object is asked. The card's document is the
//! deployer's to write, and is only ever shown. Credentials, claims and tasks have no entries.

use worker::{Env, console_warn};

/// The binding's name in `wrangler.toml`.
const BINDING: &str = "DIRECTORY";

/// The key of the card's document.
const CARD: &str = "card";

/// The directory. Without it everything works; the objects have more to answer.
#[derive(Clone, Debug)]
pub struct Directory(Option<worker::KvStore>);

impl Directory {
    pub fn new(env: &Env) -> Self {
        Self(env.kv(BINDING).ok())
    }

    /// Whether a session is known to exist; `false` says nothing.
    pub async fn knows(&self, session: &str) -> bool {
        let Some(kv) = &self.0 else { return false };
        match kv.get(&key(session)).text().await {
            Ok(entry) => entry.is_some(),
            Err(error) => {
                warn("read", &error);
                false
            }
        }
    }

    /// The card's document as it was some time ago, if there is one.
    pub async fn card(&self) -> Option<String> {
        let kv = self.0.as_ref()?;
        kv.get(CARD).text().await.unwrap_or_else(|error| {
            warn("read", &error);
            None
        })
    }

    /// Tells the directory of a session that exists.
    pub async fn tell(self, session: String) {
        let Some(kv) = &self.0 else { return };
        let told = match kv.put(&key(&session), "{}") {
            Ok(put) => put.execute().await,
            Err(error) => Err(error),
        };
        // The next card of the session tells it again.
        if let Err(error) = told {
            warn("write", &error);
        }
    }
}

fn key(session: &str) -> String {
    format!("session/{session}")
}

fn warn(act: &str, error: &worker::KvError) {
    let line = serde_json::json!({"event": "directory", "act": act, "why": error.to_string()});
    console_warn!("{line}");
}
