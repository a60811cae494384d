//! A [`Store`] on any [`KeyValue`].
//!
//! A session is one mutable *head* and immutable objects that the head names: segments of older commits, a
//! snapshot, and indexes of older segments. Recent commits are in the head itself (a big one in an object of its
//! own), so that a commit is one swap of the head.
//!
//! What a swap reports decides nothing. After each the head is read again: if the commit with one's own number has
//! one's own nonce it is in, if another has taken the number it never will be, and otherwise the swap is tried
//! again. That is safe even if the first swap is still under way, for every head differs from every other one
//! before, so that only one of them can find the head it compares with.
//!
//! No object is written before the head says that it will be: writing begins by *reserving* the object's number in
//! the head, and the swap that names the object takes the reservation back. After a crash the reservation is left,
//! and tells a later compaction or [`HeadSwap::sweep`] what to delete; no keys need to be listed. A writer whose
//! reservation was taken away cannot name its objects any more, deletes them and starts again. Numbers are given
//! out once, so deleting never hits an object of someone else. (Only a writer that sleeps through the deletion of
//! what it reserved, then writes it, and then crashes leaves objects that nobody finds.)
//!
//! Creation alone is not a swap, for lack of a head. Two callers that create the same session at the same moment
//! may overwrite each other; whoever creates a session must choose a name that nobody else can be choosing.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::head::{Body, Head, Kind, Reservation, Sealed, UpTo};
use super::lease::FREE;
use super::objects::{Fail, Watch, describe};
use super::{CommitOutcome, KeyValue, Loaded, Record, Snapshot, Store, StoreError};

/// How often a swap is tried before the store counts as unavailable. Only one's own bad luck and the rare changes
/// to the head that are no commits use up tries: another's commit ends the attempt.
pub(super) const TRIES: usize = 32;

/// How many attempts to write objects may be under way in a session at once, beside the newest.
const MOST_RESERVED: usize = 8;

/// Sizes that a [`HeadSwap`] keeps to, in bytes unless stated otherwise.
///
/// The defaults suit all known back ends: the smallest limit on a value, DynamoDB's, is 400 KB. They may change
/// from one start to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// No value is longer; 256 KiB. A head that might get there is compacted first.
    pub value: usize,
    /// A commit that is longer gets an object of its own; 32 KiB.
    pub inline: usize,
    /// A head that is longer asks for compaction; 32 KiB.
    pub tail_bytes: usize,
    /// A head with more recent commits asks for compaction; 64.
    pub tail_commits: usize,
    /// A segment that is shorter is merged with the next; 128 KiB.
    pub segment: usize,
    /// A head with more segments moves them to an index; 16.
    pub segments: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            value: 256 << 10,
            inline: 32 << 10,
            tail_bytes: 32 << 10,
            tail_commits: 64,
            segment: 128 << 10,
            segments: 16,
        }
    }
}

/// What has become of a commit, as far as a head tells.
enum Fate {
    /// Its number is the next one.
    Open,
    /// It is in.
    Kept,
    /// Its number is another's or is not the next one.
    Lost,
}

/// A [`Store`] on any [`KeyValue`], by compare-and-swap of one head for each session.
#[derive(Clone, Debug)]
pub struct HeadSwap<K> {
    pub(super) keys: K,
    pub(super) limits: Limits,
}

impl<K: KeyValue> HeadSwap<K> {
    /// A store that keeps everything under keys that begin with `a2a.`.
    pub fn new(keys: K) -> Self {
        Self::with_limits(keys, Limits::default())
    }

    /// The same with other sizes.
    pub fn with_limits(keys: K, limits: Limits) -> Self {
        Self { keys, limits }
    }

    /// Deletes what nothing names: replaced objects and those of attempts that did not come to an end, even if they
    /// are still under way (they then start again). Each compaction does the same for what is old enough, so this
    /// is only for tidying a session that is at rest.
    ///
    /// # Errors
    ///
    /// Those of the key-value store; nothing needed is gone then.
    pub async fn sweep(&self, session: &str) -> Result<(), StoreError> {
        for _ in 0..TRIES {
            let Some((head, bytes)) = self.head(session).await? else {
                return Ok(());
            };
            let mut next = head.next();
            let given_up = next
                .reserved
                .drain(..)
                .flat_map(|reservation| reservation.objects);
            next.garbage = given_up.collect();
            if next.garbage.is_empty() && head.garbage.is_empty() {
                return Ok(());
            }
            self.discard(session, &head.garbage).await?;
            self.swap(session, &bytes, &next).await;
        }
        Err(busy())
    }

    /// Number of a session's last commit, 0 if there is no such session: costs one read.
    ///
    /// # Errors
    ///
    /// Those of the key-value store, and [`StoreError::Corrupt`].
    pub async fn last(&self, session: &str) -> Result<u64, StoreError> {
        let bytes = self.keys.get(&Self::key(session, "head")).await?;
        bytes.map_or(Ok(0), |bytes| Ok(Sealed::open(&bytes)?.seq))
    }

    /// The keys that a session is kept under, those of its head and its lease included. Any other key that begins
    /// like them is waste, or belongs to an attempt under way.
    ///
    /// # Errors
    ///
    /// Those of the key-value store, and [`StoreError::Corrupt`].
    pub async fn keys(&self, session: &str) -> Result<Vec<String>, StoreError> {
        let mut watch = Watch::default();
        loop {
            let Some((head, _)) = self.head(session).await? else {
                return Ok(Vec::new());
            };
            match self.referenced(session, &head).await {
                Ok(objects) => {
                    let chunks = objects
                        .iter()
                        .flat_map(|object| Self::chunk_keys(session, object));
                    let own = [Self::key(session, "head"), Self::lease_key(session)];
                    return Ok(own.into_iter().chain(chunks).collect());
                }
                Err(fail) => watch.again(&head, fail)?,
            }
        }
    }

    /// Every session's keys have a beginning of their own, whatever it is called.
    pub(super) fn key(session: &str, name: &str) -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if (1..=64).contains(&session.len()) && session.bytes().all(plain) {
            format!("a2a.{session}.{name}")
        } else {
            let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(session.as_bytes()));
            format!("a2a.~{sum}.{name}")
        }
    }

    /// The head and the bytes that a swap of it starts from.
    pub(super) async fn head(&self, session: &str) -> Result<Option<(Head, Vec<u8>)>, StoreError> {
        let Some(bytes) = self.keys.get(&Self::key(session, "head")).await? else {
            return Ok(None);
        };
        Ok(Some((Head::decode(&bytes)?, bytes)))
    }

    /// Tries to replace the head. Nothing comes back: what the store reports is not to be relied on.
    pub(super) async fn swap(&self, session: &str, current: &[u8], next: &Head) {
        let _unreliable = self
            .keys
            .swap(&Self::key(session, "head"), current, &next.encode())
            .await;
    }

    /// Announces objects in the head, then writes them. `false`: the head has changed, and nothing was written.
    pub(super) async fn reserve(
        &self,
        session: &str,
        (head, bytes): (&Head, &[u8]),
        reservation: &Reservation,
        contents: &[&[u8]],
    ) -> Result<bool, StoreError> {
        self.discard(session, &head.garbage).await?;
        let mut next = self.without_waste(head);
        let last = reservation.objects.iter().map(|object| object.number).max();
        next.objects = next.objects.max(last.unwrap_or(0));
        next.reserved.push(reservation.clone());
        self.swap(session, bytes, &next).await;
        let head = self.head(session).await?;
        if !head.is_some_and(|(head, _)| head.reserved.contains(reservation)) {
            return Ok(false);
        }
        for (object, content) in reservation.objects.iter().zip(contents) {
            self.write(session, object, content).await?;
        }
        Ok(true)
    }

    /// What follows a head whose garbage is deleted. The new garbage is what those had reserved who died, and those
    /// who came first if there are too many: a crash that repeats itself at one and the same commit must not let
    /// the head grow.
    fn without_waste(&self, head: &Head) -> Head {
        let mut next = head.next();
        let mut excess = next.reserved.len().saturating_sub(MOST_RESERVED);
        let given_up = next.reserved.extract_if(.., |held| {
            let too_many = excess > 0;
            excess = excess.saturating_sub(1);
            too_many || self.is_stale(head, held)
        });
        next.garbage = given_up.flat_map(|reservation| reservation.objects).collect();
        next
    }

    /// A head that is longer leaves too little room for what is reserved and what is to be deleted.
    fn is_full(&self, bytes: &[u8]) -> bool {
        bytes.len() > self.limits.value.saturating_sub(self.limits.value / 8)
    }

    /// Whether the head should be compacted and nobody is about to.
    fn asks(&self, head: &Head, bytes: &[u8]) -> bool {
        let passed = head.tail.len() > self.limits.tail_commits || bytes.len() > self.limits.tail_bytes;
        passed && !self.is_being_compacted(head)
    }

    /// Moves the recent commits out of a head that has too many, where that is all there is to do; whether a snapshot
    /// should come with it otherwise. A state hardly ever shrinks: while less was committed than the last snapshot is
    /// long, making another would be in vain, and in a big session cost more than everything else.
    async fn tidy(&self, session: &str, head: &Head, bytes: &[u8]) -> bool {
        let asks = self.asks(head, bytes);
        let kept = head.snapshot.as_ref();
        if !asks || kept.is_none_or(|kept| kept.object.length <= head.fresh) {
            return asks;
        }
        // The commit is in whatever becomes of this; the next one sees to it again.
        let _left_to_the_next = self.rotate(session, None).await;
        false
    }

    async fn fate(&self, session: &str, head: &Head, record: &Record) -> Result<Fate, Fail> {
        if head.seq.checked_add(1) == Some(record.seq) {
            return Ok(Fate::Open);
        }
        Ok(if self.has(session, head, record).await? {
            Fate::Kept
        } else {
            Fate::Lost
        })
    }

    /// Deletes what a commit had reserved and nobody can name any more. Should that fail, the reservation, if it
    /// stands, still lists it.
    async fn drop_reserved(&self, session: &str, reservation: Option<&Reservation>) {
        if let Some(reservation) = reservation {
            let _left_to_compaction = self.discard(session, &reservation.objects).await;
        }
    }

    async fn reserve_apart(
        &self,
        session: &str,
        (head, bytes): (&Head, &[u8]),
        record: &Record,
    ) -> Result<Option<Reservation>, StoreError> {
        let content = Self::segment_of(record);
        let object = describe(
            Kind::Segment,
            head.objects.saturating_add(1),
            &content,
            self.limits.value,
        );
        let reservation = Reservation {
            at: head.seq,
            compaction: false,
            objects: vec![object],
        };
        let reserved = self
            .reserve(session, (head, bytes), &reservation, &[&content])
            .await?;
        Ok(reserved.then_some(reservation))
    }

    /// The snapshot, if starting over from it reads less than going on from commit `after`.
    async fn snapshot(&self, session: &str, head: &Head, after: u64) -> Result<Option<Snapshot>, Fail> {
        let saves = |kept: &&UpTo| kept.seq > after && kept.object.length <= head.length_after(after);
        match head.snapshot.as_ref().filter(saves) {
            Some(kept) => {
                let bytes = self.read(session, &kept.object).await?;
                Ok(Some(Snapshot { seq: kept.seq, bytes }))
            }
            None => Ok(None),
        }
    }

    async fn missing(&self, session: &str, head: &Head, after: u64) -> Result<Loaded, Fail> {
        let snapshot = self.snapshot(session, head, after).await?;
        let start = snapshot.as_ref().map_or(after, |snapshot| snapshot.seq);
        Ok(Loaded {
            snapshot,
            commits: self.records(session, head, start, usize::MAX).await?,
        })
    }
}

pub(super) fn busy() -> StoreError {
    StoreError::Unavailable(format!("the head could not be swapped in {TRIES} tries"))
}

impl<K: KeyValue> Store for HeadSwap<K> {
    async fn create(&self, session: &str, first: &Record) -> Result<bool, StoreError> {
        let key = Self::key(session, "head");
        if self.keys.get(&key).await?.is_none() {
            // Before the head, so that no session is without it.
            self.keys.put(&Self::lease_key(session), FREE).await?;
            self.keys.put(&key, &Head::default().encode()).await?;
        }
        match self.commit(session, first).await? {
            CommitOutcome::Committed { .. } => Ok(true),
            CommitOutcome::Conflict => Ok(false),
        }
    }

    async fn load(&self, session: &str, after: u64) -> Result<Option<Loaded>, StoreError> {
        let mut watch = Watch::default();
        loop {
            let Some(bytes) = self.keys.get(&Self::key(session, "head")).await? else {
                return Ok(None);
            };
            let sealed = Sealed::open(&bytes)?;
            if sealed.seq == 0 {
                return Ok(None);
            }
            if sealed.seq == after {
                return Ok(Some(Loaded::default()));
            }
            let head = sealed.decode()?;
            match self.missing(session, &head, after).await {
                Ok(loaded) => return Ok(Some(loaded)),
                Err(fail) => watch.again(&head, fail)?,
            }
        }
    }

    async fn history(&self, session: &str, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
        let mut watch = Watch::default();
        loop {
            let Some((head, _)) = self.head(session).await? else {
                return Ok(Vec::new());
            };
            match self.records(session, &head, after, most).await {
                Ok(records) => return Ok(records),
                Err(fail) => watch.again(&head, fail)?,
            }
        }
    }

    async fn commit(&self, session: &str, record: &Record) -> Result<CommitOutcome, StoreError> {
        let mut watch = Watch::default();
        let mut held: Option<Reservation> = None;
        for _ in 0..TRIES {
            let Some((head, bytes)) = self.head(session).await? else {
                return Ok(CommitOutcome::Conflict);
            };
            match self.fate(session, &head, record).await {
                Ok(Fate::Open) => {}
                Ok(Fate::Kept) => {
                    let compact = self.tidy(session, &head, &bytes).await;
                    return Ok(CommitOutcome::Committed { compact });
                }
                Ok(Fate::Lost) => {
                    self.drop_reserved(session, held.as_ref()).await;
                    return Ok(CommitOutcome::Conflict);
                }
                Err(fail) => {
                    watch.again(&head, fail)?;
                    continue;
                }
            }
            if let Some(lost) = held.take_if(|held| !head.reserved.contains(held)) {
                self.drop_reserved(session, Some(&lost)).await;
            }
            let body = match held.as_ref().and_then(|held| held.objects.first()) {
                Some(object) => Body::Apart(object.clone()),
                None if record.bytes.len() <= self.limits.inline => Body::Inline(record.bytes.clone()),
                None => {
                    held = self.reserve_apart(session, (&head, &bytes), record).await?;
                    continue;
                }
            };
            let mut next = head.with(record, body);
            if let Some(held) = &held {
                next.release(held);
            }
            if self.is_full(&next.encode()) {
                self.rotate(session, None).await?;
            } else {
                self.swap(session, &bytes, &next).await;
            }
        }
        Err(busy())
    }

    async fn compact(&self, session: &str, snapshot: &Snapshot) -> Result<(), StoreError> {
        self.rotate(session, Some(snapshot)).await
    }
}
