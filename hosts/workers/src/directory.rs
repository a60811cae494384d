//! Workers KV as the directory: which sessions exist, known everywhere without asking their objects, what the agent's card
//! says, and the deployment's own public documents.
//!
//! KV is late by up to a minute, so nothing is decided by it. An entry of a session is written only after its session
//! exists, says nothing but that, and is never changed, because sessions are not deleted: an entry that is there is true
//! however old it is. One that is missing means nothing, and the session's object is asked. The card's document and
//! those beside it are the deployer's to write, and are only ever shown. Credentials, claims and tasks have no entries.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use serde_json::json;
use worker::{Delay, Env, KvError, KvStore, console_warn};

/// The binding's name in `wrangler.toml`.
const BINDING: &str = "DIRECTORY";

/// The key of the card's document.
const CARD: &str = "card";

/// How long KV is waited for. It answers in milliseconds, or a hundred of them from afar.
const PATIENCE: Duration = Duration::from_secs(2);

/// The directory. Without it everything works; the objects have more to answer.
#[derive(Clone, Debug)]
pub struct Directory(Option<KvStore>);

impl Directory {
    pub fn new(env: &Env) -> Self {
        Self(env.kv(BINDING).ok())
    }

    /// Whether a session is known to exist; `false` says nothing.
    pub async fn knows(&self, session: &str) -> bool {
        self.read(&key(session)).await.is_some()
    }

    /// The card's document as it was some time ago, if there is one.
    pub async fn card(&self) -> Option<String> {
        self.read(CARD).await
    }

    /// A public document as it was some time ago, if there is one.
    pub async fn document(&self, name: &str) -> Option<Vec<u8>> {
        soon(self.0.as_ref()?.get(&format!("document/{name}")).bytes()).await
    }

    async fn read(&self, key: &str) -> Option<String> {
        soon(self.0.as_ref()?.get(key).text()).await
    }

    /// Tells the directory of a session that exists.
    pub async fn tell(self, session: String) {
        let Some(kv) = &self.0 else { return };
        let told = match kv.put(&key(&session), "{}") {
            Ok(put) => put.execute().await,
            Err(error) => Err(error),
        };
        // The next card of the session tells it again.
        told.unwrap_or_else(|error| warn("write", &error));
    }
}

/// What KV has, unless it takes too long: as good as nothing then.
async fn soon<T>(read: impl Future<Output = Result<Option<T>, KvError>>) -> Option<T> {
    match select(pin!(read), pin!(Delay::from(PATIENCE))).await {
        Either::Left((read, _)) => read.unwrap_or_else(|error| warn("read", &error)),
        Either::Right(_) => warn("read", &"no answer in time"),
    }
}

fn key(session: &str) -> String {
    format!("session/{session}")
}

/// Notes what failed; there is nothing in its place.
fn warn<T: Default>(act: &str, error: &impl ToString) -> T {
    let line = json!({"event": "directory", "act": act, "why": error.to_string()});
    console_warn!("{line}");
    T::default()
}
