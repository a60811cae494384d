//! Claims: who gets a lease, and who gives it up (session coordination, §9.1).

use serde_json::{Value, json};

use super::{Answer, Draft, not_owner, precondition};
use crate::coordination::resource::ResourceId;
use crate::refusal::{COORDINATION_DOMAIN, Refusal};
use crate::session::claim::{Claim, ClaimType, Wanted};
use crate::session::event::Event;
use crate::session::limits;

/// The most conflicting claims that are named for one resource.
const NAMED: usize = 100;

/// A claim that somebody wants, with its fields within their limits.
#[derive(Clone, Debug)]
pub struct NewClaim {
    /// On what.
    pub resource: ResourceId,
    /// Whom it tolerates.
    pub claim_type: ClaimType,
    /// 30 to 86,400 seconds.
    pub lease_seconds: u32,
    /// What for: at most 500 characters.
    pub reason: Option<String>,
    /// The workstream it belongs to.
    pub workstream_id: Option<String>,
    /// The request it is for.
    pub request_id: Option<String>,
}

fn answer(claim: &Claim) -> Answer {
    Answer::Object(json!({ "claim": claim }))
}

/// Claims in the way of another: `{conflicts[], truncated?}`. The oldest 100 are named, and `truncated` when there are more.
#[must_use]
pub fn named(conflicts: &[&Claim]) -> Value {
    let first: Vec<&&Claim> = conflicts.iter().take(NAMED).collect();
    let mut named = json!({ "conflicts": first });
    if let (true, Some(named)) = (conflicts.len() > NAMED, named.as_object_mut()) {
        named.insert("truncated".to_owned(), json!(true));
    }
    named
}

/// FAILED_PRECONDITION CLAIM_CONFLICT.
fn conflict(wanted: &Wanted<'_>, conflicts: &[&Claim]) -> Refusal {
    let mut detail = json!({ "@type": format!("{COORDINATION_DOMAIN}/ClaimConflict") });
    if let (Some(detail), Value::Object(named)) = (detail.as_object_mut(), named(conflicts)) {
        detail.extend(named);
    }
    precondition(
        "CLAIM_CONFLICT",
        "another participant's live claim overlaps; wait for its expiry, or agree on its release",
    )
    .with_fact("resourceId", wanted.resource.as_str())
    .with_fact("claimType", wanted.claim_type.as_str())
    .with_detail(detail)
}

impl Draft<'_> {
    pub(super) fn acquire_claim(&mut self, new: &NewClaim) -> Result<Answer, Refusal> {
        self.names_workstream(new.workstream_id.as_deref())?;
        if let Some(request_id) = &new.request_id {
            self.session.known_request(request_id)?;
        }
        let (now, claims) = (self.time(), self.session.claims());
        let me = self.caller().participant_id.clone();
        let wanted = Wanted {
            resource: &new.resource,
            claim_type: new.claim_type,
            participant_id: &me,
        };
        let claim = match claims.own(&wanted, now) {
            Some(own) => Claim {
                renewed_at: Some(now),
                reason: new.reason.clone().or_else(|| own.reason.clone()),
                workstream_id: new.workstream_id.clone().or_else(|| own.workstream_id.clone()),
                request_id: new.request_id.clone().or_else(|| own.request_id.clone()),
                ..own.clone()
            },
            None => {
                let conflicts = claims.conflicts(&wanted, now);
                if !conflicts.is_empty() {
                    return Err(conflict(&wanted, &conflicts));
                }
                self.room_for(limits::Kind::LiveClaims, claims.live_count(now))?;
                Claim {
                    claim_id: self.draw.id("claim"),
                    resource_id: new.resource.as_str().to_owned(),
                    claim_type: new.claim_type,
                    participant_id: me.clone(),
                    fence: claims.next_fence(),
                    acquired_at: now,
                    renewed_at: None,
                    expires_at: now,
                    released_at: None,
                    reason: new.reason.clone(),
                    workstream_id: new.workstream_id.clone(),
                    request_id: new.request_id.clone(),
                }
            }
        };
        let claim = Claim {
            expires_at: now.plus_seconds(i64::from(new.lease_seconds)),
            ..claim
        };
        let answer = answer(&claim);
        self.push(Event::ClaimAcquired {
            claim: Box::new(claim),
        });
        Ok(answer)
    }

    pub(super) fn release_claim(&mut self, claim_id: &str) -> Result<Answer, Refusal> {
        let claim = self.session.known_claim(claim_id)?;
        if claim.participant_id != self.caller().participant_id && !self.caller().role.decides() {
            return Err(not_owner(
                "only who holds a claim, an owner or an admin releases it",
            ));
        }
        let now = self.time();
        if !claim.is_live(now) {
            return Err(precondition(
                "CLAIM_NOT_ACTIVE",
                "the claim has lapsed or was released; there is nothing to release",
            ));
        }
        let released = Claim {
            released_at: Some(now),
            ..claim.clone()
        };
        self.push(Event::ClaimReleased {
            claim_id: claim_id.to_owned(),
        });
        Ok(answer(&released))
    }

    /// Gives the caller's live claims their lease anew: `[{claimId, expiresAt}]`, by when they would have lapsed.
    pub(super) fn renew_claims(&mut self) -> Vec<Value> {
        let (now, session) = (self.time(), self.session);
        let me = self.caller().participant_id.clone();
        let renewed: Vec<Value> = session
            .claims()
            .live_of(&me, now)
            .map(|claim| json!({"claimId": claim.claim_id, "expiresAt": claim.renewed(now).expires_at}))
            .collect();
        if !renewed.is_empty() {
            self.push(Event::ClaimsRenewed { participant_id: me });
        }
        renewed
    }
}
