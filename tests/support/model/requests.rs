//! Requests: work that some may take, up to a capacity and until a time.

use serde_json::{Value, json};

use super::{Answer, Audience, Item, Model, OPEN_REQUESTS, find, find_mut, has, list, refused, text};

impl Model {
    /// Where a request stands now.
    pub fn state(&self, request: &Value) -> String {
        let closed = matches!(text(request, "state"), "completed" | "cancelled");
        match request["expiresAt"].as_i64() {
            Some(expiry) if expiry <= self.now && !closed => "expired".to_owned(),
            _ => text(request, "state").to_owned(),
        }
    }

    pub fn is_closed(&self, request: &Value) -> bool {
        !matches!(self.state(request).as_str(), "open" | "claimed")
    }

    pub fn is_assigned(request: &Value, id: &str) -> bool {
        list(request, "assignees")
            .iter()
            .any(|one| one["participantId"] == id)
    }

    pub fn is_full(request: &Value) -> bool {
        list(request, "assignees").len() as u64 >= request["maxAssignees"].as_u64().unwrap()
    }

    pub fn create_request(&mut self, who: usize, body: &Value) -> Answer {
        for (index, id) in list(body, "to").iter().enumerate() {
            if self.taking_part(id.as_str().unwrap())?.role == "client" {
                return refused(&format!("INVALID_ARGUMENT to[{index}]"));
            }
        }
        self.named_workstream(body)?;
        let open = self.requests.iter().filter(|it| !self.is_closed(it));
        if open.count() >= OPEN_REQUESTS {
            return refused("SESSION_LIMIT");
        }
        let expires = body["expiresInSeconds"]
            .as_i64()
            .map(|seconds| self.now + seconds * 1000);
        let request = json!({
            "title": body["title"],
            "state": "open",
            "createdBy": self.people[who].id,
            "createdAt": self.now,
            "expiresAt": expires,
            "maxAssignees": body["maxAssignees"].as_u64().unwrap_or(1),
            "assignees": [],
            "stage": null,
            "priority": body["priority"].as_str().unwrap_or("none"),
            "labels": list(body, "labels"),
            "notes": [],
            "workstreamId": body["workstreamId"],
            "to": body["to"],
        });
        self.requests.push(request.clone());
        let to = match list(body, "to") {
            [] => Audience::Everyone,
            to => self.readers(to, who),
        };
        self.tell("request", Value::Null, who, to);
        Ok(json!({ "request": request }))
    }

    pub fn list_requests(&self, who: usize, body: &Value) -> Value {
        let me = |member: &str| {
            let name = body[member].as_str()?;
            Some(if name == "me" { &self.people[who].id } else { name }.to_owned())
        };
        let (assignee, creator) = (me("assignee"), me("createdBy"));
        let wanted = self.requests.iter().filter(|request| {
            let state = body["state"].as_str();
            state.is_none_or(|state| self.state(request) == state)
                && assignee.as_ref().is_none_or(|id| Self::is_assigned(request, id))
                && creator
                    .as_ref()
                    .is_none_or(|id| request["createdBy"] == id.as_str())
                && (body["workstreamId"].is_null() || request["workstreamId"] == body["workstreamId"])
        });
        let shown = wanted.map(|request| {
            let mut shown = request.clone();
            shown["state"] = json!(self.state(request));
            shown
        });
        json!({"requests": shown.collect::<Vec<_>>()})
    }

    pub fn update_request(&mut self, who: usize, body: &Value) -> Answer {
        let (id, action) = (text(body, "requestId"), text(body, "action"));
        let request = find(&self.requests, "requestId", id, "REQUEST_NOT_FOUND")?;
        let me = self.people[who].id.clone();
        let (mine, decides) = (Self::is_assigned(request, &me), self.decides(who));
        let allowed = match action {
            "claim" => true,
            "cancel" => decides || request["createdBy"] == me.as_str(),
            "reassign" => decides,
            _ => mine,
        };
        if !allowed {
            return refused("NOT_OWNER");
        }
        if self.is_closed(request) {
            return refused("REQUEST_CLOSED");
        }
        if action == "claim" {
            if mine {
                return refused("ALREADY_CLAIMED");
            }
            if !list(request, "to").is_empty() && !has(request, "to", &me) && !decides {
                return refused("NOT_ADDRESSED");
            }
            if Self::is_full(request) {
                return refused("REQUEST_AT_CAPACITY");
            }
        }
        let assignee = text(body, "assignee").to_owned();
        if action == "reassign" && self.taking_part(&assignee)?.role == "client" {
            return refused("INVALID_ARGUMENT assignee");
        }
        let now = self.now;
        let request = find_mut(&mut self.requests, "requestId", id);
        let before: Vec<Value> = list(request, "assignees").to_vec();
        match action {
            "claim" => {
                let mut after = before.clone();
                after.push(json!({"participantId": me, "claimedAt": now}));
                request["assignees"] = json!(after);
                request["state"] = json!("claimed");
            }
            "unclaim" => {
                let left: Vec<_> = before
                    .iter()
                    .filter(|it| it["participantId"] != me.as_str())
                    .collect();
                if left.is_empty() {
                    request["state"] = json!("open");
                    request["stage"] = Value::Null;
                }
                request["assignees"] = json!(left);
            }
            "progress" => {
                if let Some(stage) = body.get("stage") {
                    request["stage"] = stage.clone();
                }
            }
            "complete" => request["state"] = json!("completed"),
            "cancel" => request["state"] = json!("cancelled"),
            "reassign" => {
                request["assignees"] = json!([{"participantId": assignee, "claimedAt": now}]);
                request["state"] = json!("claimed");
            }
            _ => {}
        }
        if !body["note"].is_null() {
            let note = json!({"from": me, "body": body["note"], "at": now});
            request["notes"].as_array_mut().unwrap().push(note);
        }
        let mut answer = request.clone();
        answer["updatedAt"] = json!(now);
        if action == "reassign" {
            let mut told: Vec<Value> = before.iter().map(|it| it["participantId"].clone()).collect();
            told.push(json!(assignee));
            let told = self.readers(&told, who);
            self.tell("reassignment", json!(id), who, told);
        }
        Ok(json!({ "request": answer }))
    }

    /// Those of some who have an inbox and are not the one who acts.
    pub fn readers(&self, ids: &[Value], who: usize) -> Audience {
        let mut readers: Vec<String> = Vec::new();
        for id in ids.iter().filter_map(Value::as_str) {
            let person = self.person(id).unwrap();
            let reads = person.role != "client" && !person.revoked && id != self.people[who].id;
            if reads && !readers.iter().any(|known| known == id) {
                readers.push(id.to_owned());
            }
        }
        Audience::These(readers)
    }

    pub fn tell(&mut self, kind: &'static str, subject: Value, who: usize, to: Audience) {
        self.items.push(Item {
            kind,
            subject,
            from: self.people[who].id.clone(),
            at: self.now,
            to,
            marks: std::collections::BTreeMap::new(),
        });
    }
}
