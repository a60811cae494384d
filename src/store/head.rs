//! The head of a session: the one mutable value, which names everything else.

use super::Record;
use super::StoreError;
use super::codec::{Hash, Reader, Writer, corrupt, hash};

/// What an immutable object holds; part of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Records that follow each other.
    Segment,
    /// The state after some commit.
    Snapshot,
    /// A list of older segments.
    Index,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Segment, Self::Snapshot, Self::Index];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Segment => "segment",
            Self::Snapshot => "snapshot",
            Self::Index => "index",
        }
    }

    fn code(self) -> u8 {
        match self {
            Self::Segment => 0,
            Self::Snapshot => 1,
            Self::Index => 2,
        }
    }
}

/// An immutable object: where its chunks are, and how to tell that they are whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) kind: Kind,
    /// Given out once, so that no two objects of a session ever share a key.
    pub(super) number: u64,
    pub(super) chunks: u64,
    pub(super) length: u64,
    pub(super) hash: Hash,
}

/// Records `first` to `last`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) object: Object,
}

/// The state after commit `seq`, or (for an index) the segments up to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UpTo {
    pub(super) seq: u64,
    pub(super) object: Object,
}

/// Where the bytes of a recent commit are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Inline(Vec<u8>),
    /// Too big for the head: a segment of this one record.
    Apart(Object),
}

/// A recent commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recent {
    pub(super) nonce: String,
    pub(super) body: Body,
}

/// Objects that somebody is about to write and to name in the head, so that they can be found if it never happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reservation {
    /// The session's last commit when it was made.
    pub(super) at: u64,
    /// Whether it is for a compaction, else for one big commit.
    pub(super) compaction: bool,
    pub(super) objects: Vec<Object>,
}

/// See the fields. Segments, then the tail, are all commits from 1 (or from the end of `earlier`) to `seq`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// Counts the swaps, so that no two heads are ever the same bytes and a late swap cannot hit a later head.
    pub(super) rev: u64,
    /// Number of the last commit; 0 while the session is being created.
    pub(super) seq: u64,
    /// How many object numbers were given out.
    pub(super) objects: u64,
    /// Bytes of the commits after the snapshot, about.
    pub(super) fresh: u64,
    pub(super) snapshot: Option<UpTo>,
    /// Where the segments before these are listed.
    pub(super) earlier: Option<UpTo>,
    pub(super) segments: Vec<Segment>,
    pub(super) tail: Vec<Recent>,
    pub(super) reserved: Vec<Reservation>,
    /// Objects that nothing names any more.
    pub(super) garbage: Vec<Object>,
}

const FORMAT: u64 = u64::from_le_bytes(*b"a2aehd04");

/// A head's bytes, whole and of a format that is known: what tells whether anything is new is read at once, the rest by
/// who needs it.
pub(super) struct Sealed<'a> {
    rev: u64,
    /// Number of the session's last commit.
    pub(super) seq: u64,
    rest: Reader<'a>,
}

impl<'a> Sealed<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, StoreError> {
        let (content, sum) = bytes
            .split_last_chunk()
            .ok_or_else(|| corrupt("the head ends too early"))?;
        if hash(content) != *sum {
            return Err(corrupt("the head does not match its hash"));
        }
        let mut rest = Reader::new(content);
        if rest.number()? != FORMAT {
            return Err(corrupt("the head has an unknown format"));
        }
        Ok(Self {
            rev: rest.number()?,
            seq: rest.number()?,
            rest,
        })
    }

    pub(super) fn decode(mut self) -> Result<Head, StoreError> {
        let input = &mut self.rest;
        let head = Head {
            rev: self.rev,
            seq: self.seq,
            objects: input.number()?,
            fresh: input.number()?,
            snapshot: input.option(get_up_to)?,
            earlier: input.option(get_up_to)?,
            segments: input.list(get_segment)?,
            tail: input.list(get_recent)?,
            reserved: input.list(get_reservation)?,
            garbage: input.list(get_object)?,
        };
        self.rest.finish()?;
        head.check()
    }
}

impl Head {
    /// The head's bytes, ending with their hash.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.number(FORMAT);
        [self.rev, self.seq, self.objects, self.fresh]
            .into_iter()
            .for_each(|number| out.number(number));
        out.option(self.snapshot.as_ref(), put_up_to);
        out.option(self.earlier.as_ref(), put_up_to);
        out.list(&self.segments, put_segment);
        out.list(&self.tail, put_recent);
        out.list(&self.reserved, put_reservation);
        out.list(&self.garbage, put_object);
        let mut bytes = out.finish();
        let sum = hash(&bytes);
        bytes.extend_from_slice(&sum);
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, StoreError> {
        Sealed::open(bytes)?.decode()
    }

    /// That the segments and the tail number every commit once.
    fn check(self) -> Result<Self, StoreError> {
        let start = self.earlier.as_ref().map_or(0, |earlier| earlier.seq);
        let settled = follow(start, &self.segments)?;
        let tail = u64::try_from(self.tail.len()).unwrap_or(u64::MAX);
        if settled.checked_add(tail) != Some(self.seq) {
            return Err(corrupt("the head's commits do not add up"));
        }
        if self
            .snapshot
            .as_ref()
            .is_some_and(|snapshot| snapshot.seq > self.seq)
        {
            return Err(corrupt("the snapshot is ahead of the commits"));
        }
        Ok(self)
    }

    /// The last commit that is in a segment.
    pub(super) fn settled(&self) -> u64 {
        self.seq
            .saturating_sub(u64::try_from(self.tail.len()).unwrap_or(u64::MAX))
    }

    /// The recent commits with their numbers.
    pub(super) fn recent(&self) -> impl Iterator<Item = (u64, &Recent)> {
        (self.settled().saturating_add(1)..).zip(&self.tail)
    }

    /// How much is to be read for the commits after number `after`, beside the head and big commits: nothing if
    /// they are in the tail, and without bound if they reach back to an index.
    pub(super) fn length_after(&self, after: u64) -> u64 {
        if self.earlier.as_ref().is_some_and(|earlier| earlier.seq > after) {
            return u64::MAX;
        }
        let needed = self.segments.iter().filter(|segment| segment.last > after);
        needed.fold(0, |sum, segment| sum.saturating_add(segment.object.length))
    }

    /// The head after one more commit.
    pub(super) fn with(&self, record: &Record, body: Body) -> Self {
        let mut next = self.next();
        next.seq = record.seq;
        next.fresh = next
            .fresh
            .saturating_add(u64::try_from(record.bytes.len()).unwrap_or(u64::MAX));
        next.tail.push(Recent {
            nonce: record.nonce.clone(),
            body,
        });
        next
    }

    /// What the next swap starts from.
    pub(super) fn next(&self) -> Self {
        Self {
            rev: self.rev.saturating_add(1),
            ..self.clone()
        }
    }

    /// Drops a reservation, if it stands.
    pub(super) fn release(&mut self, reservation: &Reservation) {
        self.reserved.retain(|held| held != reservation);
    }

    /// Every object named outside the reservations and the garbage.
    pub(super) fn named(&self) -> impl Iterator<Item = &Object> {
        let apart = self.tail.iter().filter_map(|recent| match &recent.body {
            Body::Apart(object) => Some(object),
            Body::Inline(_) => None,
        });
        let up_to = self
            .snapshot
            .iter()
            .chain(&self.earlier)
            .map(|up_to| &up_to.object);
        up_to
            .chain(self.segments.iter().map(|segment| &segment.object))
            .chain(apart)
    }
}

/// The content of an index: older segments, and where those before them are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) earlier: Option<UpTo>,
    pub(super) segments: Vec<Segment>,
}

impl Index {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.option(self.earlier.as_ref(), put_up_to);
        out.list(&self.segments, put_segment);
        out.finish()
    }

    /// The index of the segments up to commit `seq`.
    pub(super) fn decode(bytes: &[u8], seq: u64) -> Result<Self, StoreError> {
        let mut input = Reader::new(bytes);
        let index = Self {
            earlier: input.option(get_up_to)?,
            segments: input.list(get_segment)?,
        };
        input.finish()?;
        let start = index.earlier.as_ref().map_or(0, |earlier| earlier.seq);
        // An index without segments could name itself for ever.
        if index.segments.is_empty() || follow(start, &index.segments)? != seq {
            return Err(corrupt("the index does not reach where it should"));
        }
        Ok(index)
    }
}

/// The last commit of segments that follow each other, the first of them following `start`.
fn follow(start: u64, segments: &[Segment]) -> Result<u64, StoreError> {
    segments.iter().try_fold(start, |last, segment| {
        let follows = last.checked_add(1) == Some(segment.first) && segment.first <= segment.last;
        if follows {
            Ok(segment.last)
        } else {
            Err(corrupt("the segments do not follow each other"))
        }
    })
}

fn put_object(out: &mut Writer, object: &Object) {
    out.byte(object.kind.code());
    out.number(object.number);
    out.number(object.chunks);
    out.number(object.length);
    out.hash(&object.hash);
}

fn get_object(input: &mut Reader<'_>) -> Result<Object, StoreError> {
    let code = input.byte()?;
    let kind = Kind::ALL.into_iter().find(|kind| kind.code() == code);
    Ok(Object {
        kind: kind.ok_or_else(|| corrupt("an object is of an unknown kind"))?,
        number: input.number()?,
        chunks: input.number()?,
        length: input.number()?,
        hash: input.hash()?,
    })
}

fn put_segment(out: &mut Writer, segment: &Segment) {
    out.number(segment.first);
    out.number(segment.last);
    put_object(out, &segment.object);
}

fn get_segment(input: &mut Reader<'_>) -> Result<Segment, StoreError> {
    Ok(Segment {
        first: input.number()?,
        last: input.number()?,
        object: get_object(input)?,
    })
}

fn put_up_to(out: &mut Writer, up_to: &UpTo) {
    out.number(up_to.seq);
    put_object(out, &up_to.object);
}

fn get_up_to(input: &mut Reader<'_>) -> Result<UpTo, StoreError> {
    Ok(UpTo {
        seq: input.number()?,
        object: get_object(input)?,
    })
}

fn put_recent(out: &mut Writer, recent: &Recent) {
    out.bytes(recent.nonce.as_bytes());
    match &recent.body {
        Body::Inline(bytes) => {
            out.flag(false);
            out.bytes(bytes);
        }
        Body::Apart(object) => {
            out.flag(true);
            put_object(out, object);
        }
    }
}

fn get_recent(input: &mut Reader<'_>) -> Result<Recent, StoreError> {
    let nonce = input.text()?;
    let body = if input.flag()? {
        Body::Apart(get_object(input)?)
    } else {
        Body::Inline(input.bytes()?.to_vec())
    };
    Ok(Recent { nonce, body })
}

fn put_reservation(out: &mut Writer, reservation: &Reservation) {
    out.number(reservation.at);
    out.flag(reservation.compaction);
    out.list(&reservation.objects, put_object);
}

fn get_reservation(input: &mut Reader<'_>) -> Result<Reservation, StoreError> {
    Ok(Reservation {
        at: input.number()?,
        compaction: input.flag()?,
        objects: input.list(get_object)?,
    })
}
