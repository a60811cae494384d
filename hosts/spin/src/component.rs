//! The core, as the component that is composed in: what the driver asks of it, in the terms of `wit/session.wit`.

use a2a_edge::agent::courier::Next;
use a2a_edge::exchange::{Advance, Poll};
use a2a_edge::http::cors::{Grant, Origins};
use a2a_edge::http::host;
use a2a_edge::serve::{Asked, Beginning, Decider, Due, Failure, Landing, Notifier, Plan, State};
use a2a_edge::session::event::Span;
use a2a_edge::session::push::{Landed, Outcome, Place};
use a2a_edge::store::Record;
use a2a_edge::time::Timestamp;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use serde_json::Value;

#[allow(missing_docs, reason = "the glue is documented where it comes from, in wit/")]
mod bindings {
    spin_sdk::wit_bindgen::generate!({
        path: "../../wit",
        inline: "package a2a-edge:spin; world application { import a2a-edge:core/session@0.1.0; }",
        runtime_path: "::spin_sdk::wit_bindgen::rt",
        generate_all,
    });
}

use bindings::a2a_edge::core::session as wit;
pub use wit::Session;

/// The component's desk.
pub struct Component {
    desk: wit::Desk,
    /// A session that does not exist.
    nobody: Session,
    /// The pages that may call.
    origins: Origins,
}

impl Component {
    /// The desk with these settings.
    ///
    /// # Errors
    /// The first setting at fault.
    pub fn open(settings: &Value) -> Result<Self, String> {
        let desk = wit::Desk::open(&settings.to_string());
        let desk = desk.map_err(|fault| format!("{}: {}", fault.setting, fault.rule))?;
        let nobody = Session::new();
        // The component has found it good.
        let origins = settings.get("allowed_origins").and_then(Value::as_str);
        let origins = origins
            .and_then(|origins| origins.parse().ok())
            .unwrap_or_default();
        Ok(Self {
            desk,
            nobody,
            origins,
        })
    }

    fn existing<'a>(&'a self, session: Option<&'a Session>) -> &'a Session {
        session.unwrap_or(&self.nobody)
    }
}

/// What was asked, with the session that it names.
pub struct Asking<T> {
    inner: T,
    session_id: String,
}

/// A request that is answered from a session.
pub type Exchange = Asking<wit::Exchange>;

impl Exchange {
    fn new(inner: wit::Exchange) -> Self {
        let session_id = inner.session_id();
        Self { inner, session_id }
    }
}

impl State for Session {
    type Commit = Record;

    fn empty() -> Self {
        Self::new()
    }

    fn restore(snapshot: &[u8]) -> Result<Self, String> {
        Self::restore(snapshot)
    }

    fn snapshot(&self) -> Vec<u8> {
        Self::snapshot(self)
    }

    fn seq(&self) -> u64 {
        Self::seq(self)
    }

    fn apply(&mut self, commit: &Record) -> Result<(), String> {
        Self::apply(self, &commit.bytes)
    }

    fn next_due(&self) -> Option<Timestamp> {
        Self::next_due(self).map(Timestamp::from_millis)
    }

    fn record(commit: &Record) -> Record {
        commit.clone()
    }

    fn read(record: &Record) -> Result<Record, String> {
        Ok(record.clone())
    }
}

impl Decider for Component {
    type Session = Session;
    type Card = Asking<wit::Card>;
    type Creation = wit::Creation;
    type Exchange = Exchange;
    type Batch = wit::Batch;

    fn plan(&self, request: Request<Vec<u8>>) -> Plan<Self> {
        let (head, body) = request.into_parts();
        let target = head.uri.path_and_query();
        let request = wit::Request {
            method: head.method.to_string(),
            target: target.map_or_else(|| "/".to_owned(), ToString::to_string),
            headers: fields(&head.headers),
            body,
        };
        match self.desk.plan(&request) {
            wit::Plan::Answer(answer) => Plan::Answer(inward(answer)),
            wit::Plan::Card(inner) => Plan::Card(Asking {
                session_id: inner.session_id(),
                inner,
            }),
            wit::Plan::Create(creation) => Plan::Create(creation),
            wit::Plan::Batch(batch) => Plan::Batch(Box::new(batch)),
            wit::Plan::Call(inner) => Plan::Call(Box::new(Exchange::new(inner))),
        }
    }

    fn grant(&self, request: &Request<Vec<u8>>) -> Grant {
        self.origins.grant(request)
    }

    fn blocking_limit_ms(&self) -> u32 {
        self.desk.blocking_limit()
    }

    fn fail(&self, asked: Asked<'_, Self>, failure: Failure) -> Response<Vec<u8>> {
        let failure = match failure {
            Failure::Contended => wit::Failure::Contended,
            Failure::Unavailable => wit::Failure::Unavailable,
            Failure::Broken => wit::Failure::Broken,
        };
        inward(match asked {
            Asked::Card(card) => card.inner.fail(failure),
            Asked::Creation(creation) => creation.fail(failure),
            Asked::Exchange(exchange) => exchange.inner.fail(failure),
        })
    }

    fn card_session<'a>(&self, card: &'a Self::Card) -> &'a str {
        &card.session_id
    }

    fn card(&self, card: &Self::Card, exists: bool) -> Response<Vec<u8>> {
        inward(card.inner.answer(exists))
    }

    fn next(&self, batch: &mut wit::Batch) -> Option<Exchange> {
        batch.next().map(Exchange::new)
    }

    fn add(&self, batch: &mut wit::Batch, answer: Response<Vec<u8>>) {
        let (head, body) = answer.into_parts();
        batch.add(&wit::Response {
            status: head.status.as_u16(),
            headers: fields(&head.headers),
            body,
        });
    }

    fn finish(&self, batch: wit::Batch) -> Response<Vec<u8>> {
        inward(batch.answer())
    }

    fn begin(
        &self,
        creation: &wit::Creation,
        session_id: Option<String>,
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Beginning {
        let begun = creation.begin(session_id.as_deref(), now.as_millis(), numbers(entropy));
        Beginning {
            session_id: begun.session_id,
            first: record(begun.first),
            answer: inward(begun.answer),
        }
    }

    fn session_id<'a>(&self, exchange: &'a Exchange) -> &'a str {
        &exchange.session_id
    }

    fn decide(
        &self,
        exchange: &mut Exchange,
        session: Option<&Session>,
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Result<Option<Record>, Response<Vec<u8>>> {
        let session = self.existing(session);
        let decided = session.decide(&exchange.inner, now.as_millis(), numbers(entropy));
        decided.map(|commit| commit.map(record)).map_err(inward)
    }

    fn poll(
        &self,
        exchange: &mut Exchange,
        session: Option<&Session>,
        now: Timestamp,
    ) -> Result<Poll, Response<Vec<u8>>> {
        Ok(
            match self.existing(session).view(&exchange.inner, now.as_millis()) {
                wit::View::Ready(answer) => Poll::Ready(inward(answer)),
                wit::View::Stream(head) => Poll::Stream(inward(head).map(drop)),
                wit::View::Wait(until) => Poll::Wait(Timestamp::from_millis(until)),
                wit::View::Log(stretch) => Poll::Log(span(stretch)),
                // Only of a stream, and only once it has begun.
                wit::View::Piece(_) | wit::View::End => Poll::Wait(now),
            },
        )
    }

    fn supply(&self, exchange: &mut Exchange, commits: Vec<Record>) {
        // A log that can't be read is asked for again, and its reader told so then.
        let _asked_again = exchange.inner.supply(&bytes(commits));
    }

    fn advance(&self, exchange: &mut Exchange, session: Option<&Session>, now: Timestamp) -> Advance {
        match self.existing(session).view(&exchange.inner, now.as_millis()) {
            wit::View::Piece(bytes) => Advance::Write(bytes),
            wit::View::Wait(until) => Advance::Wait(Timestamp::from_millis(until)),
            wit::View::Log(stretch) => Advance::Log(span(stretch)),
            wit::View::End | wit::View::Ready(_) | wit::View::Stream(_) => Advance::End,
        }
    }

    fn wait_no_longer(&self, exchange: &mut Exchange) {
        exchange.inner.wait_no_longer();
    }
}

impl Notifier for Component {
    type Courier = wit::Courier;

    fn due(&self, session: &Session, now: Timestamp, most: usize) -> Due {
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let due = self.desk.due(session, now.as_millis(), most);
        Due {
            places: due.places.into_iter().map(here).collect(),
            later: due.later.map(Timestamp::from_millis),
        }
    }

    fn courier(&self, place: &Place) -> wit::Courier {
        self.desk.courier(&there(place))
    }

    fn next_change(&self, courier: &mut wit::Courier, session: Option<&Session>, now: Timestamp) -> Next {
        match courier.next(self.existing(session), now.as_millis()) {
            wit::Next::Send(notification) => match posted(notification) {
                Some(request) => Next::Send(Box::new(request)),
                None => Next::Nothing(Outcome::Refused),
            },
            wit::Next::Log(stretch) => Next::Log(span(stretch)),
            wit::Next::Nothing(wit::Outcome::Taken) => Next::Nothing(Outcome::Taken),
            wit::Next::Nothing(wit::Outcome::Failed) => Next::Nothing(Outcome::Failed),
            wit::Next::Nothing(wit::Outcome::Refused) => Next::Nothing(Outcome::Refused),
        }
    }

    fn supply_courier(&self, courier: &mut wit::Courier, commits: Vec<Record>) {
        // As `supply`.
        let _asked_again = courier.supply(&bytes(commits));
    }

    fn taken(&self, courier: &mut wit::Courier) {
        courier.taken();
    }

    fn landed(&self, courier: &wit::Courier, outcome: Outcome) -> Landed {
        let landed = courier.landed(came(outcome));
        Landed {
            place: here(landed.place),
            known: usize::try_from(landed.known).unwrap_or(usize::MAX),
            outcome,
        }
    }

    fn land(
        &self,
        session: &Session,
        landed: &[Landed],
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Option<Landing<Record>> {
        let landed = landed.iter().map(|landed| wit::Landed {
            place: there(&landed.place),
            known: u64::try_from(landed.known).unwrap_or(u64::MAX),
            outcome: came(landed.outcome),
        });
        let landed: Vec<wit::Landed> = landed.collect();
        let landing = session.land(&landed, now.as_millis(), numbers(entropy))?;
        Some(Landing {
            commit: record(landing.commit),
            given_up: landing.given_up.into_iter().map(here).collect(),
        })
    }
}

fn here(place: wit::Place) -> Place {
    Place {
        task_id: place.task_id,
        config_id: place.config_id,
        set_by: place.set_by,
    }
}

fn there(place: &Place) -> wit::Place {
    wit::Place {
        task_id: place.task_id.clone(),
        config_id: place.config_id.clone(),
        set_by: place.set_by,
    }
}

const fn came(outcome: Outcome) -> wit::Outcome {
    match outcome {
        Outcome::Taken => wit::Outcome::Taken,
        Outcome::Failed => wit::Outcome::Failed,
        Outcome::Refused => wit::Outcome::Refused,
    }
}

/// A notification as it is posted.
fn posted(notification: wit::Notification) -> Option<Request<Vec<u8>>> {
    let mut request = Request::new(notification.body);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = notification.url.parse().ok()?;
    host::put(request.headers_mut(), notification.headers);
    Some(request)
}

fn bytes(commits: Vec<Record>) -> Vec<Vec<u8>> {
    commits.into_iter().map(|commit| commit.bytes).collect()
}

fn record(commit: wit::Commit) -> Record {
    Record {
        seq: commit.seq,
        nonce: commit.nonce,
        bytes: commit.bytes,
    }
}

fn span(span: wit::Span) -> Span {
    Span {
        after: span.after,
        most: usize::try_from(span.most).unwrap_or(usize::MAX),
    }
}

fn numbers(entropy: [u8; 32]) -> wit::Entropy {
    let mut numbers = entropy
        .as_chunks()
        .0
        .iter()
        .map(|chunk| u64::from_le_bytes(*chunk));
    let mut next = || numbers.next().unwrap_or_default();
    (next(), next(), next(), next())
}

fn fields(headers: &HeaderMap) -> Vec<wit::Field> {
    let fields = headers.iter();
    fields
        .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
        .collect()
}

/// An answer of the component's. Its status and headers are those of the core, and so valid.
fn inward(response: wit::Response) -> Response<Vec<u8>> {
    let mut inward = Response::new(response.body);
    *inward.status_mut() = StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    host::put(inward.headers_mut(), response.headers);
    inward
}
