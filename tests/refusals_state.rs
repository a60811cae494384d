//! What requests and the owner's verbs refuse for what they are and whose they are (session coordination, §9.5,
//! §5 and §6): reasons, idempotency, expiry.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/refusals.rs"]
mod refusals;
#[path = "support/desk.rs"]
mod support;

use a2a_edge::agent::operator;
use refusals::{ACTIONS, create, fields, participant, reason, refused, update};
use serde_json::{Value, json};
use support::{Bench, COORDINATION, OPERATOR};

#[test]
fn claims_are_refused_with_the_reason_of_the_first_rule_they_break() {
    let bench = Bench::new();
    let (second, third) = (bench.admit("member"), bench.admit("member"));
    let to = json!([participant(&bench, &bench.member), participant(&bench, &second)]);
    let request = create(&bench, &json!({"to": to, "maxAssignees": 2}));
    assert_eq!(
        reason(&update(&bench, &third, &request, "claim")),
        "NOT_ADDRESSED"
    );
    update(&bench, &bench.member, &request, "claim").ok();
    assert_eq!(
        reason(&update(&bench, &bench.member, &request, "claim")),
        "ALREADY_CLAIMED"
    );
    // An owner or admin may claim what is addressed to others.
    let admin = bench.admit("admin");
    update(&bench, &admin, &request, "claim").ok();
    assert_eq!(
        refused(&update(&bench, &second, &request, "claim")),
        (400, 9, "REQUEST_AT_CAPACITY".into())
    );
    assert_eq!(
        reason(&update(&bench, &admin, &request, "claim")),
        "ALREADY_CLAIMED"
    );
    assert_eq!(
        reason(&update(&bench, &third, &request, "claim")),
        "NOT_ADDRESSED"
    );
    update(&bench, &admin, &request, "unclaim").ok();
    update(&bench, &second, &request, "claim").ok();
}

#[test]
fn every_action_keeps_its_note() {
    let bench = Bench::new();
    for (role, before, action) in [
        ("member", None, "claim"),
        ("member", Some("claim"), "unclaim"),
        ("member", Some("claim"), "progress"),
        ("member", Some("claim"), "complete"),
        ("admin", None, "cancel"),
        ("admin", None, "reassign"),
    ] {
        let caller = bench.admit(role);
        let request = create(&bench, &json!({}));
        if let Some(before) = before {
            update(&bench, &caller, &request, before).ok();
        }
        let mut body = json!({"requestId": request, "action": action, "note": "Starting with the tests"});
        if action == "reassign" {
            body["assignee"] = json!(participant(&bench, &bench.member));
        }
        let changed = bench.coordinate(&caller, "requests:update", &body).ok();
        let notes = &changed["request"]["notes"];
        assert_eq!(notes[0]["body"], "Starting with the tests", "{action}: {changed}");
        assert_eq!(notes[0]["from"], participant(&bench, &caller), "{action}");
        let listed = bench.coordinate(&caller, "requests:list", &json!({})).ok();
        let listed = listed["requests"].as_array().unwrap();
        assert_eq!(listed.last().unwrap()["notes"], *notes, "{action}");
    }
}

#[test]
fn the_members_read_what_the_owner_approved_with_and_the_client_does_not() {
    let bench = Bench::new();
    let handoff = json!({"metadata": {support::WORK: {"skill": "handoff", "title": "t"}}});
    let task = bench.send(&bench.client, "", &handoff).ok()["task"]["id"].clone();
    let body = json!({"taskId": task, "note": "Only the parser, please."});
    bench.operate(&bench.owner, "tasks:approve", &body).ok();
    let listed = bench.coordinate(&bench.member, "requests:list", &json!({})).ok();
    let notes = &listed["requests"][0]["notes"];
    assert_eq!(notes[0]["body"], "Only the parser, please.", "{listed}");
    assert_eq!(notes[0]["from"], participant(&bench, &bench.owner));
    let seen = bench
        .task(&bench.client, support::WORK, task.as_str().unwrap())
        .ok();
    assert!(!seen.to_string().contains("parser"), "{seen}");
}

#[test]
fn the_members_read_why_work_was_dropped_and_the_client_does_not() {
    let bench = Bench::new();
    let handoff = json!({"metadata": {support::WORK: {"skill": "handoff", "title": "t"}}});
    let task = bench.send(&bench.client, "", &handoff).ok()["task"]["id"].clone();
    let of = json!({ "taskId": task });
    bench.operate(&bench.owner, "tasks:approve", &of).ok();
    let body = json!({"taskId": task, "reason": "Superseded by the rewrite."});
    bench.operate(&bench.owner, "tasks:drop", &body).ok();
    let listed = bench.coordinate(&bench.member, "requests:list", &json!({})).ok();
    let notes = &listed["requests"][0]["notes"];
    assert_eq!(notes[0]["body"], "Superseded by the rewrite.", "{listed}");
    assert_eq!(notes[0]["from"], participant(&bench, &bench.owner));
    let seen = bench
        .task(&bench.client, support::WORK, task.as_str().unwrap())
        .ok();
    assert!(!seen.to_string().contains("Superseded"), "{seen}");
}

#[test]
fn who_does_its_own_request_answers_as_the_agent() {
    let bench = Bench::new();
    let request = bench
        .coordinate(&bench.member, "requests:create", &json!({"title": "Mine"}))
        .ok()["request"]
        .clone();
    let id = request["requestId"].as_str().unwrap();
    update(&bench, &bench.member, id, "claim").ok();
    let body = json!({"requestId": id, "action": "complete", "note": "Done by myself."});
    bench.coordinate(&bench.member, "requests:update", &body).ok();
    let task = bench
        .task(&bench.member, "", request["taskId"].as_str().unwrap())
        .ok();
    let said = |index: usize| {
        let message = &task["history"][index];
        (message["role"].clone(), message["parts"][0]["text"].clone())
    };
    assert_eq!(said(0), (json!("ROLE_USER"), json!("Mine")));
    assert_eq!(said(1), (json!("ROLE_AGENT"), json!("Done by myself.")));
    assert_eq!(
        task["history"][1]["messageId"],
        task["status"]["message"]["messageId"]
    );
}

#[test]
fn only_whose_it_is_acts_on_a_request() {
    let bench = Bench::new();
    let other = bench.admit("member");
    let admin = bench.admit("admin");
    for (action, outsider, assignee, creator, decider) in [
        ("unclaim", 403, 200, 403, 403),
        ("progress", 403, 200, 403, 403),
        ("complete", 403, 200, 403, 403),
        ("cancel", 403, 403, 200, 200),
        ("reassign", 403, 403, 403, 200),
    ] {
        let creator_token = bench.admit("member");
        let ask = |token: &str| {
            let made = bench
                .coordinate(&creator_token, "requests:create", &json!({"title": "t"}))
                .ok();
            let request = made["request"]["requestId"].as_str().unwrap().to_owned();
            update(&bench, &bench.member, &request, "claim").ok();
            let reply = update(&bench, token, &request, action);
            if reply.status != 200 {
                assert_eq!(refused(&reply), (403, 7, "NOT_OWNER".into()));
            }
            reply.status
        };
        assert_eq!(
            [ask(&other), ask(&bench.member), ask(&creator_token), ask(&admin)],
            [outsider, assignee, creator, decider],
            "{action}"
        );
    }
}

#[test]
fn nothing_happens_to_a_closed_request_any_more() {
    let bench = Bench::new();
    type End<'a> = (&'a str, &'a dyn Fn(&str));
    let ends: [End<'_>; 3] = [
        ("completed", &|request| {
            drop(update(&bench, &bench.owner, request, "complete").ok())
        }),
        ("cancelled", &|request| {
            drop(update(&bench, &bench.owner, request, "cancel").ok())
        }),
        ("expired", &|_| bench.wait(60)),
    ];
    for (state, end) in ends {
        let request = create(&bench, &json!({"expiresInSeconds": 60}));
        update(&bench, &bench.owner, &request, "claim").ok();
        end(&request);
        for action in ACTIONS {
            let reply = update(&bench, &bench.owner, &request, action);
            assert_eq!(
                refused(&reply),
                (400, 9, "REQUEST_CLOSED".into()),
                "{state} {action}"
            );
        }
        let list = bench
            .coordinate(&bench.owner, "requests:list", &json!({"state": state}))
            .ok();
        assert_eq!(list["requests"][0]["requestId"], request);
    }
}

#[test]
fn records_that_are_not_there_are_404_with_their_reason() {
    let bench = Bench::new();
    let gone = bench.admit("member");
    let gone_id = participant(&bench, &gone);
    bench
        .operate(
            &bench.owner,
            "participants:revoke",
            &json!({"participantId": gone_id}),
        )
        .ok();
    assert_eq!(bench.coordinate(&gone, "requests:list", &json!({})).status, 401);
    let request = create(&bench, &json!({}));
    for action in ACTIONS {
        let reply = update(&bench, &bench.owner, "req-nowhere", action);
        assert_eq!(refused(&reply), (404, 5, "REQUEST_NOT_FOUND".into()), "{action}");
    }
    for who in [gone_id.as_str(), "p-nobody"] {
        let body = json!({"requestId": request, "action": "reassign", "assignee": who});
        assert_eq!(
            reason(&bench.coordinate(&bench.owner, "requests:update", &body)),
            "PARTICIPANT_NOT_FOUND"
        );
        let body = json!({"title": "t", "to": [who]});
        assert_eq!(
            reason(&bench.coordinate(&bench.owner, "requests:create", &body)),
            "PARTICIPANT_NOT_FOUND"
        );
    }
    let client = participant(&bench, &bench.client);
    let body = json!({"requestId": request, "action": "reassign", "assignee": client});
    assert_eq!(
        fields(&bench.coordinate(&bench.owner, "requests:update", &body)),
        ["assignee"]
    );
    let member = participant(&bench, &bench.member);
    let body = json!({"title": "t", "to": [member, client]});
    assert_eq!(
        fields(&bench.coordinate(&bench.owner, "requests:create", &body)),
        ["to[1]"]
    );
    let body = json!({"requestId": request, "action": "reassign"});
    assert_eq!(
        fields(&bench.coordinate(&bench.owner, "requests:update", &body)),
        ["assignee"]
    );
}

#[test]
fn keys_belong_to_a_credential_and_one_request_and_only_a_success_uses_them_up() {
    let bench = Bench::new();
    let keyed = |title: &str| json!({"title": title, "idempotencyKey": "k"});
    let first = bench
        .coordinate(&bench.member, "requests:create", &keyed("one"))
        .ok();
    // Another credential's key of the same name is another key.
    let others = bench
        .coordinate(&bench.owner, "requests:create", &keyed("two"))
        .ok();
    assert_ne!(first["request"]["requestId"], others["request"]["requestId"]);
    // The same parameters in another order and spelling are the same request.
    let path = "/extensions/session-coordination/v1/requests:create";
    let spelled = br#"{ "idempotencyKey": "k", "title": "\u006fne" }"#;
    let again = bench
        .request("POST", path, &bench.member, COORDINATION, spelled)
        .ok();
    assert_eq!(again.to_string(), first.to_string());
    assert_eq!(
        refused(&bench.coordinate(&bench.member, "requests:create", &keyed("two"))).0,
        409
    );
    // An unknown member is a parameter too.
    let more = json!({"title": "one", "more": 1, "idempotencyKey": "k"});
    assert_eq!(
        reason(&bench.coordinate(&bench.member, "requests:create", &more)),
        "IDEMPOTENCY_KEY_REUSED"
    );
    let claim = |key: &str, id: &Value| json!({"requestId": id, "action": "claim", "idempotencyKey": key});
    let id = &first["request"]["requestId"];
    let other_operation = bench.coordinate(&bench.member, "requests:update", &claim("k", id));
    assert_eq!(
        refused(&other_operation),
        (409, 6, "IDEMPOTENCY_KEY_REUSED".into())
    );
    // What was refused has not used its key, and what has changed since does not matter to a repeat.
    assert_eq!(
        bench
            .coordinate(
                &bench.member,
                "requests:update",
                &claim("c", &json!("req-nowhere"))
            )
            .status,
        404
    );
    let claimed = bench
        .coordinate(&bench.member, "requests:update", &claim("c", id))
        .ok();
    update(&bench, &bench.member, id.as_str().unwrap(), "complete").ok();
    let again = bench
        .coordinate(&bench.member, "requests:update", &claim("c", id))
        .ok();
    assert_eq!(again.to_string(), claimed.to_string());
    // Reads ignore the key, whatever it is.
    for key in [json!("k"), json!(7), json!(""), Value::Null] {
        bench
            .coordinate(&bench.member, "requests:list", &json!({ "idempotencyKey": key }))
            .ok();
    }
}

#[test]
fn a_key_is_kept_for_a_day_and_forgotten_afterwards() {
    let bench = Bench::new();
    let keyed = json!({"title": "t", "idempotencyKey": "k"});
    let create =
        || bench.coordinate(&bench.member, "requests:create", &keyed).ok()["request"]["requestId"].clone();
    let first = create();
    bench.wait(86_400);
    bench
        .coordinate(&bench.owner, "requests:create", &json!({"title": "another"}))
        .ok();
    assert_eq!(create(), first, "24 hours later it is still known");
    bench.wait(1);
    bench
        .coordinate(&bench.owner, "requests:create", &json!({"title": "another"}))
        .ok();
    assert_ne!(create(), first);
}

#[test]
fn a_page_token_is_good_for_its_own_list_and_reader() {
    let bench = Bench::new();
    for _ in 0..5 {
        create(&bench, &json!({}));
    }
    let page = |token: &str, body: Value| bench.coordinate(token, "requests:list", &body);
    let first = page(&bench.owner, json!({"pageSize": 2})).ok();
    let next = &first["nextPageToken"];
    // What is made meanwhile moves nothing.
    bench.wait(1);
    create(&bench, &json!({}));
    let second = page(&bench.owner, json!({"pageSize": 3, "pageToken": next})).ok();
    let last = page(&bench.owner, json!({"pageToken": second["nextPageToken"]})).ok();
    let ids = [&first, &second, &last].map(|page| page["requests"].as_array().unwrap().len());
    assert_eq!((ids, &last["nextPageToken"]), ([2, 3, 1], &json!("")));
    for (token, body) in [
        (
            &bench.owner,
            json!({"pageToken": format!("{}A", next.as_str().unwrap())}),
        ),
        (&bench.owner, json!({"pageToken": "x"})),
        (&bench.owner, json!({"pageToken": next, "state": "open"})),
        (&bench.member, json!({ "pageToken": next })),
    ] {
        let reply = page(token, body);
        assert_eq!(
            (reply.status, fields(&reply)),
            (400, vec!["pageToken".to_owned()])
        );
    }
}

#[test]
fn a_request_is_expired_for_every_reader_from_its_expiry_on_and_recorded_before_the_next_commit() {
    let bench = Bench::new();
    let made = bench
        .coordinate(
            &bench.member,
            "requests:create",
            &json!({"title": "t", "expiresInSeconds": 60}),
        )
        .ok();
    let (request, task) = (
        made["request"]["requestId"].clone(),
        made["request"]["taskId"].as_str().unwrap().to_owned(),
    );
    let expiry = made["request"]["expiresAt"].clone();
    let state =
        || bench.coordinate(&bench.member, "requests:list", &json!({})).ok()["requests"][0]["state"].clone();
    let shown = || bench.task(&bench.member, COORDINATION, &task).ok();
    bench.wait(59);
    assert_eq!(
        (state(), &shown()["status"]["state"]),
        (json!("open"), &json!("TASK_STATE_SUBMITTED"))
    );
    bench.wait(1);
    let seq = bench.state().seq();
    let late = |metadata: &Value| {
        assert_eq!(metadata["requestState"], "expired");
        assert_eq!(metadata["expiredAt"], expiry);
    };
    for seconds in [0, 3_600] {
        bench.wait(seconds);
        let seen = shown();
        assert_eq!(state(), "expired");
        assert_eq!(seen["status"]["state"], "TASK_STATE_FAILED");
        assert_eq!(seen["status"]["timestamp"], expiry);
        late(&seen["metadata"]["j5a2a.com/extensions/session-coordination/v1"]);
        let failed = bench
            .request("GET", "/tasks?status=TASK_STATE_FAILED", &bench.member, "", b"")
            .ok();
        assert_eq!(
            (&failed["totalSize"], &failed["tasks"][0]["id"]),
            (&json!(1), &json!(task))
        );
        let closed = bench
            .operate(&bench.owner, "tasks:list", &json!({"state": "closed"}))
            .ok();
        assert_eq!(closed["tasks"][0]["state"], "TASK_STATE_FAILED");
        assert_eq!(
            reason(&update(&bench, &bench.owner, request.as_str().unwrap(), "claim")),
            "REQUEST_CLOSED"
        );
    }
    assert_eq!(
        bench.state().seq(),
        seq,
        "neither reading nor being refused writes"
    );
    let before = shown();
    create(&bench, &json!({}));
    let recorded = bench.state();
    let kept = recorded.request(request.as_str().unwrap()).unwrap();
    assert_eq!(
        (json!(kept.state), json!(kept.updated_at)),
        (json!("expired"), expiry.clone())
    );
    assert_eq!(json!(recorded.task(&task).unwrap().shown().at), expiry);
    assert_eq!(shown(), before, "recorded or not, it looks the same");
}

#[test]
fn the_owners_verbs_refuse_with_their_reasons_and_are_not_there_for_others() {
    let bench = Bench::new();
    let ask = bench.send(&bench.client, "", &json!({})).ok()["task"]["id"].clone();
    let handoff = json!({"metadata": {support::WORK: {"skill": "handoff", "title": "t"}}});
    let handoff = bench.send(&bench.client, "", &handoff).ok()["task"]["id"].clone();
    let of = |task: &Value| json!({ "taskId": task });
    for (verb, body, status, expected) in [
        ("tasks:approve", of(&json!("task-nowhere")), 404, "TASK_NOT_FOUND"),
        ("tasks:approve", of(&ask), 400, "NO_OPEN_GATE"),
        ("tasks:drop", of(&ask), 400, "NO_WORK_ITEM"),
        ("tasks:close", of(&handoff), 400, "NOT_AN_ASK"),
        ("tasks:drop", of(&handoff), 400, "NOT_APPROVED"),
        (
            "participants:revoke",
            json!({"participantId": "p-nobody"}),
            404,
            "PARTICIPANT_NOT_FOUND",
        ),
        (
            "participants:revoke",
            json!({"participantId": participant(&bench, &bench.owner)}),
            400,
            "LAST_OWNER",
        ),
        ("tasks:burn", json!({}), 404, "METHOD_NOT_FOUND"),
    ] {
        let reply = bench.operate(&bench.owner, verb, &body);
        assert_eq!(
            (reply.status, reason(&reply).as_str()),
            (status, expected),
            "{verb}"
        );
    }
    let admin = bench.admit("admin");
    let owner = json!({"displayName": "o", "role": "owner"});
    assert_eq!(
        reason(&bench.operate(&admin, "participants:add", &owner)),
        "NOT_OWNER"
    );
    let revoke = json!({"participantId": participant(&bench, &bench.owner)});
    assert_eq!(
        reason(&bench.operate(&admin, "participants:revoke", &revoke)),
        "NOT_OWNER"
    );
    bench.operate(&admin, "tasks:approve", &of(&handoff)).ok();
    assert_eq!(
        reason(&bench.operate(&admin, "tasks:approve", &of(&handoff))),
        "NO_OPEN_GATE"
    );
    bench.operate(&admin, "tasks:drop", &of(&handoff)).ok();
    bench.operate(&admin, "tasks:decline", &of(&ask)).ok();
    for (verb, task) in [
        ("tasks:approve", &handoff),
        ("tasks:drop", &handoff),
        ("tasks:decline", &ask),
    ] {
        assert_eq!(
            reason(&bench.operate(&admin, verb, &of(task))),
            "TASK_CLOSED",
            "{verb}"
        );
    }
    let body = json!({"taskId": ask, "body": "b"});
    assert_eq!(reason(&bench.operate(&admin, "tasks:ask", &body)), "TASK_CLOSED");
    for verb in operator::VERBS {
        for token in [&bench.member, &bench.client] {
            let reply = bench.operate(token, verb.segment, &json!({}));
            assert_eq!(
                refused(&reply),
                (404, 5, "METHOD_NOT_FOUND".into()),
                "{}",
                verb.segment
            );
        }
        assert_eq!(bench.operate(OPERATOR, verb.segment, &json!({})).status, 401);
        for param in verb.params {
            let reply = bench.operate(
                &bench.owner,
                verb.segment,
                &json!({ param.name: {"an": "object"} }),
            );
            assert!(
                fields(&reply).contains(&param.name.to_owned()),
                "{}: {}",
                verb.segment,
                reply.body
            );
        }
    }
    assert_eq!(
        bench.operate(&bench.owner, "sessions:create", &json!({})).status,
        401
    );
    let keyed = json!({"displayName": "n", "idempotencyKey": "k"});
    assert_eq!(
        fields(&bench.operate(&bench.owner, "participants:add", &keyed)),
        ["idempotencyKey"]
    );
}
