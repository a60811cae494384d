//! The driver: load, decide, commit, answer; over whatever ports the host gives.
//!
//! What is answered is decided by [`crate::exchange`]; here it meets the host's storage and clock. The driver holds no
//! state beyond a cache of sessions. One session's requests take turns within a process; across processes the store's
//! compare-and-swap decides, and a loser decides again. Where the store keeps commits in line
//! ([`Store::is_queue`]) a turn ends before its commit is durable: what is decided next builds on it, and no answer, whose
//! ever it is, leaves before everything that it was made from is durable.

mod line;
mod outbox;
pub mod place;
mod sessions;
mod stream;

use http::{Method, Request, Response};

use crate::agent::Failed;
use crate::exchange::{self, Batch, Card, Creation, Exchange, Plan, Poll};
use crate::http::answer::{Form, failure, without_body};
use crate::refusal::{Code, Refusal};
use crate::session::Commit;
use crate::session::event::Span;
use crate::store::{Bell, CommitOutcome, Record, Store, StoreError};
use crate::time::Timestamp;

pub use crate::desk::{Config, ConfigError, Desk};
use line::Flight;
pub use outbox::{Outbound, Outlook, deliver, next_due};
pub use sessions::Sessions;
use sessions::{Absent, Seen, compact_behind, offer, record};
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
    /// Hears after a commit, and before its answer leaves, when a notification of the session is next due: to be sent
    /// then with [`deliver`]. What was due before the host began it finds with [`next_due`].
    fn due(&self, session_id: &str, at: Timestamp) -> impl Future<Output = ()> {
        let _ = (session_id, at);
        async {}
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
    if request.method() != Method::HEAD {
        return answer(host, desk, request).await;
    }
    let (head, body) = answer(host, desk, request).await.into_parts();
    // Of a stream nothing was read yet: it is over before it began.
    let body = body.into_whole().unwrap_or_default();
    whole(without_body(Response::from_parts(head, body)))
}

async fn answer<H: Host>(host: &H, desk: &Desk, request: Request<Vec<u8>>) -> Response<Body> {
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

/// Decides until the commit is in, or nothing needs to be committed, and answers: without a body where the answer is a
/// stream. After `end` nothing is waited for.
async fn answered<H: Host>(
    host: &H,
    desk: &Desk,
    exchange: &mut Exchange,
    end: Option<Timestamp>,
) -> Answered<Option<Vec<u8>>> {
    let seat = host.sessions().seat(exchange.session_id());
    let mut seat = seat.refreshed(host).await?;
    for _ in 0..ATTEMPTS {
        let commit = match exchange.decide(desk, seat.session(), host.now(), host.entropy()) {
            Ok(commit) => commit,
            Err(failed) => {
                seat.leave().1.settled().await?;
                return Err(failed.into());
            }
        };
        let mut flight = None;
        if let Some(commit) = &commit {
            if host.store().is_queue() {
                flight = Some(seat.line_up(host, commit).await);
            } else if !seat.commit(host, commit).await? {
                continue;
            }
        }
        let polled = exchange.poll(desk, seat.session(), host.now());
        let (absent, seen) = seat.leave();
        if let Some(flight) = flight
            && !landed(host, absent.id(), flight).await?
        {
            seat = absent.refreshed(host).await?;
            continue;
        }
        return follow(host, desk, exchange, end, (absent, seen), polled).await;
    }
    Err(Trouble::Contended)
}

/// Waits until a commit of the line is durable, and tells all who want to know. `false`: another one took its number.
async fn landed<H: Host, F: Future<Output = Result<CommitOutcome, StoreError>>>(
    host: &H,
    session_id: &str,
    flight: Flight<F>,
) -> Result<bool, StoreError> {
    let (seq, due) = (flight.seq(), flight.due());
    let CommitOutcome::Committed { compact } = flight.land().await? else {
        return Ok(false);
    };
    host.bell().ring(session_id, seq);
    if let Some(at) = due {
        host.due(session_id, at).await;
    }
    // The commit is in whatever becomes of this; a later one asks for it again.
    if compact && let Err(fault) = compact_behind(host, session_id, seq).await {
        host.report(&fault);
    }
    Ok(true)
}

/// Looks for the answer until it is there, beginning with what was seen when the turn was given up.
async fn follow<H: Host>(
    host: &H,
    desk: &Desk,
    exchange: &mut Exchange,
    end: Option<Timestamp>,
    left: (Absent, Seen),
    mut polled: Result<Poll, Failed>,
) -> Answered<Option<Vec<u8>>> {
    let (mut absent, mut seen) = left;
    loop {
        seen.settled().await?;
        match polled? {
            Poll::Ready(response) => return Ok(response.map(Some)),
            Poll::Stream(head) => return Ok(head.map(|()| None)),
            Poll::Wait(_) if host.is_closing() || end.is_some_and(|end| end <= host.now()) => {
                exchange.wait_no_longer()
            }
            Poll::Wait(until) => {
                let until = end.map_or(until, |end| end.min(until));
                host.bell().wait(absent.id(), seen.seq, until).await;
            }
            // Others need not wait for it: what the log holds does not change.
            Poll::Log(span) => exchange.supply(history(host, absent.id(), span).await?),
        }
        let seat = absent.refreshed(host).await?;
        polled = exchange.poll(desk, seat.session(), host.now());
        (absent, seen) = seat.leave();
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
