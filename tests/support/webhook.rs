//! A webhook in this process, and processes that send to it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::task::Poll;

use a2a_edge::serve::{Host, Outbound, Outlook, Sessions, deliver, next_due};
use a2a_edge::session::push::Place;
use a2a_edge::store::Bell;
use a2a_edge::time::Timestamp;
use http::{Request, StatusCode};
use serde_json::Value;

use super::support::{Bench, TestHost};

pub const HOOK: &str = "https://client.example/hook";

/// A webhook that answers as it is told to, and with 200 beyond that.
#[derive(Default)]
pub struct Webhook<'a> {
    pub sent: RefCell<Vec<Request<Vec<u8>>>>,
    /// Which of them were taken.
    taken: RefCell<Vec<usize>>,
    pub answers: RefCell<VecDeque<Option<u16>>>,
    pub given_up: RefCell<Vec<(String, String)>>,
    /// No answer comes after so many.
    pub hang_after: Cell<Option<usize>>,
    /// No answer comes from this host.
    pub hang_on: RefCell<Option<String>>,
    meanwhile: RefCell<Option<Box<dyn FnOnce() + 'a>>>,
}

impl<'a> Webhook<'a> {
    /// The statuses of the next answers; none is no answer.
    pub fn answer(&self, answers: impl IntoIterator<Item = Option<u16>>) {
        self.answers.borrow_mut().extend(answers);
    }

    /// Something that happens while the next request is on its way.
    pub fn meanwhile(&self, happen: impl FnOnce() + 'a) {
        self.meanwhile.replace(Some(Box::new(happen)));
    }

    /// The bodies that were taken, in the order they came in.
    pub fn taken(&self) -> Vec<Value> {
        let sent = self.sent.borrow();
        let taken = self.taken.borrow();
        let bodies = taken.iter().map(|index| sent[*index].body());
        bodies.map(|body| serde_json::from_slice(body).unwrap()).collect()
    }

    /// The task and number of a request.
    fn key(request: &Request<Vec<u8>>) -> (String, usize) {
        let key = request.headers()["idempotency-key"].to_str().unwrap();
        let (task, number) = key.trim_matches('"').rsplit_once('-').unwrap();
        (task.to_owned(), number.parse().unwrap())
    }

    /// The numbers of the changes that were taken.
    pub fn numbers(&self) -> Vec<usize> {
        self.taken_by_task().into_values().flatten().collect()
    }

    pub fn taken_by_task(&self) -> BTreeMap<String, Vec<usize>> {
        let sent = self.sent.borrow();
        let mut by_task: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for index in self.taken.borrow().iter() {
            let (task, number) = Self::key(&sent[*index]);
            by_task.entry(task).or_default().push(number);
        }
        by_task
    }
}

impl Outbound for Webhook<'_> {
    async fn post(&self, request: Request<Vec<u8>>) -> Result<StatusCode, String> {
        assert_eq!(request.method(), "POST");
        let index = self.sent.borrow().len();
        let host = request.uri().host().unwrap().to_owned();
        self.sent.borrow_mut().push(request);
        if let Some(happen) = self.meanwhile.take() {
            happen();
        }
        let answer = self.answers.borrow_mut().pop_front().unwrap_or(Some(200));
        let status = answer.map(|status| StatusCode::from_u16(status).unwrap());
        let status = status.ok_or_else(|| "no route".to_owned());
        poll_fn(|_| {
            let hangs = self.hang_on.borrow().as_ref().is_some_and(|slow| *slow == host)
                || self.hang_after.get().is_some_and(|most| index >= most);
            if hangs { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        if status.as_ref().is_ok_and(StatusCode::is_success) {
            self.taken.borrow_mut().push(index);
        }
        status
    }

    fn given_up(&self, _: &str, place: &Place) {
        let Place {
            task_id, config_id, ..
        } = place.clone();
        self.given_up.borrow_mut().push((task_id, config_id));
    }
}

/// A process over the store of a bench, with nothing in memory to begin with. Its bell rings when it is told to.
pub struct Process<'a> {
    bench: &'a Bench,
    sessions: Sessions,
    rung: Cell<bool>,
    pub told_due: RefCell<Vec<Timestamp>>,
}

impl<'a> Process<'a> {
    pub fn new(bench: &'a Bench) -> Self {
        Self {
            bench,
            sessions: Sessions::new(),
            rung: Cell::new(false),
            told_due: RefCell::default(),
        }
    }

    /// Sends all that is due.
    pub fn deliver(&self, webhook: &Webhook<'_>) -> Outlook {
        let delivery = deliver(self, &self.bench.desk, webhook, &self.bench.session);
        pollster::block_on(delivery).unwrap()
    }

    pub fn next_due(&self) -> Option<Timestamp> {
        pollster::block_on(next_due(self, &self.bench.session)).unwrap()
    }

    pub fn wait_until(&self, at: Timestamp) {
        let millis = i64::try_from(at.millis_since(self.bench.now())).unwrap();
        // The bench's clock moves by whole seconds.
        self.bench.wait((millis + 999) / 1000);
    }

    pub fn ring(&self) {
        self.rung.set(true);
    }
}

impl Bell for Process<'_> {
    fn ring(&self, _: &str, _: u64) {}

    async fn wait(&self, _: &str, _: u64, _: Timestamp) {
        poll_fn(|_| {
            if self.rung.replace(false) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}

impl Host for Process<'_> {
    type Store = <TestHost as Host>::Store;
    type Bell = Self;

    fn store(&self) -> &Self::Store {
        self.bench.host.store()
    }

    fn bell(&self) -> &Self {
        self
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn now(&self) -> Timestamp {
        self.bench.now()
    }

    fn entropy(&self) -> [u8; 32] {
        self.bench.host.entropy()
    }

    async fn due(&self, _: &str, at: Timestamp) {
        self.told_due.borrow_mut().push(at);
    }
}
