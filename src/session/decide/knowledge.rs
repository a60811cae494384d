//! Knowledge: who proposes, and what becomes of it (session coordination, §9.1).

use serde_json::json;

use super::workstreams::version_conflict;
use super::{Answer, Draft, not_found, precondition};
use crate::refusal::Refusal;
use crate::session::event::Event;
use crate::session::knowledge::{Proposal, ProposalState, Ruling};
use crate::session::limits;

/// Something for the knowledge, with its fields within their limits.
#[derive(Clone, Debug)]
pub struct NewProposal {
    /// The entry that it would change; none for a new one.
    pub knowledge_id: Option<String>,
    /// One line, at most 200 characters.
    pub title: String,
    /// At most 65,536 characters.
    pub body: String,
    /// At most 10, each one line of at most 50 characters.
    pub tags: Vec<String>,
    /// Why: at most 2,000 characters.
    pub rationale: Option<String>,
    /// The version of the entry that it goes out from; none for the latest. Only with an entry.
    pub base_version: Option<u32>,
}

/// How an owner or admin decides about a proposal.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It becomes a version of an entry.
    Accept {
        /// Whether that is so although the entry has moved on since.
        confirm: bool,
    },
    /// It changes nothing.
    Reject {
        /// Why: at most 2,000 characters.
        reason: Option<String>,
    },
}

fn answer(proposal: &Proposal) -> Answer {
    Answer::Object(json!({ "proposal": proposal }))
}

impl Draft<'_> {
    /// The version that a proposal goes out from: one that its entry has had, the latest unless it says so.
    fn base_version(&self, new: &NewProposal) -> Result<Option<u32>, Refusal> {
        let Some(knowledge_id) = &new.knowledge_id else {
            return Ok(None);
        };
        let latest = self.session.known_entry(knowledge_id)?.version();
        let base = new.base_version.unwrap_or(latest);
        if base > latest {
            return Err(not_found(
                "KNOWLEDGE_VERSION_NOT_FOUND",
                "the entry has no such version",
            ));
        }
        Ok(Some(base))
    }

    pub(super) fn propose_knowledge(&mut self, new: &NewProposal) -> Result<Answer, Refusal> {
        let base_version = self.base_version(new)?;
        let pending = self.session.knowledge().pending_count();
        self.room_for(limits::Kind::PendingProposals, pending)?;
        let proposal = Proposal {
            proposal_id: self.draw.id("prop"),
            knowledge_id: new.knowledge_id.clone(),
            title: new.title.clone(),
            tags: new.tags.clone(),
            rationale: new.rationale.clone(),
            base_version,
            proposed_by: self.caller().participant_id.clone(),
            at: self.time(),
            state: ProposalState::Pending,
            version: None,
            decided_by: None,
            decided_at: None,
            reason: None,
        };
        let answer = answer(&proposal);
        self.push(Event::KnowledgeProposed {
            proposal: Box::new(proposal),
            body: new.body.clone(),
        });
        Ok(answer)
    }

    pub(super) fn rule_on_proposal(
        &mut self,
        proposal_id: &str,
        verdict: &Verdict,
    ) -> Result<Answer, Refusal> {
        self.only_deciders()?;
        let proposal = self.session.known_proposal(proposal_id)?;
        if proposal.state != ProposalState::Pending {
            return Err(precondition(
                "PROPOSAL_DECIDED",
                "the proposal was decided about, and that stands",
            )
            .with_fact("state", proposal.state.as_str()));
        }
        let ruling = match verdict {
            Verdict::Reject { reason } => Ruling::Rejected {
                reason: reason.clone(),
            },
            Verdict::Accept { confirm } => self.accepted(proposal, *confirm)?,
        };
        let decided = proposal.decided(&ruling, &self.caller().participant_id, self.time());
        self.push(Event::ProposalDecided {
            proposal_id: proposal_id.to_owned(),
            ruling,
        });
        Ok(answer(&decided))
    }

    /// What accepting a proposal comes to: a new entry, or the next version of the one that it names.
    fn accepted(&mut self, proposal: &Proposal, confirm: bool) -> Result<Ruling, Refusal> {
        let Some(knowledge_id) = &proposal.knowledge_id else {
            let entries = self.session.knowledge().entry_count();
            self.room_for(limits::Kind::KnowledgeEntries, entries)?;
            return Ok(Ruling::Accepted {
                knowledge_id: self.draw.id("know"),
                version: 1,
            });
        };
        let latest = self.session.known_entry(knowledge_id)?.version();
        let base = proposal.base_version.unwrap_or(latest);
        if base < latest && !confirm {
            let message = "the entry has moved on since the proposal's base version; look at it, and confirm to accept the proposal all the same";
            return Err(version_conflict(
                message,
                ("knowledgeId", knowledge_id),
                base,
                latest,
            ));
        }
        Ok(Ruling::Accepted {
            knowledge_id: knowledge_id.clone(),
            version: latest.saturating_add(1),
        })
    }
}
