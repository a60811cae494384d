//! Moving commits from the head to segments, and taking snapshots.
//!
//! Objects first, then the head: until the head names them they are not there, and what it stops naming is deleted
//! only when the next objects are announced, when hardly anyone can still be reading by the old head.

use super::codec::encode_records;
use super::head::{Body, Head, Index, Kind, Object, Reservation, Segment, UpTo};
use super::head_swap::{TRIES, busy};
use super::objects::{Fail, Watch, describe};
use super::{HeadSwap, KeyValue, Record, Snapshot, StoreError};

/// What a compaction makes of a head.
struct Plan<'a> {
    base: &'a Head,
    earlier: Option<UpTo>,
    segments: Vec<Segment>,
    /// Whether a new snapshot comes with it, and how many of the fresh bytes it covers.
    snapshot: Option<(UpTo, u64)>,
    /// The new objects.
    written: Vec<(Object, Vec<u8>)>,
    /// Objects of the old head that the new one does without.
    replaced: Vec<Object>,
    chunk: usize,
}

impl<'a> Plan<'a> {
    fn new(base: &'a Head, chunk: usize) -> Self {
        Self {
            base,
            earlier: base.earlier.clone(),
            segments: base.segments.clone(),
            snapshot: None,
            written: Vec::new(),
            replaced: Vec::new(),
            chunk,
        }
    }

    fn add(&mut self, kind: Kind, content: Vec<u8>) -> Object {
        let last = self
            .written
            .last()
            .map_or(self.base.objects, |(object, _)| object.number);
        let object = describe(kind, last.saturating_add(1), &content, self.chunk);
        self.written.push((object.clone(), content));
        object
    }

    /// Makes a segment of records that follow each other, if there are any.
    fn settle(&mut self, run: &mut Vec<Record>) {
        if let (Some(first), Some(last)) = (run.first().map(|it| it.seq), run.last().map(|it| it.seq)) {
            let object = self.add(Kind::Segment, encode_records(run));
            self.segments.push(Segment { first, last, object });
            run.clear();
        }
    }

    /// Moves the recent commits to segments, after the `run` of records from the segment they are merged with.
    fn move_tail(&mut self, mut run: Vec<Record>) {
        for (seq, recent) in self.base.recent() {
            match &recent.body {
                Body::Inline(bytes) => {
                    run.push(Record {
                        seq,
                        nonce: recent.nonce.clone(),
                        bytes: bytes.clone(),
                    });
                }
                Body::Apart(object) => {
                    self.settle(&mut run);
                    self.segments.push(Segment {
                        first: seq,
                        last: seq,
                        object: object.clone(),
                    });
                }
            }
        }
        self.settle(&mut run);
    }

    /// Moves all segments but the last to an index, if there are more than `most`.
    fn shorten(&mut self, most: usize) {
        if self.segments.len() <= most {
            return;
        }
        let newest = self.segments.pop();
        let segments = std::mem::replace(&mut self.segments, newest.into_iter().collect());
        if let Some(seq) = segments.last().map(|segment| segment.last) {
            let index = Index {
                earlier: self.earlier.take(),
                segments,
            };
            let object = self.add(Kind::Index, index.encode());
            self.earlier = Some(UpTo { seq, object });
        }
    }

    /// Takes the snapshot if it is newer, and no longer than twice the commits it saves reading: so writing snapshots at
    /// most triples what is written, and replaying reads little more than twice the state's size. A state that only
    /// grows is as long as what was committed; it gets a snapshot whenever it has doubled.
    fn take(&mut self, snapshot: &Snapshot) {
        let newer = self
            .base
            .snapshot
            .as_ref()
            .is_none_or(|kept| kept.seq < snapshot.seq);
        let most = self.base.fresh.saturating_mul(2);
        let worth = u64::try_from(snapshot.bytes.len()).is_ok_and(|length| length <= most);
        if !newer || !worth || snapshot.seq == 0 || snapshot.seq > self.base.seq {
            return;
        }
        let after = self.base.recent().filter(|(seq, _)| *seq > snapshot.seq);
        let left = after.fold(0_u64, |sum, (_, recent)| {
            sum.saturating_add(match &recent.body {
                Body::Inline(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
                Body::Apart(object) => object.length,
            })
        });
        let object = self.add(Kind::Snapshot, snapshot.bytes.clone());
        self.replaced
            .extend(self.base.snapshot.iter().map(|kept| kept.object.clone()));
        self.snapshot = Some((
            UpTo {
                seq: snapshot.seq,
                object,
            },
            self.base.fresh.saturating_sub(left),
        ));
    }

    /// Whether the plan still fits a head that has come since.
    fn fits(&self, head: &Head) -> bool {
        let parts = |head: &Head| (head.settled(), head.snapshot.clone(), head.earlier.clone());
        parts(head) == parts(self.base) && head.segments == self.base.segments
    }

    /// The head that names the new objects. Commits that were made meanwhile stay in the tail.
    fn apply(&self, head: &Head, reservation: &Reservation) -> Head {
        let mut next = head.next();
        next.release(reservation);
        next.tail.drain(..self.base.tail.len().min(next.tail.len()));
        next.earlier.clone_from(&self.earlier);
        next.segments.clone_from(&self.segments);
        if let Some((snapshot, covered)) = &self.snapshot {
            next.snapshot = Some(snapshot.clone());
            next.fresh = next.fresh.saturating_sub(*covered);
        }
        next.garbage.extend(self.replaced.iter().cloned());
        next
    }
}

impl<K: KeyValue> HeadSwap<K> {
    /// Whether someone has announced a compaction and may still be at it. One that has not ended while as many
    /// commits were made as call for the next has died.
    pub(super) fn is_being_compacted(&self, head: &Head) -> bool {
        head.reserved
            .iter()
            .any(|held| held.compaction && !self.is_stale(head, held))
    }

    pub(super) fn is_stale(&self, head: &Head, reservation: &Reservation) -> bool {
        let patience = u64::try_from(self.limits.tail_commits).unwrap_or(u64::MAX);
        head.seq.saturating_sub(reservation.at) >= patience.max(1)
    }

    /// Moves the recent commits out of the head, because it is full (`None`), or at leisure and with a snapshot.
    pub(super) async fn rotate(&self, session: &str, snapshot: Option<&Snapshot>) -> Result<(), StoreError> {
        let mut watch = Watch::default();
        for _ in 0..TRIES {
            let Some((head, bytes)) = self.head(session).await? else {
                return Ok(());
            };
            if snapshot.is_some() && self.is_being_compacted(&head) {
                return Ok(());
            }
            let plan = match self.plan(session, &head, snapshot).await {
                Ok(plan) => plan,
                Err(fail) => {
                    watch.again(&head, fail)?;
                    continue;
                }
            };
            if plan.written.is_empty() && head.tail.is_empty() {
                return Ok(());
            }
            let objects = plan.written.iter().map(|(object, _)| object.clone()).collect();
            let contents: Vec<&[u8]> = plan
                .written
                .iter()
                .map(|(_, content)| content.as_slice())
                .collect();
            let reservation = Reservation {
                at: head.seq,
                compaction: true,
                objects,
            };
            if self
                .reserve(session, (&head, &bytes), &reservation, &contents)
                .await?
            {
                return self.publish(session, &plan, &reservation).await;
            }
        }
        Err(busy())
    }

    async fn plan<'a>(
        &self,
        session: &str,
        head: &'a Head,
        snapshot: Option<&Snapshot>,
    ) -> Result<Plan<'a>, Fail> {
        let mut plan = Plan::new(head, self.limits.value);
        if !head.tail.is_empty() {
            let open = plan.segments.pop_if(|last| {
                usize::try_from(last.object.length).is_ok_and(|length| length < self.limits.segment)
            });
            let mut run = Vec::new();
            if let Some(open) = open {
                run = self.read_segment(session, &open).await?;
                plan.replaced.push(open.object);
            }
            plan.move_tail(run);
            plan.shorten(self.limits.segments.max(1));
        }
        if let Some(snapshot) = snapshot {
            plan.take(snapshot);
        }
        Ok(plan)
    }

    /// Swaps in the head that names the objects written.
    async fn publish(
        &self,
        session: &str,
        plan: &Plan<'_>,
        reservation: &Reservation,
    ) -> Result<(), StoreError> {
        for _ in 0..TRIES {
            let Some((head, bytes)) = self.head(session).await? else {
                return Ok(());
            };
            if !head.reserved.contains(reservation) {
                return self.settle_fate(session, &head, &reservation.objects).await;
            }
            if plan.fits(&head) {
                self.swap(session, &bytes, &plan.apply(&head, reservation)).await;
            } else {
                // Another compaction was faster. Nobody can name these objects now, so they can go first.
                self.discard(session, &reservation.objects).await?;
                let mut next = head.next();
                next.release(reservation);
                self.swap(session, &bytes, &next).await;
            }
        }
        Err(busy())
    }

    /// The reservation is gone: either the objects were named by the same swap, or someone took it away for good.
    async fn settle_fate(&self, session: &str, head: &Head, objects: &[Object]) -> Result<(), StoreError> {
        if head.named().any(|named| objects.contains(named)) {
            return Ok(());
        }
        // They may have been named and moved to an index, or replaced, since.
        match self.referenced(session, head).await {
            Ok(used) => {
                let unused: Vec<Object> = objects
                    .iter()
                    .filter(|object| !used.contains(object))
                    .cloned()
                    .collect();
                self.discard(session, &unused).await
            }
            Err(Fail::Store(error)) => Err(error),
            Err(Fail::Missing(_)) => Ok(()),
        }
    }
}
