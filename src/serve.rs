//! The driver: load, decide, commit, answer; over whatever ports the host gives.
//!
//! What is answered is decided by [`crate::exchange`]; here it meets the host's storage and clock. The driver holds no
//! state beyond a cache of sessions. One session's requests take turns within a process; across processes the store's
//! compare-and-swap decides, and a loser decides again.

pub mod place;
mod sessions;
mod stream;

use http::{Request, Response};

use crate::agent::Failed;
use crate::exchange::{self, Batch, Card, Creation, Exchange, Plan, Poll};
use crate::http::answer::{Form, failure};
use crate::refusal::{Code, Refusal};
use crate::session::event::Span;
use crate::session::{Commit, Session};
use crate::store::{Bell, Record, Store, StoreError};
use crate::time::Timestamp;

pub use crate::desk::{Config, ConfigError, Desk};
pub use sessions::Sessions;
use sessions::{Seat, offer, record};
pub use stream::{Body, Stream};

/// How often a commit is decided again after another one took its number.
const ATTEMPTS: u32 = 8;

/// What a host lends to a request.
pub trait Host {
    /// Where sessions are kept.
    type Store: Store;
    /// How waiting requests are woken.
    type Bell: Bell;

    /// Where sessions are kept.
    fn store(&self) -> &Self::Store;
    /// How waiting requests are woken.
    fn bell(&self) -> &Self::Bell;
    /// The sessions that this process has in memory.
    fn sessions(&self) -> &Sessions;
    /// Now.
    fn now(&self) -> Timestamp;
    /// 32 bytes from a cryptographically secure source, fresh at every call.
    fn entropy(&self) -> [u8; 32];
    /// The id of the session that is created now, where the host has to know it before: one that keeps each
    /// session in a place of its own chooses it with the place ([`place::new_session_id`]). `None`: it is drawn.
    fn session_to_create(&self) -> Option<String> {
        None
    }
    /// Whether the host is about to end, so that nothing is waited for: a send is answered with its task as it stands.
    fn is_closing(&self) -> bool {
        false
    }
    /// Tells whoever runs the host of a failure that is no caller's fault.
    fn report(&self, fault: &StoreError) {
        let _ = fault;
    }
}

/// Why a request was not done.
#[derive(Debug)]
enum Trouble {
    /// The caller's to mend.
    Refused(Failed),
    /// The host's to mend.
    Fault(StoreError),
    /// Others were quicker, again and again.
    Contended,
}

impl From<Failed> for Trouble {
    fn from(failed: Failed) -> Self {
        Self::Refused(failed)
    }
}

impl From<StoreError> for Trouble {
    fn from(fault: StoreError) -> Self {
        Self::Fault(fault)
    }
}

type Answered<B> = Result<Response<B>, Trouble>;

/// Answers a request: every path, every error, on every host.
///
/// The body must have been read up to [`BODY_LIMIT`](crate::http::read::BODY_LIMIT) bytes and one more; what is longer
/// is refused either way.
pub async fn handle<H: Host>(host: &H, desk: &Desk, request: Request<Vec<u8>>) -> Response<Body> {
    match exchange::plan(desk, request) {
        Plan::Answer(response) => whole(response),
        Plan::Card(asked) => {
            let answer = card(host, desk, &asked).await;
            whole(answer.unwrap_or_else(|trouble| told(host, Card::FORM, trouble)))
        }
        Plan::Create(creation) => {
            let answer = create(host, &creation).await;
            whole(answer.unwrap_or_else(|trouble| told(host, Creation::FORM, trouble)))
        }
        Plan::Call(exchange) => call(host, desk, exchange).await,
        Plan::Batch(batch) => whole(self::batch(host, desk, *batch).await),
    }
}

fn whole(response: Response<Vec<u8>>) -> Response<Body> {
    response.map(Body::Whole)
}

/// What a caller is told of trouble.
fn told<H: Host>(host: &H, form: Form<'_>, trouble: Trouble) -> Response<Vec<u8>> {
    let refusal = match trouble {
        Trouble::Refused(failed) => return failure(form, &failed.refusal, failed.echo.as_deref()),
        Trouble::Contended => Refusal::new(Code::Unavailable, "too many changes at once; try again"),
        Trouble::Fault(fault) => {
            host.report(&fault);
            match fault {
                StoreError::Unavailable(_) => {
                    Refusal::new(Code::Unavailable, "the desk can't reach its storage; try again")
                }
                StoreError::Corrupt(_) => Refusal::internal(),
            }
        }
    };
    failure(form, &refusal, None)
}

/// Offers the store a snapshot of a session: for a host that does so in its own time rather than when a commit asks.
///
/// # Errors
/// What the store says; nothing is lost by it.
pub async fn compact<H: Host>(host: &H, session_id: &str) -> Result<(), StoreError> {
    let seat = host.sessions().seat(session_id).refreshed(host).await?;
    seat.compact(host).await
}

async fn card<H: Host>(host: &H, desk: &Desk, card: &Card) -> Answered<Vec<u8>> {
    let seat = host.sessions().seat(card.session_id()).refreshed(host).await?;
    Ok(card.answer(desk, seat.session().is_some()))
}

async fn create<H: Host>(host: &H, creation: &Creation) -> Answered<Vec<u8>> {
    let (now, entropy) = (host.now(), host.entropy());
    let begun = match host.session_to_create() {
        Some(session_id) => creation.begin_as(session_id, now, entropy),
        None => creation.begin(now, entropy),
    };
    let first = record(&begun.commit);
    if !offer(|| host.store().create(&begun.session_id, &first)).await? {
        let why = "a new session's id is taken".to_owned();
        return Err(Trouble::Fault(StoreError::Unavailable(why)));
    }
    host.bell().ring(&begun.session_id, begun.commit.seq);
    Ok(Creation::answer(&begun))
}

async fn call<H: Host>(host: &H, desk: &Desk, mut exchange: Box<Exchange>) -> Response<Body> {
    match answered(host, desk, &mut exchange, None).await {
        Ok(answer) => {
            let (head, body) = answer.into_parts();
            let body = body.map_or_else(|| Body::Stream(Stream::new(exchange)), Body::Whole);
            Response::from_parts(head, body)
        }
        Err(trouble) => whole(told(host, exchange.form(), trouble)),
    }
}

/// Calls one after the other. Together they wait no longer than one may.
async fn batch<H: Host>(host: &H, desk: &Desk, mut batch: Batch) -> Response<Vec<u8>> {
    let limit = i64::from(desk.config.blocking_limit_ms);
    let end = host.now().plus_millis(limit);
    while let Some(mut exchange) = batch.next() {
        let answer = answered(host, desk, &mut exchange, Some(end)).await;
        batch.add(match answer {
            Ok(answer) => answer.map(Option::unwrap_or_default),
            Err(trouble) => told(host, exchange.form(), trouble),
        });
    }
    batch.answer()
}

/// The answer, without a body where it is a stream; after `end` nothing is waited for.
async fn answered<H: Host>(
    host: &H,
    desk: &Desk,
    exchange: &mut Exchange,
    end: Option<Timestamp>,
) -> Answered<Option<Vec<u8>>> {
    let seat = host.sessions().seat(exchange.session_id());
    let mut seat = seat.refreshed(host).await?;
    transact(host, desk, exchange, &mut seat).await?;
    loop {
        let now = host.now();
        match exchange.poll(desk, seat.session(), now)? {
            Poll::Ready(response) => return Ok(response.map(Some)),
            Poll::Stream(head) => return Ok(head.map(|()| None)),
            Poll::Wait(_) if host.is_closing() || end.is_some_and(|end| end <= now) => {
                exchange.wait_no_longer()
            }
            Poll::Wait(until) => {
                let after = seat.session().map_or(0, Session::seq);
                let absent = seat.leave();
                let until = end.map_or(until, |end| end.min(until));
                host.bell().wait(absent.id(), after, until).await;
                seat = absent.refreshed(host).await?;
            }
            Poll::Log(span) => {
                // Others need not wait for it: what the log holds does not change.
                let absent = seat.leave();
                exchange.supply(history(host, absent.id(), span).await?);
                seat = absent.refreshed(host).await?;
            }
        }
    }
}

/// A stretch of a session's log.
async fn history<H: Host>(host: &H, session_id: &str, span: Span) -> Result<Vec<Commit>, StoreError> {
    let records = host.store().history(session_id, span.after, span.most).await?;
    let read = |record: &Record| {
        Commit::read(&record.bytes).map_err(|why| {
            let what = format!("session {session_id}: commit {}: {why}", record.seq);
            StoreError::Corrupt(what)
        })
    };
    records.iter().map(read).collect()
}

/// Decides until the commit is in, or nothing needs to be committed.
async fn transact<H: Host>(
    host: &H,
    desk: &Desk,
    exchange: &mut Exchange,
    seat: &mut Seat,
) -> Result<(), Trouble> {
    for _ in 0..ATTEMPTS {
        let Some(commit) = exchange.decide(desk, seat.session(), host.now(), host.entropy())? else {
            return Ok(());
        };
        if seat.commit(host, &commit).await? {
            return Ok(());
        }
    }
    Err(Trouble::Contended)
}
