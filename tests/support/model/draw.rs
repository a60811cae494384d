//! What the participants of a game ask for: mostly what can be done, and often enough what can't.

use serde_json::{Value, json};

use super::super::random::Random;
use super::claims::RESOURCES;
use super::{Model, int, text};

/// The participants that act, in the order of admission: an owner, an admin, three members. After them come a client
/// and somebody whose access was revoked.
pub const ACTING: usize = 5;

/// Draws an operation with its body, by what the model holds.
pub fn operation(random: &mut Random, model: &Model, who: usize) -> (&'static str, Value) {
    let mut draw = Draw { random, model, who };
    match draw.kind() {
        0..=2 => ("presence.announce", draw.presence()),
        3 => (
            "participants.list",
            json!({"includeOffline": draw.random.one_in(2)}),
        ),
        4 => (
            "status.announce",
            draw.with_workstream(json!({"status": "on it"})),
        ),
        5..=8 => ("claims.acquire", draw.claim()),
        9..=10 => (
            "claims.release",
            json!({"claimId": draw.id(&model.claims, "claimId")}),
        ),
        11 => {
            let resource = draw.random.pick(&RESOURCES);
            let claim_type = draw.random.pick(&["exclusive", "shared"]);
            let wanted = json!({"resourceId": resource, "claimType": claim_type});
            (
                "claims.check",
                json!({"resources": [wanted, {"resourceId": "pr:1"}]}),
            )
        }
        12..=13 => ("requests.create", draw.request()),
        14..=19 => ("requests.update", draw.update()),
        20 => ("requests.list", draw.request_list()),
        21..=22 => ("questions.ask", draw.question()),
        23..=24 => ("questions.answer", draw.answer()),
        25..=26 => ("inbox.list", draw.inbox_list()),
        27..=28 => ("inbox.update", draw.inbox_update()),
        29 => ("decisions.record", draw.decision()),
        30..=31 => ("knowledge.propose", draw.proposal()),
        32 => draw.verdict(),
        33 => draw.knowledge(),
        34 => ("workstreams.create", draw.workstream()),
        35 => draw.workstreams(),
        36..=38 => ("workstreams.update", draw.workstream_update()),
        39..=42 => ("workstreams.link", draw.link()),
        _ => {
            let body = draw.resource_of(draw.model);
            ("workstreams.unlink", body)
        }
    }
}

struct Draw<'a> {
    random: &'a mut Random,
    model: &'a Model,
    who: usize,
}

impl Draw<'_> {
    /// The number of an operation: of one that makes something, where there is too little to do another with.
    fn kind(&mut self) -> usize {
        let model = self.model;
        match self.random.below(44) {
            kind if self.random.one_in(20) => kind,
            9..=10 if model.claims.is_empty() => 5,
            14..=20 if model.requests.is_empty() => 12,
            23..=24 if model.questions.is_empty() => 21,
            32 if model.proposals.is_empty() => 30,
            33 if model.entries.is_empty() => 32,
            35..=38 if model.workstreams.is_empty() => 34,
            39.. if model.workstreams.len() < 2 => 34,
            kind => kind,
        }
    }

    /// The id of some record, a recent one more often; now and then of none.
    fn id(&mut self, records: &[Value], member: &str) -> Value {
        if records.is_empty() || self.random.one_in(25) {
            return json!("nowhere");
        }
        let recent = records.len().saturating_sub(4);
        let from = if self.random.one_in(4) { 0 } else { recent };
        let index = from + self.random.below(records.len() - from);
        records[index][member].clone()
    }

    fn participant(&mut self) -> Value {
        let whole = if self.random.one_in(8) {
            self.model.people.len()
        } else {
            ACTING
        };
        json!(self.model.people[self.random.below(whole)].id)
    }

    /// Anybody, be it somebody who can't be meant.
    fn anybody(&mut self) -> Value {
        json!(self.random.pick(&self.model.people).id)
    }

    fn participants(&mut self) -> Vec<Value> {
        let mut ids: Vec<Value> = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let id = self.participant();
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    fn with_workstream(&mut self, mut body: Value) -> Value {
        let wanted = if self.model.workstreams.is_empty() { 50 } else { 5 };
        if self.random.one_in(wanted) {
            body["workstreamId"] = self.id(&self.model.workstreams, "workstreamId");
        }
        body
    }

    fn with_request(&mut self, mut body: Value) -> Value {
        let wanted = if self.model.requests.is_empty() { 50 } else { 5 };
        if self.random.one_in(wanted) {
            body["requestId"] = self.id(&self.model.requests, "requestId");
        }
        body
    }

    fn presence(&mut self) -> Value {
        let mut body = json!({});
        if self.random.one_in(2) {
            body["state"] = json!(self.random.pick(&["idle", "away", "active"]));
            body["ttlSeconds"] = json!(self.random.pick(&[15, 60, 600]));
        }
        if self.random.one_in(3) {
            body["capabilities"] = json!(self.random.pick(&[&["rust"][..], &["sql", "rust"], &[]]));
            body["activity"] = json!("reading");
        }
        if self.random.one_in(4) {
            body["client"] = json!({"name": "desk", "version": "1"});
        }
        if self.random.one_in(3) {
            body["renewClaims"] = json!(false);
        }
        body
    }

    fn claim(&mut self) -> Value {
        let mut body = json!({
            "resourceId": self.random.pick(&RESOURCES),
            "leaseSeconds": self.random.pick(&[30, 90, 300]),
        });
        if self.random.one_in(3) {
            body["claimType"] = json!("shared");
        }
        let body = self.with_request(body);
        self.with_workstream(body)
    }

    fn request(&mut self) -> Value {
        let mut body = json!({"title": "Fix it", "maxAssignees": 1 + self.random.below(2)});
        if self.random.one_in(3) {
            body["to"] = json!(self.participants());
        }
        if self.random.one_in(3) {
            body["expiresInSeconds"] = json!(self.random.pick(&[60, 120]));
            body["priority"] = json!("high");
            body["labels"] = json!(["a"]);
        }
        self.with_workstream(body)
    }

    fn update(&mut self) -> Value {
        let actions = [
            "claim", "claim", "claim", "unclaim", "progress", "complete", "cancel", "reassign", "hold",
        ];
        let action = *self.random.pick(&actions);
        let mut body = json!({"requestId": self.id(&self.model.requests, "requestId"), "action": action});
        if self.random.one_in(3) {
            body["note"] = json!("so far");
        }
        match action {
            "progress" => {
                body["stage"] = self
                    .random
                    .pick(&[json!("review"), json!("landing"), json!(null)])
                    .clone()
            }
            "reassign" => body["assignee"] = self.anybody(),
            "hold" => {
                body["gate"] = json!("scope");
                body["reason"] = json!("it grows");
            }
            _ => {}
        }
        body
    }

    fn request_list(&mut self) -> Value {
        let mut body = self.with_workstream(json!({"pageSize": 100}));
        if self.random.one_in(2) {
            let states = ["open", "claimed", "completed", "cancelled", "expired"];
            body["state"] = json!(self.random.pick(&states));
        }
        if self.random.one_in(3) {
            body["assignee"] = json!("me");
        }
        if self.random.one_in(3) {
            body["createdBy"] = self.participant();
        }
        body
    }

    fn question(&mut self) -> Value {
        let mut body = json!({"body": "Which?", "choices": ["a", "b"]});
        match self.random.below(8) {
            0..=2 => body["to"] = json!(self.participants()),
            3..=4 => body["capability"] = json!("rust"),
            5 if self.random.one_in(3) => {
                body["to"] = json!(self.participants());
                body["capability"] = json!("rust");
            }
            _ => {}
        }
        let body = self.with_request(body);
        self.with_workstream(body)
    }

    fn answer(&mut self) -> Value {
        let id = self.id(&self.model.questions, "questionId");
        match self.random.below(4) {
            0 => json!({"questionId": id, "body": "Neither."}),
            1 => json!({"questionId": id, "choice": "c"}),
            _ => json!({"questionId": id, "choice": "a"}),
        }
    }

    fn inbox_list(&mut self) -> Value {
        let mut body = json!({"pageSize": 100, "state": "all"});
        if self.random.one_in(4) {
            body["state"] = json!(self.random.pick(&["pending", "acknowledged", "resolved"]));
            body["kinds"] = json!(["request", "claim-lapsed", "answer"]);
        }
        body
    }

    fn inbox_update(&mut self) -> Value {
        let mine = self.model.known_items(self.who);
        let mut ids: Vec<Value> = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            if !mine.is_empty() {
                ids.push(json!(self.random.pick(&mine).0));
            }
        }
        if ids.is_empty() || self.random.one_in(8) {
            let known: Vec<&String> = self.model.item_ids.values().collect();
            ids.push(match known.as_slice() {
                [] => json!("item-99"),
                known => json!(self.random.pick(known)),
            });
        }
        let state = self.random.pick(&["acknowledged", "resolved", "pending"]);
        json!({"itemIds": ids, "state": state})
    }

    fn decision(&mut self) -> Value {
        let mut body = json!({"title": "So", "decision": "be it"});
        let wanted = if self.model.decisions.is_empty() { 50 } else { 2 };
        if self.random.one_in(wanted) {
            body["supersedes"] = self.id(&self.model.decisions, "decisionId");
        }
        self.with_workstream(body)
    }

    /// The id of an entry, and its latest version.
    fn entry(&mut self) -> (Value, usize) {
        let entries = &self.model.entries;
        if entries.is_empty() || self.random.one_in(15) {
            return (json!("nowhere"), 1);
        }
        let (id, versions) = self.random.pick(entries);
        (id.clone(), versions.len())
    }

    fn proposal(&mut self) -> Value {
        let title = self.random.pick(&["Alpha", "Beta"]);
        let mut body = json!({"title": title, "body": "So it is.", "tags": ["x"]});
        let wanted = if self.model.entries.is_empty() { 50 } else { 2 };
        if self.random.one_in(wanted) {
            let (id, latest) = self.entry();
            body["knowledgeId"] = id;
            if self.random.one_in(2) {
                body["baseVersion"] = json!(1 + self.random.below(latest + 1));
            }
        } else if self.random.one_in(12) {
            body["baseVersion"] = json!(1);
        }
        body
    }

    fn verdict(&mut self) -> (&'static str, Value) {
        let id = self.id(&self.model.proposals, "proposalId");
        if self.random.one_in(4) {
            return ("knowledge:reject", json!({"proposalId": id, "reason": "no"}));
        }
        let confirm = self.random.one_in(3);
        ("knowledge:accept", json!({"proposalId": id, "confirm": confirm}))
    }

    fn knowledge(&mut self) -> (&'static str, Value) {
        if self.random.one_in(2) {
            let mut body = json!({"pageSize": 100});
            if self.random.one_in(2) {
                body["query"] = json!(self.random.pick(&["ALPH", "x", "zz"]));
            }
            if self.random.one_in(3) {
                body["tag"] = json!("x");
            }
            return ("knowledge.list", body);
        }
        let (id, latest) = self.entry();
        let mut body = json!({"knowledgeId": id});
        if self.random.one_in(2) {
            body["version"] = json!(1 + self.random.below(latest + 1));
        }
        ("knowledge.read", body)
    }

    fn workstream(&mut self) -> Value {
        let mut body = json!({"title": "Rate limits", "intent": "fair use"});
        if self.random.one_in(2) {
            body["participants"] = json!(self.participants());
        }
        body
    }

    fn workstreams(&mut self) -> (&'static str, Value) {
        if self.random.one_in(2) {
            let id = self.id(&self.model.workstreams, "workstreamId");
            let body = json!({"workstreamId": id, "includeHistory": true, "pageSize": 100});
            return ("workstreams.get", body);
        }
        let mut body = json!({"includeArchived": self.random.one_in(2)});
        if self.random.one_in(4) {
            body["lifecycle"] = json!(self.random.pick(&["active", "archived"]));
        }
        ("workstreams.list", body)
    }

    /// A workstream and the version that the caller believes it has.
    fn at(&mut self) -> Value {
        let id = self.id(&self.model.workstreams, "workstreamId");
        let known = self.model.workstreams.iter().find(|it| it["workstreamId"] == id);
        let version = known.map_or(1, |it| int(it, "version"));
        let stale = i64::from(self.random.one_in(8));
        json!({"workstreamId": id, "expectedVersion": (version - stale).max(1)})
    }

    fn workstream_update(&mut self) -> Value {
        let mut body = self.at();
        match self.random.below(8) {
            0 => body["title"] = json!("Quotas"),
            1 => body["owner"] = self.anybody(),
            2 => body["participants"] = json!(self.participants()),
            3 => body["lifecycle"] = json!(self.random.pick(&["active", "paused", "completed"])),
            4 if self.random.one_in(2) => body["lifecycle"] = json!("archived"),
            5 => body["checkpoint"] = json!({"summary": "half way", "next": "the rest"}),
            _ => body["addEvidence"] = json!([{"kind": "test", "summary": "green"}]),
        }
        body
    }

    fn resource(&mut self) -> Value {
        let (kind, id) = match self.random.below(6) {
            0 => ("request", self.id(&self.model.requests, "requestId")),
            1 => ("claim", self.id(&self.model.claims, "claimId")),
            2 => ("question", self.id(&self.model.questions, "questionId")),
            3 => ("decision", self.id(&self.model.decisions, "decisionId")),
            4 if !self.model.entries.is_empty() => ("knowledge", self.entry().0),
            _ => ("external", json!(self.random.pick(&["x", "y"]))),
        };
        json!({"kind": kind, "id": id})
    }

    /// A workstream with a resource, which it mostly holds.
    fn resource_of(&mut self, model: &Model) -> Value {
        let mut body = self.at();
        let workstream = model
            .workstreams
            .iter()
            .find(|it| it["workstreamId"] == body["workstreamId"]);
        let links = workstream.map_or(&[][..], |it| super::list(it, "links"));
        body["resource"] = if links.is_empty() || self.random.one_in(4) {
            self.resource()
        } else {
            self.random.pick(links)["resource"].clone()
        };
        body
    }

    fn link(&mut self) -> Value {
        let mut body = self.at();
        if self.random.one_in(2) {
            let mut from = self.resource_of(self.model);
            while from["workstreamId"] == body["workstreamId"] && !self.random.one_in(20) {
                from = self.resource_of(self.model);
            }
            body["resource"] = from["resource"].clone();
            // Mostly moved, sometimes only wanted.
            if !self.random.one_in(3) {
                let (id, version) = (text(&from, "workstreamId"), &from["expectedVersion"]);
                body["from"] = json!({"workstreamId": id, "expectedVersion": version});
            }
            return body;
        }
        body["resource"] = self.resource();
        body
    }
}
