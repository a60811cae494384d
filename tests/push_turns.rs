//! Sending notifications takes turns at a session like any request does, and never keeps others from theirs.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/desk.rs"]
mod support;
#[allow(dead_code, reason = "each test uses its part of it")]
#[path = "support/webhook.rs"]
mod webhook;

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use a2a_edge::guard::Reach;
use a2a_edge::serve::{Host, Sessions, deliver, handle};
use a2a_edge::store::{CommitOutcome, Loaded, Record, Snapshot, Store, StoreError};
use a2a_edge::time::Timestamp;
use http::Request;
use serde_json::json;
use support::Bench;
use webhook::{Process, Webhook};

/// A process whose store gives no session out while it is shut: whoever asks has its turn meanwhile.
struct Shut<'a> {
    process: Process<'a>,
    shut: Cell<bool>,
}

impl Store for Shut<'_> {
    async fn create(&self, session: &str, first: &Record) -> Result<bool, StoreError> {
        self.process.store().create(session, first).await
    }

    async fn load(&self, session: &str, after: u64) -> Result<Option<Loaded>, StoreError> {
        poll_fn(|_| match self.shut.get() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        })
        .await;
        self.process.store().load(session, after).await
    }

    async fn history(&self, session: &str, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
        self.process.store().history(session, after, most).await
    }

    async fn commit(&self, session: &str, record: &Record) -> Result<CommitOutcome, StoreError> {
        self.process.store().commit(session, record).await
    }

    async fn compact(&self, session: &str, snapshot: &Snapshot) -> Result<(), StoreError> {
        self.process.store().compact(session, snapshot).await
    }
}

impl<'a> Host for Shut<'a> {
    type Store = Self;
    type Bell = Process<'a>;

    fn store(&self) -> &Self {
        self
    }

    fn bell(&self) -> &Process<'a> {
        &self.process
    }

    fn sessions(&self) -> &Sessions {
        self.process.sessions()
    }

    fn now(&self) -> Timestamp {
        self.process.now()
    }

    fn entropy(&self) -> [u8; 32] {
        self.process.entropy()
    }
}

#[test]
fn a_notification_whose_turn_has_come_takes_it_while_what_came_of_another_waits_for_its_own() {
    let bench = Bench::with(|config| config.webhooks = Some(Reach::Public));
    for name in ["a", "b"] {
        let body = json!({
            "message": {"messageId": name, "role": "ROLE_USER", "parts": [{"text": "Now?"}]},
            "configuration": {
                "returnImmediately": true,
                "taskPushNotificationConfig": {"url": format!("https://{name}.example/")},
            },
        });
        let body = body.to_string();
        let sent = bench.request("POST", "/message:send", &bench.client, "", body.as_bytes());
        sent.ok();
    }
    let host = Shut {
        process: Process::new(&bench),
        shut: Cell::new(false),
    };
    let webhook = Webhook::default();
    let mut context = Context::from_waker(Waker::noop());

    // Both are on their way; the first will be taken, the second not.
    webhook.answer([Some(200), Some(500)]);
    webhook.hang_after.set(Some(0));
    let mut delivery = pin!(deliver(&host, &bench.desk, &webhook, &bench.session));
    assert!(delivery.as_mut().poll(&mut context).is_pending());
    assert_eq!(webhook.sent.borrow().len(), 2);

    // A request has its turn. The first has arrived, and waits for the next turn to look for more.
    host.shut.set(true);
    let request = Request::get("/tasks")
        .header("a2a-version", "1.0")
        .header("authorization", format!("Bearer {}", bench.client));
    let mut answer = pin!(handle(&host, &bench.desk, request.body(Vec::new()).unwrap()));
    assert!(answer.as_mut().poll(&mut context).is_pending());
    webhook.hang_after.set(None);
    let second = webhook.sent.borrow()[1].uri().host().unwrap().to_owned();
    webhook.hang_on.replace(Some(second));
    assert!(delivery.as_mut().poll(&mut context).is_pending());

    // That the second was not is to be recorded: in the turn after that.
    webhook.hang_on.replace(None);
    assert!(delivery.as_mut().poll(&mut context).is_pending());
    host.shut.set(false);
    let Poll::Ready(answer) = answer.as_mut().poll(&mut context) else {
        panic!("no answer");
    };
    assert_eq!(answer.status(), 200);
    let mut turns = (0..10).map(|_| delivery.as_mut().poll(&mut context));
    let outlook = turns.find_map(|polled| match polled {
        Poll::Ready(outlook) => Some(outlook),
        Poll::Pending => None,
    });
    let outlook = outlook.unwrap_or_else(|| panic!("nobody took the turn"));
    assert!(outlook.unwrap().due.is_some());
    assert_eq!((webhook.sent.borrow().len(), webhook.taken().len()), (2, 1));
}
