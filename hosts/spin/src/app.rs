//! What an instance keeps from one request to the next: its settings, its store, and sessions that the store knows
//! better.

use std::rc::Rc;

use a2a_edge::serve::{Host, Sessions};
use a2a_edge::store::{HeadSwap, StoreError};
use a2a_edge::time::Timestamp;
use serde_json::json;

use crate::bell::PollingBell;
use crate::component::{Component, Session};
use crate::settings;
use crate::store::{SpinStore, Unready};

/// An instance that is ready to serve.
pub struct App {
    /// What decides.
    pub desk: Component,
    store: HeadSwap<SpinStore>,
    bell: PollingBell,
    sessions: Sessions<Session>,
}

thread_local! {
    /// The instance, once its settings and its store have been looked at. Where one of them is at fault the next
    /// request looks again.
    static APP: Rc<async_lock::OnceCell<Rc<App>>> = Rc::default();
}

impl App {
    /// The instance, made ready by the first request.
    ///
    /// # Errors
    /// Why it can't serve yet.
    pub async fn ready() -> Result<Rc<Self>, Unready> {
        let app = APP.with(Rc::clone);
        let ready = app.get_or_try_init(async || Self::open().await.map(Rc::new));
        ready.await.map(Rc::clone)
    }

    async fn open() -> Result<Self, Unready> {
        let settings = settings::document().await.map_err(Unready::Misconfigured)?;
        let desk = Component::open(&settings).map_err(Unready::Misconfigured)?;
        let store = HeadSwap::new(SpinStore::open().await?);
        Ok(Self {
            desk,
            bell: PollingBell::new(store.clone()),
            store,
            sessions: Sessions::new(),
        })
    }
}

impl Host<Session> for App {
    type Store = HeadSwap<SpinStore>;
    type Bell = PollingBell;

    fn store(&self) -> &Self::Store {
        &self.store
    }

    fn bell(&self) -> &PollingBell {
        &self.bell
    }

    fn sessions(&self) -> &Sessions<Session> {
        &self.sessions
    }

    fn now(&self) -> Timestamp {
        crate::now()
    }

    fn entropy(&self) -> [u8; 32] {
        crate::random()
    }

    fn report(&self, fault: &StoreError) {
        crate::log(&json!({"event": "store", "why": fault.to_string()}));
    }
}
