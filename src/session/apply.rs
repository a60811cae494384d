//! What each event does to the state.

use std::collections::BTreeSet;

use super::claim::Claim;
use super::event::{Commit, Event};
use super::request::{Request, RequestChange, RequestState, Stage};
use super::task::{Choice, Decision, TASK_PROPOSAL, TaskRecord, WorkStatus};
use super::workstream::Step;
use super::{KEY_LIFE_MS, KeptKey, KeyUse, SendRecord, Session};
use crate::time::Timestamp;

impl Session {
    /// The state after a commit: the only way that state changes.
    ///
    /// Commits come in the order of their numbers; one that is not the next is not applied.
    /// Returns whether it was.
    pub fn apply(&mut self, commit: &Commit) -> bool {
        if self.seq.checked_add(1) != Some(commit.seq) {
            return false;
        }
        self.seq = commit.seq;
        self.latest = self.time(commit.at);
        self.claims.sweep(self.latest);
        // A commit is one step: where its tasks stand is looked at once, after all that happened in it.
        let touched: BTreeSet<String> = commit
            .events
            .iter()
            .filter_map(|event| {
                self.deliver(event, commit);
                self.happen(event, commit)
            })
            .collect();
        self.follow_artifacts(commit);
        for task_id in &touched {
            self.refresh(task_id, commit.at);
        }
        if let Some(remembered) = &commit.remembered {
            let keys = self
                .remembered
                .entry(remembered.credential_id.clone())
                .or_default();
            let kept = KeptKey {
                fingerprint: remembered.fingerprint.clone(),
                seq: commit.seq,
            };
            keys.insert(remembered.key.clone(), kept);
            self.key_uses.push_back(KeyUse {
                at: commit.at,
                credential: remembered.credential_id.clone(),
                key: remembered.key.clone(),
            });
        }
        self.forget_old_keys(commit.at);
        true
    }

    /// Who acts in a commit that is being applied, and when.
    fn step<'a>(&self, commit: &'a Commit) -> Step<'a> {
        Step {
            seq: commit.seq,
            at: self.latest,
            by: commit.by.as_deref().unwrap_or_default(),
        }
    }

    /// From now on what a participant could show no longer works.
    fn revoke_credentials(&mut self, participant_id: &str, at: Timestamp) {
        let theirs = self
            .credentials
            .values_mut()
            .filter(|it| it.participant_id == participant_id && it.revoked_at.is_none());
        theirs.for_each(|credential| credential.revoked_at = Some(at));
    }

    fn forget_old_keys(&mut self, now: Timestamp) {
        while self
            .key_uses
            .front()
            .is_some_and(|used| used.at.plus_millis(KEY_LIFE_MS) < now)
        {
            if let Some(used) = self.key_uses.pop_front()
                && let Some(keys) = self.remembered.get_mut(&used.credential)
            {
                keys.remove(&used.key);
                if keys.is_empty() {
                    self.remembered.remove(&used.credential);
                }
            }
        }
    }

    /// Applies one event; names the task whose standing it may have changed.
    fn happen(&mut self, event: &Event, commit: &Commit) -> Option<String> {
        let at = commit.at;
        match event {
            Event::SessionCreated { session_id, page_key } => {
                self.session_id.clone_from(session_id);
                self.page_key = *page_key;
                None
            }
            Event::ParticipantAdded {
                participant,
                credential,
            } => {
                self.participant_order.push(participant.participant_id.clone());
                self.participants
                    .insert(participant.participant_id.clone(), participant.clone());
                self.credentials
                    .insert(credential.credential_id.clone(), credential.clone());
                None
            }
            Event::ParticipantRevoked { participant_id } => {
                if let Some(participant) = self.participants.get_mut(participant_id) {
                    participant.revoked_at = Some(at);
                }
                self.revoke_credentials(participant_id, at);
                self.push_revoked(participant_id);
                None
            }
            Event::CredentialRotated { credential } => {
                self.revoke_credentials(&credential.participant_id, at);
                self.credentials
                    .insert(credential.credential_id.clone(), credential.clone());
                None
            }
            Event::MailPosted { mail, task_id } => {
                let task = task_id.as_ref().and_then(|id| self.tasks.get_mut(id));
                if let Some(task) = task {
                    task.scope.push(mail.id.clone());
                    // Who writes about a task knows of it.
                    task.awaited_until = task.awaited_until.filter(|_| mail.sent.is_none());
                }
                self.mail.insert(mail.id.clone(), (**mail).clone());
                task_id.clone()
            }
            Event::TaskOpened { task } => {
                if let Some(item) = &task.work_item {
                    self.work_items.insert(item.id.clone(), task.task_id.clone());
                }
                self.tasks.insert(task.task_id.clone(), (**task).clone());
                Some(task.task_id.clone())
            }
            Event::RequestCreated { request } => {
                let task_id = request.task_id.clone();
                if let Some(task) = task_id.as_ref().and_then(|id| self.tasks.get_mut(id)) {
                    task.request_id = Some(request.request_id.clone());
                }
                let request_id = request.request_id.clone();
                self.expiring
                    .extend(request.expires_at.map(|at| (at, request_id.clone())));
                self.request_order.push(request_id.clone());
                self.requests.insert(request_id, (**request).clone());
                self.open_requests = self.open_requests.saturating_add(1);
                task_id
            }
            Event::RequestChanged { request_id, change } => {
                let request = self.requests.get_mut(request_id)?;
                let at = if *change == RequestChange::Expired {
                    request.expires_at.unwrap_or(at)
                } else {
                    at
                };
                let was_closed = request.state.is_closed();
                request.change(change, at);
                if request.state.is_closed() && !was_closed {
                    self.open_requests = self.open_requests.saturating_sub(1);
                }
                if let Some(expiry) = request.expires_at.filter(|_| request.state.is_closed()) {
                    self.expiring.remove(&(expiry, request_id.clone()));
                }
                let task = self.tasks.get_mut(request.task_id.as_ref()?)?;
                follow(task, request);
                Some(task.task_id.clone())
            }
            Event::PresenceAnnounced {
                participant_id,
                presence,
            } => {
                self.presences
                    .insert(participant_id.clone(), (**presence).clone());
                None
            }
            Event::ClaimAcquired { claim } => {
                self.claims.put((**claim).clone(), self.latest);
                None
            }
            Event::ClaimsRenewed { participant_id } => {
                let live = self.claims.live_of(participant_id, self.latest);
                let renewed: Vec<Claim> = live.map(|claim| claim.renewed(self.latest)).collect();
                for claim in renewed {
                    self.claims.put(claim, self.latest);
                }
                None
            }
            Event::ClaimReleased { claim_id } => {
                let released = Claim {
                    released_at: Some(self.latest),
                    ..self.claims.get(claim_id)?.clone()
                };
                self.claims.put(released, self.latest);
                None
            }
            Event::QuestionAsked { question } => {
                self.asked(question);
                None
            }
            Event::AnswerGiven { question_id, answer } => {
                self.answered(question_id, answer);
                None
            }
            Event::DecisionRecorded { decision } => {
                self.decided(decision);
                None
            }
            Event::InboxUpdated {
                participant_id,
                item_ids,
                state,
            } => {
                self.mark(participant_id, item_ids, *state);
                None
            }
            Event::WorkstreamCreated { workstream } => {
                let step = self.step(commit);
                self.workstreams.create((**workstream).clone(), step);
                None
            }
            Event::WorkstreamChanged {
                workstream_id,
                change,
            } => {
                let step = self.step(commit);
                self.workstreams.change(workstream_id, change, step);
                None
            }
            Event::KnowledgeProposed { proposal, body } => {
                self.knowledge.propose((**proposal).clone(), body.clone());
                None
            }
            Event::ProposalDecided { proposal_id, ruling } => {
                let step = self.step(commit);
                self.knowledge.decide(proposal_id, ruling, step.by, step.at);
                None
            }
            Event::PushConfigSet { record } => {
                self.push_set(record, self.latest);
                None
            }
            Event::PushConfigDeleted { task_id, config_id } => {
                self.push_deleted(task_id, config_id);
                None
            }
            Event::PushDelivered {
                task_id,
                config_id,
                known,
            } => {
                self.push_delivered(task_id, config_id, *known, self.latest);
                None
            }
            Event::PushFailed {
                task_id,
                config_id,
                then,
            } => {
                self.push_failed(task_id, config_id, *then, self.latest);
                None
            }
            // Said to whoever reads the log; nothing of the session follows from it.
            Event::StatusAnnounced { .. } => None,
            Event::SendRecorded {
                participant_id,
                message_id,
                fingerprint,
                task_id,
                mail_id,
            } => {
                let record = SendRecord {
                    fingerprint: fingerprint.clone(),
                    task_id: task_id.clone(),
                    mail_id: mail_id.clone(),
                };
                let sends = self.sends.entry(participant_id.clone()).or_default();
                sends.insert(message_id.clone(), record);
                None
            }
            Event::GateOpened { task_id, .. }
            | Event::GateDecided { task_id, .. }
            | Event::QuestionOpened { task_id, .. }
            | Event::QuestionAnswered { task_id, .. }
            | Event::TaskAnswered { task_id, .. }
            | Event::TaskCanceled { task_id, .. }
            | Event::TaskDeclined { task_id, .. }
            | Event::TaskDropped { task_id, .. } => {
                touch(self.tasks.get_mut(task_id)?, event, commit);
                Some(task_id.clone())
            }
        }
    }
}

/// An event that concerns one task alone.
fn touch(task: &mut TaskRecord, event: &Event, commit: &Commit) {
    match event {
        Event::GateOpened { gate, .. } => task.gates.push(gate.clone()),
        Event::GateDecided {
            gate_id,
            answer,
            choice,
            ..
        } => {
            let mut gates = task.gates.iter_mut();
            let Some(gate) = gates.find(|gate| gate.id == *gate_id) else {
                return;
            };
            gate.decision = Some(Decision {
                answer: answer.clone(),
                choice: *choice,
                by: commit.by.clone().unwrap_or_default(),
                at: commit.at,
            });
            if gate.gate_type != TASK_PROPOSAL {
                return;
            }
            if let Some(item) = &mut task.work_item {
                item.approved = *choice == Choice::Approve;
                item.status = if item.approved {
                    WorkStatus::Ready
                } else {
                    WorkStatus::Dropped
                };
            }
            task.answer = Some(answer.clone());
        }
        Event::QuestionOpened { mail_id, .. } => task.open_questions.push(mail_id.clone()),
        Event::QuestionAnswered { mail_id, .. } => task.open_questions.retain(|open| open != mail_id),
        Event::TaskAnswered {
            mail_id, directly, ..
        } => {
            task.answer = Some(mail_id.clone());
            task.answered_directly = *directly;
        }
        Event::TaskCanceled { ending, .. } => {
            task.canceled = Some(ending.clone());
            drop_work_item(task);
        }
        Event::TaskDeclined { ending, .. } => task.declined = Some(ending.clone()),
        Event::TaskDropped { ending, .. } => {
            task.dropped = Some(ending.clone());
            drop_work_item(task);
        }
        _ => {}
    }
}

fn drop_work_item(task: &mut TaskRecord) {
    if let Some(item) = &mut task.work_item {
        item.status = WorkStatus::Dropped;
    }
}

/// Lets a task follow the request that carries it. What has been taken in hand never looks untouched again.
fn follow(task: &mut TaskRecord, request: &Request) {
    task.delivered |= request.claimed_at.is_some();
    if let Some(item) = &mut task.work_item {
        item.status = match (request.state, request.stage) {
            (RequestState::Completed, _) => WorkStatus::Landed,
            (RequestState::Cancelled | RequestState::Expired, _) => WorkStatus::Dropped,
            (_, Some(Stage::Review)) => WorkStatus::Review,
            (_, Some(Stage::Landing)) => WorkStatus::Landing,
            _ if task.delivered => WorkStatus::Working,
            _ => WorkStatus::Ready,
        };
    }
}
