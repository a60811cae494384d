//! The sessions that a process has in memory, and taking turns at one.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use async_lock::{RwLock as Turnstile, RwLockReadGuard, RwLockWriteGuard};

use super::line::{Flight, Line};
use super::{Host, State};
use crate::session::Session;
use crate::store::{Bell as _, CommitOutcome, Snapshot, Store as _, StoreError};
use crate::time::Timestamp;

/// How many sessions stay in memory when nobody is at them.
const KEPT: usize = 1_000;

/// How often a write is offered to a store that does not answer.
const OFFERS: u32 = 3;

/// Handles on a slot that are nobody else's: the map's, and that of whoever looks.
const OWN_HANDLES: usize = 2;

/// A session as it is in memory, with all commits that stand in line for it.
pub(super) struct Held<S> {
    session: Option<S>,
    /// How much of it is durable.
    line: Arc<Line>,
}

impl<S> Default for Held<S> {
    fn default() -> Self {
        Self {
            session: None,
            line: Arc::default(),
        }
    }
}

struct Entry<S> {
    slot: Arc<Slot<S>>,
    used: u64,
}

struct Entries<S> {
    by_id: BTreeMap<String, Entry<S>>,
    clock: u64,
}

/// The sessions in memory. What is dropped from it is loaded again when it is next needed.
pub struct Sessions<S = Session> {
    entries: Mutex<Entries<S>>,
}

impl<S> Default for Sessions<S> {
    fn default() -> Self {
        let entries = Entries {
            by_id: BTreeMap::new(),
            clock: 0,
        };
        Self {
            entries: Mutex::new(entries),
        }
    }
}

impl<S> Sessions<S> {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The slot of a session, whether there is one or not.
    pub(super) fn slot(&self, session_id: &str) -> Arc<Slot<S>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.clock = entries.clock.saturating_add(1);
        let used = entries.clock;
        if let Some(entry) = entries.by_id.get_mut(session_id) {
            entry.used = used;
            return Arc::clone(&entry.slot);
        }
        if entries.by_id.len() >= KEPT {
            entries.forget_one();
        }
        let slot = Arc::new(Slot {
            session_id: session_id.to_owned(),
            held: Turnstile::default(),
        });
        let entry = Entry {
            slot: Arc::clone(&slot),
            used,
        };
        entries.by_id.insert(session_id.to_owned(), entry);
        slot
    }

    /// Forgets a session that turned out not to exist, so that made-up ids take no room. It stays while somebody
    /// else waits for its slot: two slots of one session would not know of each other.
    fn forget(&self, slot: &Arc<Slot<S>>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::strong_count(slot) <= OWN_HANDLES {
            entries.by_id.remove(&slot.session_id);
        }
    }
}

impl<S> Entries<S> {
    fn forget_one(&mut self) {
        let idle = self
            .by_id
            .iter()
            .filter(|(_, entry)| Arc::strong_count(&entry.slot) == 1);
        let oldest = idle.min_by_key(|(_, entry)| entry.used).map(|(id, _)| id.clone());
        if let Some(oldest) = oldest {
            self.by_id.remove(&oldest);
        }
    }
}

/// Where a session is in memory. Many may look at it at once, and one of them at a time may change it.
pub(super) struct Slot<S> {
    session_id: String,
    held: Turnstile<Held<S>>,
}

/// A state of a session.
#[derive(Debug)]
pub(super) struct Seen {
    line: Arc<Line>,
    /// The number of its last commit.
    pub(super) seq: u64,
    /// When something of it is next due to be delivered.
    pub(super) due: Option<Timestamp>,
}

impl Seen {
    /// Returns when all of it is durable: nobody may be told of it before.
    ///
    /// # Errors
    /// It was lost, or nobody knows.
    pub(super) async fn settled(&self) -> Result<(), StoreError> {
        self.line.reaches(self.seq).await
    }
}

impl<S: State> Slot<S> {
    pub(super) fn id(&self) -> &str {
        &self.session_id
    }

    /// Waits for the turn, then sees to it that the session in memory is what the store has, or will have. Whoever has
    /// begun to wait has to be polled on, or dropped: nobody else gets the turn that came to it.
    pub(super) async fn turn<H: Host<S>>(self: &Arc<Self>, host: &H) -> Result<Turn<'_, S>, StoreError> {
        let mut seat = Seat {
            session_id: &self.session_id,
            held: self.held.write().await,
        };
        if seat.held.line.is_broken() {
            *seat.held = Held::default();
        }
        if seat.held.session.is_none() || !host.store().is_exclusive() {
            seat.reload(host).await?;
        }
        if seat.held.session.is_none() {
            host.sessions().forget(self);
        }
        Ok(seat)
    }

    /// The same to look and change nothing, beside others that look. Nobody has to wait for a turn unless the store is
    /// to be asked. To be polled on or dropped, too.
    pub(super) async fn look<H: Host<S>>(self: &Arc<Self>, host: &H) -> Result<Look<'_, S>, StoreError> {
        let held = self.held.read().await;
        if held.session.is_some() && host.store().is_exclusive() && !held.line.is_broken() {
            let session_id = &self.session_id;
            return Ok(Seat { session_id, held });
        }
        drop(held);
        let Seat { session_id, held } = self.turn(host).await?;
        let held = RwLockWriteGuard::downgrade(held);
        Ok(Seat { session_id, held })
    }
}

/// The turn at a session: nobody else of this process sees or changes it meanwhile.
pub(super) type Turn<'a, S> = Seat<'a, RwLockWriteGuard<'a, Held<S>>>;

/// A look at a session: nobody of this process changes it meanwhile.
pub(super) type Look<'a, S> = Seat<'a, RwLockReadGuard<'a, Held<S>>>;

/// A session as it stands.
pub(super) struct Seat<'a, G> {
    session_id: &'a str,
    held: G,
}

impl<S: State, G: Deref<Target = Held<S>>> Seat<'_, G> {
    /// The session, if it exists.
    pub(super) fn session(&self) -> Option<&S> {
        self.held.session.as_ref()
    }

    fn seq(&self) -> u64 {
        self.session().map_or(0, State::seq)
    }

    /// When something of the session is next due to be delivered.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.session().and_then(State::next_due)
    }

    /// Gives the seat up, and tells what was seen from it.
    pub(super) fn leave(self) -> Seen {
        Seen {
            line: Arc::clone(&self.held.line),
            seq: self.seq(),
            due: self.next_due(),
        }
    }

    pub(super) async fn compact<H: Host<S>>(&self, host: &H) -> Result<(), StoreError> {
        // Nothing joins the line meanwhile, and a snapshot holds nothing that may be lost yet.
        self.held.line.reaches(self.seq()).await?;
        let Some(session) = self.session() else {
            return Ok(());
        };
        let snapshot = Snapshot {
            seq: session.seq(),
            bytes: session.snapshot(),
        };
        host.store().compact(self.session_id, &snapshot).await
    }
}

impl<S: State> Turn<'_, S> {
    /// Reads what the store has beyond what is in memory.
    async fn reload<H: Host<S>>(&mut self, host: &H) -> Result<(), StoreError> {
        // What is in memory may be behind, so it only counts again once the store has answered.
        let known = self.held.session.take();
        let after = known.as_ref().map_or(0, State::seq);
        let Some(loaded) = host.store().load(self.session_id, after).await? else {
            return Ok(());
        };
        let corrupt = |what: String| StoreError::Corrupt(format!("session {}: {what}", self.session_id));
        let mut session = match (known, loaded.snapshot) {
            (_, Some(snapshot)) => {
                S::restore(&snapshot.bytes).map_err(|why| corrupt(format!("snapshot: {why}")))?
            }
            (Some(session), None) => session,
            (None, None) => S::empty(),
        };
        for record in &loaded.commits {
            if record.seq <= session.seq() {
                continue;
            }
            let applied = S::read(record).and_then(|commit| session.apply(&commit));
            applied.map_err(|why| corrupt(format!("commit {}: {why}", record.seq)))?;
        }
        self.held.line.reached(session.seq());
        self.held.session = Some(session);
        Ok(())
    }

    /// Makes a commit durable and applies it. `false`: another one took its number, and the session in memory now
    /// has that one.
    pub(super) async fn commit<H: Host<S>>(
        &mut self,
        host: &H,
        commit: &S::Commit,
    ) -> Result<bool, StoreError> {
        let record = S::record(commit);
        // Until the store has answered nobody knows what it holds. Should this request end here, as it does when its
        // client goes away, the session is loaded again.
        let known = self.held.session.take();
        match offer(|| host.store().commit(self.session_id, &record)).await? {
            CommitOutcome::Conflict => {
                self.held.session = known;
                self.reload(host).await?;
                Ok(false)
            }
            CommitOutcome::Committed { compact } => {
                self.held.session =
                    known.and_then(|mut session| session.apply(commit).is_ok().then_some(session));
                self.held.line.reached(record.seq);
                host.bell().ring(self.session_id, record.seq);
                if let Some(at) = self.next_due() {
                    host.due(self.session_id, at).await;
                }
                // The commit is in whatever becomes of this; the next one asks for it again.
                if compact
                    && !host.puts_off_compaction(self.session_id).await
                    && let Err(fault) = self.compact(host).await
                {
                    host.report(&fault);
                }
                Ok(true)
            }
        }
    }

    /// Applies a commit and puts it in line for the store. What is decided from here on builds on it, and nobody is told
    /// of it before it has landed.
    pub(super) async fn line_up<'h, H: Host<S>>(
        &mut self,
        host: &'h H,
        commit: &S::Commit,
    ) -> Flight<impl Future<Output = Result<CommitOutcome, StoreError>> + use<'h, H, S>> {
        let (session_id, record) = (self.session_id.to_owned(), S::record(commit));
        let seq = record.seq;
        let storing = async move { host.store().commit(&session_id, &record).await };
        let known = self.held.session.take();
        self.held.session = known.and_then(|mut session| session.apply(commit).is_ok().then_some(session));
        let line = Arc::clone(&self.held.line);
        Flight::begin(storing, line, seq, self.next_due()).await
    }
}

/// Makes the snapshot that a store asked for with a commit of a line, unless somebody does already.
pub(super) async fn compact_behind<S: State, H: Host<S>>(
    host: &H,
    session_id: &str,
    seq: u64,
) -> Result<(), StoreError> {
    let slot = host.sessions().slot(session_id);
    let seat = slot.look(host).await?;
    if seat.held.line.takes_snapshot(seq, seat.seq()) {
        return seat.compact(host).await;
    }
    Ok(())
}

/// Repeats a write that the store did not answer for: whether it is in is learned by offering it again.
pub(super) async fn offer<T, F: Future<Output = Result<T, StoreError>>>(
    write: impl Fn() -> F,
) -> Result<T, StoreError> {
    let mut outcome = write().await;
    for _ in 1..OFFERS {
        if !matches!(outcome, Err(StoreError::Unavailable(_))) {
            break;
        }
        outcome = write().await;
    }
    outcome
}
