//! Decisions: what the participants of a session agreed on, and why (session coordination, §9).

use serde::{Deserialize, Serialize};

use super::Session;
use crate::time::Timestamp;

/// A decision as the session keeps it and as the wire shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Made by the server.
    pub decision_id: String,
    /// One line, at most 200 characters.
    pub title: String,
    /// What was decided: at most 16,384 characters.
    pub decision: String,
    /// Why: at most 16,384 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// What was not chosen: at most 20, each of at most 500 characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<String>,
    /// The decision whose place it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// The decision that has taken its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Who recorded it.
    pub recorded_by: String,
    /// When.
    pub recorded_at: Timestamp,
    /// The workstream it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workstream_id: Option<String>,
}

impl Session {
    /// The decisions, in the order they were recorded in.
    pub fn decisions(&self) -> impl DoubleEndedIterator<Item = &Decision> {
        self.decision_order.iter().filter_map(|id| self.decisions.get(id))
    }

    /// A decision.
    #[must_use]
    pub fn decision(&self, decision_id: &str) -> Option<&Decision> {
        self.decisions.get(decision_id)
    }

    /// A decision was recorded.
    pub(super) fn decided(&mut self, decision: &Decision) {
        let decision_id = &decision.decision_id;
        let before = decision
            .supersedes
            .as_ref()
            .and_then(|id| self.decisions.get_mut(id));
        if let Some(before) = before {
            before.superseded_by = Some(decision_id.clone());
        }
        self.decision_order.push(decision_id.clone());
        self.decisions.insert(decision_id.clone(), decision.clone());
    }
}
