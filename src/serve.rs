//! The driver: load, decide, commit, answer; over whatever ports the host gives.
//!
//! What is answered is decided by [`crate::exchange`], in this process or in a component ([`Decider`]); here it meets the
//! host's storage and clock. The driver holds no state beyond a cache of sessions. Within a process those who may change a
//! session take turns, and those who only look at it do so together; across processes the store's compare-and-swap decides,
//! and a loser decides again. Where the store keeps commits in line ([`Store::is_queue`]) a turn ends before its commit is
//! durable: what is decided next builds on it, and no answer, whose ever it is, leaves before everything that it was made
//! from is durable.

mod decider;
mod line;
mod notifier;
mod outbox;
pub mod place;
mod sessions;
mod stream;

use std::sync::Arc;

use http::{Method, Request, Response};

use crate::exchange::Poll;
use crate::http::answer::to;
use crate::session::Session;
use crate::session::event::Span;
use crate::store::{Bell, CommitOutcome, Record, Store, StoreError};
use crate::time::Timestamp;

pub use crate::desk::{Config, ConfigError, Desk};
pub use decider::{Asked, Beginning, Decider, Failure, Plan, State};
use line::Flight;
pub use notifier::{Due, Landing, Notifier};
pub use outbox::{Outbound, Outlook, deliver, next_due};
pub use sessions::Sessions;
use sessions::{Seen, Slot, compact_behind, offer};
pub use stream::{Body, Stream};

/// How often a commit is decided, each time after another one took its number. Of four processes that never rest at one
/// session each wins every fourth time, so that with eight tries every tenth caller would be sent away.
const ATTEMPTS: u32 = 64;

/// What a host lends to a request; `S` is where its sessions are in memory.
pub trait Host<S = Session> {
    /// Where sessions are kept.
    type Store: Store;
    /// How waiting requests are woken.
    type Bell: Bell;

    /// Where sessions are kept.
    fn store(&self) -> &Self::Store;
    /// How waiting requests are woken.
    fn bell(&self) -> &Self::Bell;
    /// The sessions that this process has in memory.
    fn sessions(&self) -> &Sessions<S>;
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
    /// Hears before an answer leaves that was made from a session when a notification of it is next due, whether the
    /// request changed anything or not: for a host that has no time of its own, and sends behind its requests.
    fn reached(&self, session_id: &str, due: Timestamp) {
        let _ = (session_id, due);
    }
    /// Hears after a commit, and before its answer leaves, that the store asks for the session to be compacted. `true`: the
    /// host does so in its own time ([`compact`]), and nobody waits for it now.
    fn puts_off_compaction(&self, session_id: &str) -> impl Future<Output = bool> {
        let _ = session_id;
        async { false }
    }
    /// Tells whoever runs the host of a failure that is no caller's fault.
    fn report(&self, fault: &StoreError) {
        let _ = fault;
    }
}

/// Why a request was not done.
#[derive(Debug)]
enum Trouble {
    /// The caller's to mend: the answer.
    Refused(Response<Vec<u8>>),
    /// The host's to mend.
    Fault(StoreError),
    /// Others were quicker, again and again.
    Contended,
}

impl From<Response<Vec<u8>>> for Trouble {
    fn from(answer: Response<Vec<u8>>) -> Self {
        Self::Refused(answer)
    }
}

impl From<StoreError> for Trouble {
    fn from(fault: StoreError) -> Self {
        Self::Fault(fault)
    }
}

type Answered<B> = Result<Response<B>, Trouble>;
/// What looking for an answer came to, or what is answered in its place.
type Polled = Result<Poll, Response<Vec<u8>>>;

/// Answers a request: every path, every error, on every host.
///
/// The body must have been read up to [`BODY_LIMIT`](crate::http::read::BODY_LIMIT) bytes and one more; what is longer
/// is refused either way.
pub async fn handle<H, D>(host: &H, desk: &D, request: Request<Vec<u8>>) -> Response<Body<D::Exchange>>
where
    D: Decider,
    H: Host<D::Session>,
{
    let (grant, is_head) = (desk.grant(&request), *request.method() == Method::HEAD);
    let mut response = answer(host, desk, request).await;
    if is_head {
        let (head, body) = response.into_parts();
        // Of a stream nothing was read yet: it is over before it began.
        let body = body.into_whole().unwrap_or_default();
        response = whole(to(&Method::HEAD, Response::from_parts(head, body)));
    }
    grant.put(&mut response);
    response
}

async fn answer<H, D>(host: &H, desk: &D, request: Request<Vec<u8>>) -> Response<Body<D::Exchange>>
where
    D: Decider,
    H: Host<D::Session>,
{
    match desk.plan(request) {
        Plan::Answer(response) => whole(response),
        Plan::Card(asked) => {
            let answer = card(host, desk, &asked).await;
            whole(answer.unwrap_or_else(|trouble| told(host, desk, Asked::Card(&asked), trouble)))
        }
        Plan::Create(creation) => {
            let answer = create(host, desk, &creation).await;
            whole(answer.unwrap_or_else(|trouble| told(host, desk, Asked::Creation(&creation), trouble)))
        }
        Plan::Call(exchange) => call(host, desk, exchange).await,
        Plan::Batch(batch) => whole(Box::pin(self::batch(host, desk, *batch)).await),
    }
}

fn whole<X>(response: Response<Vec<u8>>) -> Response<Body<X>> {
    response.map(Body::Whole)
}

/// What a caller is told of trouble.
fn told<H, D>(host: &H, desk: &D, asked: Asked<'_, D>, trouble: Trouble) -> Response<Vec<u8>>
where
    D: Decider,
    H: Host<D::Session>,
{
    let failure = match trouble {
        Trouble::Refused(answer) => return answer,
        Trouble::Contended => Failure::Contended,
        Trouble::Fault(fault) => {
            host.report(&fault);
            match fault {
                StoreError::Unavailable(_) => Failure::Unavailable,
                StoreError::Corrupt(_) => Failure::Broken,
            }
        }
    };
    desk.fail(asked, failure)
}

/// Offers the store a snapshot of a session: for a host that does so in its own time rather than when a commit asks.
///
/// # Errors
/// What the store says; nothing is lost by it.
pub async fn compact<S: State, H: Host<S>>(host: &H, session_id: &str) -> Result<(), StoreError> {
    let slot = host.sessions().slot(session_id);
    slot.look(host).await?.compact(host).await
}

async fn card<H, D>(host: &H, desk: &D, card: &D::Card) -> Answered<Vec<u8>>
where
    D: Decider,
    H: Host<D::Session>,
{
    let slot = host.sessions().slot(desk.card_session(card));
    let seat = slot.look(host).await?;
    Ok(desk.card(card, seat.session().is_some()))
}

async fn create<H, D>(host: &H, desk: &D, creation: &D::Creation) -> Answered<Vec<u8>>
where
    D: Decider,
    H: Host<D::Session>,
{
    let begun = desk.begin(creation, host.session_to_create(), host.now(), host.entropy());
    if !offer(|| host.store().create(&begun.session_id, &begun.first)).await? {
        let why = "a new session's id is taken".to_owned();
        return Err(Trouble::Fault(StoreError::Unavailable(why)));
    }
    host.bell().ring(&begun.session_id, begun.first.seq);
    Ok(begun.answer)
}

async fn call<H, D>(host: &H, desk: &D, mut exchange: Box<D::Exchange>) -> Response<Body<D::Exchange>>
where
    D: Decider,
    H: Host<D::Session>,
{
    match answered(host, desk, &mut exchange, None).await {
        Ok(answer) => {
            let (head, body) = answer.into_parts();
            let body = body.map_or_else(|| Body::Stream(Stream::new(exchange)), Body::Whole);
            Response::from_parts(head, body)
        }
        Err(trouble) => whole(told(host, desk, Asked::Exchange(exchange.as_ref()), trouble)),
    }
}

/// Calls one after the other. Together they wait no longer than one may.
async fn batch<H, D>(host: &H, desk: &D, mut batch: D::Batch) -> Response<Vec<u8>>
where
    D: Decider,
    H: Host<D::Session>,
{
    let end = host.now().plus_millis(i64::from(desk.blocking_limit_ms()));
    while let Some(mut exchange) = desk.next(&mut batch) {
        let answer = answered(host, desk, &mut exchange, Some(end)).await;
        let answer = match answer {
            Ok(answer) => answer.map(Option::unwrap_or_default),
            Err(trouble) => told(host, desk, Asked::Exchange(&exchange), trouble),
        };
        desk.add(&mut batch, answer);
    }
    desk.finish(batch)
}

/// Decides, sees to it that what was decided is durable, and answers: without a body where the answer is a stream. After
/// `end` nothing is waited for.
async fn answered<H, D>(
    host: &H,
    desk: &D,
    exchange: &mut D::Exchange,
    end: Option<Timestamp>,
) -> Answered<Option<Vec<u8>>>
where
    D: Decider,
    H: Host<D::Session>,
{
    let slot = host.sessions().slot(desk.session_id(exchange));
    if desk.only_looks(exchange) {
        let seat = slot.look(host).await?;
        let polled = match desk.decide(exchange, seat.session(), host.now(), host.entropy()) {
            Ok(None) => Some(desk.poll(exchange, seat.session(), host.now())),
            Err(refused) => Some(Err(refused)),
            // What changes something all the same takes its turn.
            Ok(Some(_)) => None,
        };
        if let Some(polled) = polled {
            return follow(host, desk, exchange, end, &slot, seat.leave(), polled).await;
        }
    }
    // Apart, so that whoever only looks needs no room for it.
    let (seen, polled) = Box::pin(changed(host, desk, exchange, &slot)).await?;
    follow(host, desk, exchange, end, &slot, seen, polled).await
}

/// Decides until the commit is in, or nothing needs to be committed, and looks for the answer.
async fn changed<H, D>(
    host: &H,
    desk: &D,
    exchange: &mut D::Exchange,
    slot: &Arc<Slot<D::Session>>,
) -> Result<(Seen, Polled), Trouble>
where
    D: Decider,
    H: Host<D::Session>,
{
    let mut seat = slot.turn(host).await?;
    for _ in 0..ATTEMPTS {
        let commit = match desk.decide(exchange, seat.session(), host.now(), host.entropy()) {
            Ok(commit) => commit,
            Err(refused) => return Ok((seat.leave(), Err(refused))),
        };
        let mut flight = None;
        if let Some(commit) = &commit {
            if host.store().is_queue() {
                flight = Some(seat.line_up(host, commit).await);
            } else if !seat.commit(host, commit).await? {
                continue;
            }
        }
        let polled = desk.poll(exchange, seat.session(), host.now());
        let seen = seat.leave();
        if let Some(flight) = flight
            && !landed(host, slot.id(), flight).await?
        {
            seat = slot.turn(host).await?;
            continue;
        }
        return Ok((seen, polled));
    }
    Err(Trouble::Contended)
}

/// Waits until a commit of the line is durable, and tells all who want to know. `false`: another one took its number.
async fn landed<S: State, H: Host<S>, F: Future<Output = Result<CommitOutcome, StoreError>>>(
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
    if compact
        && !host.puts_off_compaction(session_id).await
        && let Err(fault) = compact_behind(host, session_id, seq).await
    {
        host.report(&fault);
    }
    Ok(true)
}

/// Looks for the answer until it is there, beginning with what was seen when the seat was given up.
async fn follow<H, D>(
    host: &H,
    desk: &D,
    exchange: &mut D::Exchange,
    end: Option<Timestamp>,
    slot: &Arc<Slot<D::Session>>,
    mut seen: Seen,
    mut polled: Polled,
) -> Answered<Option<Vec<u8>>>
where
    D: Decider,
    H: Host<D::Session>,
{
    if let Some(at) = seen.due {
        host.reached(slot.id(), at);
    }
    loop {
        seen.settled().await?;
        match polled? {
            Poll::Ready(response) => return Ok(response.map(Some)),
            Poll::Stream(head) => return Ok(head.map(|()| None)),
            Poll::Wait(_) if host.is_closing() || end.is_some_and(|end| end <= host.now()) => {
                desk.wait_no_longer(exchange);
            }
            Poll::Wait(until) => {
                let until = end.map_or(until, |end| end.min(until));
                host.bell().wait(slot.id(), seen.seq, until).await;
            }
            // Others need not wait for it: what the log holds does not change.
            Poll::Log(span) => desk.supply(exchange, history(host, slot.id(), span).await?),
        }
        let seat = slot.look(host).await?;
        polled = desk.poll(exchange, seat.session(), host.now());
        seen = seat.leave();
    }
}

/// A stretch of a session's log.
async fn history<S: State, H: Host<S>>(
    host: &H,
    session_id: &str,
    span: Span,
) -> Result<Vec<S::Commit>, StoreError> {
    let records = host.store().history(session_id, span.after, span.most).await?;
    let read = |record: &Record| {
        S::read(record).map_err(|why| {
            let what = format!("session {session_id}: commit {}: {why}", record.seq);
            StoreError::Corrupt(what)
        })
    };
    records.iter().map(read).collect()
}
