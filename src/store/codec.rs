//! The bytes that heads and objects are kept as: fixed-width numbers and length-prefixed byte strings.

use twox_hash::XxHash3_128;

use super::{Record, StoreError};

/// Tells a damaged content from what was written.
pub(super) type Hash = [u8; 16];

/// Quick, for whatever is read is hashed; not safe from somebody who writes to the store, but who does can write what they
/// like.
pub(super) fn hash(bytes: &[u8]) -> Hash {
    XxHash3_128::oneshot(bytes).to_be_bytes()
}

pub(super) fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt(what.to_owned())
}

/// Puts values one after the other.
#[derive(Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// A `usize` is never wider than 64 bits.
    pub(super) fn length(&mut self, length: usize) {
        self.number(u64::try_from(length).unwrap_or(u64::MAX));
    }

    pub(super) fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(super) fn hash(&mut self, hash: &Hash) {
        self.0.extend_from_slice(hash);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn list<T>(&mut self, items: &[T], put: impl Fn(&mut Self, &T)) {
        self.length(items.len());
        items.iter().for_each(|item| put(self, item));
    }

    pub(super) fn option<T>(&mut self, item: Option<&T>, put: impl Fn(&mut Self, &T)) {
        self.flag(item.is_some());
        item.into_iter().for_each(|item| put(self, item));
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Takes the values out again; whatever does not fit is [`StoreError::Corrupt`].
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], StoreError> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or_else(|| corrupt("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], StoreError> {
        self.take(N)?.try_into().map_err(|_| corrupt("it ends too early"))
    }

    pub(super) fn number(&mut self) -> Result<u64, StoreError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn byte(&mut self) -> Result<u8, StoreError> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn flag(&mut self) -> Result<bool, StoreError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(corrupt("a flag is neither set nor unset")),
        }
    }

    pub(super) fn hash(&mut self) -> Result<Hash, StoreError> {
        self.array()
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], StoreError> {
        let length = usize::try_from(self.number()?).map_err(|_| corrupt("a length is out of range"))?;
        self.take(length)
    }

    pub(super) fn text(&mut self) -> Result<String, StoreError> {
        let text = std::str::from_utf8(self.bytes()?).map_err(|_| corrupt("a text is not UTF-8"))?;
        Ok(text.to_owned())
    }

    /// Nothing is set aside for the announced number of items, which may be wrong.
    pub(super) fn list<T>(
        &mut self,
        get: impl Fn(&mut Self) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let count = self.number()?;
        (0..count).map(|_| get(self)).collect()
    }

    pub(super) fn option<T>(
        &mut self,
        get: impl Fn(&mut Self) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        if self.flag()? {
            get(self).map(Some)
        } else {
            Ok(None)
        }
    }

    pub(super) fn finish(self) -> Result<(), StoreError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(corrupt("something follows its end"))
        }
    }
}

/// The content of a segment: records one after the other.
pub(super) fn encode_records(records: &[Record]) -> Vec<u8> {
    let mut out = Writer::default();
    out.list(records, |out, record| {
        out.number(record.seq);
        out.bytes(record.nonce.as_bytes());
        out.bytes(&record.bytes);
    });
    out.finish()
}

pub(super) fn decode_records(bytes: &[u8]) -> Result<Vec<Record>, StoreError> {
    let mut input = Reader::new(bytes);
    let records = input.list(|input| {
        Ok(Record {
            seq: input.number()?,
            nonce: input.text()?,
            bytes: input.bytes()?.to_vec(),
        })
    })?;
    input.finish()?;
    Ok(records)
}
