//! How much one session may hold (session coordination, §9.4): settings of the deployment.

use crate::refusal::{Code, Refusal};

/// Something that a session may hold only so many of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Participants whose access was not revoked.
    Participants,
    /// Claims that are live.
    LiveClaims,
    /// Requests that are not closed, those that carry a client's task among them.
    OpenRequests,
    /// Workstreams that are not archived.
    OpenWorkstreams,
    /// Links of one workstream.
    WorkstreamLinks,
    /// Pieces of evidence of one workstream.
    WorkstreamEvidence,
    /// Entries of the knowledge.
    KnowledgeEntries,
    /// Proposals for the knowledge that nobody has decided about.
    PendingProposals,
    /// Push notification configs of one task.
    PushConfigs,
    /// Remarks on one request.
    RequestNotes,
    /// Artifacts handed in to one request.
    RequestArtifacts,
    /// Parts of all artifacts handed in to one request.
    ArtifactParts,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Participants,
        Self::LiveClaims,
        Self::OpenRequests,
        Self::OpenWorkstreams,
        Self::WorkstreamLinks,
        Self::WorkstreamEvidence,
        Self::KnowledgeEntries,
        Self::PendingProposals,
        Self::PushConfigs,
        Self::RequestNotes,
        Self::RequestArtifacts,
        Self::ArtifactParts,
    ];

    /// What a refusal calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Participants => "participants",
            Self::LiveClaims => "live claims",
            Self::OpenRequests => "open requests",
            Self::OpenWorkstreams => "open workstreams",
            Self::WorkstreamLinks => "workstream links",
            Self::WorkstreamEvidence => "workstream evidence",
            Self::KnowledgeEntries => "knowledge entries",
            Self::PendingProposals => "pending proposals",
            Self::PushConfigs => "push configs",
            Self::RequestNotes => "request notes",
            Self::RequestArtifacts => "request artifacts",
            Self::ArtifactParts => "artifact parts",
        }
    }

    /// The kind that a setting names, with hyphens for its blanks.
    fn of_setting(setting: &str) -> Option<Self> {
        let named = |kind: &Self| kind.name().replace(' ', "-") == setting;
        Self::ALL.into_iter().find(named)
    }
}

/// The most that a session may hold of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the limit of the kind of the same name")]
pub struct SessionLimits {
    pub participants: usize,
    pub live_claims: usize,
    pub open_requests: usize,
    pub open_workstreams: usize,
    pub workstream_links: usize,
    pub workstream_evidence: usize,
    pub knowledge_entries: usize,
    pub pending_proposals: usize,
    pub push_configs: usize,
    pub request_notes: usize,
    pub request_artifacts: usize,
    pub artifact_parts: usize,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            participants: 1_000,
            live_claims: 10_000,
            open_requests: 10_000,
            open_workstreams: 1_000,
            workstream_links: 1_000,
            workstream_evidence: 1_000,
            knowledge_entries: 1_000,
            pending_proposals: 200,
            push_configs: 10,
            request_notes: 1_000,
            request_artifacts: 100,
            artifact_parts: 1_000,
        }
    }
}

impl SessionLimits {
    /// The limit of a kind.
    #[must_use]
    pub const fn of(&self, kind: Kind) -> usize {
        match kind {
            Kind::Participants => self.participants,
            Kind::LiveClaims => self.live_claims,
            Kind::OpenRequests => self.open_requests,
            Kind::OpenWorkstreams => self.open_workstreams,
            Kind::WorkstreamLinks => self.workstream_links,
            Kind::WorkstreamEvidence => self.workstream_evidence,
            Kind::KnowledgeEntries => self.knowledge_entries,
            Kind::PendingProposals => self.pending_proposals,
            Kind::PushConfigs => self.push_configs,
            Kind::RequestNotes => self.request_notes,
            Kind::RequestArtifacts => self.request_artifacts,
            Kind::ArtifactParts => self.artifact_parts,
        }
    }

    fn slot(&mut self, kind: Kind) -> &mut usize {
        match kind {
            Kind::Participants => &mut self.participants,
            Kind::LiveClaims => &mut self.live_claims,
            Kind::OpenRequests => &mut self.open_requests,
            Kind::OpenWorkstreams => &mut self.open_workstreams,
            Kind::WorkstreamLinks => &mut self.workstream_links,
            Kind::WorkstreamEvidence => &mut self.workstream_evidence,
            Kind::KnowledgeEntries => &mut self.knowledge_entries,
            Kind::PendingProposals => &mut self.pending_proposals,
            Kind::PushConfigs => &mut self.push_configs,
            Kind::RequestNotes => &mut self.request_notes,
            Kind::RequestArtifacts => &mut self.request_artifacts,
            Kind::ArtifactParts => &mut self.artifact_parts,
        }
    }

    /// Sets one limit from a text such as `open-requests=500`.
    ///
    /// # Errors
    /// What was expected.
    pub fn set(&mut self, setting: &str) -> Result<(), String> {
        let (name, number) = setting.split_once('=').unwrap_or((setting, ""));
        let kind = Kind::of_setting(name.trim());
        let number: Option<u32> = number.trim().parse().ok().filter(|number| *number > 0);
        let (Some(kind), Some(number)) = (kind, number) else {
            let names = Kind::ALL.map(|kind| kind.name().replace(' ', "-")).join(", ");
            return Err(format!(
                "expected NAME=NUMBER, 1 at least, where NAME is one of: {names}"
            ));
        };
        *self.slot(kind) = usize::try_from(number).unwrap_or(usize::MAX);
        Ok(())
    }

    /// Whether `more` of a kind fit beside the `held` ones.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED SESSION_LIMIT, which names the kind.
    pub fn allow(&self, kind: Kind, held: usize, more: usize) -> Result<(), Refusal> {
        if held.saturating_add(more) <= self.of(kind) {
            return Ok(());
        }
        let name = kind.name();
        let hint = match kind {
            // Nothing ends them but the request's own end.
            Kind::RequestNotes | Kind::RequestArtifacts | Kind::ArtifactParts => "",
            _ => "; nothing more is taken until some are ended",
        };
        let message = format!("the limit on {name} is reached{hint}");
        Err(Refusal::coordination(Code::ResourceExhausted, "SESSION_LIMIT", message).with_fact("kind", name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_set_by_its_name_and_by_no_other() {
        for kind in Kind::ALL {
            let mut limits = SessionLimits::default();
            let setting = format!("{}=7", kind.name().replace(' ', "-"));
            assert_eq!(limits.set(&setting), Ok(()));
            assert_eq!(limits.of(kind), 7);
            let others = Kind::ALL.into_iter().filter(|other| *other != kind);
            for other in others {
                assert_eq!(limits.of(other), SessionLimits::default().of(other));
            }
        }
        let mut limits = SessionLimits::default();
        for bad in [
            "",
            "participants",
            "participants=",
            "participants=0",
            "participants=-1",
            "claims=1",
        ] {
            assert!(
                limits.set(bad).is_err_and(|rule| rule.contains("live-claims")),
                "{bad}"
            );
        }
        assert_eq!(limits, SessionLimits::default());
    }

    #[test]
    fn the_last_that_fits_is_taken_and_the_next_is_refused_by_its_kind() {
        let limits = SessionLimits::default();
        assert!(limits.allow(Kind::OpenWorkstreams, 999, 1).is_ok());
        let refusal = limits.allow(Kind::OpenWorkstreams, 999, 2).unwrap_err();
        assert_eq!((refusal.status(), refusal.reason()), (429, Some("SESSION_LIMIT")));
        assert_eq!(refusal.info.unwrap().metadata["kind"], "open workstreams");
    }
}
