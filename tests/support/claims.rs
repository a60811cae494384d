//! What must hold of the claims of a session at any time.

use std::collections::BTreeSet;

use a2a_edge::coordination::resource::ResourceId;
use a2a_edge::session::Session;
use a2a_edge::session::claim::{Claim, ClaimType, Claims, Wanted};
use a2a_edge::time::Timestamp;

/// No two live claims conflict, each has a fence of its own, and later ones a higher.
pub fn check_claims(session: &Session, now: Timestamp) {
    let now = session.time(now);
    let claims = session.claims();
    let mut by_fence: Vec<_> = claims.all().collect();
    by_fence.sort_by_key(|claim| claim.fence);
    for (number, claim) in (1..).zip(&by_fence) {
        assert_eq!(claim.fence, number);
        assert!(
            claim
                .released_at
                .is_none_or(|released| released < claim.expires_at)
        );
    }
    let live: Vec<_> = by_fence.into_iter().filter(|claim| claim.is_live(now)).collect();
    assert_eq!(claims.live_count(now), live.len());
    assert!(claims.live_newest_first(now).eq(live.iter().rev().copied()));
    check_shared(claims, &live, now);
    for claim in &live {
        let resource = ResourceId::parse(&claim.resource_id).unwrap();
        let in_the_way = |other: &&&Claim| {
            other.participant_id != claim.participant_id
                && [claim.claim_type, other.claim_type].contains(&ClaimType::Exclusive)
                && ResourceId::parse(&other.resource_id).unwrap().overlaps(&resource)
        };
        assert_eq!(live.iter().find(in_the_way), None, "{claim:?}");
        for claim_type in [ClaimType::Exclusive, ClaimType::Shared] {
            let wanted = Wanted {
                resource: &resource,
                claim_type,
                participant_id: "p-stranger",
            };
            let expected: Vec<&Claim> = live
                .iter()
                .copied()
                .filter(|other| {
                    [claim_type, other.claim_type].contains(&ClaimType::Exclusive)
                        && ResourceId::parse(&other.resource_id).unwrap().overlaps(&resource)
                })
                .collect();
            assert_eq!(claims.conflicts(&wanted, now), expected);
        }
    }
}

/// All pairs of different participants' live claims that are shared and overlap.
fn check_shared(claims: &Claims, live: &[&Claim], now: Timestamp) {
    let resource = |claim: &Claim| ResourceId::parse(&claim.resource_id).unwrap();
    let mut expected = BTreeSet::new();
    for (index, newer) in live.iter().enumerate() {
        for older in &live[..index] {
            if older.participant_id != newer.participant_id
                && ![older.claim_type, newer.claim_type].contains(&ClaimType::Exclusive)
                && resource(older).overlaps(&resource(newer))
            {
                expected.insert((older.fence, newer.fence));
            }
        }
    }
    let (found, all) = claims.shared_overlaps(usize::MAX, now);
    let pairs: BTreeSet<_> = found
        .iter()
        .map(|[older, newer]| (older.fence, newer.fence))
        .collect();
    assert_eq!((pairs.len(), all), (found.len(), true));
    assert_eq!(pairs, expected);
}
