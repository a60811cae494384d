//! Notifications, sent behind the requests that found them due.
//!
//! An instance has no time of its own: it ends when it has nothing to do. But what a request has begun goes on once it is
//! answered, and keeps the instance alive as long as it takes. So whatever is due of a session, or will be within the next
//! half minute, is sent behind the request that was answered from it; by one instance at a time, which holds the
//! session's lease meanwhile. What is due later is sent behind a later request, whoever's it is.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use a2a_edge::serve::{self, Host, Sessions};
use a2a_edge::store::{Bell as _, HeadSwap, LEASE_MS, Lease, StoreError};
use a2a_edge::time::Timestamp;
use futures_util::future::{Either, select};
use spin_sdk::time::sleep;
use spin_sdk::wit_bindgen::spawn;

use crate::app::App;
use crate::bell::PollingBell;
use crate::component::Session;
use crate::outbound::Webhooks;
use crate::room::{self, Share};
use crate::rousing::roused;
use crate::store::SpinStore;

/// How long is sent behind a request, in milliseconds. What is on its way then arrives.
pub const AHEAD_MS: i64 = 30_000;

/// And how long at least by whoever had to wait for the lease, in milliseconds.
const LEAST_MS: i64 = 10_000;

/// How often a lease is renewed: twice before it lapses.
const RENEW: Duration = Duration::from_secs(10);

/// How long a lease that is held is left alone at first.
const FIRST: Duration = Duration::from_millis(50);
/// And how long at most; as long as notifications pause where the instance has no room for them.
const MOST: Duration = Duration::from_secs(1);
/// How long a lease is waited for, in milliseconds: its holder sends as long as is sent behind a request, waits ten seconds
/// for what is on its way, and may die over it.
const PATIENCE_MS: i64 = AHEAD_MS.saturating_add(LEASE_MS).saturating_add(LEAST_MS);

/// The sessions that an instance sends the notifications of.
#[derive(Default)]
pub struct Sending(RefCell<BTreeMap<String, Asked>>);

/// What requests have asked for in a session.
#[derive(Clone, Copy)]
struct Asked {
    /// How often.
    times: u64,
    /// Until when is sent.
    until: Timestamp,
}

/// That a session is among them.
struct Mark {
    app: Rc<App>,
    session_id: String,
}

impl Mark {
    fn asked(&self) -> Asked {
        let sending = self.app.sending.0.borrow();
        let asked = sending.get(&self.session_id).copied();
        // As long as there is the mark there is what it stands for.
        asked.unwrap_or(Asked {
            times: 0,
            until: Timestamp::EPOCH,
        })
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.app.sending.0.borrow_mut().remove(&self.session_id);
    }
}

/// Sends what is due of a session behind the request that runs. Where this instance is at it, it goes on for longer.
pub fn begin(app: &Rc<App>, session_id: &str) {
    let until = app.now().plus_millis(AHEAD_MS);
    let mut sending = app.sending.0.borrow_mut();
    if let Some(asked) = sending.get_mut(session_id) {
        asked.times = asked.times.saturating_add(1);
        asked.until = until;
        return;
    }
    sending.insert(session_id.to_owned(), Asked { times: 1, until });
    drop(sending);
    let mark = Mark {
        app: Rc::clone(app),
        session_id: session_id.to_owned(),
    };
    let share = Share::of_delivery();
    spawn(roused(async move {
        if let Err(fault) = run(&mark).await {
            mark.app.report(&fault);
        }
        drop(share);
    }));
}

/// Sends until nobody has asked for more.
async fn run(mark: &Mark) -> Result<(), StoreError> {
    let Mark { app, session_id } = mark;
    loop {
        let seen = mark.asked();
        let Some(lease) = lease(mark).await? else {
            if mark.asked().times == seen.times {
                return Ok(());
            }
            continue;
        };
        let turn = Turn {
            mark,
            least: app.now().plus_millis(LEAST_MS),
            lease: RefCell::new(lease),
            lost: Cell::new(false),
        };
        let sent = match select(pin!(turn.send()), pin!(turn.keep())).await {
            Either::Left((sent, _)) => sent,
            Either::Right((never, _)) => never,
        };
        let lease = turn.lease.into_inner();
        app.store().give_up_lease(session_id, &lease).await?;
        // Nothing is waited for between this look and the mark's end: who asks from here on finds it gone.
        if mark.asked().times == sent? {
            return Ok(());
        }
    }
}

/// The lease of a session, when it is free; none where nothing is due any more by then. That of a holder who died is
/// waited for until it lapses.
async fn lease(mark: &Mark) -> Result<Option<Lease>, StoreError> {
    let Mark { app, session_id } = mark;
    let holder = crate::hex(&crate::random::<8>());
    let end = app.now().plus_millis(PATIENCE_MS);
    let mut pause = FIRST;
    while app.now() < end {
        let lease = app.store().take_lease(session_id, &holder, app.now()).await?;
        if lease.is_some() {
            return Ok(lease);
        }
        // Its holder sends what was committed here, as long as it goes on.
        sleep(pause).await;
        pause = pause.saturating_mul(2).min(MOST);
        if !app.is_soon(serve::next_due(app.as_ref(), session_id).await?) {
            break;
        }
    }
    Ok(None)
}

/// What the instance lends to a delivery, for as long as it may last.
struct Turn<'a> {
    mark: &'a Mark,
    /// It lasts so long at least.
    least: Timestamp,
    lease: RefCell<Lease>,
    lost: Cell<bool>,
}

impl Turn<'_> {
    fn app(&self) -> &App {
        &self.mark.app
    }

    /// When nothing more is begun.
    fn end(&self) -> Timestamp {
        let end = self.mark.asked().until.max(self.least);
        end.min(self.lease.borrow().until())
    }

    fn is_over(&self) -> bool {
        self.lost.get() || self.now() >= self.end()
    }

    /// Sends until nothing more is due in time; how often was asked for what was sent.
    async fn send(&self) -> Result<u64, StoreError> {
        loop {
            let asked = self.mark.asked();
            let outlook = serve::deliver(self, &self.app().desk, &Webhooks, &self.mark.session_id).await?;
            let until = self.mark.asked().until.max(self.least);
            match outlook.due.filter(|at| *at <= until && !self.is_over()) {
                Some(_) if room::is_short() => sleep(MOST).await,
                Some(at) => self.bell().wait(&self.mark.session_id, outlook.seq, at).await,
                None if self.is_over() || self.mark.asked().times == asked.times => return Ok(asked.times),
                None => {}
            }
        }
    }

    /// Renews the lease until it is lost.
    async fn keep<T>(&self) -> T {
        loop {
            sleep(RENEW).await;
            let lease = self.lease.borrow().clone();
            let renewed = self
                .store()
                .renew_lease(&self.mark.session_id, &lease, self.now());
            match renewed.await {
                Ok(Some(renewed)) => drop(self.lease.replace(renewed)),
                Ok(None) => self.lost.set(true),
                Err(fault) => self.report(&fault),
            }
        }
    }
}

impl Host<Session> for Turn<'_> {
    type Store = HeadSwap<SpinStore>;
    type Bell = PollingBell;

    fn store(&self) -> &Self::Store {
        self.app().store()
    }

    fn bell(&self) -> &PollingBell {
        self.app().bell()
    }

    fn sessions(&self) -> &Sessions<Session> {
        self.app().sessions()
    }

    fn now(&self) -> Timestamp {
        self.app().now()
    }

    fn entropy(&self) -> [u8; 32] {
        self.app().entropy()
    }

    fn is_closing(&self) -> bool {
        self.is_over() || room::is_short()
    }

    fn report(&self, fault: &StoreError) {
        self.app().report(fault);
    }
}
