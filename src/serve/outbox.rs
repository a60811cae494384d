//! Push notifications on their way (A2A 1.0, §4.3): what is due of a session is sent, and what came of it recorded.
//!
//! Delivery is at least once and in order for each config. What was sent and not yet recorded when a process ends is
//! sent again.

use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use http::{Request, StatusCode};

use super::notifier::{Due, Landing, Notifier};
use super::{ATTEMPTS, Host, State, history, landed};
use crate::agent::courier::Next;
use crate::session::push::{Landed, Outcome, Place};
use crate::store::{Bell as _, Store as _, StoreError};
use crate::time::Timestamp;

/// How many webhooks of a session are sent to at once.
const ABREAST: usize = 8;

/// How many changes a webhook is sent before it is recorded that it has them.
const BATCH: usize = 16;

/// How long nothing is due at most before the session is looked at again, in milliseconds.
const LOOK_AGAIN_MS: i64 = 3_600_000;

/// How a host sends requests to the world.
///
/// It follows no redirect, gives up after ten seconds or so, reads no more of an answer than it must, and connects to no
/// address that the desk's [`Reach`](crate::guard::Reach) does not allow, whatever name led there.
pub trait Outbound {
    /// Sends a notification as it is; the answer's status, or why there is none.
    fn post(&self, request: Request<Vec<u8>>) -> impl Future<Output = Result<StatusCode, String>>;

    /// Hears that nothing more is sent by a config.
    fn given_up(&self, session_id: &str, place: &Place) {
        let _ = (session_id, place);
    }
}

/// How a session stands when nothing more of it is due now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// Number of its last commit; 0 without such a session.
    pub seq: u64,
    /// When something is next due, unless the session moves on before.
    pub due: Option<Timestamp>,
}

/// When something of a session is next due to be [delivered](deliver), unless it moves on before.
///
/// # Errors
/// What the store says.
pub async fn next_due<S: State, H: Host<S>>(
    host: &H,
    session_id: &str,
) -> Result<Option<Timestamp>, StoreError> {
    let slot = host.sessions().slot(session_id);
    Ok(slot.look(host).await?.next_due())
}

/// Sends what is due of a session until nothing more is: what comes to be due meanwhile, too. [`Host::due`] says when to
/// call it again. Calls for one session should not overlap: what two send at once arrives twice.
///
/// A host that is closing waits for what is on its way, and begins nothing more. The future may be dropped at any time:
/// what was not recorded is sent again.
///
/// # Errors
/// What the store says; to be tried again in a while.
pub async fn deliver<H, D, O>(
    host: &H,
    desk: &D,
    outbound: &O,
    session_id: &str,
) -> Result<Outlook, StoreError>
where
    D: Notifier,
    H: Host<D::Session>,
    O: Outbound,
{
    let mut abreast = Abreast::default();
    loop {
        let slot = host.sessions().slot(session_id);
        let seat = abreast.beside(slot.look(host)).await?;
        let now = host.now();
        let Due { places, later } = match seat.session() {
            Some(session) => desk.due(session, now, abreast.most()),
            None => Due::default(),
        };
        let outlook = Outlook {
            seq: seat.session().map_or(0, State::seq),
            due: if places.is_empty() { later } else { seat.next_due() },
        };
        drop(seat);
        if !host.is_closing() {
            let places: Vec<Place> = abreast.room_for(places.into_iter()).collect();
            for place in places {
                let courier = desk.courier(&place);
                let flight = fly(host, desk, outbound, session_id, courier);
                abreast.flights.push((place, Box::pin(flight)));
            }
        }
        if abreast.is_empty() {
            return Ok(outlook);
        }
        let until = later.unwrap_or_else(|| now.plus_millis(LOOK_AGAIN_MS));
        let news = async {
            // Nothing is begun any more, so no news is worth looking at.
            if host.is_closing() {
                pending::<()>().await;
            }
            host.bell().wait(session_id, outlook.seq, until).await;
        };
        let came = abreast.land(news).await.into_iter();
        let came = came.collect::<Result<Vec<Landed>, StoreError>>()?;
        if !came.is_empty() {
            abreast
                .beside(record(host, desk, outbound, session_id, &came))
                .await?;
        }
    }
}

/// Sends the changes of one config, one behind the other, until one is not taken.
async fn fly<H, D, O>(
    host: &H,
    desk: &D,
    outbound: &O,
    session_id: &str,
    mut courier: D::Courier,
) -> Result<Landed, StoreError>
where
    D: Notifier,
    H: Host<D::Session>,
    O: Outbound,
{
    let mut sent = 0;
    while sent < BATCH && !(sent > 0 && host.is_closing()) {
        // What was deleted or revoked meanwhile is not sent, and nothing that may be lost yet.
        let slot = host.sessions().slot(session_id);
        let seat = slot.look(host).await?;
        let next = desk.next_change(&mut courier, seat.session(), host.now());
        seat.leave().settled().await?;
        match next {
            Next::Send(request) => match outbound.post(*request).await {
                Ok(status) if status.is_success() => desk.taken(&mut courier),
                Ok(StatusCode::GONE) => return Ok(desk.landed(&courier, Outcome::Refused)),
                Ok(_) | Err(_) => return Ok(desk.landed(&courier, Outcome::Failed)),
            },
            Next::Log(span) => {
                let commits = history(host, session_id, span).await?;
                desk.supply_courier(&mut courier, commits);
                continue;
            }
            Next::Nothing(outcome) => return Ok(desk.landed(&courier, outcome)),
        }
        sent = sent.saturating_add(1);
    }
    Ok(desk.landed(&courier, Outcome::Taken))
}

/// Records what came of sending.
async fn record<H, D, O>(
    host: &H,
    desk: &D,
    outbound: &O,
    session_id: &str,
    came: &[Landed],
) -> Result<(), StoreError>
where
    D: Notifier,
    H: Host<D::Session>,
    O: Outbound,
{
    for _ in 0..ATTEMPTS {
        let slot = host.sessions().slot(session_id);
        let mut seat = slot.turn(host).await?;
        let session = seat.session();
        let landing = session.and_then(|session| desk.land(session, came, host.now(), host.entropy()));
        let Some(Landing { commit, given_up }) = landing else {
            return Ok(());
        };
        let kept = if host.store().is_queue() {
            let flight = seat.line_up(host, &commit).await;
            drop(seat);
            landed(host, session_id, flight).await?
        } else {
            seat.commit(host, &commit).await?
        };
        if kept {
            given_up
                .iter()
                .for_each(|place| outbound.given_up(session_id, place));
            return Ok(());
        }
    }
    let why = "others were quicker, again and again".to_owned();
    Err(StoreError::Unavailable(why))
}

/// What is on its way at once, each to another webhook. Whoever waits for anything else does so beside it
/// ([`beside`](Self::beside)): each may be next to take its turn at the session, and nobody gets one before it does.
struct Abreast<F: Future> {
    flights: Vec<(Place, Pin<Box<F>>)>,
    /// What has landed and was not asked for yet.
    landed: Vec<(Place, F::Output)>,
}

impl<F: Future> Default for Abreast<F> {
    fn default() -> Self {
        Self {
            flights: Vec::new(),
            landed: Vec::new(),
        }
    }
}

impl<F: Future> Abreast<F> {
    /// Whether nothing is on its way, and nothing has landed.
    fn is_empty(&self) -> bool {
        self.flights.is_empty() && self.landed.is_empty()
    }

    /// How many places to look at, so that those that have room are among them.
    fn most(&self) -> usize {
        let away = self.flights.len().saturating_add(self.landed.len());
        ABREAST.saturating_add(away)
    }

    /// Those of some places that are not on their way yet, and have room beside those that are. What has landed is away
    /// until it was asked for.
    fn room_for(&self, places: impl Iterator<Item = Place>) -> impl Iterator<Item = Place> {
        let room = ABREAST.saturating_sub(self.flights.len());
        let away = |place: &Place| {
            let flying = self.flights.iter().map(|(flying, _)| flying);
            let mut all = flying.chain(self.landed.iter().map(|(landed, _)| landed));
            all.any(|away| away == place)
        };
        places.filter(move |place| !away(place)).take(room)
    }

    /// What has landed, as soon as something has; nothing when there is news before.
    async fn land(&mut self, news: impl Future<Output = ()>) -> Vec<F::Output> {
        let mut news = pin!(news);
        poll_fn(|context| {
            self.poll(context);
            if !self.landed.is_empty() || news.as_mut().poll(context).is_ready() {
                let landed = std::mem::take(&mut self.landed).into_iter();
                return Poll::Ready(landed.map(|(_, output)| output).collect());
            }
            Poll::Pending
        })
        .await
    }

    /// What comes of something else, while all that is on its way goes on.
    async fn beside<T>(&mut self, other: impl Future<Output = T>) -> T {
        let mut other = pin!(other);
        poll_fn(|context| {
            self.poll(context);
            other.as_mut().poll(context)
        })
        .await
    }

    fn poll(&mut self, context: &mut Context<'_>) {
        let landed = &mut self.landed;
        self.flights
            .retain_mut(|(place, flight)| match flight.as_mut().poll(context) {
                Poll::Ready(output) => {
                    landed.push((place.clone(), output));
                    false
                }
                Poll::Pending => true,
            });
    }
}
