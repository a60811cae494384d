//! What must hold of the workstreams and the knowledge of a session at any time.

use std::collections::BTreeMap;

use a2a_edge::session::Session;
use a2a_edge::session::knowledge::ProposalState;
use serde_json::Value;

/// A resource is linked to one workstream at most; a version has its event; what was archived stays so.
pub fn check_workstreams(session: &Session) {
    let workstreams = session.workstreams();
    let mut holders = BTreeMap::new();
    for workstream in workstreams.in_order() {
        let id = &workstream.workstream_id;
        for link in &workstream.links {
            assert_eq!(holders.insert(&link.resource, id), None, "{workstream:?}");
            assert_eq!(
                workstreams.holder(&link.resource).map(|it| &it.workstream_id),
                Some(id)
            );
        }
        let history: Vec<Value> = workstreams.history(id).iter().map(|it| it.record()).collect();
        assert_eq!(history.len(), workstream.version as usize);
        for (index, event) in history.iter().enumerate() {
            assert_eq!(event["data"]["version"], index + 1);
            assert!(index == 0 || history[index - 1]["seq"].as_u64() < event["seq"].as_u64());
            let archives = event["data"]["lifecycle"] == "archived";
            assert!(
                !archives || index + 1 == history.len(),
                "changed after its end: {history:?}"
            );
        }
    }
    let open = workstreams.in_order().filter(|it| it.is_open()).count();
    assert_eq!(workstreams.open_count(), open);
}

/// Every version of an entry is a proposal that was accepted, and no proposal has become two.
pub fn check_knowledge(session: &Session) {
    let knowledge = session.knowledge();
    let count = |state| knowledge.proposals().filter(|it| it.state == state).count();
    let versions: u32 = knowledge.entries().map(|entry| entry.version()).sum();
    assert_eq!(count(ProposalState::Accepted), versions as usize);
    assert_eq!(count(ProposalState::Pending), knowledge.pending_count());
    assert_eq!(knowledge.entries().count(), knowledge.entry_count());
    for proposal in knowledge.proposals() {
        let readable = knowledge.body(proposal).is_some();
        assert_eq!(
            readable,
            proposal.state != ProposalState::Rejected,
            "{proposal:?}"
        );
        if let Some(version) = proposal.version {
            let entry = knowledge.entry(proposal.knowledge_id.as_ref().unwrap()).unwrap();
            let record = entry.record(Some(version), true).unwrap();
            assert_eq!(record["body"], knowledge.body(proposal).unwrap());
            assert_eq!(record["proposedBy"], proposal.proposed_by.as_str());
        }
    }
}

/// The histories as they are: nothing that was in them ever goes or changes.
pub fn check_histories(session: &Session, before: &mut BTreeMap<String, Vec<Value>>) {
    let workstreams = session.workstreams();
    for workstream in workstreams.in_order() {
        let id = &workstream.workstream_id;
        let now: Vec<Value> = workstreams.history(id).iter().map(|it| it.record()).collect();
        let known = before.entry(id.clone()).or_default();
        assert_eq!(now.get(..known.len()), Some(known.as_slice()));
        *known = now;
    }
}
