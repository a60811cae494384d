//! Which sessions have notifications to send, and when: each is seen to by a task of its own while it has some.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a2a_edge::serve::{self, Host as _, Outlook};
use a2a_edge::store::StoreError;
use a2a_edge::time::Timestamp;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::host::Native;
use crate::outbound::Webhooks;
use crate::server::log::now;
use crate::server::{First, race};

/// How many sessions are seen to at once.
const SESSIONS: usize = 32;
/// How long a session is left alone whose store failed.
const REST_MS: i64 = 5_000;
/// How long nothing is looked at when nothing is due.
const IDLE: Duration = Duration::from_secs(3_600);

/// When something of which session is due. It is no queue: what is due, the session knows.
#[derive(Debug, Default)]
pub struct Schedule {
    due: Mutex<BTreeMap<String, Timestamp>>,
    news: Notify,
}

impl Schedule {
    /// Something of a session is due then, if not before.
    pub fn put(&self, session: &str, at: Timestamp) {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = due.entry(session.to_owned()).or_insert(at);
        *entry = at.min(*entry);
        self.news.notify_one();
    }

    /// Wakes whoever looks at it.
    pub fn wake(&self) {
        self.news.notify_one();
    }

    /// Takes out what is due and not among the `busy`, and says when the next will be.
    fn take(&self, now: Timestamp, busy: &BTreeSet<String>) -> (Vec<String>, Option<Timestamp>) {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = || due.iter().filter(|(session, _)| !busy.contains(*session));
        let room = SESSIONS.saturating_sub(busy.len());
        let ripe = idle()
            .filter(|(_, at)| **at <= now)
            .map(|(session, _)| session.clone());
        let ripe: Vec<String> = ripe.take(room).collect();
        let next = idle().map(|(_, at)| *at).filter(|at| *at > now).min();
        for session in &ripe {
            due.remove(session);
        }
        (ripe, next)
    }
}

type Seen = (String, Result<Outlook, StoreError>);

/// Sends the notifications of all sessions until the host closes, and what is on its way then.
pub async fn run(native: Arc<Native>, webhooks: Webhooks) {
    let finding = tokio::spawn(find(Arc::clone(&native)));
    let (mut busy, mut at_work) = (BTreeSet::new(), JoinSet::<Seen>::new());
    while !native.is_closing() || !at_work.is_empty() {
        let next = match native.is_closing() {
            true => None,
            false => {
                let (ripe, next) = native.schedule().take(now(), &busy);
                for session in ripe {
                    busy.insert(session.clone());
                    at_work.spawn(see_to(Arc::clone(&native), webhooks.clone(), session));
                }
                next
            }
        };
        let wait = next.map_or(IDLE, |at| Duration::from_millis(at.millis_since(now())));
        let news = race(native.schedule().news.notified(), sleep(wait));
        if at_work.is_empty() {
            news.await;
            continue;
        }
        if let First::Right(Some(Ok((session, outcome)))) = race(news, at_work.join_next()).await {
            busy.remove(&session);
            match outcome {
                Ok(outlook) => outlook
                    .due
                    .into_iter()
                    .for_each(|at| native.schedule().put(&session, at)),
                Err(fault) => {
                    native.report(&fault);
                    native.schedule().put(&session, now().plus_millis(REST_MS));
                }
            }
        }
    }
    finding.abort();
}

async fn see_to(native: Arc<Native>, webhooks: Webhooks, session: String) -> Seen {
    let outcome = serve::deliver(native.as_ref(), native.desk(), &webhooks, &session).await;
    (session, outcome)
}

/// Finds what was due when the server last ended, one session after the other.
async fn find(native: Arc<Native>) {
    let sessions = match native.stored_sessions().await {
        Ok(sessions) => sessions,
        Err(fault) => return native.report(&fault),
    };
    for session in sessions {
        match serve::next_due(native.as_ref(), &session).await {
            Ok(due) => due.into_iter().for_each(|at| native.schedule().put(&session, at)),
            Err(fault) => native.report(&fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn what_is_due_is_taken_once_the_earliest_time_counts_and_who_is_busy_waits() {
        let schedule = Schedule::default();
        for (session, due) in [("a", 5), ("a", 9), ("b", 7), ("c", 20), ("d", 3)] {
            schedule.put(session, at(due));
        }
        let busy = BTreeSet::from(["d".to_owned()]);
        assert_eq!(schedule.take(at(4), &busy), (Vec::new(), Some(at(5))));
        let ripe = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(schedule.take(at(7), &busy), (ripe, Some(at(20))));
        let none = BTreeSet::new();
        assert_eq!(schedule.take(at(7), &none), (vec!["d".to_owned()], Some(at(20))));
        assert_eq!(schedule.take(at(7), &none), (Vec::new(), Some(at(20))));
    }

    #[test]
    fn only_so_many_sessions_are_seen_to_at_once() {
        let schedule = Schedule::default();
        (0..=SESSIONS).for_each(|it| schedule.put(&it.to_string(), at(0)));
        let none = BTreeSet::new();
        let (first, _) = schedule.take(at(0), &none);
        assert_eq!(first.len(), SESSIONS);
        let busy: BTreeSet<String> = first.into_iter().collect();
        assert_eq!(schedule.take(at(0), &busy), (Vec::new(), None));
        assert_eq!(schedule.take(at(0), &none).0.len(), 1);
    }
}
