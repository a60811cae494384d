//! That a participant is there, and how it is getting on.

use serde_json::json;

use super::{Answer, Draft};
use crate::refusal::Refusal;
use crate::session::event::{Cursor, Event};
use crate::session::presence::{Client, Presence, PresenceState, record};

/// What a participant announces, with its fields within their limits.
#[derive(Clone, Debug)]
pub struct NewPresence {
    /// How it is there; never offline.
    pub state: PresenceState,
    /// One line, at most 280 characters.
    pub activity: Option<String>,
    /// How long it holds: 15 to 3,600 seconds.
    pub ttl_seconds: u32,
    /// At most 20, each one line of at most 64 characters; none leaves those announced before.
    pub capabilities: Option<Vec<String>>,
    /// What it uses; none leaves what was announced before.
    pub client: Option<Client>,
    /// Whether its live claims get their lease anew.
    pub renew_claims: bool,
}

/// How a participant is getting on, with its fields within their limits.
#[derive(Clone, Debug)]
pub struct NewStatus {
    /// At most 1,000 characters.
    pub status: String,
    /// At most 280 characters.
    pub blocked_on: Option<String>,
    /// The workstream it belongs to.
    pub workstream_id: Option<String>,
    /// At most 20 resource ids.
    pub resources: Vec<String>,
}

impl Draft<'_> {
    pub(super) fn announce_presence(&mut self, new: &NewPresence) -> Answer {
        let (now, me) = (self.time(), self.caller().participant_id.clone());
        let before = self.session.presence(&me);
        let kept = |presence: &Presence| (presence.capabilities.clone(), presence.client.clone());
        let (capabilities, client) = before.map(kept).unwrap_or_default();
        let presence = Presence {
            state: new.state,
            activity: new.activity.clone(),
            last_seen_at: now,
            expires_at: now.plus_seconds(i64::from(new.ttl_seconds)),
            capabilities: new.capabilities.clone().unwrap_or(capabilities),
            client: new.client.clone().or(client),
        };
        let since = before.map(|presence| presence.last_seen_at);
        let lapsed: Vec<&str> = self
            .session
            .claims()
            .lapsed_of(&me, since, now)
            .map(|claim| claim.claim_id.as_str())
            .collect();
        let participant = self.session.participant(&me);
        let participant = participant.map(|participant| record(participant, Some(&presence), now));
        self.push(Event::PresenceAnnounced {
            participant_id: me,
            presence: Box::new(presence),
        });
        let renewed = if new.renew_claims {
            self.renew_claims()
        } else {
            Vec::new()
        };
        Answer::Object(
            json!({ "participant": participant, "renewedClaims": renewed, "lapsedClaims": lapsed }),
        )
    }

    pub(super) fn announce_status(&mut self, new: &NewStatus) -> Result<Answer, Refusal> {
        self.names_workstream(new.workstream_id.as_deref())?;
        let seq = self.session.seq().saturating_add(1);
        let event_id = Cursor::event(seq, self.events.len()).to_string();
        let event = json!({ "eventId": event_id, "seq": seq, "at": self.now() });
        self.push(Event::StatusAnnounced {
            event_id,
            participant_id: self.caller().participant_id.clone(),
            status: new.status.clone(),
            blocked_on: new.blocked_on.clone(),
            workstream_id: new.workstream_id.clone(),
            resources: new.resources.clone(),
        });
        Ok(Answer::Object(json!({ "event": event })))
    }
}
