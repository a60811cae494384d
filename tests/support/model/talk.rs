//! Questions, decisions, and what waits in inboxes.

use serde_json::{Value, json};

use super::{Answer, Audience, Item, Model, find, find_mut, has, int, list, refused, text};

impl Model {
    pub fn ask(&mut self, who: usize, body: &Value) -> Answer {
        let to = list(body, "to");
        if !to.is_empty() && !body["capability"].is_null() {
            return refused("INVALID_ARGUMENT capability");
        }
        self.named_workstream(body)?;
        if let Some(id) = body["requestId"].as_str() {
            find(&self.requests, "requestId", id, "REQUEST_NOT_FOUND")?;
        }
        self.all_taking_part(to)?;
        let client = to
            .iter()
            .position(|id| self.person(id.as_str().unwrap()).unwrap().role == "client");
        if let Some(index) = client {
            return refused(&format!("INVALID_ARGUMENT to[{index}]"));
        }
        let question = json!({
            "from": self.people[who].id,
            "to": body["to"],
            "capability": body["capability"],
            "body": body["body"],
            "choices": body["choices"],
            "state": "open",
            "askedAt": self.now,
            "answer": null,
            "requestId": body["requestId"],
            "workstreamId": body["workstreamId"],
        });
        self.questions.push(question.clone());
        let audience = match (to, body["capability"].as_str()) {
            (_, Some(capability)) => Audience::WhoCan(capability.to_owned()),
            ([], None) => Audience::Everyone,
            (to, None) => self.readers(to, who),
        };
        self.tell("question", Value::Null, who, audience);
        Ok(json!({ "question": question }))
    }

    pub fn answer(&mut self, who: usize, body: &Value) -> Answer {
        let (id, me) = (text(body, "questionId"), self.people[who].id.clone());
        let question = find(&self.questions, "questionId", id, "QUESTION_NOT_FOUND")?;
        let addressed = match question["capability"].as_str() {
            Some(capability) => self.can(&me, capability),
            None => list(question, "to").is_empty() || has(question, "to", &me),
        };
        if !addressed && !self.decides(who) {
            return refused("NOT_ADDRESSED");
        }
        if question["state"] == "answered" {
            return refused("QUESTION_CLOSED");
        }
        if let Some(choice) = body["choice"].as_str()
            && !has(question, "choices", choice)
        {
            return refused("INVALID_ARGUMENT choice");
        }
        let now = self.now;
        let question = find_mut(&mut self.questions, "questionId", id);
        question["state"] = json!("answered");
        question["answer"] = json!({"from": me, "body": body["body"], "choice": body["choice"], "at": now});
        let question = question.clone();
        let told = self.readers(&[question["from"].clone()], who);
        self.tell("answer", json!(id), who, told);
        Ok(json!({ "question": question }))
    }

    pub fn record_decision(&mut self, who: usize, body: &Value) -> Answer {
        self.named_workstream(body)?;
        if let Some(id) = body["supersedes"].as_str() {
            find(&self.decisions, "decisionId", id, "DECISION_NOT_FOUND")?;
            if self.decisions.iter().any(|later| later["supersedes"] == id) {
                return refused("DECISION_SUPERSEDED");
            }
        }
        let decision = json!({
            "title": body["title"],
            "decision": body["decision"],
            "supersedes": body["supersedes"],
            "recordedBy": self.people[who].id,
            "recordedAt": self.now,
            "workstreamId": body["workstreamId"],
        });
        self.decisions.push(decision.clone());
        self.tell("decision", Value::Null, who, Audience::Everyone);
        Ok(json!({ "decision": decision }))
    }

    fn reaches(&self, item: &Item, me: &str) -> bool {
        match &item.to {
            Audience::These(readers) => readers.iter().any(|reader| reader == me),
            Audience::WhoCan(capability) => item.from != me && self.can(me, capability),
            Audience::Everyone => item.from != me,
        }
    }

    /// Whether nothing is left to do about an item.
    fn is_settled(&self, item: &Item, me: &str) -> bool {
        let id = item.subject.as_str().unwrap();
        let request = || find(&self.requests, "requestId", id, "").unwrap();
        match item.kind {
            "question" => find(&self.questions, "questionId", id, "").unwrap()["state"] == "answered",
            "request" => {
                self.is_closed(request()) || Self::is_full(request()) || Self::is_assigned(request(), me)
            }
            "reassignment" => self.is_closed(request()),
            "proposal" => find(&self.proposals, "proposalId", id, "").unwrap()["state"] != "pending",
            _ => false,
        }
    }

    fn item_state(&self, item: &Item, me: &str) -> String {
        let settled = self.is_settled(item, me);
        match item.marks.get(me) {
            Some((state, when_settled)) if *when_settled || !settled => state.clone(),
            _ if settled => "resolved".to_owned(),
            _ => "pending".to_owned(),
        }
    }

    /// What somebody finds in its inbox, by time.
    pub fn inbox(&self, who: usize) -> Vec<Value> {
        let me = self.people[who].id.as_str();
        let told = self.items.iter().filter(|item| self.reaches(item, me));
        let mut items: Vec<Value> = told
            .map(|item| {
                json!({
                    "kind": item.kind,
                    "subjectId": item.subject,
                    "from": item.from,
                    "at": item.at,
                    "state": self.item_state(item, me),
                })
            })
            .collect();
        items.extend(self.lapsed(me, i64::MIN).map(|claim| {
            let state = self.lapses.get(text(claim, "claimId"));
            json!({
                "kind": "claim-lapsed",
                "subjectId": claim["claimId"],
                "from": null,
                "at": claim["expiresAt"],
                "state": state.map_or("pending", String::as_str),
                "preview": claim["resourceId"],
            })
        }));
        items.sort_by_key(|item| key(item, int(item, "at")));
        items
    }

    pub fn list_inbox(&self, who: usize, body: &Value) -> Value {
        let all = self.inbox(who);
        let pending = all.iter().filter(|item| item["state"] == "pending").count();
        let state = body["state"].as_str().unwrap_or("pending");
        let wanted = all.into_iter().filter(|item| {
            (state == "all" || item["state"] == state)
                && (body["kinds"].is_null() || has(body, "kinds", text(item, "kind")))
        });
        json!({"items": wanted.collect::<Vec<_>>(), "pendingCount": pending})
    }

    /// Takes the ids of items from what the desk listed.
    pub fn learn_items(&mut self, answer: &Value) {
        for item in list(answer, "items") {
            let at: a2a_edge::time::Timestamp = serde_json::from_value(item["at"].clone()).unwrap();
            let known = key(item, at.as_millis());
            self.item_ids.insert(known, text(item, "itemId").to_owned());
        }
    }

    /// The items of an inbox whose ids are known, with them.
    pub fn known_items(&self, who: usize) -> Vec<(String, Value)> {
        let known = |item: Value| {
            let id = self.item_ids.get(&key(&item, int(&item, "at")))?;
            Some((id.clone(), item))
        };
        self.inbox(who).into_iter().filter_map(known).collect()
    }

    pub fn update_inbox(&mut self, who: usize, body: &Value) -> Answer {
        let (me, state) = (self.people[who].id.clone(), text(body, "state").to_owned());
        let mine = self.known_items(who);
        let mut found: Vec<(String, Value)> = Vec::new();
        for id in list(body, "itemIds") {
            let Some(item) = mine.iter().find(|(known, _)| id == known.as_str()) else {
                return refused("INBOX_ITEM_NOT_FOUND");
            };
            if !found.contains(item) {
                found.push(item.clone());
            }
        }
        for (_, item) in &mut found {
            // What is so already stays as it was, and when it came to be so.
            if item["state"] == state.as_str() {
                continue;
            }
            item["state"] = json!(state);
            if item["kind"] == "claim-lapsed" {
                self.lapses
                    .insert(text(item, "subjectId").to_owned(), state.clone());
                continue;
            }
            let same = |it: &Item| {
                (it.at, it.kind) == (int(item, "at"), text(item, "kind")) && it.subject == item["subjectId"]
            };
            let index = self.items.iter().position(same).unwrap();
            let settled = self.is_settled(&self.items[index], &me);
            self.items[index]
                .marks
                .insert(me.clone(), (state.clone(), settled));
        }
        let items: Vec<Value> = found.into_iter().map(|(_, item)| item).collect();
        Ok(json!({ "items": items }))
    }
}

/// What an item is known by.
pub fn key(item: &Value, at: i64) -> super::ItemKey {
    (
        at,
        text(item, "kind").to_owned(),
        text(item, "subjectId").to_owned(),
    )
}
