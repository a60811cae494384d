//! A lease on a session: who does something of its that others need not do at the same time.
//!
//! It lies beside the head, under a key of its own, and changes by compare-and-swap alone, so that of those who see it free
//! one gets it. As with commits what a swap reports decides nothing: the lease is read back. It comes to be with the session,
//! free, so that there is always something to compare with.
//!
//! Whoever holds it and dies is waited for until it lapses, and clocks differ: it spares work, and nothing may depend on
//! it.

use super::{HeadSwap, KeyValue, StoreError};
use crate::time::Timestamp;

/// How long a lease is good for unless it is renewed, in milliseconds.
pub const LEASE_MS: i64 = 30_000;

/// The lease that nobody holds.
pub(super) const FREE: &[u8] = b"0";

/// A lease that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    holder: String,
    until: Timestamp,
}

impl Lease {
    fn new(holder: &str, now: Timestamp) -> Self {
        Self {
            holder: holder.to_owned(),
            until: now.plus_millis(LEASE_MS),
        }
    }

    /// When it lapses unless it is renewed.
    #[must_use]
    pub const fn until(&self) -> Timestamp {
        self.until
    }

    fn to_bytes(&self) -> Vec<u8> {
        format!("{} {}", self.until.as_millis(), self.holder).into_bytes()
    }
}

/// Whether somebody holds a lease. One that lapses later than any taken now would comes of a clock that is wrong.
fn is_held(value: &[u8], now: Timestamp) -> bool {
    let millis = value.split(|byte| *byte == b' ').next().unwrap_or_default();
    let millis = std::str::from_utf8(millis)
        .ok()
        .and_then(|text| text.parse().ok());
    let most = now.plus_millis(LEASE_MS.saturating_mul(2));
    millis
        .map(Timestamp::from_millis)
        .is_some_and(|until| until > now && until <= most)
}

/// Who holds a lease, or held it.
fn holder(value: &[u8]) -> Option<&[u8]> {
    value.splitn(2, |byte| *byte == b' ').nth(1)
}

impl<K: KeyValue> HeadSwap<K> {
    pub(super) fn lease_key(session: &str) -> String {
        Self::key(session, "lease")
    }

    /// Takes the lease of a session, under a name unlike that of any other holder; none where another has it.
    ///
    /// # Errors
    /// Those of the key-value store. It may be held then, until it lapses.
    pub async fn take_lease(
        &self,
        session: &str,
        holder: &str,
        now: Timestamp,
    ) -> Result<Option<Lease>, StoreError> {
        let key = Self::lease_key(session);
        let current = match self.keys.get(&key).await? {
            Some(current) if is_held(&current, now) => return Ok(None),
            Some(current) => current,
            // Somebody has deleted it. Two who put it there at the same moment may both come to hold it.
            None => {
                self.keys.put(&key, FREE).await?;
                FREE.to_vec()
            }
        };
        let lease = Lease::new(holder, now);
        self.exchange(&key, &current, &lease.to_bytes())
            .await
            .map(|held| held.then_some(lease))
    }

    /// Holds a lease for longer; none where it was lost.
    ///
    /// # Errors
    /// Those of the key-value store. Whether it is held longer is not known then.
    pub async fn renew_lease(
        &self,
        session: &str,
        lease: &Lease,
        now: Timestamp,
    ) -> Result<Option<Lease>, StoreError> {
        let renewed = Lease::new(&lease.holder, now);
        let key = Self::lease_key(session);
        self.exchange(&key, &lease.to_bytes(), &renewed.to_bytes())
            .await
            .map(|held| held.then_some(renewed))
    }

    /// Gives a lease up, if it is still held: by its holder's name, for it may just have been renewed.
    ///
    /// # Errors
    /// Those of the key-value store. It lapses then.
    pub async fn give_up_lease(&self, session: &str, lease: &Lease) -> Result<(), StoreError> {
        let key = Self::lease_key(session);
        let current = self.keys.get(&key).await?.unwrap_or_default();
        if holder(&current) != Some(lease.holder.as_bytes()) {
            return Ok(());
        }
        self.exchange(&key, &current, FREE).await.map(drop)
    }

    /// Swaps a value; whether it is there then.
    async fn exchange(&self, key: &str, current: &[u8], new: &[u8]) -> Result<bool, StoreError> {
        let _unreliable = self.keys.swap(key, current, new).await;
        let now = self.keys.get(key).await?;
        Ok(now.as_deref() == Some(new))
    }
}
