//! Interface `session`: the desk, its sessions, and requests on their way.

use std::cell::RefCell;
use std::rc::Rc;

use a2a_edge::desk::{Config, Desk};
use a2a_edge::exchange::{self, Advance, Card, Creation, Exchange, Plan, Poll};
use a2a_edge::http::answer::Form;
use a2a_edge::session::{Commit, Session};
use a2a_edge::time::Timestamp;
use http::{HeaderName, HeaderValue, Request, Response, Uri};

use crate::Core;
use crate::bindings::exports::a2a_edge::core::session as wit;

impl wit::Guest for Core {
    type Desk = Rc<Desk>;
    type Creation = Creation;
    type Exchange = Held;
    type Session = Kept;
}

/// A session in memory.
#[derive(Default)]
pub(crate) struct Kept(RefCell<Session>);

/// A request on its way, with the desk it was made at.
pub(crate) struct Held {
    desk: Rc<Desk>,
    exchange: RefCell<Exchange>,
    /// Whether its answer is a stream that has begun.
    streams: RefCell<bool>,
}

impl wit::GuestDesk for Rc<Desk> {
    fn open(settings: String) -> Result<wit::Desk, wit::SettingFault> {
        let desk = Config::from_json(&settings).and_then(Desk::new);
        let desk = desk.map_err(|error| wit::SettingFault {
            setting: error.setting.to_owned(),
            rule: error.rule,
        })?;
        Ok(wit::Desk::new(Self::new(desk)))
    }

    fn plan(&self, request: wit::Request) -> wit::Plan {
        match exchange::plan(self, inward(request)) {
            Plan::Answer(answer) => wit::Plan::Answer(outward(answer)),
            Plan::Card(card) => wit::Plan::Card(card.session_id().to_owned()),
            Plan::Call(exchange) => wit::Plan::Call(wit::Exchange::new(Held {
                desk: Self::clone(self),
                exchange: RefCell::new(*exchange),
                streams: RefCell::new(false),
            })),
            Plan::Create(creation) => wit::Plan::Create(wit::Creation::new(creation)),
        }
    }

    fn card(&self, session_id: String, exists: bool) -> wit::Response {
        outward(Card::of(session_id).answer(self, exists))
    }
}

impl wit::GuestCreation for Creation {
    fn begin(&self, session_id: Option<String>, now: i64, entropy: wit::Entropy) -> wit::Beginning {
        let (now, entropy) = (Timestamp::from_millis(now), bytes(entropy));
        let begun = match session_id {
            Some(session_id) => self.begin_as(session_id, now, entropy),
            None => Self::begin(self, now, entropy),
        };
        wit::Beginning {
            first: (&begun.commit).into(),
            answer: outward(Self::answer(&begun)),
            session_id: begun.session_id,
        }
    }
}

impl wit::GuestExchange for Held {
    fn session_id(&self) -> String {
        self.exchange.borrow().session_id().to_owned()
    }

    fn form(&self) -> wit::Form {
        match self.exchange.borrow().form() {
            Form::Coordination => wit::Form::Coordination,
            Form::Core | Form::Plain => wit::Form::Core,
        }
    }

    fn supply(&self, commits: Vec<Vec<u8>>) -> Result<(), String> {
        let commits: Result<Vec<Commit>, String> = commits.iter().map(|bytes| Commit::read(bytes)).collect();
        self.exchange.borrow_mut().supply(commits?);
        Ok(())
    }

    fn wait_no_longer(&self) {
        self.exchange.borrow_mut().wait_no_longer();
    }
}

impl wit::GuestSession for Kept {
    fn new() -> Self {
        Self::default()
    }

    fn restore(snapshot: Vec<u8>) -> Result<wit::Session, String> {
        let session = Session::restore(&snapshot)?;
        Ok(wit::Session::new(Self(RefCell::new(session))))
    }

    fn snapshot(&self) -> Vec<u8> {
        self.0.borrow().snapshot()
    }

    fn seq(&self) -> u64 {
        self.0.borrow().seq()
    }

    fn apply(&self, commit: Vec<u8>) -> Result<(), String> {
        let commit = Commit::read(&commit)?;
        let mut session = self.0.borrow_mut();
        if session.apply(&commit) {
            Ok(())
        } else {
            Err(format!(
                "it is number {} and follows {}",
                commit.seq,
                session.seq()
            ))
        }
    }

    fn decide(
        &self,
        exchange: wit::ExchangeBorrow<'_>,
        now: i64,
        entropy: wit::Entropy,
    ) -> Result<Option<wit::Commit>, wit::Response> {
        let held: &Held = exchange.get();
        let mut exchange = held.exchange.borrow_mut();
        let (now, entropy) = (Timestamp::from_millis(now), bytes(entropy));
        let decided = exchange.decide(&held.desk, Some(&self.0.borrow()), now, entropy);
        match decided {
            Ok(commit) => Ok(commit.as_ref().map(wit::Commit::from)),
            Err(failed) => Err(outward(exchange.refuse(&failed))),
        }
    }

    fn view(&self, exchange: wit::ExchangeBorrow<'_>, now: i64) -> wit::View {
        let held: &Held = exchange.get();
        let mut exchange = held.exchange.borrow_mut();
        let (session, now) = (self.0.borrow(), Timestamp::from_millis(now));
        if *held.streams.borrow() {
            return exchange.advance(&held.desk, Some(&session), now).into();
        }
        match exchange.poll(&held.desk, Some(&session), now) {
            Ok(Poll::Ready(answer)) => wit::View::Ready(outward(answer)),
            Ok(Poll::Wait(until)) => wit::View::Wait(until.as_millis()),
            Ok(Poll::Log(span)) => wit::View::Log(span.into()),
            Ok(Poll::Stream(head)) => {
                *held.streams.borrow_mut() = true;
                wit::View::Stream(outward(head.map(|()| Vec::new())))
            }
            Err(failed) => wit::View::Ready(outward(exchange.refuse(&failed))),
        }
    }
}

impl From<Advance> for wit::View {
    fn from(advance: Advance) -> Self {
        match advance {
            Advance::Write(bytes) => Self::Piece(bytes),
            Advance::Wait(until) => Self::Wait(until.as_millis()),
            Advance::Log(span) => Self::Log(span.into()),
            Advance::End => Self::End,
        }
    }
}

impl From<a2a_edge::session::event::Span> for wit::Span {
    fn from(span: a2a_edge::session::event::Span) -> Self {
        Self {
            after: span.after,
            most: u32::try_from(span.most).unwrap_or(u32::MAX),
        }
    }
}

impl From<&Commit> for wit::Commit {
    fn from(commit: &Commit) -> Self {
        Self {
            seq: commit.seq,
            nonce: commit.nonce.clone(),
            bytes: commit.to_bytes(),
        }
    }
}

fn bytes((a, b, c, d): wit::Entropy) -> [u8; 32] {
    let mut bytes = [0; 32];
    let numbers = [a, b, c, d].into_iter().flat_map(u64::to_le_bytes);
    bytes.iter_mut().zip(numbers).for_each(|(to, from)| *to = from);
    bytes
}

/// A request as the core reads it. A method or target that is none leads where nothing is.
fn inward(request: wit::Request) -> Request<Vec<u8>> {
    let mut inward = Request::new(request.body);
    *inward.uri_mut() = request.target.parse().unwrap_or(Uri::from_static("/"));
    match request.method.parse() {
        Ok(method) => *inward.method_mut() = method,
        Err(_) => *inward.uri_mut() = Uri::from_static("/"),
    }
    for (name, value) in request.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_bytes(&value)) {
            inward.headers_mut().append(name, value);
        }
    }
    inward
}

fn outward(response: Response<Vec<u8>>) -> wit::Response {
    let (head, body) = response.into_parts();
    let headers = head.headers.iter();
    wit::Response {
        status: head.status.as_u16(),
        headers: headers
            .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
            .collect(),
        body,
    }
}
