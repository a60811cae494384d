//! Workstreams: written to by version, with links that are in one place and a history.

use serde_json::{Value, json};

use super::{Answer, EVIDENCE, LINKS, Model, OPEN_WORKSTREAMS, find, find_mut, has, list, refused, text};

/// A workstream as it is shown: its history is told apart.
fn shown(workstream: &Value) -> Value {
    let mut shown = workstream.clone();
    shown.as_object_mut().unwrap().remove("history");
    shown
}

impl Model {
    pub fn create_workstream(&mut self, who: usize, body: &Value) -> Answer {
        self.all_taking_part(list(body, "participants"))?;
        let open = self.workstreams.iter().filter(|it| it["lifecycle"] != "archived");
        if open.count() >= OPEN_WORKSTREAMS {
            return refused("SESSION_LIMIT");
        }
        let me = &self.people[who].id;
        let workstream = json!({
            "title": body["title"],
            "intent": body["intent"],
            "owner": me,
            "participants": list(body, "participants"),
            "lifecycle": "proposed",
            "evidence": [],
            "checkpoint": null,
            "links": [],
            "version": 1,
            "createdAt": self.now,
            "updatedAt": self.now,
            "history": [{"type": "workstream.created", "actor": me, "at": self.now, "data": {"version": 1}}],
        });
        let answer = json!({"workstream": shown(&workstream)});
        self.workstreams.push(workstream);
        Ok(answer)
    }

    pub fn list_workstreams(&self, body: &Value) -> Value {
        let wanted = self
            .workstreams
            .iter()
            .filter(|it| match body["lifecycle"].as_str() {
                Some(lifecycle) => it["lifecycle"] == lifecycle,
                None => it["lifecycle"] != "archived" || body["includeArchived"] == true,
            });
        json!({"workstreams": wanted.map(shown).collect::<Vec<_>>()})
    }

    fn workstream(&self, id: &str) -> Result<&Value, String> {
        find(&self.workstreams, "workstreamId", id, "WORKSTREAM_NOT_FOUND")
    }

    pub fn get_workstream(&self, body: &Value) -> Answer {
        let workstream = self.workstream(text(body, "workstreamId"))?;
        let history = &workstream["history"];
        Ok(json!({"workstream": shown(workstream), "history": history}))
    }

    fn leads(&self, who: usize, workstream: &Value) -> bool {
        self.decides(who) || workstream["owner"] == self.people[who].id.as_str()
    }

    fn works_on(&self, who: usize, workstream: &Value) -> bool {
        self.leads(who, workstream) || has(workstream, "participants", &self.people[who].id)
    }

    fn writable(workstream: &Value) -> Result<(), String> {
        if workstream["lifecycle"] == "archived" {
            return refused("WORKSTREAM_ARCHIVED");
        }
        Ok(())
    }

    fn of_version(workstream: &Value, body: &Value) -> Result<(), String> {
        if workstream["version"] != body["expectedVersion"] {
            return refused("VERSION_CONFLICT");
        }
        Ok(())
    }

    /// Writes to a workstream, one version further.
    fn write(&mut self, who: usize, id: &str, event: &str, write: impl FnOnce(&mut Value)) -> Value {
        let (now, me) = (self.now, self.people[who].id.clone());
        let workstream = find_mut(&mut self.workstreams, "workstreamId", id);
        write(workstream);
        let version = workstream["version"].as_i64().unwrap() + 1;
        workstream["version"] = json!(version);
        workstream["updatedAt"] = json!(now);
        let event = json!({"type": event, "actor": me, "at": now, "data": {"version": version}});
        workstream["history"].as_array_mut().unwrap().push(event);
        shown(workstream)
    }

    pub fn update_workstream(&mut self, who: usize, body: &Value) -> Answer {
        let id = text(body, "workstreamId");
        let workstream = self.workstream(id)?;
        if let Some(owner) = body["owner"].as_str()
            && self.taking_part(owner)?.role == "client"
        {
            return refused("INVALID_ARGUMENT owner");
        }
        self.all_taking_part(list(body, "participants"))?;
        let set = ["title", "intent", "owner", "participants", "lifecycle"];
        let is_report = set.iter().all(|member| body[*member].is_null());
        let allowed = self.leads(who, workstream) || (is_report && self.works_on(who, workstream));
        if !allowed {
            return refused("NOT_OWNER");
        }
        Self::writable(workstream)?;
        Self::of_version(workstream, body)?;
        let more = list(body, "addEvidence");
        if list(workstream, "evidence").len() + more.len() > EVIDENCE {
            return refused("SESSION_LIMIT");
        }
        let (now, me) = (self.now, self.people[who].id.clone());
        let after = self.write(who, id, "workstream.updated", |workstream| {
            for member in set {
                if !body[member].is_null() {
                    workstream[member] = body[member].clone();
                }
            }
            let signed = |given: &Value| {
                let mut signed = given.clone();
                signed["from"] = json!(me);
                signed["at"] = json!(now);
                signed
            };
            let evidence = workstream["evidence"].as_array_mut().unwrap();
            evidence.extend(more.iter().map(signed));
            if !body["checkpoint"].is_null() {
                workstream["checkpoint"] = signed(&body["checkpoint"]);
            }
        });
        Ok(json!({ "workstream": after }))
    }

    fn exists(&self, resource: &Value) -> Result<(), String> {
        let id = text(resource, "id");
        match text(resource, "kind") {
            "request" => find(&self.requests, "requestId", id, "REQUEST_NOT_FOUND").map(drop),
            "claim" => find(&self.claims, "claimId", id, "CLAIM_NOT_FOUND").map(drop),
            "question" => find(&self.questions, "questionId", id, "QUESTION_NOT_FOUND").map(drop),
            "decision" => find(&self.decisions, "decisionId", id, "DECISION_NOT_FOUND").map(drop),
            "knowledge" => match self.entries.iter().any(|(known, _)| known == id) {
                true => Ok(()),
                false => refused("KNOWLEDGE_NOT_FOUND"),
            },
            _ => Ok(()),
        }
    }

    fn is_linked(workstream: &Value, resource: &Value) -> bool {
        list(workstream, "links")
            .iter()
            .any(|link| link["resource"] == *resource)
    }

    pub fn link(&mut self, who: usize, body: &Value) -> Answer {
        let (id, resource, from) = (text(body, "workstreamId"), &body["resource"], &body["from"]);
        if from["workstreamId"] == id {
            return refused("INVALID_ARGUMENT from.workstreamId");
        }
        let workstream = self.workstream(id)?;
        let source = match from["workstreamId"].as_str() {
            Some(source) => Some(self.workstream(source)?),
            None => None,
        };
        self.exists(resource)?;
        let both = || [Some(workstream), source].into_iter().flatten();
        if !both().all(|one| self.works_on(who, one)) {
            return refused("NOT_OWNER");
        }
        both().try_for_each(Self::writable)?;
        Self::of_version(workstream, body)?;
        source.map_or(Ok(()), |source| Self::of_version(source, from))?;
        let holder = self.workstreams.iter().find(|it| Self::is_linked(it, resource));
        match (
            holder.map(|it| text(it, "workstreamId")),
            from["workstreamId"].as_str(),
        ) {
            (Some(holder), _) if holder == id => return refused("ALREADY_LINKED"),
            (Some(holder), Some(source)) if holder == source => {}
            (Some(_), _) => return refused("LINKED_ELSEWHERE"),
            (None, Some(_)) => return refused("NOT_LINKED"),
            (None, None) => {}
        }
        if list(workstream, "links").len() >= LINKS {
            return refused("SESSION_LIMIT");
        }
        let link = json!({"resource": resource, "linkedBy": self.people[who].id, "linkedAt": self.now});
        let event = match from {
            Value::Null => "workstream.linked",
            _ => "workstream.link-moved",
        };
        let moved_from = match from["workstreamId"].as_str() {
            Some(source) => self.write(who, source, event, |it| Self::take_link(it, resource)),
            None => Value::Null,
        };
        let after = self.write(who, id, event, |it| {
            it["links"].as_array_mut().unwrap().push(link.clone());
        });
        Ok(json!({"workstream": after, "link": link, "movedFrom": moved_from}))
    }

    fn take_link(workstream: &mut Value, resource: &Value) {
        let links = workstream["links"].as_array_mut().unwrap();
        links.retain(|link| link["resource"] != *resource);
    }

    pub fn unlink(&mut self, who: usize, body: &Value) -> Answer {
        let (id, resource) = (text(body, "workstreamId"), &body["resource"]);
        let workstream = self.workstream(id)?;
        if !self.works_on(who, workstream) {
            return refused("NOT_OWNER");
        }
        Self::writable(workstream)?;
        Self::of_version(workstream, body)?;
        if !Self::is_linked(workstream, resource) {
            return refused("NOT_LINKED");
        }
        let unlink = |it: &mut Value| Self::take_link(it, resource);
        let after = self.write(who, id, "workstream.unlinked", unlink);
        Ok(json!({ "workstream": after }))
    }
}
