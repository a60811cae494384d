//! A desk with a little of everything on it, the requests that it takes, and what must hold of each of its answers.

use std::cell::Cell;

use a2a_edge::guard::Reach;
use a2a_edge::session::Token;
use serde_json::{Value, json};

use super::support::{Bench, COORDINATION, ENVELOPE, GATE, OPERATOR, Reply, WORK};

/// A request that the desk takes, to be spoiled.
#[derive(Clone, Debug)]
pub struct Sound {
    pub method: &'static str,
    pub path: String,
    pub token: String,
    pub extensions: String,
    pub body: Value,
}

/// A desk with a little of everything, the requests it takes, and what nobody is to be told.
pub struct Stage {
    pub bench: Bench,
    pub sound: Vec<Sound>,
    pub secrets: Vec<String>,
    sent: Cell<u32>,
}

const COORDINATION_PATH: &str = "/extensions/session-coordination/v1";

impl Stage {
    pub fn new() -> Self {
        let bench = Bench::with(|config| config.webhooks = Some(Reach::Public));
        let all = [WORK, ENVELOPE, GATE, COORDINATION].join(",");
        let handoff = json!({"metadata": {WORK: {"skill": "handoff", "title": "t", "acceptance": ["a"], "writes": ["src/**"],
            "priority": "high", "labels": ["l"]}}, "messageId": "FRESH1"});
        let task = |sent: Reply| sent.ok()["task"]["id"].as_str().unwrap().to_owned();
        let proposed = task(bench.send(&bench.client, WORK, &handoff));
        let asked = task(bench.send(&bench.client, "", &json!({})));
        let worked = task(bench.send(&bench.client, "", &json!({})));
        bench
            .operate(
                &bench.owner,
                "tasks:ask",
                &json!({"taskId": asked, "body": "Which?", "choices": ["east", "west"]}),
            )
            .ok();
        let request = bench.state().task(&worked).unwrap().request_id.clone().unwrap();
        bench
            .coordinate(
                &bench.member,
                "requests:update",
                &json!({"requestId": request, "action": "claim"}),
            )
            .ok();
        let envelope = json!({"to": [bench.address(&bench.owner)], "kind": "question", "replyTo": "m", "blocking": true,
            "choices": ["a"], "choice": "a", "refs": [{"type": "task", "id": proposed}]});
        let parts = json!([{"text": "Please.", "mediaType": "text/plain"}, {"data": {"a": [1, null]}},
            {"url": "https://example.com/a?b", "filename": "a", "metadata": {"k": 1}}]);
        let message = |more: Value| {
            let mut message =
                json!({"messageId": "FRESH1", "role": "ROLE_USER", "parts": parts, "extensions": [WORK]});
            message
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            json!({"message": message, "configuration": {"returnImmediately": true, "historyLength": 2, "acceptedOutputModes": ["text/plain"]}})
        };
        let artifacts = json!([
            {"artifactId": "pr", "parts": [{"text": "p"}], "metadata": {WORK: {"kind": "pr", "url": "https://e.com/7", "number": 7, "state": "open"}}},
            {"artifactId": "diffstat", "parts": [{"text": "d"}], "metadata": {WORK: {"kind": "diffstat", "files": 1, "insertions": 1, "deletions": 0,
                "perFile": [{"path": "a", "insertions": 1, "deletions": 0}]}}},
            {"artifactId": "evidence", "name": "e", "parts": [{"raw": "AA=="}], "metadata": {WORK: {"kind": "evidence", "items": [
                {"command": "c", "exitCode": 0, "durationMs": 1, "summary": "s"}]}}},
        ]);
        let client = bench.client.clone();
        let core = |method, path: &str, body: Value| Sound {
            method,
            path: path.to_owned(),
            token: client.clone(),
            extensions: all.clone(),
            body,
        };
        let within = |operation: &str, body: Value| Sound {
            token: bench.member.clone(),
            ..core("POST", &format!("{COORDINATION_PATH}/{operation}"), body)
        };
        let owner = |verb: &str, body: Value| Sound {
            token: bench.owner.clone(),
            ..core("POST", &format!("/operator/v1/{verb}"), body)
        };
        let update = |more: Value| {
            let mut body = json!({"requestId": request, "idempotencyKey": "FRESH2"});
            body.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            within("requests:update", body)
        };
        let list = "/tasks?contextId=c&status=TASK_STATE_WORKING&pageSize=3&pageToken=&historyLength=1\
                    &statusTimestampAfter=2026-01-01T00:00:00Z&includeArtifacts=true";
        let sound = vec![
            core(
                "POST",
                "/message:send",
                message(json!({"metadata": {ENVELOPE: envelope}})),
            ),
            core("POST", "/message:send", message(handoff)),
            core(
                "POST",
                "/message:send",
                message(json!({"metadata": {WORK: {"skill": "status", "task": proposed}}})),
            ),
            core(
                "POST",
                "/message:send",
                message(json!({"taskId": asked, "metadata": {ENVELOPE: {"choice": "west"}}})),
            ),
            core("GET", list, json!({})),
            core("GET", &format!("/tasks/{proposed}?historyLength=1"), json!({})),
            core(
                "POST",
                &format!("/tasks/{asked}:cancel"),
                json!({"metadata": {"a": 1}}),
            ),
            core("GET", "/.well-known/agent-card.json", json!({})),
            core("POST", "/message:stream", message(json!({}))),
            within(
                "requests:create",
                json!({"title": "t", "body": "b", "to": [], "maxAssignees": 2, "expiresInSeconds": 60,
                "priority": "low", "labels": ["l"], "acceptance": ["a"], "idempotencyKey": "FRESH3"}),
            ),
            within(
                "requests:list",
                json!({"state": "open", "assignee": "me", "createdBy": "me", "pageSize": 5}),
            ),
            within(
                "participants:list",
                json!({"includeOffline": false, "pageSize": 5}),
            ),
            within(
                "presence:announce",
                json!({"state": "idle", "activity": "a", "ttlSeconds": 60, "capabilities": ["c"],
                "client": {"name": "n", "version": "1"}, "renewClaims": true, "idempotencyKey": "FRESH4"}),
            ),
            within(
                "status:announce",
                json!({"status": "s", "blockedOn": "b", "resources": ["src/**", "pr:12"]}),
            ),
            within(
                "claims:check",
                json!({"resources": [{"resourceId": "src/**", "claimType": "shared"}]}),
            ),
            core(
                "POST",
                &format!("/tasks/{asked}/pushNotificationConfigs"),
                json!({"id": "c", "url": "https://client.example/hook?a=b", "token": "t",
                    "authentication": {"scheme": "Bearer", "credentials": "c"}}),
            ),
            within(
                "claims:acquire",
                json!({"resourceId": "src/**", "claimType": "exclusive", "leaseSeconds": 60, "reason": "r",
                "idempotencyKey": "FRESH5"}),
            ),
            within("claims:release", json!({"claimId": "claim-nowhere"})),
            update(json!({"action": "progress", "note": "n", "stage": "review", "artifacts": artifacts})),
            update(json!({"action": "claim"})),
            Sound {
                token: bench.owner.clone(),
                ..update(json!({"action": "reassign", "assignee": "p-nobody"}))
            },
            owner(
                "participants:add",
                json!({"displayName": "n", "kind": "agent", "role": "client"}),
            ),
            owner("participants:revoke", json!({"participantId": "p-nobody"})),
            owner("participants:list", json!({})),
            owner(
                "tasks:list",
                json!({"state": "all", "pageSize": 2, "pageToken": ""}),
            ),
            owner("tasks:get", json!({"taskId": proposed})),
            owner("tasks:approve", json!({"taskId": "task-nowhere"})),
            owner("tasks:decline", json!({"taskId": "task-nowhere", "reason": "r"})),
            owner("tasks:drop", json!({"taskId": proposed, "reason": "r"})),
            owner(
                "tasks:ask",
                json!({"taskId": worked, "body": "b", "choices": ["a"]}),
            ),
            Sound {
                token: OPERATOR.into(),
                ..owner(
                    "sessions:create",
                    json!({"owner": {"displayName": "o", "kind": "human"}}),
                )
            },
        ];
        let secrets = secrets(&bench);
        Self {
            bench,
            sound,
            secrets,
            sent: Cell::new(0),
        }
    }

    /// Ids that must be new are called FRESH in what is to be sent.
    pub fn request(&self, sound: &Sound, body: &[u8]) -> Reply {
        self.sent.set(self.sent.get() + 1);
        let fresh = format!("{:05}", self.sent.get());
        let mut body = body.to_vec();
        while let Some(at) = body.windows(5).position(|bytes| bytes == b"FRESH") {
            body[at..at + 5].copy_from_slice(fresh.as_bytes());
        }
        let reply = self
            .bench
            .request(sound.method, &sound.path, &sound.token, &sound.extensions, &body);
        self.check(&reply, &sound.path);
        let streams = reply.headers["content-type"] == "text/event-stream";
        assert!(streams || reply.body.is_object(), "{reply:?}");
        reply
    }

    /// What holds of every answer.
    pub fn check(&self, reply: &Reply, path: &str) {
        let text = format!("{:?}{}", reply.headers, reply.body);
        assert!(
            matches!(reply.status, 200 | 204 | 304) || (400..500).contains(&reply.status),
            "{} {text}",
            reply.status
        );
        for secret in &self.secrets {
            assert!(!text.contains(secret.as_str()), "{secret} in {text}");
        }
        // What a stream tells is looked at elsewhere; what a HEAD and an OPTIONS do stands in the headers.
        if reply.body.is_null() {
            return;
        }
        assert!(reply.headers["content-type"].contains("json"), "{text}");
        if reply.status == 200 {
            assert!(reply.body.is_object(), "{text}");
            return;
        }
        let error = &reply.body["error"];
        let info = &error["details"][0];
        assert_eq!(
            info["@type"], "type.googleapis.com/google.rpc.ErrorInfo",
            "{text}"
        );
        for (of, member) in [
            (info, "reason"),
            (info, "domain"),
            (error, "status"),
            (error, "message"),
        ] {
            assert!(
                of[member].as_str().is_some_and(|text| !text.is_empty()),
                "{member}: {text}"
            );
        }
        for value in info
            .get("metadata")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            assert!(value.1.is_string(), "{text}");
        }
        let code = error["code"].as_u64().unwrap();
        assert!(code == u64::from(reply.status) || code <= 16, "{path} {text}");
        assert_eq!(
            reply.status == 401,
            reply.headers.contains_key("www-authenticate"),
            "{text}"
        );
        assert_eq!(reply.status == 405, reply.headers.contains_key("allow"), "{text}");
    }
}

/// Tokens and their secrets, what is kept of them, the seal of page tokens, and how the store calls things.
fn secrets(bench: &Bench) -> Vec<String> {
    let snapshot: Value = serde_json::from_slice(&bench.state().snapshot()).unwrap();
    let mut secrets = vec![
        OPERATOR.to_owned(),
        format!("a2a.{}", bench.session),
        "a2a.~".to_owned(),
    ];
    for token in [&bench.owner, &bench.member, &bench.client] {
        assert!(Token::parse(token).is_some());
        secrets.push(
            token
                .rsplit_once(&format!("{}_", bench.session))
                .unwrap()
                .1
                .to_owned(),
        );
    }
    let mut kept = vec![snapshot["pageKey"].clone()];
    for (id, credential) in snapshot["credentials"].as_object().unwrap() {
        secrets.push(id.clone());
        kept.push(credential["digest"].clone());
    }
    for bytes in kept {
        secrets.push(bytes.to_string());
        let hex = bytes
            .as_array()
            .unwrap()
            .iter()
            .map(|byte| format!("{:02x}", byte.as_u64().unwrap()));
        secrets.push(hex.collect());
    }
    secrets
}
