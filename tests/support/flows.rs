//! What a session that plays does with workstreams and knowledge.

use a2a_edge::session::Command;
use a2a_edge::session::Role;
use a2a_edge::session::decide::{Edit, Move, NewProposal, NewWorkstream, Verdict};
use a2a_edge::session::knowledge::ProposalState;
use a2a_edge::session::workstream::{
    Lifecycle, NewCheckpoint, NewEvidence, Resource, ResourceKind, Update, Workstream,
};

use super::Play;

impl Play {
    /// What somebody does with a workstream or the knowledge.
    pub fn flow(&mut self) -> (usize, Command) {
        match self.random.below(10) {
            0 => {
                let member = self.somebody(Role::Member);
                (member, self.new_workstream())
            }
            1..=6 => {
                let role = *self.random.pick(&[Role::Member, Role::Admin]);
                (self.somebody(role), self.edit())
            }
            7..=8 => {
                let member = self.somebody(Role::Member);
                (member, self.proposal())
            }
            _ => {
                let owner = self.somebody(Role::Owner);
                (owner, self.ruling())
            }
        }
    }

    /// A workstream that is there, as a rule.
    pub fn workstream_id(&mut self) -> String {
        let known: Vec<&Workstream> = self.session.workstreams().in_order().collect();
        if known.is_empty() || self.random.one_in(12) {
            return "ws-nowhere".into();
        }
        self.random.pick(&known).workstream_id.clone()
    }

    fn new_workstream(&mut self) -> Command {
        let participants = (0..self.random.below(3)).map(|_| self.participant_id());
        Command::CreateWorkstream(Box::new(NewWorkstream {
            title: "Limits".into(),
            intent: "Every answer within a second".into(),
            participants: participants.collect(),
        }))
    }

    /// The version that a caller believes in: as a rule the right one.
    fn version_of(&mut self, workstream_id: &str) -> u32 {
        let known = self.session.workstreams().get(workstream_id);
        let version = known.map_or(1, |workstream| workstream.version);
        if self.random.one_in(6) {
            version + 1
        } else {
            version
        }
    }

    fn edit(&mut self) -> Command {
        let workstream_id = self.workstream_id();
        let resource = self.resource(&workstream_id);
        let edit = match self.random.below(8) {
            0..=2 => Edit::Update(self.changes()),
            3..=4 => Edit::Link { resource, from: None },
            5..=6 => match self.session.workstreams().holder(&resource) {
                Some(holder) if holder.workstream_id != workstream_id => {
                    let from = holder.workstream_id.clone();
                    let expected_version = self.version_of(&from);
                    Edit::Link {
                        resource,
                        from: Some(Move {
                            workstream_id: from,
                            expected_version,
                        }),
                    }
                }
                _ => Edit::Link { resource, from: None },
            },
            _ => Edit::Unlink { resource },
        };
        Command::EditWorkstream {
            expected_version: self.version_of(&workstream_id),
            workstream_id,
            edit: Box::new(edit),
        }
    }

    /// Something to link: a record, something outside, or what some workstream holds.
    fn resource(&mut self, workstream_id: &str) -> Resource {
        let outside = |id: &str| Resource {
            kind: ResourceKind::External,
            id: id.into(),
        };
        let known = self.session.workstreams();
        let others = known.in_order().filter(|it| it.workstream_id != workstream_id);
        let held: Vec<Resource> = others
            .flat_map(|it| it.links.iter().map(|link| link.resource.clone()))
            .collect();
        let own = known.get(workstream_id).and_then(|it| it.links.first());
        let own = own.map(|link| link.resource.clone());
        match self.random.below(6) {
            0 => Resource {
                kind: ResourceKind::Request,
                id: self.request_id(),
            },
            1 => outside("pr:12"),
            2 => own.unwrap_or_else(|| outside("pr:13")),
            _ if held.is_empty() => outside("pr:14"),
            _ => self.random.pick(&held).clone(),
        }
    }

    fn changes(&mut self) -> Update {
        let lives = [Lifecycle::Active, Lifecycle::Paused, Lifecycle::Completed];
        let mut update = Update {
            checkpoint: Some(NewCheckpoint {
                summary: "Half of it".into(),
                next: self.text(),
            }),
            add_evidence: vec![NewEvidence {
                kind: "test".into(),
                summary: "212 passed".into(),
                url: Some("https://ci.example/7".into()),
            }],
            ..Update::default()
        };
        if self.random.one_in(2) {
            update.lifecycle = Some(*self.random.pick(&lives));
            update.title = Some("Limits and quotas".into());
        }
        if self.random.one_in(5) {
            update.owner = Some(self.participant_id());
            update.participants = Some(vec![self.participant_id()]);
        }
        if self.random.one_in(12) {
            update.lifecycle = Some(Lifecycle::Archived);
        }
        update
    }

    fn proposal(&mut self) -> Command {
        let mut ids: Vec<String> = self
            .session
            .knowledge()
            .entries()
            .filter_map(|entry| entry.record(None, false))
            .filter_map(|entry| entry["knowledgeId"].as_str().map(str::to_owned))
            .collect();
        ids.push("know-nowhere".into());
        Command::ProposeKnowledge(Box::new(NewProposal {
            knowledge_id: self.random.one_in(2).then(|| self.random.pick(&ids).clone()),
            title: "How to deploy".into(),
            body: format!("Step {} 😀", self.random.below(100)),
            tags: vec!["ops".into()],
            rationale: self.text(),
            base_version: self.random.one_in(3).then_some(1),
        }))
    }

    fn ruling(&mut self) -> Command {
        let proposals = self.session.knowledge().proposals();
        let pending = proposals.filter(|it| it.state == ProposalState::Pending || self.random.0.is_multiple_of(7));
        let mut ids: Vec<String> = pending.map(|it| it.proposal_id.clone()).collect();
        if ids.is_empty() {
            ids.push("prop-nowhere".into());
        }
        let verdict = if self.random.one_in(3) {
            Verdict::Reject { reason: self.text() }
        } else {
            Verdict::Accept {
                confirm: self.random.one_in(2),
            }
        };
        Command::RuleOnProposal {
            proposal_id: self.random.pick(&ids).clone(),
            verdict,
        }
    }
}
