//! Presence, and leases that end by themselves.

use serde_json::{Value, json};

use super::{Answer, LIVE_CLAIMS, Model, find, find_mut, int, list, refused, text};

pub const RESOURCES: [&str; 6] = ["src/**", "src/*.rs", "src/app/main.rs", "docs/**", "docs", "pr:1"];

/// Which of the resources have a path in common, found by hand.
fn overlap(one: &str, other: &str) -> bool {
    let pair = |a, b| (one, other) == (a, b) || (one, other) == (b, a);
    one == other || pair("src/**", "src/*.rs") || pair("src/**", "src/app/main.rs") || pair("docs/**", "docs")
}

fn claim_type(wanted: &Value) -> &str {
    wanted["claimType"].as_str().unwrap_or("exclusive")
}

impl Model {
    fn is_live(&self, claim: &Value) -> bool {
        claim["releasedAt"].is_null() && self.now < int(claim, "expiresAt")
    }

    fn live(&self) -> impl Iterator<Item = &Value> {
        self.claims.iter().filter(|claim| self.is_live(claim))
    }

    /// Claims that lapsed after `since`, of one participant.
    pub fn lapsed(&self, holder: &str, since: i64) -> impl Iterator<Item = &Value> {
        self.claims.iter().filter(move |claim| {
            claim["participantId"] == holder
                && claim["releasedAt"].is_null()
                && since < int(claim, "expiresAt")
                && int(claim, "expiresAt") <= self.now
        })
    }

    fn rivals(&self, who: usize, wanted: &Value) -> Vec<Value> {
        let me = &self.people[who].id;
        let rivals = self.live().filter(|claim| {
            claim["participantId"] != me.as_str()
                && overlap(text(claim, "resourceId"), text(wanted, "resourceId"))
                && (claim_type(wanted) == "exclusive" || claim["claimType"] == "exclusive")
        });
        rivals.cloned().collect()
    }

    pub fn check(&self, who: usize, body: &Value) -> Value {
        let result = |wanted| {
            let rivals = self.rivals(who, wanted);
            json!({"available": rivals.is_empty(), "conflicts": rivals})
        };
        json!({"results": list(body, "resources").iter().map(result).collect::<Vec<_>>()})
    }

    pub fn acquire(&mut self, who: usize, body: &Value) -> Answer {
        self.named_workstream(body)?;
        if let Some(id) = body["requestId"].as_str() {
            find(&self.requests, "requestId", id, "REQUEST_NOT_FOUND")?;
        }
        let now = self.now;
        let expires = now + body["leaseSeconds"].as_i64().unwrap_or(900) * 1000;
        let me = self.people[who].id.clone();
        let own = self.live().find(|claim| {
            claim["participantId"] == me.as_str()
                && claim["resourceId"] == body["resourceId"]
                && claim["claimType"] == claim_type(body)
        });
        if let Some(id) = own.map(|own| text(own, "claimId").to_owned()) {
            let own = find_mut(&mut self.claims, "claimId", &id);
            own["renewedAt"] = json!(now);
            own["expiresAt"] = json!(expires);
            for member in ["workstreamId", "requestId"] {
                if !body[member].is_null() {
                    own[member] = body[member].clone();
                }
            }
            return Ok(json!({ "claim": own }));
        }
        if !self.rivals(who, body).is_empty() {
            return refused("CLAIM_CONFLICT");
        }
        if self.live().count() >= LIVE_CLAIMS {
            return refused("SESSION_LIMIT");
        }
        let claim = json!({
            "resourceId": body["resourceId"],
            "claimType": claim_type(body),
            "participantId": me,
            "fence": self.claims.len() + 1,
            "acquiredAt": now,
            "renewedAt": null,
            "expiresAt": expires,
            "releasedAt": null,
            "workstreamId": body["workstreamId"],
            "requestId": body["requestId"],
        });
        self.claims.push(claim.clone());
        Ok(json!({ "claim": claim }))
    }

    pub fn release(&mut self, who: usize, body: &Value) -> Answer {
        let id = text(body, "claimId");
        let claim = find(&self.claims, "claimId", id, "CLAIM_NOT_FOUND")?;
        if claim["participantId"] != self.people[who].id.as_str() && !self.decides(who) {
            return refused("NOT_OWNER");
        }
        if !self.is_live(claim) {
            return refused("CLAIM_NOT_ACTIVE");
        }
        let now = self.now;
        let claim = find_mut(&mut self.claims, "claimId", id);
        claim["releasedAt"] = json!(now);
        Ok(json!({ "claim": claim }))
    }

    pub fn announce(&mut self, who: usize, body: &Value) -> Value {
        let (now, me) = (self.now, self.people[who].id.clone());
        let before = self.people[who].presence.clone().unwrap_or_default();
        let since = before["lastSeenAt"].as_i64().unwrap_or(i64::MIN);
        let lapsed: Vec<Value> = self
            .lapsed(&me, since)
            .map(|claim| claim["claimId"].clone())
            .collect();
        let kept = |member: &str| match &body[member] {
            Value::Null => before[member].clone(),
            new => new.clone(),
        };
        self.people[who].presence = Some(json!({
            "state": body["state"].as_str().unwrap_or("active"),
            "activity": body["activity"],
            "lastSeenAt": now,
            "expiresAt": now + body["ttlSeconds"].as_i64().unwrap_or(120) * 1000,
            "capabilities": kept("capabilities"),
            "client": kept("client"),
        }));
        let mut renewed = Vec::new();
        if body["renewClaims"] != false {
            for claim in &mut self.claims {
                let live = claim["releasedAt"].is_null() && now < int(claim, "expiresAt");
                if live && claim["participantId"] == me.as_str() {
                    let since = claim["renewedAt"].as_i64().unwrap_or(int(claim, "acquiredAt"));
                    claim["expiresAt"] = json!(now + int(claim, "expiresAt") - since);
                    claim["renewedAt"] = json!(now);
                    renewed.push(json!({"claimId": claim["claimId"], "expiresAt": claim["expiresAt"]}));
                }
            }
        }
        json!({"participant": self.participant(who), "renewedClaims": renewed, "lapsedClaims": lapsed})
    }

    fn participant(&self, who: usize) -> Value {
        let person = &self.people[who];
        let presence = person.presence.clone().unwrap_or_default();
        let state = if self.now < int(&presence, "expiresAt") {
            text(&presence, "state")
        } else {
            "offline"
        };
        let capabilities = list(&presence, "capabilities");
        json!({
            "participantId": person.id,
            "role": person.role,
            "presence": {
                "state": state,
                "activity": presence["activity"],
                "lastSeenAt": presence["lastSeenAt"],
                "expiresAt": presence["expiresAt"],
            },
            "capabilities": capabilities,
            "client": presence["client"],
        })
    }

    pub fn list_participants(&self, body: &Value) -> Value {
        let here = (0..self.people.len()).filter(|who| !self.people[*who].revoked);
        let shown = here.map(|who| self.participant(who));
        let wanted =
            shown.filter(|it| body["includeOffline"] != false || it["presence"]["state"] != "offline");
        json!({"participants": wanted.collect::<Vec<_>>()})
    }

    /// Whether somebody last announced that it can do something.
    pub fn can(&self, id: &str, capability: &str) -> bool {
        let presence = self.person(id).and_then(|one| one.presence.as_ref());
        presence.is_some_and(|presence| super::has(presence, "capabilities", capability))
    }
}
