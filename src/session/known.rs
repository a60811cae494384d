//! The records of a session by their ids, or the refusal that says that there is none (session coordination, §9.2): each
//! is said in one place, whoever asks.

use super::Session;
use super::claim::Claim;
use super::decision::Decision;
use super::knowledge::{Entry, Proposal};
use super::question::Question;
use super::request::Request;
use super::task::TaskRecord;
use super::workstream::Workstream;
use crate::refusal::{Code, Refusal};

/// NOT_FOUND: there is no such record, or the caller may not know that there is.
#[must_use]
pub fn not_found(reason: &'static str, message: &str) -> Refusal {
    Refusal::coordination(Code::NotFound, reason, message)
}

/// Each refuses with NOT_FOUND and the reason of its record.
#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "each is the record of the same name"
)]
impl Session {
    pub fn known_task(&self, task_id: &str) -> Result<&TaskRecord, Refusal> {
        let known = self.task(task_id);
        known.ok_or_else(|| not_found("TASK_NOT_FOUND", "no such task"))
    }

    pub fn known_request(&self, request_id: &str) -> Result<&Request, Refusal> {
        let known = self.request(request_id);
        known.ok_or_else(|| not_found("REQUEST_NOT_FOUND", "no such request"))
    }

    pub fn known_claim(&self, claim_id: &str) -> Result<&Claim, Refusal> {
        let known = self.claims.get(claim_id);
        known.ok_or_else(|| not_found("CLAIM_NOT_FOUND", "no such claim"))
    }

    pub fn known_question(&self, question_id: &str) -> Result<&Question, Refusal> {
        let known = self.question(question_id);
        known.ok_or_else(|| not_found("QUESTION_NOT_FOUND", "no such question"))
    }

    pub fn known_decision(&self, decision_id: &str) -> Result<&Decision, Refusal> {
        let known = self.decision(decision_id);
        known.ok_or_else(|| not_found("DECISION_NOT_FOUND", "no such decision"))
    }

    pub fn known_workstream(&self, workstream_id: &str) -> Result<&Workstream, Refusal> {
        let known = self.workstreams.get(workstream_id);
        known.ok_or_else(|| not_found("WORKSTREAM_NOT_FOUND", "no such workstream"))
    }

    pub fn known_entry(&self, knowledge_id: &str) -> Result<&Entry, Refusal> {
        let known = self.knowledge.entry(knowledge_id);
        known.ok_or_else(|| not_found("KNOWLEDGE_NOT_FOUND", "no such entry"))
    }

    pub fn known_proposal(&self, proposal_id: &str) -> Result<&Proposal, Refusal> {
        let known = self.knowledge.proposal(proposal_id);
        known.ok_or_else(|| not_found("PROPOSAL_NOT_FOUND", "no such proposal"))
    }
}
