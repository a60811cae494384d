//! Knowledge: entries in versions, which only an owner or admin lets in, and the proposals for them (session
//! coordination, §9.1).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::time::Timestamp;

/// What has become of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProposalState {
    /// Nobody has decided about it.
    Pending,
    /// It is a version of an entry.
    Accepted,
    /// It was turned down.
    Rejected,
}

impl ProposalState {
    const ALL: [Self; 3] = [Self::Pending, Self::Accepted, Self::Rejected];

    /// The state of a name on the wire.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
        }
    }
}

/// A proposal as the wire shows it. Its body is kept beside it, until it is decided about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// Made by the server.
    pub proposal_id: String,
    /// The entry that it would change; of a new entry only once it is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knowledge_id: Option<String>,
    /// One line, at most 200 characters.
    pub title: String,
    /// At most 10, each one line of at most 50 characters.
    pub tags: Vec<String>,
    /// Why: at most 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// The version of the entry that it goes out from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_version: Option<u32>,
    /// Who proposes it.
    pub proposed_by: String,
    /// When.
    pub at: Timestamp,
    /// What has become of it.
    pub state: ProposalState,
    /// The version that it became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// Who decided about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Timestamp>,
    /// Why it was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Proposal {
    /// The proposal once it is decided about.
    #[must_use]
    pub fn decided(&self, ruling: &Ruling, by: &str, at: Timestamp) -> Self {
        let mut after = Self {
            decided_by: Some(by.to_owned()),
            decided_at: Some(at),
            ..self.clone()
        };
        match ruling {
            Ruling::Accepted {
                knowledge_id,
                version,
            } => {
                after.state = ProposalState::Accepted;
                after.knowledge_id = Some(knowledge_id.clone());
                after.version = Some(*version);
            }
            Ruling::Rejected { reason } => {
                after.state = ProposalState::Rejected;
                after.reason.clone_from(reason);
            }
        }
        after
    }
}

/// What somebody with a say decides about a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Ruling {
    /// It becomes a version of an entry.
    Accepted {
        /// The entry: the one that it names, or a new one.
        knowledge_id: String,
        /// The version that it becomes.
        version: u32,
    },
    /// It changes nothing.
    Rejected {
        /// Why: at most 2,000 characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// A version of an entry. No later version changes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// One line, at most 200 characters.
    pub title: String,
    /// At most 10, each one line of at most 50 characters.
    pub tags: Vec<String>,
    /// At most 65,536 characters.
    pub body: String,
    /// Who proposed it.
    pub proposed_by: String,
    /// Who accepted it.
    pub accepted_by: String,
    /// When it was accepted.
    pub at: Timestamp,
}

/// An entry, in all its versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    knowledge_id: String,
    /// Version 1 first; never empty.
    versions: Vec<Version>,
}

impl Entry {
    /// The number of its latest version.
    #[must_use]
    pub fn version(&self) -> u32 {
        u32::try_from(self.versions.len()).unwrap_or(u32::MAX)
    }

    /// One of its versions, the latest for none.
    fn at(&self, version: Option<u32>) -> Option<(u32, &Version)> {
        let number = version.unwrap_or_else(|| self.version());
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.versions.get(index).map(|found| (number, found))
    }

    /// The entry in one of its versions, the latest for none: `{knowledgeId, title, tags[], version, proposedBy,
    /// acceptedBy, createdAt, updatedAt, body?}`. None when it has no such version.
    #[must_use]
    pub fn record(&self, version: Option<u32>, with_body: bool) -> Option<Value> {
        let (number, shown) = self.at(version)?;
        let mut record = json!({
            "knowledgeId": self.knowledge_id,
            "title": shown.title,
            "tags": shown.tags,
            "version": number,
            "proposedBy": shown.proposed_by,
            "acceptedBy": shown.accepted_by,
            "createdAt": self.versions.first().map(|first| first.at),
            "updatedAt": shown.at,
        });
        if let (true, Some(record)) = (with_body, record.as_object_mut()) {
            record.insert("body".to_owned(), json!(shown.body));
        }
        Some(record)
    }

    /// What its latest version is called: `{knowledgeId, title, version}`.
    #[must_use]
    pub fn heading(&self) -> Value {
        let title = self.at(None).map(|(_, latest)| &latest.title);
        json!({ "knowledgeId": self.knowledge_id, "title": title, "version": self.version() })
    }

    /// Whether its latest version has a tag, and a text in its title or in a tag, both where given. The text is
    /// looked for character by character in Unicode's lower-case mapping, whatever the language; a tag is compared as
    /// it stands.
    #[must_use]
    pub fn matches(&self, tag: Option<&str>, query: Option<&str>) -> bool {
        let Some((_, latest)) = self.at(None) else {
            return false;
        };
        let within = |query: &str| {
            let query = folded(query);
            let mut texts = std::iter::once(&latest.title).chain(&latest.tags);
            texts.any(|text| folded(text).contains(&query))
        };
        tag.is_none_or(|tag| latest.tags.iter().any(|own| own == tag)) && query.is_none_or(within)
    }
}

/// Unlike `str::to_lowercase`, the same for a character wherever it stands.
fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The knowledge of a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Knowledge {
    entries: BTreeMap<String, Entry>,
    /// Ids of the entries in the order they came in.
    entry_order: Vec<String>,
    proposals: BTreeMap<String, Proposal>,
    /// Ids of the proposals in the order they were made in.
    proposal_order: Vec<String>,
    /// Bodies of the pending proposals: an accepted one's is with its entry, a rejected one's is gone.
    pending: BTreeMap<String, String>,
}

impl Knowledge {
    /// Keeps a new proposal.
    pub fn propose(&mut self, proposal: Proposal, body: String) {
        let id = &proposal.proposal_id;
        self.proposal_order.push(id.clone());
        self.pending.insert(id.clone(), body);
        self.proposals.insert(id.clone(), proposal);
    }

    /// Records what was decided about a pending proposal; nothing happens to any other.
    pub fn decide(&mut self, proposal_id: &str, ruling: &Ruling, by: &str, at: Timestamp) {
        let Some(proposal) = self.proposals.get_mut(proposal_id) else {
            return;
        };
        let Some(body) = self.pending.remove(proposal_id) else {
            return;
        };
        *proposal = proposal.decided(ruling, by, at);
        let Ruling::Accepted { knowledge_id, .. } = ruling else {
            return;
        };
        let order = &mut self.entry_order;
        let entry = self.entries.entry(knowledge_id.clone()).or_insert_with(|| {
            order.push(knowledge_id.clone());
            Entry {
                knowledge_id: knowledge_id.clone(),
                versions: Vec::new(),
            }
        });
        entry.versions.push(Version {
            title: proposal.title.clone(),
            tags: proposal.tags.clone(),
            body,
            proposed_by: proposal.proposed_by.clone(),
            accepted_by: by.to_owned(),
            at,
        });
    }

    /// An entry.
    #[must_use]
    pub fn entry(&self, knowledge_id: &str) -> Option<&Entry> {
        self.entries.get(knowledge_id)
    }

    /// The entries, in the order they came in.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entry_order.iter().filter_map(|id| self.entries.get(id))
    }

    /// How many entries there are.
    #[must_use]
    pub fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// A proposal.
    #[must_use]
    pub fn proposal(&self, proposal_id: &str) -> Option<&Proposal> {
        self.proposals.get(proposal_id)
    }

    /// The proposals, in the order they were made in.
    pub fn proposals(&self) -> impl Iterator<Item = &Proposal> {
        self.proposal_order.iter().filter_map(|id| self.proposals.get(id))
    }

    /// How many proposals nobody has decided about.
    #[must_use]
    pub fn pending_count(&self) -> usize {
        self.pending.len()
    }

    /// The body of a proposal: of a pending one its own, of an accepted one that of the version it became.
    #[must_use]
    pub fn body(&self, proposal: &Proposal) -> Option<&str> {
        if let Some(body) = self.pending.get(&proposal.proposal_id) {
            return Some(body);
        }
        let entry = self.entries.get(proposal.knowledge_id.as_ref()?)?;
        let (_, version) = entry.at(Some(proposal.version?))?;
        Some(&version.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(title: &str, tags: &[&str]) -> Entry {
        Entry {
            knowledge_id: "k-1".to_owned(),
            versions: vec![Version {
                title: title.to_owned(),
                tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
                body: "body words".to_owned(),
                proposed_by: "p-1".to_owned(),
                accepted_by: "p-2".to_owned(),
                at: Timestamp::EPOCH,
            }],
        }
    }

    #[test]
    fn a_query_is_found_in_the_title_and_the_tags_in_any_case_and_nowhere_else() {
        let entry = entry("ΟΔΟΣ und Straße", &["Build", "İzmir"]);
        for query in ["οδοσ", "ΟΔΟΣ ", "STRAßE", "build", "UIL", "i\u{307}zmir", ""] {
            assert!(entry.matches(None, Some(query)), "{query}");
        }
        // No other letters stand for one, no normalisation, and the body is not looked at.
        for query in ["strasse", "οδος", "words", "buildi", "izmir"] {
            assert!(!entry.matches(None, Some(query)), "{query}");
        }
        assert!(entry.matches(Some("Build"), Some("straße")));
        assert!(!entry.matches(Some("build"), None));
        assert!(!entry.matches(Some("Build"), Some("docs")));
    }

    #[test]
    fn an_entry_has_the_versions_it_has_had_and_no_others() {
        let entry = entry("t", &[]);
        assert_eq!(entry.record(None, false), entry.record(Some(1), false));
        assert_eq!(entry.record(Some(0), false), None);
        assert_eq!(entry.record(Some(2), false), None);
        assert_eq!(entry.record(Some(1), true).unwrap()["body"], "body words");
    }
}
