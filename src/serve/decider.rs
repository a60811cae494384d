//! What decides: the core in this process, or a component that was made of it.
//!
//! The driver moves bytes between a store and whatever decides, and needs no more of it than stands here. So a host
//! that loads the core as a component (`wit/session.wit`) is driven like one that is linked with it.

#![allow(
    clippy::result_large_err,
    reason = "what is refused is answered, once for each request"
)]

use http::{Request, Response};

use crate::desk::Desk;
use crate::exchange::{self, Advance, Batch, Card, Creation, Exchange, Poll};
use crate::http::answer::failure;
use crate::http::cors::Grant;
use crate::refusal::{Code, Refusal};
use crate::session::{Commit, Session};
use crate::store::Record;
use crate::time::Timestamp;

/// A session in memory, wherever that memory is.
pub trait State: Sized {
    /// A commit as this state reads it.
    type Commit;

    /// The state before the first commit.
    fn empty() -> Self;

    /// The state that a snapshot holds.
    ///
    /// # Errors
    /// Why the bytes are no snapshot, for the log of the host.
    fn restore(snapshot: &[u8]) -> Result<Self, String>;

    /// The state as bytes, for [`restore`](Self::restore).
    fn snapshot(&self) -> Vec<u8>;

    /// Number of the last commit; 0 before the first.
    fn seq(&self) -> u64;

    /// Moves the state on by one commit.
    ///
    /// # Errors
    /// Why it can't be: it is not the next one, or nothing that can be read. The state is what it was.
    fn apply(&mut self, commit: &Self::Commit) -> Result<(), String>;

    /// When a notification is next due, where notifications are sent ([`deliver`](super::deliver)).
    fn next_due(&self) -> Option<Timestamp>;

    /// A commit as a store keeps it.
    fn record(commit: &Self::Commit) -> Record;

    /// What a store kept, as a commit.
    ///
    /// # Errors
    /// Why it is none.
    fn read(record: &Record) -> Result<Self::Commit, String>;
}

/// A session that is to be created.
pub struct Beginning {
    /// Its id.
    pub session_id: String,
    /// Its first commit.
    pub first: Record,
    /// What is answered once that is durable.
    pub answer: Response<Vec<u8>>,
}

/// What it takes to answer a request.
pub enum Plan<D: Decider + ?Sized> {
    /// Nothing more.
    Answer(Response<Vec<u8>>),
    /// To know whether a session exists.
    Card(D::Card),
    /// A session.
    Call(Box<D::Exchange>),
    /// A session, several times.
    Batch(Box<D::Batch>),
    /// To create a session.
    Create(D::Creation),
}

/// What was asked, where the host has no answer.
pub enum Asked<'a, D: Decider + ?Sized> {
    /// A session's card.
    Card(&'a D::Card),
    /// A new session.
    Creation(&'a D::Creation),
    /// Something of a session.
    Exchange(&'a D::Exchange),
}

/// Why the host has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Others were quicker, again and again.
    Contended,
    /// The store can't be reached.
    Unavailable,
    /// What the store holds is not what was put there.
    Broken,
}

impl Failure {
    fn refusal(self) -> Refusal {
        match self {
            Self::Contended => Refusal::new(Code::Unavailable, "too many changes at once; try again"),
            Self::Unavailable => {
                Refusal::new(Code::Unavailable, "the desk can't reach its storage; try again")
            }
            Self::Broken => Refusal::internal(),
        }
    }
}

/// Decides requests in sessions, as [`crate::exchange`] describes.
pub trait Decider {
    /// A session.
    type Session: State;
    /// A question for a session's card.
    type Card;
    /// A request to create a session.
    type Creation;
    /// A request that is answered from a session.
    type Exchange;
    /// Several in one.
    type Batch;

    /// Says what it takes to answer a request.
    fn plan(&self, request: Request<Vec<u8>>) -> Plan<Self>;

    /// What a request's answer is to say to the browser that sent it: nothing, unless the deployment lets pages of other
    /// origins call.
    fn grant(&self, request: &Request<Vec<u8>>) -> Grant {
        let _ = request;
        Grant::default()
    }

    /// The longest that a send waits, in milliseconds.
    fn blocking_limit_ms(&self) -> u32;

    /// The answer where the host has none, in the form of what was asked.
    fn fail(&self, asked: Asked<'_, Self>, failure: Failure) -> Response<Vec<u8>>;

    /// The session whose card is asked for.
    fn card_session<'a>(&self, card: &'a Self::Card) -> &'a str;

    /// The card of a session that exists or does not.
    fn card(&self, card: &Self::Card, exists: bool) -> Response<Vec<u8>>;

    /// A session as it begins; without an id of the host's it draws one.
    fn begin(
        &self,
        creation: &Self::Creation,
        session_id: Option<String>,
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Beginning;

    /// The next call of a batch.
    fn next(&self, batch: &mut Self::Batch) -> Option<Self::Exchange>;

    /// Takes the answer to the call that came last.
    fn add(&self, batch: &mut Self::Batch, answer: Response<Vec<u8>>);

    /// The answer to all of a batch.
    fn finish(&self, batch: Self::Batch) -> Response<Vec<u8>>;

    /// The session that a request names.
    fn session_id<'a>(&self, exchange: &'a Self::Exchange) -> &'a str;

    /// Whether it is known to change nothing, so that it need not take a turn to be decided. By default nothing is known.
    fn only_looks(&self, exchange: &Self::Exchange) -> bool {
        let _ = exchange;
        false
    }

    /// Decides it in the session as it stands, which is none where none exists.
    ///
    /// # Errors
    /// The answer that it is refused with.
    fn decide(
        &self,
        exchange: &mut Self::Exchange,
        session: Option<&Self::Session>,
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Result<Option<<Self::Session as State>::Commit>, Response<Vec<u8>>>;

    /// Looks for its answer in the session as it stands.
    ///
    /// # Errors
    /// The answer that it is refused with.
    fn poll(
        &self,
        exchange: &mut Self::Exchange,
        session: Option<&Self::Session>,
        now: Timestamp,
    ) -> Result<Poll, Response<Vec<u8>>>;

    /// The commits of the log that it asked for.
    fn supply(&self, exchange: &mut Self::Exchange, commits: Vec<<Self::Session as State>::Commit>);

    /// What comes next of an answer that is a stream.
    fn advance(
        &self,
        exchange: &mut Self::Exchange,
        session: Option<&Self::Session>,
        now: Timestamp,
    ) -> Advance;

    /// From now on its answer is what there is.
    fn wait_no_longer(&self, exchange: &mut Self::Exchange);
}

impl State for Session {
    type Commit = Commit;

    fn empty() -> Self {
        Self::default()
    }

    fn restore(snapshot: &[u8]) -> Result<Self, String> {
        Self::restore(snapshot)
    }

    fn snapshot(&self) -> Vec<u8> {
        self.snapshot()
    }

    fn seq(&self) -> u64 {
        self.seq()
    }

    fn apply(&mut self, commit: &Commit) -> Result<(), String> {
        if self.apply(commit) {
            Ok(())
        } else {
            Err(format!("commit {} does not follow {}", commit.seq, self.seq()))
        }
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.pushes().next_due()
    }

    fn record(commit: &Commit) -> Record {
        Record {
            seq: commit.seq,
            nonce: commit.nonce.clone(),
            bytes: commit.to_bytes(),
        }
    }

    fn read(record: &Record) -> Result<Commit, String> {
        Commit::read(&record.bytes)
    }
}

impl Decider for Desk {
    type Session = Session;
    type Card = Card;
    type Creation = Creation;
    type Exchange = Exchange;
    type Batch = Batch;

    fn plan(&self, request: Request<Vec<u8>>) -> Plan<Self> {
        match exchange::plan(self, request) {
            exchange::Plan::Answer(answer) => Plan::Answer(answer),
            exchange::Plan::Card(card) => Plan::Card(card),
            exchange::Plan::Call(exchange) => Plan::Call(exchange),
            exchange::Plan::Batch(batch) => Plan::Batch(batch),
            exchange::Plan::Create(creation) => Plan::Create(creation),
        }
    }

    fn grant(&self, request: &Request<Vec<u8>>) -> Grant {
        self.grant(request)
    }

    fn blocking_limit_ms(&self) -> u32 {
        self.config.blocking_limit_ms
    }

    fn fail(&self, asked: Asked<'_, Self>, why: Failure) -> Response<Vec<u8>> {
        let form = match asked {
            Asked::Card(_) => Card::FORM,
            Asked::Creation(_) => Creation::FORM,
            Asked::Exchange(exchange) => exchange.form(),
        };
        failure(form, &why.refusal(), None)
    }

    fn card_session<'a>(&self, card: &'a Card) -> &'a str {
        card.session_id()
    }

    fn card(&self, card: &Card, exists: bool) -> Response<Vec<u8>> {
        card.answer(self, exists)
    }

    fn begin(
        &self,
        creation: &Creation,
        session_id: Option<String>,
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Beginning {
        let begun = match session_id {
            Some(session_id) => creation.begin_as(session_id, now, entropy),
            None => creation.begin(now, entropy),
        };
        Beginning {
            first: Session::record(&begun.commit),
            answer: Creation::answer(&begun),
            session_id: begun.session_id,
        }
    }

    fn next(&self, batch: &mut Batch) -> Option<Exchange> {
        batch.next()
    }

    fn add(&self, batch: &mut Batch, answer: Response<Vec<u8>>) {
        batch.add(answer);
    }

    fn finish(&self, batch: Batch) -> Response<Vec<u8>> {
        batch.answer()
    }

    fn session_id<'a>(&self, exchange: &'a Exchange) -> &'a str {
        exchange.session_id()
    }

    fn only_looks(&self, exchange: &Exchange) -> bool {
        exchange.only_looks()
    }

    fn decide(
        &self,
        exchange: &mut Exchange,
        session: Option<&Session>,
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Result<Option<Commit>, Response<Vec<u8>>> {
        let decided = exchange.decide(self, session, now, entropy);
        decided.map_err(|failed| exchange.refuse(&failed))
    }

    fn poll(
        &self,
        exchange: &mut Exchange,
        session: Option<&Session>,
        now: Timestamp,
    ) -> Result<Poll, Response<Vec<u8>>> {
        let polled = exchange.poll(self, session, now);
        polled.map_err(|failed| exchange.refuse(&failed))
    }

    fn supply(&self, exchange: &mut Exchange, commits: Vec<Commit>) {
        exchange.supply(commits);
    }

    fn advance(&self, exchange: &mut Exchange, session: Option<&Session>, now: Timestamp) -> Advance {
        exchange.advance(self, session, now)
    }

    fn wait_no_longer(&self, exchange: &mut Exchange) {
        exchange.wait_no_longer();
    }
}
