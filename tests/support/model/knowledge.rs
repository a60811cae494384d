//! Knowledge: entries in versions, and the proposals for them.

use serde_json::{Value, json};

use super::{Answer, ENTRIES, Model, PENDING, find, find_mut, has, int, list, refused, text};

impl Model {
    fn versions(&self, id: &str) -> Result<&[Value], String> {
        let found = self.entries.iter().find(|(known, _)| known == id);
        found
            .map(|(_, versions)| versions.as_slice())
            .ok_or_else(|| "KNOWLEDGE_NOT_FOUND".to_owned())
    }

    pub fn propose(&mut self, who: usize, body: &Value) -> Answer {
        let mut base = Value::Null;
        if let Some(id) = body["knowledgeId"].as_str() {
            let latest = self.versions(id)?.len() as i64;
            base = json!(body["baseVersion"].as_i64().unwrap_or(latest));
            if base.as_i64().unwrap() > latest {
                return refused("KNOWLEDGE_VERSION_NOT_FOUND");
            }
        } else if !body["baseVersion"].is_null() {
            return refused("INVALID_ARGUMENT baseVersion");
        }
        let pending = self.proposals.iter().filter(|it| it["state"] == "pending");
        if pending.count() >= PENDING {
            return refused("SESSION_LIMIT");
        }
        let proposal = json!({
            "knowledgeId": body["knowledgeId"],
            "title": body["title"],
            "tags": list(body, "tags"),
            "baseVersion": base,
            "proposedBy": self.people[who].id,
            "at": self.now,
            "state": "pending",
            "version": null,
        });
        self.proposals.push(proposal.clone());
        let deciders = self
            .people
            .iter()
            .filter(|one| matches!(one.role, "owner" | "admin"));
        let deciders: Vec<Value> = deciders.map(|one| json!(one.id)).collect();
        let told = self.readers(&deciders, who);
        self.tell("proposal", Value::Null, who, told);
        Ok(json!({ "proposal": proposal }))
    }

    fn undecided(&self, body: &Value) -> Result<Value, String> {
        let id = text(body, "proposalId");
        let proposal = find(&self.proposals, "proposalId", id, "PROPOSAL_NOT_FOUND")?;
        if proposal["state"] != "pending" {
            return refused("PROPOSAL_DECIDED");
        }
        Ok(proposal.clone())
    }

    fn decided(&mut self, who: usize, mut proposal: Value) -> Answer {
        proposal["decidedBy"] = json!(self.people[who].id);
        proposal["decidedAt"] = json!(self.now);
        let id = text(&proposal, "proposalId").to_owned();
        find_mut(&mut self.proposals, "proposalId", &id).clone_from(&proposal);
        let told = self.readers(&[proposal["proposedBy"].clone()], who);
        self.tell("review", json!(id), who, told);
        // The id of a new entry is the desk's to make.
        if proposal["knowledgeId"].is_null() && proposal["state"] == "accepted" {
            proposal.as_object_mut().unwrap().shift_remove("knowledgeId");
        }
        Ok(json!({ "proposal": proposal }))
    }

    pub fn accept(&mut self, who: usize, body: &Value) -> Answer {
        let mut proposal = self.undecided(body)?;
        let version = json!({
            "title": proposal["title"],
            "tags": proposal["tags"],
            "proposedBy": proposal["proposedBy"],
            "acceptedBy": self.people[who].id,
            "updatedAt": self.now,
        });
        let number = match proposal["knowledgeId"].as_str() {
            None if self.entries.len() >= ENTRIES => return refused("SESSION_LIMIT"),
            None => {
                self.entries.push((Value::Null, vec![version]));
                1
            }
            Some(id) => {
                let latest = self.versions(id)?.len();
                if int(&proposal, "baseVersion") < latest as i64 && body["confirm"] != true {
                    return refused("VERSION_CONFLICT");
                }
                let (_, versions) = self.entries.iter_mut().find(|(known, _)| known == id).unwrap();
                versions.push(version);
                latest + 1
            }
        };
        proposal["state"] = json!("accepted");
        proposal["version"] = json!(number);
        self.decided(who, proposal)
    }

    pub fn reject(&mut self, who: usize, body: &Value) -> Answer {
        let mut proposal = self.undecided(body)?;
        proposal["state"] = json!("rejected");
        proposal["reason"] = body["reason"].clone();
        self.decided(who, proposal)
    }

    fn entry(id: &Value, versions: &[Value], number: usize) -> Option<Value> {
        let mut shown = versions.get(number.checked_sub(1)?)?.clone();
        shown["knowledgeId"] = id.clone();
        shown["version"] = json!(number);
        shown["createdAt"] = versions[0]["updatedAt"].clone();
        Some(shown)
    }

    pub fn list_knowledge(&self, body: &Value) -> Value {
        let latest = self
            .entries
            .iter()
            .filter_map(|(id, versions)| Self::entry(id, versions, versions.len()));
        let wanted = latest.filter(|entry| {
            let query = text(body, "query").to_lowercase();
            let found = |text: &str| text.to_lowercase().contains(&query);
            let mut tags = list(entry, "tags").iter().filter_map(Value::as_str);
            (body["tag"].is_null() || has(entry, "tags", text(body, "tag")))
                && (found(text(entry, "title")) || tags.any(found))
        });
        json!({"entries": wanted.collect::<Vec<_>>()})
    }

    pub fn read_knowledge(&self, body: &Value) -> Answer {
        let id = text(body, "knowledgeId");
        let versions = self.versions(id)?;
        let number = body["version"].as_u64().map_or(versions.len(), |it| it as usize);
        match Self::entry(&json!(id), versions, number) {
            Some(entry) => Ok(json!({ "entry": entry })),
            None => refused("KNOWLEDGE_VERSION_NOT_FOUND"),
        }
    }
}
