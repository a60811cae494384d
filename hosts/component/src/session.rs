//! Interface `session`: the desk, its sessions, and requests on their way.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use a2a_edge::agent::courier::{Courier, Next};
use a2a_edge::desk::{Config, Desk};
use a2a_edge::exchange::{Advance, Batch, Card, Creation, Exchange, Poll};
use a2a_edge::http::host;
use a2a_edge::serve::{Asked, Decider as _, Failure, Notifier as _, Plan};
use a2a_edge::session::push::{Landed, Outcome, Place, given_up};
use a2a_edge::session::{Commit, Session};
use a2a_edge::time::Timestamp;
use http::{HeaderMap, Request, Response, StatusCode};

use crate::Core;
use crate::bindings::exports::a2a_edge::core::session as wit;

impl wit::Guest for Core {
    type Desk = Rc<Desk>;
    type Card = AtDesk<Card>;
    type Creation = AtDesk<Creation>;
    type Exchange = AtDesk<OnItsWay>;
    type Batch = AtDesk<RefCell<Option<Batch>>>;
    type Courier = AtDesk<RefCell<Courier>>;
    type Session = Kept;
}

/// A session in memory.
#[derive(Default)]
pub(crate) struct Kept(RefCell<Session>);

/// What was planned, and the desk that planned it.
pub(crate) struct AtDesk<T> {
    desk: Rc<Desk>,
    asked: T,
}

/// A request that is answered from a session.
pub(crate) struct OnItsWay {
    exchange: RefCell<Exchange>,
    /// Whether its answer is a stream that has begun.
    streams: Cell<bool>,
}

impl OnItsWay {
    const fn new(exchange: Exchange) -> Self {
        Self {
            exchange: RefCell::new(exchange),
            streams: Cell::new(false),
        }
    }
}

impl<T> AtDesk<T> {
    fn new(desk: &Rc<Desk>, asked: T) -> Self {
        let desk = Rc::clone(desk);
        Self { desk, asked }
    }

    fn fail(&self, asked: Asked<'_, Desk>, failure: wit::Failure) -> wit::Response {
        let failure = match failure {
            wit::Failure::Contended => Failure::Contended,
            wit::Failure::Unavailable => Failure::Unavailable,
            wit::Failure::Broken => Failure::Broken,
        };
        outward(self.desk.fail(asked, failure))
    }
}

impl wit::GuestDesk for Rc<Desk> {
    fn open(settings: String) -> Result<wit::Desk, wit::SettingFault> {
        #[cfg(feature = "extension")]
        let desk = crate::composed::desk;
        #[cfg(not(feature = "extension"))]
        let desk = Desk::new;
        let desk = Config::from_json(&settings).and_then(desk);
        let desk = desk.map_err(|error| wit::SettingFault {
            setting: error.setting.to_owned(),
            rule: error.rule,
        })?;
        Ok(wit::Desk::new(Self::new(desk)))
    }

    fn plan(&self, request: wit::Request) -> wit::Plan {
        match self.as_ref().plan(request.into()) {
            Plan::Answer(answer) => wit::Plan::Answer(outward(answer)),
            Plan::Card(card) => wit::Plan::Card(wit::Card::new(AtDesk::new(self, card))),
            Plan::Call(exchange) => {
                let asked = OnItsWay::new(*exchange);
                wit::Plan::Call(wit::Exchange::new(AtDesk::new(self, asked)))
            }
            Plan::Batch(batch) => {
                let asked = RefCell::new(Some(*batch));
                wit::Plan::Batch(wit::Batch::new(AtDesk::new(self, asked)))
            }
            Plan::Create(creation) => wit::Plan::Create(wit::Creation::new(AtDesk::new(self, creation))),
        }
    }

    fn blocking_limit(&self) -> u32 {
        self.config().blocking_limit_ms
    }

    fn due(&self, session: wit::SessionBorrow<'_>, now: i64, most: u32) -> wit::Due {
        let held: &Kept = session.get();
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let due = self
            .as_ref()
            .due(&held.0.borrow(), Timestamp::from_millis(now), most);
        wit::Due {
            places: due.places.into_iter().map(Into::into).collect(),
            later: due.later.map(Timestamp::as_millis),
        }
    }

    fn courier(&self, place: wit::Place) -> wit::Courier {
        let courier = Courier::new(place.into());
        wit::Courier::new(AtDesk::new(self, RefCell::new(courier)))
    }
}

impl wit::GuestCard for AtDesk<Card> {
    fn session_id(&self) -> String {
        self.asked.session_id().to_owned()
    }

    fn answer(&self, exists: bool) -> wit::Response {
        outward(self.asked.answer(&self.desk, exists))
    }

    fn fail(&self, failure: wit::Failure) -> wit::Response {
        self.fail(Asked::Card(&self.asked), failure)
    }
}

impl wit::GuestCreation for AtDesk<Creation> {
    fn fail(&self, failure: wit::Failure) -> wit::Response {
        self.fail(Asked::Creation(&self.asked), failure)
    }

    fn begin(&self, session_id: Option<String>, now: i64, entropy: wit::Entropy) -> wit::Beginning {
        let (now, entropy) = (Timestamp::from_millis(now), bytes(entropy));
        let begun = self.desk.begin(&self.asked, session_id, now, entropy);
        wit::Beginning {
            session_id: begun.session_id,
            first: wit::Commit {
                seq: begun.first.seq,
                nonce: begun.first.nonce,
                bytes: begun.first.bytes,
            },
            answer: outward(begun.answer),
        }
    }
}

impl wit::GuestExchange for AtDesk<OnItsWay> {
    fn session_id(&self) -> String {
        self.asked.exchange.borrow().session_id().to_owned()
    }

    fn fail(&self, failure: wit::Failure) -> wit::Response {
        let exchange = self.asked.exchange.borrow();
        self.fail(Asked::Exchange(&*exchange), failure)
    }

    fn supply(&self, commits: Vec<Vec<u8>>) -> Result<(), String> {
        self.asked.exchange.borrow_mut().supply(read(&commits)?);
        Ok(())
    }

    fn wait_no_longer(&self) {
        self.asked.exchange.borrow_mut().wait_no_longer();
    }
}

impl wit::GuestBatch for AtDesk<RefCell<Option<Batch>>> {
    fn next(&self) -> Option<wit::Exchange> {
        let exchange = self.asked.borrow_mut().as_mut()?.next()?;
        Some(wit::Exchange::new(AtDesk::new(
            &self.desk,
            OnItsWay::new(exchange),
        )))
    }

    fn add(&self, answer: wit::Response) {
        if let Some(batch) = self.asked.borrow_mut().as_mut() {
            batch.add(answer.into());
        }
    }

    /// Asked for twice, it has nothing more to say.
    fn answer(&self) -> wit::Response {
        let answer = self.asked.borrow_mut().take().map(Batch::answer);
        outward(answer.unwrap_or_default())
    }
}

impl wit::GuestCourier for AtDesk<RefCell<Courier>> {
    fn next(&self, session: wit::SessionBorrow<'_>, now: i64) -> wit::Next {
        let held: &Kept = session.get();
        let session = held.0.borrow();
        let mut courier = self.asked.borrow_mut();
        match courier.next(&self.desk, Some(&session), Timestamp::from_millis(now)) {
            Next::Send(request) => wit::Next::Send((*request).into()),
            Next::Log(span) => wit::Next::Log(span.into()),
            Next::Nothing(outcome) => wit::Next::Nothing(outcome.into()),
        }
    }

    fn supply(&self, commits: Vec<Vec<u8>>) -> Result<(), String> {
        self.asked.borrow_mut().supply(read(&commits)?);
        Ok(())
    }

    fn taken(&self) {
        self.asked.borrow_mut().taken();
    }

    fn landed(&self, outcome: wit::Outcome) -> wit::Landed {
        let landed = self.asked.borrow().landed(outcome.into());
        wit::Landed {
            place: landed.place.into(),
            known: u64::try_from(landed.known).unwrap_or(u64::MAX),
            outcome,
        }
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
        let held: &AtDesk<OnItsWay> = exchange.get();
        let mut exchange = held.asked.exchange.borrow_mut();
        let (now, entropy) = (Timestamp::from_millis(now), bytes(entropy));
        let session = self.0.borrow();
        let decided = held
            .desk
            .as_ref()
            .decide(&mut exchange, Some(&session), now, entropy);
        decided
            .map(|commit| commit.as_ref().map(wit::Commit::from))
            .map_err(outward)
    }

    fn view(&self, exchange: wit::ExchangeBorrow<'_>, now: i64) -> wit::View {
        let held: &AtDesk<OnItsWay> = exchange.get();
        let mut exchange = held.asked.exchange.borrow_mut();
        let (session, now) = (self.0.borrow(), Timestamp::from_millis(now));
        if held.asked.streams.get() {
            return exchange.advance(&held.desk, Some(&session), now).into();
        }
        match held.desk.as_ref().poll(&mut exchange, Some(&session), now) {
            Ok(Poll::Ready(answer)) | Err(answer) => wit::View::Ready(outward(answer)),
            Ok(Poll::Wait(until)) => wit::View::Wait(until.as_millis()),
            Ok(Poll::Log(span)) => wit::View::Log(span.into()),
            Ok(Poll::Stream(head)) => {
                held.asked.streams.set(true);
                wit::View::Stream(outward(head.map(|()| Vec::new())))
            }
        }
    }

    fn next_due(&self) -> Option<i64> {
        let due = self.0.borrow().pushes().next_due();
        due.map(Timestamp::as_millis)
    }

    fn land(&self, landed: Vec<wit::Landed>, now: i64, entropy: wit::Entropy) -> Option<wit::Landing> {
        let landed: Vec<Landed> = landed.into_iter().map(Into::into).collect();
        let (session, now) = (self.0.borrow(), Timestamp::from_millis(now));
        let commit = session.land(&landed, now, bytes(entropy))?;
        let given_up = given_up(&commit, &landed).into_iter();
        Some(wit::Landing {
            commit: wit::Commit::from(&commit),
            given_up: given_up.map(Into::into).collect(),
        })
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

impl From<Place> for wit::Place {
    fn from(place: Place) -> Self {
        Self {
            task_id: place.task_id,
            config_id: place.config_id,
            set_by: place.set_by,
        }
    }
}

impl From<wit::Place> for Place {
    fn from(place: wit::Place) -> Self {
        Self {
            task_id: place.task_id,
            config_id: place.config_id,
            set_by: place.set_by,
        }
    }
}

impl From<Outcome> for wit::Outcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Taken => Self::Taken,
            Outcome::Failed => Self::Failed,
            Outcome::Refused => Self::Refused,
        }
    }
}

impl From<wit::Outcome> for Outcome {
    fn from(outcome: wit::Outcome) -> Self {
        match outcome {
            wit::Outcome::Taken => Self::Taken,
            wit::Outcome::Failed => Self::Failed,
            wit::Outcome::Refused => Self::Refused,
        }
    }
}

impl From<wit::Landed> for Landed {
    fn from(landed: wit::Landed) -> Self {
        Self {
            place: landed.place.into(),
            known: usize::try_from(landed.known).unwrap_or(usize::MAX),
            outcome: landed.outcome.into(),
        }
    }
}

impl From<Request<Vec<u8>>> for wit::Notification {
    fn from(request: Request<Vec<u8>>) -> Self {
        let (head, body) = request.into_parts();
        Self {
            url: head.uri.to_string(),
            headers: fields(&head.headers),
            body,
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

/// Commits as they were kept.
fn read(commits: &[Vec<u8>]) -> Result<Vec<Commit>, String> {
    commits.iter().map(|bytes| Commit::read(bytes)).collect()
}

fn bytes((a, b, c, d): wit::Entropy) -> [u8; 32] {
    let mut bytes = [0; 32];
    let numbers = [a, b, c, d].into_iter().flat_map(u64::to_le_bytes);
    bytes.iter_mut().zip(numbers).for_each(|(to, from)| *to = from);
    bytes
}

/// A request as the core reads it. A method or target that is none leads where nothing is.
impl From<wit::Request> for Request<Vec<u8>> {
    fn from(request: wit::Request) -> Self {
        host::head(&request.method, &request.target, request.headers).map(|()| request.body)
    }
}

/// An answer that went out and comes back. A status that is none is the server's fault.
impl From<wit::Response> for Response<Vec<u8>> {
    fn from(response: wit::Response) -> Self {
        let mut inward = Self::new(response.body);
        let status = StatusCode::from_u16(response.status);
        *inward.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        host::put(inward.headers_mut(), response.headers);
        inward
    }
}

fn outward(response: Response<Vec<u8>>) -> wit::Response {
    let (head, body) = response.into_parts();
    wit::Response {
        status: head.status.as_u16(),
        headers: fields(&head.headers),
        body,
    }
}

fn fields(headers: &HeaderMap) -> Vec<wit::Field> {
    let fields = headers.iter();
    fields
        .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
        .collect()
}
