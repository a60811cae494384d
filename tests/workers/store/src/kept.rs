//! The object of one session: its store, called by its methods' names.

use std::cell::RefCell;

use a2a_edge::store::{CommitOutcome, Store as _, StoreError};
use worker::{DurableObject, Env, Request, Response, Result, State, durable_object, wasm_bindgen};

use crate::store::{ObjectStore, Rows};
use crate::wire::{Answer, Ask, Call};

/// The store of one session.
#[durable_object]
pub struct Kept {
    state: State,
    store: RefCell<Option<ObjectStore>>,
}

impl DurableObject for Kept {
    fn new(state: State, _: Env) -> Self {
        let store = RefCell::new(None);
        Self { state, store }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        let Call { session, evict, ask } = serde_json::from_str(&request.text().await?)?;
        let known = self.store.take().filter(|_| !evict);
        let store =
            known.unwrap_or_else(|| ObjectStore::new(Rows(self.state.storage()), self.state.id().name()));
        let answer = answer(&store, &session, ask).await;
        self.store.replace(Some(store));
        let answer = answer.unwrap_or_else(|error| match error {
            StoreError::Unavailable(why) => Answer::Unavailable(why),
            StoreError::Corrupt(why) => Answer::Corrupt(why),
        });
        Response::from_json(&answer)
    }
}

async fn answer(store: &ObjectStore, session: &str, ask: Ask) -> std::result::Result<Answer, StoreError> {
    Ok(match ask {
        Ask::Create(first) => Answer::Created(store.create(session, &first.into()).await?),
        Ask::Load { after } => {
            let loaded = store.load(session, after).await?;
            Answer::Loaded(loaded.map(|loaded| {
                let commits = loaded.commits.iter().map(Into::into);
                (loaded.snapshot.as_ref().map(Into::into), commits.collect())
            }))
        }
        Ask::History { after, most } => {
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            let history = store.history(session, after, most).await?;
            Answer::History(history.iter().map(Into::into).collect())
        }
        Ask::Commit(record) => match store.commit(session, &record.into()).await? {
            CommitOutcome::Conflict => Answer::Conflict,
            CommitOutcome::Committed { compact } => Answer::Committed { compact },
        },
        Ask::Compact(snapshot) => {
            store.compact(session, &snapshot.into()).await?;
            Answer::Compacted
        }
    })
}
