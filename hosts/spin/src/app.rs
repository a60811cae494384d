//! What an instance keeps from one request to the next: its settings, its store, and sessions that the store knows
//! better.

use std::rc::{Rc, Weak};

use a2a_edge::serve::{Host, Sessions};
use a2a_edge::store::{HeadSwap, StoreError};
use a2a_edge::time::Timestamp;
use serde_json::json;

use crate::bell::PollingBell;
use crate::component::{Component, Session};
use crate::delivery::{self, Sending};
use crate::room;
use crate::settings;
use crate::store::{SpinStore, Unready};

/// An instance that is ready to serve.
pub struct App {
    /// What decides.
    pub desk: Component,
    /// The sessions whose notifications are on their way.
    pub sending: Sending,
    /// Whether there are notifications.
    notifies: bool,
    own: Weak<Self>,
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
        let ready = app.get_or_try_init(Self::open);
        ready.await.map(Rc::clone)
    }

    /// Whether something is due that a request still sees to.
    pub fn is_soon(&self, due: Option<Timestamp>) -> bool {
        due.is_some_and(|due| due <= self.now().plus_millis(delivery::AHEAD_MS))
    }

    async fn open() -> Result<Rc<Self>, Unready> {
        let settings = settings::document().await.map_err(Unready::Misconfigured)?;
        let desk = Component::open(&settings).map_err(Unready::Misconfigured)?;
        let store = HeadSwap::new(SpinStore::open().await?);
        let notifies = settings::notifies(&settings);
        if !notifies {
            room::notifies_nobody();
        }
        Ok(Rc::new_cyclic(|own| Self {
            desk,
            sending: Sending::default(),
            notifies,
            own: Weak::clone(own),
            bell: PollingBell::new(store.clone()),
            store,
            sessions: Sessions::new(),
        }))
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

    fn reached(&self, session_id: &str, due: Timestamp) {
        if self.notifies
            && self.is_soon(Some(due))
            && let Some(own) = self.own.upgrade()
        {
            delivery::begin(&own, session_id);
        }
    }

    fn report(&self, fault: &StoreError) {
        crate::log(&json!({"event": "store", "why": fault.to_string()}));
    }
}
