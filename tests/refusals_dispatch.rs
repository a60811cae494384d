//! What a client's message is refused for, over HTTP (work/v1, §8.3, §8.4, §8.6 and §8.8): the field and the reason,
//! the first fault of several, repeats by message id, conversations, and what is another client's.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/desk.rs"]
mod support;

use serde_json::{Value, json};
use support::{Bench, ENVELOPE, GATE, Reply, WORK};

/// Status, reason, and the first field at fault, wherever the answer names it.
fn refused(reply: &Reply) -> (u16, String, String) {
    let (status, reason, field) = reply.refused();
    let named = &reply.body["error"]["details"][0]["metadata"]["field"];
    (status, reason, named.as_str().map_or(field, str::to_owned))
}

fn invalid(field: &str) -> (u16, String, String) {
    (400, "INVALID_PARAMS".to_owned(), field.to_owned())
}

fn forbidden(reason: &str, field: &str) -> (u16, String, String) {
    (
        403,
        reason.to_owned(),
        format!("message.metadata[{ENVELOPE}].{field}"),
    )
}

fn envelope(request: Value) -> Value {
    json!({"metadata": {ENVELOPE: request}})
}

fn work(request: Value) -> Value {
    json!({"metadata": {WORK: request}})
}

fn task(reply: Reply) -> String {
    reply.ok()["task"]["id"].as_str().unwrap().to_owned()
}

fn both() -> String {
    format!("{WORK},{ENVELOPE}")
}

#[test]
fn what_a_client_may_not_is_forbidden_on_the_field_with_its_reason() {
    let bench = Bench::new();
    let owner = bench.address(&bench.owner);
    for (request, expected) in [
        (json!({"urgent": true}), forbidden("URGENT_NOT_ALLOWED", "urgent")),
        (json!({"wake": "request"}), forbidden("WAKE_NOT_ALLOWED", "wake")),
        (
            json!({"kind": "x-anything"}),
            forbidden("KIND_NOT_ALLOWED", "kind"),
        ),
        (
            json!({"to": ["human:nobody"]}),
            forbidden("FORBIDDEN_ADDRESS", "to[0]"),
        ),
        (
            json!({"to": [owner, bench.address(&bench.member)]}),
            forbidden("FORBIDDEN_ADDRESS", "to[1]"),
        ),
        (
            json!({"to": [owner, owner, "task:nowhere"]}),
            forbidden("FORBIDDEN_ADDRESS", "to[2]"),
        ),
    ] {
        // Read and checked whether or not it is active.
        for extensions in ["", ENVELOPE] {
            let reply = bench.send(&bench.client, extensions, &envelope(request.clone()));
            assert_eq!(refused(&reply), expected, "{request}");
            assert_eq!(reply.body["error"]["details"][0]["domain"], "dispatch.foo");
        }
    }
    for request in [
        json!({"urgent": false}),
        json!({"urgent": 1}),
        json!({"wake": "never"}),
        json!({"to": []}),
    ] {
        bench.send(&bench.client, ENVELOPE, &envelope(request)).ok();
    }
    assert_eq!(bench.state().tasks().count(), 4, "what was refused left nothing");
}

#[test]
fn of_several_faults_of_a_message_the_first_is_named() {
    let bench = Bench::new();
    let field = |uri: &str, name: &str| invalid(&format!("message.metadata[{uri}]{name}"));
    // In the order of the checks: the first entry that is spoiled answers.
    let big = "x".repeat(66_000);
    let faults: [(Value, _); 8] = [
        (json!({"messageId": " "}), invalid("message.messageId")),
        (json!({"metadata": {"urn:big": big}}), invalid("message.metadata")),
        (
            json!({"metadata": {WORK: {"skill": "burn"}}}),
            field(WORK, ".skill"),
        ),
        (
            json!({"metadata": {ENVELOPE: {"urgent": true}}}),
            forbidden("URGENT_NOT_ALLOWED", "urgent"),
        ),
        (
            json!({"metadata": {ENVELOPE: {"kind": "answer"}}}),
            field(ENVELOPE, ".kind"),
        ),
        (
            json!({"parts": [{"url": "ftp://example.com"}]}),
            invalid("message.parts[0].url"),
        ),
        (
            json!({"metadata": {ENVELOPE: {"to": ["human:nobody"]}}}),
            forbidden("FORBIDDEN_ADDRESS", "to[0]"),
        ),
        (
            json!({"metadata": {ENVELOPE: {"refs": [{"type": "task", "id": "nowhere"}]}}}),
            (
                404,
                "REFERENCE_NOT_FOUND".to_owned(),
                format!("message.metadata[{ENVELOPE}].refs[0]"),
            ),
        ),
    ];
    for first in 0..faults.len() {
        for second in first..faults.len() {
            let mut message = faults[second].0.clone();
            merge(&mut message, &faults[first].0);
            let reply = bench.send(&bench.client, &both(), &message);
            assert_eq!(
                refused(&reply),
                faults[first].1,
                "{first} {second}: {}",
                reply.body
            );
        }
    }
    let message = json!({"contextId": "nowhere", "metadata": {ENVELOPE: {"refs": [{"type": "task", "id": "nowhere"}]}}});
    assert_eq!(
        refused(&bench.send(&bench.client, &both(), &message)).1,
        "REFERENCE_NOT_FOUND"
    );
    let message = json!({"contextId": "nowhere"});
    assert_eq!(
        refused(&bench.send(&bench.client, &both(), &message)),
        invalid("message.contextId")
    );
    assert_eq!(bench.state().tasks().count(), 0);
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

#[test]
fn all_metadata_of_a_message_takes_65536_bytes_and_not_one_more() {
    let bench = Bench::new();
    let filled = |length: usize| {
        // {"urn:é":"xx…"} in bytes.
        let fill = length - json!({"urn:é": ""}).to_string().len();
        json!({"metadata": {"urn:é": format!("{}{}", "é".repeat(fill / 2), "x".repeat(fill % 2))}})
    };
    for extensions in ["", WORK] {
        bench.send(&bench.client, extensions, &filled(65_536)).ok();
        let reply = bench.send(&bench.client, extensions, &filled(65_537));
        assert_eq!(refused(&reply), invalid("message.metadata"));
    }
}

#[test]
fn the_parts_of_a_message_have_their_limits() {
    let bench = Bench::new();
    let parts = |parts: Value| json!({ "parts": parts });
    let text = |length: usize| parts(json!([{"text": "é".repeat(length / 2) + &"x".repeat(length % 2)}]));
    let url = |length: usize| json!({"url": format!("https://example.com/{}", "x".repeat(length - 20))});
    let urls = |count: usize| parts(json!(vec![url(2_048); count]));
    let id = |length: usize| json!({"messageId": "é".repeat(length / 2) + &"x".repeat(length % 2)});
    for (good, bad, field) in [
        (text(65_536), text(65_537), "message.parts"),
        (urls(20), urls(21), "message.parts"),
        (
            parts(json!([url(2_048)])),
            parts(json!([url(2_048), url(2_049)])),
            "message.parts[1].url",
        ),
        (
            parts(json!([{"data": null}])),
            parts(json!([{"text": " \u{feff}"}])),
            "message.parts",
        ),
        (
            parts(json!([{"text": "\u{200b}"}])),
            parts(json!([{"text": "a", "url": "b"}])),
            "message.parts[0]",
        ),
        (parts(json!([{"text": "a"}])), parts(json!([])), "message.parts"),
        (id(200), id(201), "message.messageId"),
        (id(9), json!({"messageId": "a\u{2028}b"}), "message.messageId"),
        (
            json!({"role": "ROLE_USER"}),
            json!({"role": "ROLE_AGENT"}),
            "message.role",
        ),
    ] {
        let sent = bench.send(&bench.client, "", &good);
        assert_eq!(sent.status, 200, "{field}: {}", sent.body);
        assert_eq!(refused(&bench.send(&bench.client, "", &bad)), invalid(field));
    }
    let raw = bench.send(&bench.client, "", &parts(json!([{"text": "a"}, {"raw": "AA=="}])));
    assert_eq!(
        (raw.status, raw.refused().1.as_str()),
        (400, "CONTENT_TYPE_NOT_SUPPORTED")
    );
    // Data that is too long is left out, and the body says so.
    let data = |length: usize| parts(json!([{"text": "see"}, {"data": "x".repeat(length - 2)}]));
    for (length, body, kept) in [
        (65_536, "see", true),
        (65_537, "see\n\n(data part over 64 KiB omitted)", false),
    ] {
        let id = task(bench.send(&bench.client, "", &data(length)));
        let state = bench.state();
        let root = state.mail(&state.task(&id).unwrap().root).unwrap();
        assert_eq!(
            (root.body.as_str(), root.data.is_some()),
            (body, kept),
            "{length}"
        );
    }
}

#[test]
fn a_message_id_is_a_key_only_while_work_or_envelope_is_active() {
    let bench = Bench::new();
    let message = |text: &str| json!({"messageId": "m", "parts": [{"text": text}]});
    for extensions in ["", GATE, support::COORDINATION] {
        let first = task(bench.send(&bench.client, extensions, &message("one")));
        assert_ne!(
            task(bench.send(&bench.client, extensions, &message("one"))),
            first,
            "{extensions}"
        );
    }
    for (index, extensions) in [WORK, ENVELOPE, &both()].into_iter().enumerate() {
        let client = bench.admit("client");
        let seq = || bench.state().seq();
        let first = task(bench.send(&client, extensions, &message("one")));
        let before = seq();
        // Whichever of the two is active the second time.
        for again in [WORK, ENVELOPE, &both()] {
            assert_eq!(task(bench.send(&client, again, &message("one"))), first);
            let other = bench.send(&client, again, &message("two"));
            assert_eq!(refused(&other), invalid("message.messageId"));
        }
        assert_eq!(seq(), before, "a repeat adds nothing");
        // Another client's id of the same name is another; with nothing active nothing is a repeat.
        let others = task(bench.send(&bench.client, "", &message("two")));
        assert_ne!(others, first, "{index}");
        assert_ne!(task(bench.send(&client, "", &message("one"))), first);
    }
}

#[test]
fn a_repeat_finds_its_task_even_when_that_has_ended_or_the_message_was_only_delivered() {
    let bench = Bench::new();
    let open = json!({"messageId": "open", "parts": [{"text": "one"}]});
    let first = task(bench.send(&bench.client, WORK, &open));
    let more = json!({"messageId": "more", "taskId": first});
    assert_eq!(task(bench.send(&bench.client, WORK, &more)), first);
    bench
        .request("POST", &format!("/tasks/{first}:cancel"), &bench.client, "", b"")
        .ok();
    for repeat in [&open, &more] {
        let again = bench.send(&bench.client, WORK, repeat).ok();
        assert_eq!(again["task"]["id"], first);
        assert_eq!(again["task"]["status"]["state"], "TASK_STATE_CANCELED");
    }
    let note = json!({"messageId": "note", "metadata": {ENVELOPE: {"kind": "notice"}}});
    let first = bench.send(&bench.client, ENVELOPE, &note).ok();
    let before = bench.state().seq();
    assert_eq!(bench.send(&bench.client, ENVELOPE, &note).ok(), first);
    assert_eq!(bench.state().seq(), before);
}

#[test]
fn a_conversation_that_is_not_there_and_one_of_another_client_are_the_same() {
    let bench = Bench::new();
    let stranger = bench.admit("client");
    let opened = bench
        .send(&bench.client, "", &json!({"contextId": "my-own-name"}))
        .ok();
    assert_eq!(opened["task"]["contextId"], "my-own-name");
    let made = bench.send(&bench.client, "", &json!({})).ok()["task"]["contextId"].clone();
    for context in [json!("my-own-name"), made] {
        let message = json!({ "contextId": context });
        let mine = bench.send(&bench.client, WORK, &message).ok();
        assert_eq!(mine["task"]["contextId"], context);
        let foreign = bench.send(&stranger, WORK, &message);
        let absent = bench.send(&stranger, WORK, &json!({"contextId": "nowhere"}));
        assert_eq!(refused(&foreign), invalid("message.contextId"));
        assert_eq!(foreign.body, absent.body);
        // A client that activates nothing may call its own conversation the same.
        bench.send(&stranger, "", &message).ok();
        let list = |token: &str| {
            let path = format!("/tasks?contextId={}", context.as_str().unwrap());
            bench.request("GET", &path, token, "", b"").ok()["totalSize"].clone()
        };
        assert_eq!((list(&bench.client), list(&stranger)), (json!(2), json!(1)));
    }
}

#[test]
fn a_task_that_is_not_there_and_one_of_another_client_are_the_same() {
    let bench = Bench::new();
    let stranger = bench.admit("client");
    let mine = task(bench.send(&bench.client, "", &json!({})));
    for token in [&stranger, &bench.member, &bench.owner] {
        let ask = |id: &str| {
            let send = bench.send(token, "", &json!({"taskId": id, "messageId": "m"}));
            let get = bench.task(token, "", id);
            let cancel = bench.request("POST", &format!("/tasks/{id}:cancel"), token, "", b"");
            [send, get, cancel].map(|reply| (reply.status, reply.body.to_string().replace(id, "ID")))
        };
        let foreign = ask(&mine);
        assert!(
            foreign
                .iter()
                .all(|(status, body)| *status == 404 && body.contains("TASK_NOT_FOUND")),
            "{foreign:?}"
        );
        assert_eq!(foreign, ask("task-nowhere"));
    }
    let elsewhere = bench.send(
        &bench.client,
        "",
        &json!({"taskId": mine, "contextId": "elsewhere"}),
    );
    assert_eq!(refused(&elsewhere), invalid("message.contextId"));
    bench
        .request("POST", &format!("/tasks/{mine}:cancel"), &bench.client, "", b"")
        .ok();
    let ended = bench.send(&bench.client, "", &json!({ "taskId": mine }));
    assert_eq!(
        (ended.status, ended.refused().1.as_str()),
        (400, "UNSUPPORTED_OPERATION")
    );
    let again = bench.request("POST", &format!("/tasks/{mine}:cancel"), &bench.client, "", b"");
    assert_eq!(
        (again.status, again.refused().1.as_str()),
        (400, "TASK_NOT_CANCELABLE")
    );
}

#[test]
fn a_client_addresses_the_work_items_of_its_own_approved_handoffs() {
    let bench = Bench::new();
    let stranger = bench.admit("client");
    let handoff = work(json!({"skill": "handoff", "title": "t"}));
    let id = task(bench.send(&bench.client, WORK, &handoff));
    let item = bench
        .state()
        .task(&id)
        .unwrap()
        .work_item
        .as_ref()
        .unwrap()
        .id
        .clone();
    let to = envelope(json!({"to": [format!("task:{item}")]}));
    let refusal = forbidden("FORBIDDEN_ADDRESS", "to[0]");
    assert_eq!(
        refused(&bench.send(&bench.client, ENVELOPE, &to)),
        refusal,
        "not approved yet"
    );
    bench
        .operate(&bench.owner, "tasks:approve", &json!({ "taskId": id }))
        .ok();
    let (early, late) = (
        task(bench.send(&bench.client, ENVELOPE, &to)),
        task(bench.send(&bench.client, ENVELOPE, &to)),
    );
    assert_eq!(refused(&bench.send(&stranger, ENVELOPE, &to)), refusal);
    // What was answered before the work was dropped stays answered; what was not has failed.
    let request = bench.state().task(&early).unwrap().request_id.clone();
    for action in ["claim", "complete"] {
        let body = json!({"requestId": request, "action": action, "note": if action == "complete" { "Soon." } else { "" }});
        bench.coordinate(&bench.member, "requests:update", &body).ok();
    }
    let answered = bench.task(&bench.client, WORK, &early).ok();
    bench
        .operate(&bench.owner, "tasks:drop", &json!({ "taskId": id }))
        .ok();
    assert_eq!(bench.task(&bench.client, WORK, &early).ok(), answered);
    assert_eq!(answered["artifacts"][0]["parts"][0]["text"], "Soon.");
    let failed = bench.task(&bench.client, "", &late).ok();
    assert_eq!(failed["status"]["state"], "TASK_STATE_FAILED");
    assert_eq!(
        failed["status"]["message"]["parts"][0]["text"],
        "The task this was asked of was dropped."
    );
    let open = bench
        .coordinate(&bench.member, "requests:list", &json!({"state": "open"}))
        .ok();
    assert_eq!(
        open["requests"],
        json!([]),
        "nobody is left with work that cannot be used"
    );
}

#[test]
fn a_client_addresses_the_owner_who_still_takes_part() {
    let bench = Bench::new();
    let heir = bench.admit("owner");
    let (first, second) = (bench.address(&bench.owner), bench.address(&heir));
    let to = |address: &str| bench.send(&bench.client, ENVELOPE, &envelope(json!({ "to": [address] })));
    let refusal = forbidden("FORBIDDEN_ADDRESS", "to[0]");
    task(to(&first));
    assert_eq!(refused(&to(&second)), refusal);
    let id = first.split_once(':').unwrap().1;
    bench
        .operate(&heir, "participants:revoke", &json!({ "participantId": id }))
        .ok();
    task(to(&second));
    assert_eq!(refused(&to(&first)), refusal);
    let held = bench.send(
        &bench.client,
        "",
        &json!({"messageId": "m", "extensions": [ENVELOPE]}),
    );
    let text = &held.ok()["task"]["status"]["message"]["parts"][0]["text"];
    assert_eq!(*text, format!("Waiting in the mailbox of {second}."));
}

#[test]
fn a_tenant_that_is_no_text_is_refused_and_an_empty_one_names_none() {
    let bench = Bench::new();
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Please."}]});
    let send = |tenant: Value| {
        let body = json!({"tenant": tenant, "message": message}).to_string();
        bench.request("POST", "/message:send", &bench.client, "", body.as_bytes())
    };
    for tenant in [json!(bench.session), json!(""), Value::Null] {
        send(tenant).ok();
    }
    assert_eq!(send(json!("another")).status, 404);
    for tenant in [json!(7), json!([bench.session]), json!(false)] {
        assert_eq!(refused(&send(tenant)), invalid("tenant"));
    }
}

#[test]
fn references_reach_what_the_client_sees_and_nothing_else() {
    let bench = Bench::new();
    let stranger = bench.admit("client");
    let id = task(bench.send(
        &bench.client,
        WORK,
        &work(json!({"skill": "handoff", "title": "t"})),
    ));
    let state = bench.state();
    let record = state.task(&id).unwrap();
    let (root, gate, item) = (
        &record.root,
        &record.gates[0].id,
        &record.work_item.as_ref().unwrap().id,
    );
    let send = |token: &str, kind: &str, id: &str| {
        let refs = json!([{"type": kind, "id": id}]);
        bench
            .send(token, ENVELOPE, &envelope(json!({ "refs": refs })))
            .status
    };
    for (kind, id, mine) in [
        ("task", &id, 200),
        ("task", item, 200),
        ("message", root, 200),
        ("message", gate, 404),
        ("message", &id, 404),
    ] {
        assert_eq!(
            (send(&bench.client, kind, id), send(&stranger, kind, id)),
            (mine, 404),
            "{kind} {id}"
        );
    }
    let at = envelope(json!({"refs": [{"type": "task", "id": id, "at": null}]}));
    let reply = bench.send(&bench.client, ENVELOPE, &at);
    assert_eq!(
        refused(&reply),
        invalid(&format!("message.metadata[{ENVELOPE}].refs[0].at"))
    );
}

#[test]
fn a_status_request_tells_of_the_callers_handoffs_alone() {
    let bench = Bench::new();
    let stranger = bench.admit("client");
    let id = task(bench.send(
        &bench.client,
        WORK,
        &work(json!({"skill": "handoff", "title": "t"})),
    ));
    let ask = task(bench.send(&bench.client, "", &json!({})));
    let listed = |token: &str, request: Value| {
        let reply = bench.send(token, WORK, &work(request)).ok();
        let data = reply["message"]["parts"][1]["data"]["handoffs"].clone();
        data.as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = json!({"skill": "status"});
    let one = |task: &str| json!({"skill": "status", "task": task});
    assert_eq!(listed(&bench.client, all.clone()), [id.as_str()]);
    assert_eq!(listed(&bench.client, one(&id)), [id.as_str()]);
    for (token, request) in [
        (&stranger, all),
        (&stranger, one(&id)),
        (&bench.client, one(&ask)),
        (&bench.client, one("nowhere")),
    ] {
        assert_eq!(listed(token, request), Vec::<String>::new());
    }
}

#[test]
fn list_and_get_name_the_parameter_at_fault() {
    let bench = Bench::new();
    let id = task(bench.send(&bench.client, "", &json!({})));
    let get = |path: &str| bench.request("GET", path, &bench.client, "", b"");
    for (good, bad, field) in [
        ("pageSize=1", "pageSize=0", "pageSize"),
        ("pageSize=100", "pageSize=101", "pageSize"),
        ("pageSize=7", "pageSize=many", "pageSize"),
        ("historyLength=0", "historyLength=-1", "historyLength"),
        ("status=TASK_STATE_WORKING", "status=WORKING", "status"),
        (
            "statusTimestampAfter=2026-01-01T00:00:00Z",
            "statusTimestampAfter=yesterday",
            "statusTimestampAfter",
        ),
        (
            "includeArtifacts=false",
            "includeArtifacts=perhaps",
            "includeArtifacts",
        ),
        ("pageToken=", "pageToken=x", "pageToken"),
    ] {
        get(&format!("/tasks?{good}")).ok();
        assert_eq!(refused(&get(&format!("/tasks?{bad}"))), invalid(field));
    }
    get(&format!("/tasks/{id}?historyLength=2147483647")).ok();
    assert_eq!(
        refused(&get(&format!("/tasks/{id}?historyLength=2147483648"))),
        invalid("historyLength")
    );
}
