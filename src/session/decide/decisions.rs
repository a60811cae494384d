//! Decisions: recorded, and superseded by later ones (session coordination, §9).

use serde_json::json;

use super::{Answer, Draft, precondition};
use crate::refusal::Refusal;
use crate::session::decision::Decision;
use crate::session::event::Event;

/// A decision that somebody records, with its fields within their limits.
#[derive(Clone, Debug)]
pub struct NewDecision {
    /// One line, at most 200 characters.
    pub title: String,
    /// At most 16,384 characters.
    pub decision: String,
    /// At most 16,384 characters.
    pub rationale: Option<String>,
    /// At most 20, each of at most 500 characters.
    pub alternatives: Vec<String>,
    /// The decision whose place it takes.
    pub supersedes: Option<String>,
    /// The workstream it belongs to.
    pub workstream_id: Option<String>,
}

impl Draft<'_> {
    pub(super) fn record_decision(&mut self, new: &NewDecision) -> Result<Answer, Refusal> {
        self.names_workstream(new.workstream_id.as_deref())?;
        if let Some(decision_id) = &new.supersedes {
            self.stands(decision_id)?;
        }
        let decision = Decision {
            decision_id: self.draw.id("decision"),
            title: new.title.clone(),
            decision: new.decision.clone(),
            rationale: new.rationale.clone(),
            alternatives: new.alternatives.clone(),
            supersedes: new.supersedes.clone(),
            superseded_by: None,
            recorded_by: self.caller().participant_id.clone(),
            recorded_at: self.time(),
            workstream_id: new.workstream_id.clone(),
        };
        let answer = json!({ "decision": decision });
        self.push(Event::DecisionRecorded {
            decision: Box::new(decision),
        });
        Ok(Answer::Object(answer))
    }

    /// Whether a decision is there, and no other has taken its place: what holds now is never told by two.
    fn stands(&self, decision_id: &str) -> Result<(), Refusal> {
        match &self.session.known_decision(decision_id)?.superseded_by {
            None => Ok(()),
            Some(later) => Err(precondition(
                "DECISION_SUPERSEDED",
                "another decision has taken its place; supersede that one",
            )
            .with_fact("supersededBy", later)),
        }
    }
}
