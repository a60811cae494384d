//! Notifications, sent behind the requests that found them due.
//!
//! An instance has no time of its own: it ends when it has nothing to do. But what a request has begun goes on once it is
//! answered, and keeps the instance alive as long as it takes. So whatever is due of a session, or will be within the next
//! half minute, is sent behind the request that was answered from it; by one instance at a time, which holds the
//! session's lease meanwhile. What is due later is sent behind a later request, whoever's it is.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
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
use crate::room;
use crate::rousing::roused;
use crate::store::SpinStore;

/// How long is sent behind a request, in milliseconds. What is on its way then arrives.
pub const AHEAD_MS: i64 = 30_000;

/// How often a lease is renewed: twice before it lapses.
const RENEW: Duration = Duration::from_secs(10);

/// How long a lease that is held is left alone at first.
const FIRST: Duration = Duration::from_millis(50);
/// And how long at most.
const MOST: Duration = Duration::from_secs(1);
/// How much longer than a lease is good for it is waited for, in milliseconds: for one more look.
const BEYOND_MS: i64 = 2_000;

/// The sessions that an instance sends the notifications of.
#[derive(Default)]
pub struct Sending(RefCell<BTreeSet<String>>);

/// That a session is among them.
struct Mark {
    app: Rc<App>,
    session_id: String,
}

impl Mark {
    /// None where it is already.
    fn set(app: &Rc<App>, session_id: &str) -> Option<Self> {
        let fresh = app.sending.0.borrow_mut().insert(session_id.to_owned());
        fresh.then(|| Self {
            app: Rc::clone(app),
            session_id: session_id.to_owned(),
        })
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.app.sending.0.borrow_mut().remove(&self.session_id);
    }
}

/// Sends what is due of a session behind the request that runs, unless this instance is at it.
pub fn begin(app: &Rc<App>, session_id: &str) {
    if let Some(mark) = Mark::set(app, session_id) {
        let app = Rc::clone(app);
        spawn(roused(async move {
            if let Err(fault) = run(&app, mark).await {
                app.report(&fault);
            }
        }));
    }
}

async fn run(app: &Rc<App>, mark: Mark) -> Result<(), StoreError> {
    let Some(lease) = lease(app, &mark.session_id).await? else {
        return Ok(());
    };
    let turn = Turn {
        app,
        end: app.now().plus_millis(AHEAD_MS),
        lease: RefCell::new(lease),
        lost: Cell::new(false),
    };
    let session_id = mark.session_id.clone();
    let sent = match select(pin!(turn.send(&session_id)), pin!(turn.keep(&session_id))).await {
        Either::Left((sent, _)) => sent,
        Either::Right((never, _)) => never,
    };
    // From here on whatever comes to be due is for somebody else, who waits until the lease is free.
    drop(mark);
    let lease = turn.lease.into_inner();
    app.store().give_up_lease(&session_id, &lease).await?;
    sent
}

/// The lease of a session, when it is free; none where nothing is due any more by then. That of a holder who died is
/// waited for until it lapses.
async fn lease(app: &App, session_id: &str) -> Result<Option<Lease>, StoreError> {
    let holder = crate::hex(&crate::random::<8>());
    let end = app.now().plus_millis(LEASE_MS).plus_millis(BEYOND_MS);
    let mut pause = FIRST;
    while app.now() < end && !room::is_short() {
        let lease = app.store().take_lease(session_id, &holder, app.now()).await?;
        if lease.is_some() {
            return Ok(lease);
        }
        // Its holder sends what was committed here, as long as it goes on.
        sleep(pause).await;
        pause = pause.saturating_mul(2).min(MOST);
        if !app.is_soon(serve::next_due(app, session_id).await?) {
            break;
        }
    }
    Ok(None)
}

/// What the instance lends to a delivery, for as long as it may last.
struct Turn<'a> {
    app: &'a Rc<App>,
    end: Timestamp,
    lease: RefCell<Lease>,
    lost: Cell<bool>,
}

impl Turn<'_> {
    /// Sends until nothing more is due in time.
    async fn send(&self, session_id: &str) -> Result<(), StoreError> {
        loop {
            let outlook = serve::deliver(self, &self.app.desk, &Webhooks, session_id).await?;
            let next = outlook.due.filter(|at| *at <= self.end);
            let Some(at) = next.filter(|_| !self.is_closing()) else {
                return Ok(());
            };
            self.bell().wait(session_id, outlook.seq, at).await;
        }
    }

    /// Renews the lease until it is lost.
    async fn keep<T>(&self, session_id: &str) -> T {
        loop {
            sleep(RENEW).await;
            let lease = self.lease.borrow().clone();
            match self.app.store().renew_lease(session_id, &lease, self.now()).await {
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
        self.app.store()
    }

    fn bell(&self) -> &PollingBell {
        self.app.bell()
    }

    fn sessions(&self) -> &Sessions<Session> {
        self.app.sessions()
    }

    fn now(&self) -> Timestamp {
        self.app.now()
    }

    fn entropy(&self) -> [u8; 32] {
        self.app.entropy()
    }

    fn is_closing(&self) -> bool {
        let until = self.end.min(self.lease.borrow().until());
        self.lost.get() || self.now() >= until || room::is_short()
    }

    fn report(&self, fault: &StoreError) {
        self.app.report(fault);
    }
}
