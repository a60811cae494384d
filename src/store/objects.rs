//! The immutable objects of a session, and the commits in them.

use super::codec::{corrupt, decode_records, encode_records, hash};
use super::head::{Body, Head, Index, Kind, Object, Recent, Segment};
use super::{HeadSwap, KeyValue, Record, StoreError};

/// Why something that a head names could not be read.
pub(super) enum Fail {
    Store(StoreError),
    /// No value under this key: the head is out of date, or the store has lost it.
    Missing(String),
}

impl From<StoreError> for Fail {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Decides, when an object is missing, between reading a newer head and giving up.
#[derive(Default)]
pub(super) struct Watch {
    failed: Vec<u64>,
}

impl Watch {
    const PATIENCE: usize = 16;

    /// `Ok`: read the head again. An object that one and the same head names twice in vain is lost.
    pub(super) fn again(&mut self, head: &Head, fail: Fail) -> Result<(), StoreError> {
        let key = match fail {
            Fail::Store(error) => return Err(error),
            Fail::Missing(key) => key,
        };
        if self.failed.last() == Some(&head.rev) {
            return Err(StoreError::Corrupt(format!("{key} is missing")));
        }
        if self.failed.len() >= Self::PATIENCE {
            return Err(StoreError::Unavailable(
                "the session changes faster than it can be read".to_owned(),
            ));
        }
        self.failed.push(head.rev);
        Ok(())
    }
}

/// Names an object for the content it is going to have.
pub(super) fn describe(kind: Kind, number: u64, content: &[u8], chunk: usize) -> Object {
    let count = content.len().div_ceil(chunk.max(1));
    Object {
        kind,
        number,
        chunks: u64::try_from(count).unwrap_or(u64::MAX),
        length: u64::try_from(content.len()).unwrap_or(u64::MAX),
        hash: hash(content),
    }
}

impl<K: KeyValue> HeadSwap<K> {
    fn chunk_key(session: &str, object: &Object, chunk: u64) -> String {
        Self::key(
            session,
            &format!("{}.{}.{chunk}", object.kind.name(), object.number),
        )
    }

    pub(super) fn chunk_keys(session: &str, object: &Object) -> impl Iterator<Item = String> {
        (0..object.chunks).map(|chunk| Self::chunk_key(session, object, chunk))
    }

    pub(super) async fn write(
        &self,
        session: &str,
        object: &Object,
        content: &[u8],
    ) -> Result<(), StoreError> {
        for (key, chunk) in Self::chunk_keys(session, object).zip(content.chunks(self.limits.value.max(1))) {
            self.keys.put(&key, chunk).await?;
        }
        Ok(())
    }

    pub(super) async fn read(&self, session: &str, object: &Object) -> Result<Vec<u8>, Fail> {
        let mut content = Vec::new();
        // All at once: what a growing vector leaves behind, the memory of an instance keeps. Without room it grows all the same.
        let _room = usize::try_from(object.length).map(|length| content.try_reserve_exact(length));
        for key in Self::chunk_keys(session, object) {
            let chunk = self.keys.get(&key).await?.ok_or(Fail::Missing(key))?;
            content.extend_from_slice(&chunk);
        }
        if u64::try_from(content.len()) != Ok(object.length) || hash(&content) != object.hash {
            return Err(corrupt("an object does not match its hash").into());
        }
        Ok(content)
    }

    /// Removes objects that no head will ever name (again).
    pub(super) async fn discard(&self, session: &str, objects: &[Object]) -> Result<(), StoreError> {
        for key in objects
            .iter()
            .flat_map(|object| Self::chunk_keys(session, object))
        {
            self.keys.delete(&key).await?;
        }
        Ok(())
    }

    pub(super) async fn read_segment(&self, session: &str, segment: &Segment) -> Result<Vec<Record>, Fail> {
        let records = decode_records(&self.read(session, &segment.object).await?)?;
        if records
            .iter()
            .map(|record| record.seq)
            .eq(segment.first..=segment.last)
        {
            Ok(records)
        } else {
            Err(corrupt("a segment does not hold what the head says").into())
        }
    }

    /// A recent commit, wherever its bytes are.
    async fn read_recent(&self, session: &str, seq: u64, recent: &Recent) -> Result<Vec<Record>, Fail> {
        match &recent.body {
            Body::Inline(bytes) => Ok(vec![Record {
                seq,
                nonce: recent.nonce.clone(),
                bytes: bytes.clone(),
            }]),
            Body::Apart(object) => {
                let segment = Segment {
                    first: seq,
                    last: seq,
                    object: object.clone(),
                };
                self.read_segment(session, &segment).await
            }
        }
    }

    /// The segments that reach past commit `after`, in order.
    async fn segments_after(&self, session: &str, head: &Head, after: u64) -> Result<Vec<Segment>, Fail> {
        let mut segments = head.segments.clone();
        let mut earlier = head.earlier.clone();
        while let Some(up_to) = earlier.take_if(|up_to| up_to.seq > after) {
            let index = Index::decode(&self.read(session, &up_to.object).await?, up_to.seq)?;
            segments.splice(0..0, index.segments);
            earlier = index.earlier;
        }
        segments.retain(|segment| segment.last > after);
        Ok(segments)
    }

    /// At most `most` commits from `after + 1` on.
    pub(super) async fn records(
        &self,
        session: &str,
        head: &Head,
        after: u64,
        most: usize,
    ) -> Result<Vec<Record>, Fail> {
        let mut records = Vec::new();
        if after < head.settled() {
            for segment in self.segments_after(session, head, after).await? {
                if records.len() >= most {
                    break;
                }
                records.extend(self.read_segment(session, &segment).await?);
            }
            records.retain(|record| record.seq > after);
        }
        for (seq, recent) in head.recent().filter(|(seq, _)| *seq > after) {
            if records.len() >= most {
                break;
            }
            records.extend(self.read_recent(session, seq, recent).await?);
        }
        records.truncate(most);
        Ok(records)
    }

    /// Whether the commit of this number has this nonce.
    pub(super) async fn has(&self, session: &str, head: &Head, record: &Record) -> Result<bool, Fail> {
        if let Some((_, recent)) = head.recent().find(|(seq, _)| *seq == record.seq) {
            return Ok(recent.nonce == record.nonce);
        }
        let Some(before) = record.seq.checked_sub(1).filter(|_| record.seq <= head.seq) else {
            return Ok(false);
        };
        let found = self.records(session, head, before, 1).await?;
        Ok(found
            .iter()
            .any(|kept| kept.seq == record.seq && kept.nonce == record.nonce))
    }

    /// Every object that holds part of the session.
    pub(super) async fn referenced(&self, session: &str, head: &Head) -> Result<Vec<Object>, Fail> {
        let mut objects: Vec<Object> = head.named().cloned().collect();
        let mut earlier = head.earlier.clone();
        while let Some(up_to) = earlier.take() {
            let index = Index::decode(&self.read(session, &up_to.object).await?, up_to.seq)?;
            objects.extend(index.segments.into_iter().map(|segment| segment.object));
            objects.extend(index.earlier.iter().map(|up_to| up_to.object.clone()));
            earlier = index.earlier;
        }
        Ok(objects)
    }

    /// One record, as the segment that a big commit is kept in.
    pub(super) fn segment_of(record: &Record) -> Vec<u8> {
        encode_records(std::slice::from_ref(record))
    }
}
