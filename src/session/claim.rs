//! Claims: leases on resources, which end by themselves (session coordination, §9.1).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::coordination::resource::{ResourceId, ResourceIndex};
use crate::time::Timestamp;

/// Whom a claim tolerates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimType {
    /// Nobody else.
    Exclusive,
    /// Others that share.
    Shared,
}

impl ClaimType {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exclusive => "exclusive",
            Self::Shared => "shared",
        }
    }

    /// Whether two claims of different participants on one resource are compatible.
    const fn tolerates(self, other: Self) -> bool {
        matches!((self, other), (Self::Shared, Self::Shared))
    }
}

/// A claim as the session keeps it and as the wire shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// Made by the server.
    pub claim_id: String,
    /// What it is on, as it was written.
    pub resource_id: String,
    /// Whom it tolerates.
    pub claim_type: ClaimType,
    /// Whose it is.
    pub participant_id: String,
    /// A fencing token: higher than that of any claim of the session before.
    pub fence: u64,
    /// Since when.
    pub acquired_at: Timestamp,
    /// When it was last renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewed_at: Option<Timestamp>,
    /// When it lapses unless it is renewed.
    pub expires_at: Timestamp,
    /// When it was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_at: Option<Timestamp>,
    /// What for: at most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The workstream it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workstream_id: Option<String>,
    /// For which request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Claim {
    /// Whether it holds at the session's time `now`.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.released_at.is_none() && now < self.expires_at
    }

    /// The claim with its lease anew.
    #[must_use]
    pub fn renewed(&self, now: Timestamp) -> Self {
        let since = self.renewed_at.unwrap_or(self.acquired_at);
        let lease = i64::try_from(self.expires_at.millis_since(since)).unwrap_or(i64::MAX);
        Self {
            renewed_at: Some(now),
            expires_at: now.plus_millis(lease),
            ..self.clone()
        }
    }

    fn by_expiry(&self) -> (Timestamp, String) {
        (self.expires_at, self.claim_id.clone())
    }
}

/// How many states of two patterns, or claims that are in nobody's way, are looked at to find claims that share: some
/// milliseconds' worth.
pub const SHARED_EFFORT: usize = 1 << 20;

/// Somebody's wish to claim something, or question whether it could.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What.
    pub resource: &'a ResourceId,
    /// Whom it would tolerate.
    pub claim_type: ClaimType,
    /// Whose it would be.
    pub participant_id: &'a str,
}

/// The claims of a session. What is derived from the records is in no snapshot; [`Claims::derive`] makes it anew.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Claims {
    records: BTreeMap<String, Claim>,
    #[serde(skip)]
    last_fence: u64,
    /// The resources of those that were live at the last commit.
    #[serde(skip)]
    index: ResourceIndex<String>,
    /// Those in the index, by when they lapse.
    #[serde(skip)]
    lapsing: BTreeSet<(Timestamp, String)>,
    /// The same, by their fences.
    #[serde(skip)]
    fences: BTreeMap<u64, String>,
    /// By participant: those that it did not give up, by when they lapse or lapsed.
    #[serde(skip)]
    held: BTreeMap<String, BTreeSet<(Timestamp, String)>>,
}

impl Claims {
    /// Derives what no snapshot holds, as of the session's time `now`.
    pub fn derive(&mut self, now: Timestamp) {
        let records = std::mem::take(&mut self.records);
        *self = Self::default();
        for claim in records.into_values() {
            self.put(claim, now);
        }
    }

    /// Keeps a claim as it is from now on.
    pub fn put(&mut self, claim: Claim, now: Timestamp) {
        let resource = || ResourceId::parse(&claim.resource_id).ok();
        if let Some(before) = self.records.get(&claim.claim_id) {
            let entry = before.by_expiry();
            if let Some(held) = self.held.get_mut(&before.participant_id) {
                held.remove(&entry);
                if held.is_empty() {
                    self.held.remove(&before.participant_id);
                }
            }
            if self.lapsing.remove(&entry)
                && let Some(resource) = resource()
            {
                self.fences.remove(&before.fence);
                self.index.remove(&resource, &claim.claim_id);
            }
        }
        self.last_fence = self.last_fence.max(claim.fence);
        if claim.released_at.is_none() {
            let held = self.held.entry(claim.participant_id.clone()).or_default();
            held.insert(claim.by_expiry());
        }
        if claim.is_live(now)
            && let Some(resource) = resource()
        {
            self.lapsing.insert(claim.by_expiry());
            self.fences.insert(claim.fence, claim.claim_id.clone());
            self.index.insert(resource, claim.claim_id.clone());
        }
        self.records.insert(claim.claim_id.clone(), claim);
    }

    /// Takes what has lapsed out of the index.
    pub fn sweep(&mut self, now: Timestamp) {
        while self.lapsing.first().is_some_and(|(expiry, _)| *expiry <= now)
            && let Some((_, claim_id)) = self.lapsing.pop_first()
        {
            let Some(claim) = self.records.get(&claim_id) else {
                continue;
            };
            self.fences.remove(&claim.fence);
            if let Ok(resource) = ResourceId::parse(&claim.resource_id) {
                self.index.remove(&resource, &claim_id);
            }
        }
    }

    /// A claim, live or not.
    #[must_use]
    pub fn get(&self, claim_id: &str) -> Option<&Claim> {
        self.records.get(claim_id)
    }

    /// All claims that ever were, by id.
    pub fn all(&self) -> impl Iterator<Item = &Claim> {
        self.records.values()
    }

    /// Those that are live, the newest first.
    pub fn live_newest_first(&self, now: Timestamp) -> impl Iterator<Item = &Claim> {
        let claims = self.fences.values().rev().filter_map(|id| self.records.get(id));
        claims.filter(move |claim| claim.is_live(now))
    }

    /// At most `most` pairs of live claims that different participants share on resources that overlap, each with the
    /// older first, those with the newest claims first; and whether these are all there are.
    ///
    /// Looks no further than [`SHARED_EFFORT`] lets it, and then says that there may be more.
    #[must_use]
    pub fn shared_overlaps(&self, most: usize, now: Timestamp) -> (Vec<[&Claim; 2]>, bool) {
        let mut found = Vec::new();
        let mut effort = SHARED_EFFORT;
        let shared = |claim: &&Claim| claim.claim_type == ClaimType::Shared && claim.is_live(now);
        for newer in self.live_newest_first(now).filter(shared) {
            let Ok(resource) = ResourceId::parse(&newer.resource_id) else {
                continue;
            };
            for candidate in self.index.candidates(&resource) {
                let claims = candidate.keys.iter().filter_map(|id| self.records.get(id));
                let mut older = claims
                    .filter(|claim| claim.fence < newer.fence && claim.participant_id != newer.participant_id)
                    .filter(shared)
                    .peekable();
                let decides = older.peek().is_some();
                let states = candidate.resource.cost(&resource);
                let cost = candidate
                    .keys
                    .len()
                    .saturating_add(if decides { states } else { 0 });
                effort = match effort.checked_sub(cost) {
                    Some(left) => left,
                    None => return (found, false),
                };
                if !decides || !candidate.resource.overlaps(&resource) {
                    continue;
                }
                for older in older {
                    if found.len() >= most {
                        return (found, false);
                    }
                    found.push([older, newer]);
                }
            }
        }
        (found, true)
    }

    /// How many are live. Costs what has lapsed since the last commit.
    #[must_use]
    pub fn live_count(&self, now: Timestamp) -> usize {
        let lapsed = self.lapsing.iter().take_while(|(expiry, _)| *expiry <= now);
        self.lapsing.len().saturating_sub(lapsed.count())
    }

    /// The fence of the next claim.
    #[must_use]
    pub const fn next_fence(&self) -> u64 {
        self.last_fence.saturating_add(1)
    }

    /// A participant's live claims, by when they lapse.
    pub fn live_of(&self, participant_id: &str, now: Timestamp) -> impl Iterator<Item = &Claim> {
        self.held_from(participant_id, now)
            .filter(move |claim| claim.is_live(now))
    }

    /// A participant's claims that lapsed after `since`, and by `now`, by when they did.
    pub fn lapsed_of(
        &self,
        participant_id: &str,
        since: Option<Timestamp>,
        now: Timestamp,
    ) -> impl Iterator<Item = &Claim> {
        self.held_from(participant_id, since.unwrap_or(Timestamp::EPOCH))
            .filter(move |claim| since.is_none_or(|since| since < claim.expires_at))
            .take_while(move |claim| claim.expires_at <= now)
    }

    /// A participant's claims that lapsed from `since` on, and by `now`; those that lapsed last come first.
    pub fn lapses_of(
        &self,
        participant_id: &str,
        since: Timestamp,
        now: Timestamp,
    ) -> impl Iterator<Item = &Claim> {
        let held = self.held.get(participant_id).into_iter();
        let until = (now.plus_millis(1).max(since), String::new());
        held.flat_map(move |held| held.range((since, String::new())..until.clone()).rev())
            .filter_map(|(_, claim_id)| self.records.get(claim_id))
    }

    fn held_from(&self, participant_id: &str, from: Timestamp) -> impl Iterator<Item = &Claim> {
        let held = self.held.get(participant_id).into_iter();
        held.flat_map(move |held| held.range((from, String::new())..))
            .filter_map(|(_, claim_id)| self.records.get(claim_id))
    }

    /// The live claim that `wanted` would renew: the same participant's, on the same resource, of the same type.
    ///
    /// Costs what is live on that very resource, however many claims the participant holds.
    #[must_use]
    pub fn own(&self, wanted: &Wanted<'_>, now: Timestamp) -> Option<&Claim> {
        let here = self.index.under(wanted.resource);
        here.filter_map(|claim_id| self.records.get(claim_id))
            .find(|claim| {
                claim.participant_id == wanted.participant_id
                    && claim.claim_type == wanted.claim_type
                    && claim.is_live(now)
            })
    }

    /// The live claims that `wanted` conflicts with, oldest first: those of others whose resources overlap, where
    /// one of the two is exclusive.
    ///
    /// Costs one decision for each resource among the candidates of the [`ResourceIndex`] that somebody else holds.
    #[must_use]
    pub fn conflicts(&self, wanted: &Wanted<'_>, now: Timestamp) -> Vec<&Claim> {
        self.conflicts_where(wanted, now, |other| other.overlaps(wanted.resource))
    }

    fn conflicts_where(
        &self,
        wanted: &Wanted<'_>,
        now: Timestamp,
        mut overlaps: impl FnMut(&ResourceId) -> bool,
    ) -> Vec<&Claim> {
        let mut found = Vec::new();
        for candidate in self.index.candidates(wanted.resource) {
            let claims = candidate.keys.iter().filter_map(|id| self.records.get(id));
            let mut rivals = claims
                .filter(|claim| claim.participant_id != wanted.participant_id)
                .filter(|claim| !claim.claim_type.tolerates(wanted.claim_type))
                .filter(|claim| claim.is_live(now))
                .peekable();
            if rivals.peek().is_some() && overlaps(&candidate.resource) {
                found.extend(rivals);
            }
        }
        found.sort_by_key(|claim| claim.fence);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_784_250_000_000);

    fn claim(number: u64, resource: &str, claim_type: ClaimType, participant: &str, seconds: i64) -> Claim {
        Claim {
            claim_id: format!("claim-{number}"),
            resource_id: resource.to_owned(),
            claim_type,
            participant_id: participant.to_owned(),
            fence: number,
            acquired_at: START,
            renewed_at: None,
            expires_at: START.plus_seconds(seconds),
            released_at: None,
            reason: None,
            workstream_id: None,
            request_id: None,
        }
    }

    /// How many resources are decided, and how many claims conflict.
    fn cost(claims: &Claims, resource: &str, claim_type: ClaimType, now: Timestamp) -> (usize, usize) {
        let resource = ResourceId::parse(resource).unwrap();
        let wanted = Wanted {
            resource: &resource,
            claim_type,
            participant_id: "me",
        };
        let mut decided = Vec::new();
        let found = claims.conflicts_where(&wanted, now, |other| {
            decided.push(other.as_str().to_owned());
            other.overlaps(&resource)
        });
        assert_eq!(found, claims.conflicts(&wanted, now));
        (decided.len(), found.len())
    }

    #[test]
    fn of_10000_live_claims_only_those_that_start_alike_are_decided() {
        use ClaimType::{Exclusive, Shared};
        let mut claims = Claims::default();
        for number in 0..9_000 {
            claims.put(
                claim(number, &format!("src/mod-{number}/**"), Exclusive, "you", 60),
                START,
            );
        }
        for number in 9_000..9_500 {
            claims.put(claim(number, "docs/**", Shared, "you", 60), START);
        }
        for number in 9_500..10_000 {
            claims.put(
                claim(number, &format!("docs/{number}.md"), Exclusive, "me", 60),
                START,
            );
        }
        assert_eq!(claims.live_count(START), 10_000);
        for (resource, claim_type, expected) in [
            ("src/mod-77/x.rs", Exclusive, (1, 1)),
            ("src/mod-77/x.rs", Shared, (1, 1)),
            ("src/**", Shared, (9_000, 9_000)),
            ("docs/a.md", Exclusive, (1, 500)),
            ("docs/a.md", Shared, (0, 0)),
            ("docs/9500.md", Exclusive, (1, 500)),
            ("pr:12", Exclusive, (0, 0)),
        ] {
            assert_eq!(cost(&claims, resource, claim_type, START), expected, "{resource}");
        }
        let late = START.plus_seconds(60);
        assert_eq!(claims.live_count(late), 0);
        assert_eq!(cost(&claims, "src/**", Exclusive, late), (0, 0));
        claims.sweep(late);
        assert!(
            claims.lapsing.is_empty()
                && claims.fences.is_empty()
                && claims.index.candidates(&ResourceId::parse("**").unwrap()).count() == 0
        );
        assert_eq!(claims.all().count(), 10_000);
    }

    #[test]
    fn who_shares_is_looked_for_at_a_bounded_cost() {
        let of = |count: u64, resource: &dyn Fn(u64) -> String| {
            let mut claims = Claims::default();
            for number in 0..count {
                let who = ["me", "you"][usize::from(number % 2 == 0)];
                claims.put(
                    claim(number, &resource(number), ClaimType::Shared, who, 60),
                    START,
                );
            }
            claims
        };
        let pairs = |claims: &Claims, most: usize| {
            let (found, all) = claims.shared_overlaps(most, START);
            (found.len(), all)
        };
        let same = of(10_000, &|number| format!("src/{}/**", number / 2));
        assert_eq!(pairs(&same, 5_000), (5_000, true));
        assert_eq!(pairs(&same, 4_999), (4_999, false));
        let (found, _) = same.shared_overlaps(1, START);
        assert_eq!(
            found.iter().map(|pair| pair.map(|it| it.fence)).next(),
            Some([9_998, 9_999])
        );
        let apart = of(1_000, &|number| format!("src/{number}/**"));
        assert_eq!(pairs(&apart, 1), (0, true));
        let anywhere = of(2_000, &|number| format!("*{number:>0100}/x"));
        assert_eq!(pairs(&anywhere, 1), (0, false), "as far as the effort reaches");
    }

    #[test]
    fn a_lease_is_renewed_for_as_long_as_it_was() {
        let first = claim(1, "src/**", ClaimType::Exclusive, "me", 30);
        let second = first.renewed(START.plus_seconds(10));
        let third = second.renewed(START.plus_seconds(39));
        assert_eq!(second.expires_at, START.plus_seconds(40));
        assert_eq!(third.expires_at, START.plus_seconds(69));
        assert_eq!((third.fence, third.acquired_at), (1, START));
    }

    #[test]
    fn what_a_snapshot_leaves_out_is_derived_from_the_records() {
        let mut claims = Claims::default();
        for number in 0..20_u64 {
            let seconds = 30 + i64::from(number % 3 == 0) * 60;
            let made = claim(
                number,
                &format!("src/{}/**", number % 7),
                ClaimType::Shared,
                "me",
                seconds,
            );
            claims.put(made.clone(), START);
            if number % 4 == 0 {
                claims.put(
                    Claim {
                        released_at: Some(START),
                        ..made
                    },
                    START,
                );
            }
        }
        let now = START.plus_seconds(45);
        claims.sweep(now);
        let mut restored: Claims = serde_json::from_slice(&serde_json::to_vec(&claims).unwrap()).unwrap();
        restored.derive(now);
        assert_eq!(format!("{restored:?}"), format!("{claims:?}"));
        assert_eq!((restored.next_fence(), restored.live_count(now)), (20, 5));
    }
}
