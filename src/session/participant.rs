//! Who takes part in a session.

use serde::{Deserialize, Serialize};

use super::credential::Role;
use crate::time::Timestamp;

/// What a participant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A person.
    Human,
    /// An agent.
    Agent,
    /// A program that is neither.
    Service,
}

/// A participant of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Participant {
    /// Made by the server.
    pub participant_id: String,
    /// For people.
    pub display_name: String,
    /// What it is.
    pub kind: Kind,
    /// What it is to the session.
    pub role: Role,
    /// Since when.
    pub added_at: Timestamp,
    /// When its credentials stopped working.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

impl Participant {
    /// Its address in messages: `human:…`, or `agent:…` for agents and services.
    #[must_use]
    pub fn address(&self) -> String {
        match self.kind {
            Kind::Human => format!("human:{}", self.participant_id),
            Kind::Agent | Kind::Service => format!("agent:{}", self.participant_id),
        }
    }
}
