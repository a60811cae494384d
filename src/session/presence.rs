//! Who of those who take part is there (session coordination, §9.3).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::participant::Participant;
use crate::time::Timestamp;

/// How a participant is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PresenceState {
    /// At work.
    Active,
    /// Waiting for work.
    Idle,
    /// Not looking.
    Away,
    /// Not there. Never announced: what a presence reads when its time has run out.
    Offline,
}

/// The program that a participant uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// At most 80 characters.
    pub name: String,
    /// At most 40 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// What a participant last announced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Presence {
    /// As announced; [`Presence::state_at`] tells how it is now.
    pub state: PresenceState,
    /// One line, at most 280 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<String>,
    /// When it was announced.
    pub last_seen_at: Timestamp,
    /// Until when it holds.
    pub expires_at: Timestamp,
    /// At most 20, each one line of at most 64 characters.
    pub capabilities: Vec<String>,
    /// What the participant uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
}

impl Presence {
    /// How the participant is there at `now`: from its expiry on it is not.
    #[must_use]
    pub fn state_at(&self, now: Timestamp) -> PresenceState {
        if now < self.expires_at {
            self.state
        } else {
            PresenceState::Offline
        }
    }
}

/// A participant as those within the session see it: `{participantId, displayName, kind, role, presence {state,
/// activity?, lastSeenAt?, expiresAt?}, capabilities[], client?}`. One that never announced itself is offline, and was
/// never seen.
#[must_use]
pub fn record(participant: &Participant, presence: Option<&Presence>, now: Timestamp) -> Value {
    let mut record = json!({
        "participantId": participant.participant_id,
        "displayName": participant.display_name,
        "kind": participant.kind,
        "role": participant.role,
        "presence": {"state": presence.map_or(PresenceState::Offline, |presence| presence.state_at(now))},
        "capabilities": presence.map_or(&[][..], |presence| &presence.capabilities),
    });
    if let Some(presence) = presence {
        if let Some(shown) = record.get_mut("presence").and_then(Value::as_object_mut) {
            let activity = presence.activity.as_ref();
            shown.extend(activity.map(|activity| ("activity".to_owned(), json!(activity))));
            shown.insert("lastSeenAt".to_owned(), json!(presence.last_seen_at));
            shown.insert("expiresAt".to_owned(), json!(presence.expires_at));
        }
        if let (Some(record), Some(client)) = (record.as_object_mut(), &presence.client) {
            record.insert("client".to_owned(), json!(client));
        }
    }
    record
}
