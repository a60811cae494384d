//! The Durable Object of one session: the session in memory, its storage and its bell in one place.

use std::rc::Rc;

use a2a_edge::serve::{self, Host, Sessions};
use a2a_edge::store::StoreError;
use a2a_edge::time::Timestamp;
use serde_json::json;
use worker::{
    DurableObject, Env, Request, Response, Result, State, console_error, durable_object, wasm_bindgen,
};

use crate::alarm::Alarm;
use crate::bell::ObjectBell;
use crate::outbound::Webhooks;
use crate::store::{ObjectStore, Rows};
use crate::{exchange, settings};

/// How long compaction is put off, in milliseconds, so that a burst of commits is compacted once.
const PUT_OFF_MS: i64 = 1_000;

/// How long what was put off is left alone after it failed, in milliseconds.
const REST_MS: i64 = 30_000;

/// A session. Its object's name is its id.
#[durable_object(alarm)]
pub struct Session {
    env: Env,
    place: Rc<Place>,
}

/// Where the session is: what its streams hold on to.
struct Place {
    id: String,
    alarm: Alarm,
    store: ObjectStore,
    bell: ObjectBell,
    sessions: Sessions,
}

impl DurableObject for Session {
    fn new(state: State, env: Env) -> Self {
        crate::hush_panics();
        let store = ObjectStore::new(Rows(state.storage()), state.id().name());
        let place = Place {
            id: store.session().to_owned(),
            alarm: Alarm::new(state.storage()),
            store,
            bell: ObjectBell::default(),
            sessions: Sessions::new(),
        };
        Self {
            env,
            place: Rc::new(place),
        }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        let request = exchange::whole(request).await?;
        match settings::desk(&self.env, &request).await {
            Ok(desk) => exchange::answer(&self.place, desk, request).await,
            Err(fault) => exchange::misconfigured(&fault, &exchange::request_id(&request)),
        }
    }

    /// Does what was put off. After a failure it rings again, however often: the platform would give up after some tries, and
    /// only the session's next commit would ask anew.
    async fn alarm(&self) -> Result<Response> {
        if let Err(why) = self.place.catch_up(&self.env).await {
            let line = json!({"event": "alarm", "session": self.place.id, "why": why});
            console_error!("{line}");
            let again = crate::now().plus_millis(REST_MS);
            self.place.alarm.ring_by(again).await;
        }
        Response::empty()
    }
}

impl Place {
    /// Compacts the session where that is wanted, and sends the notifications that are due.
    async fn catch_up(&self, env: &Env) -> std::result::Result<(), String> {
        self.alarm.rung();
        let told = |fault: StoreError| fault.to_string();
        if self.store.wants_compaction().map_err(told)? {
            serve::compact(self, &self.id).await.map_err(told)?;
        }
        let desk = settings::plain(env, None)?;
        let sent = serve::deliver(self, desk.as_ref(), &Webhooks, &self.id).await;
        if let Some(at) = sent.map_err(told)?.due {
            self.alarm.ring_by(at).await;
        }
        Ok(())
    }
}

impl Host for Place {
    type Store = ObjectStore;
    type Bell = ObjectBell;

    fn store(&self) -> &ObjectStore {
        &self.store
    }

    fn bell(&self) -> &ObjectBell {
        &self.bell
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn now(&self) -> Timestamp {
        crate::now()
    }

    fn entropy(&self) -> [u8; 32] {
        crate::entropy()
    }

    fn session_to_create(&self) -> Option<String> {
        Some(self.id.clone())
    }

    async fn due(&self, _session_id: &str, at: Timestamp) {
        self.alarm.ring_by(at).await;
    }

    async fn puts_off_compaction(&self, _session_id: &str) -> bool {
        self.alarm.ring_by(crate::now().plus_millis(PUT_OFF_MS)).await;
        true
    }

    fn report(&self, fault: &StoreError) {
        let line = json!({"event": "store", "session": self.id, "why": fault.to_string()});
        console_error!("{line}");
    }
}
