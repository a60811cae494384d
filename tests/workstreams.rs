//! Workstreams (session coordination, §9.1): versions, history, whose a change is, links and moves, the end of it.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/flows_of.rs"]
mod flows_of;
#[path = "support/refusals.rs"]
mod refusals;
#[path = "support/desk.rs"]
mod support;

use flows_of::{at, edit, entry, history, outside, seen, workstream};
use refusals::{create, fields, participant, reason, refused};
use serde_json::{Value, json};
use support::{Bench, Reply, WORK};

const DETAIL: &str = "j5a2a.com/extensions/session-coordination/v1";

fn details(reply: &Reply) -> (Value, Value) {
    let details = &reply.body["error"]["details"];
    (details[0]["metadata"].clone(), details[1].clone())
}

/// A workstream with this resource linked to it.
fn holding(bench: &Bench, resource: &Value) -> Value {
    let new = workstream(bench, &bench.owner, &json!({}));
    edit(bench, &bench.owner, "link", &new, json!({ "resource": resource })).ok()["workstream"].clone()
}

fn from(workstream: &Value) -> Value {
    at(workstream, json!({}))
}

fn archived(bench: &Bench, workstream: &Value) -> Value {
    let body = json!({"lifecycle": "archived"});
    edit(bench, &bench.owner, "update", workstream, body).ok()["workstream"].clone()
}

#[test]
fn a_stale_version_changes_nothing_and_is_told_the_current_one() {
    let bench = Bench::new();
    let first = holding(&bench, &outside("pr:1"));
    let known =
        edit(&bench, &bench.owner, "update", &first, json!({"title": "Quotas"})).ok()["workstream"].clone();
    assert_eq!(
        (&known["version"], &known["title"]),
        (&json!(3), &json!("Quotas"))
    );
    let seq = bench.state().seq();
    let stale = [
        edit(&bench, &bench.owner, "update", &first, json!({"title": "Limits"})),
        edit(
            &bench,
            &bench.owner,
            "link",
            &first,
            json!({"resource": outside("pr:2")}),
        ),
        edit(
            &bench,
            &bench.owner,
            "unlink",
            &first,
            json!({"resource": outside("pr:1")}),
        ),
    ];
    for reply in stale {
        assert_eq!(refused(&reply), (409, 10, "VERSION_CONFLICT".into()));
        let id = &known["workstreamId"];
        let expected = json!({"@type": format!("{DETAIL}/VersionConflict"), "workstreamId": id, "expected": 2, "current": 3});
        assert_eq!(details(&reply), (json!({ "workstreamId": id }), expected));
    }
    let mut ahead = known.clone();
    for version in [json!(4), json!(4_294_967_295_u32)] {
        ahead["version"] = version;
        let reply = edit(&bench, &bench.owner, "update", &ahead, json!({"title": "t"}));
        assert_eq!(reason(&reply), "VERSION_CONFLICT");
    }
    assert_eq!((bench.state().seq(), seen(&bench, &known)), (seq, known));
}

#[test]
fn every_change_is_one_event_of_a_history_that_only_grows() {
    let bench = Bench::new();
    let member = participant(&bench, &bench.member);
    let made = workstream(&bench, &bench.owner, &json!({"participants": [member]}));
    assert_eq!(made["lifecycle"], "proposed");
    let update = json!({"lifecycle": "active", "checkpoint": {"summary": "Half"},
        "addEvidence": [{"kind": "test", "summary": "212 passed", "url": "https://ci.example/7"}]});
    let updated = edit(&bench, &bench.owner, "update", &made, update).ok()["workstream"].clone();
    let before = history(&bench, &made);
    let report = json!({"checkpoint": {"summary": "All", "next": "Ship"}});
    let updated = edit(&bench, &bench.member, "update", &updated, report).ok()["workstream"].clone();
    let linked = edit(
        &bench,
        &bench.member,
        "link",
        &updated,
        json!({"resource": outside("pr:1")}),
    )
    .ok()["workstream"]
        .clone();
    let unlinked = edit(
        &bench,
        &bench.owner,
        "unlink",
        &linked,
        json!({"resource": outside("pr:1")}),
    )
    .ok()["workstream"]
        .clone();
    archived(&bench, &unlinked);
    let events = history(&bench, &made);
    assert_eq!(events[..2], before[..]);
    let types: Vec<&str> = events.iter().map(|it| it["type"].as_str().unwrap()).collect();
    let expected = [
        "workstream.created",
        "workstream.updated",
        "workstream.updated",
        "workstream.linked",
        "workstream.unlinked",
        "workstream.updated",
    ];
    assert_eq!(types, expected);
    assert_eq!(
        events[0]["data"],
        json!({"version": 1, "title": "Limits", "intent": "Every answer within a second", "participants": [member]})
    );
    assert_eq!(
        events[1]["data"],
        json!({"version": 2, "lifecycle": "active",
            "addEvidence": [{"kind": "test", "summary": "212 passed", "url": "https://ci.example/7"}],
            "checkpoint": {"summary": "Half"}})
    );
    assert_eq!(events[2]["actor"], member.as_str());
    assert_eq!(
        events[3]["data"],
        json!({"version": 4, "resource": outside("pr:1")})
    );
    let last = seen(&bench, &made);
    assert_eq!(last["version"], 6);
    assert_eq!(last["checkpoint"]["summary"], "All");
    assert_eq!(last["checkpoint"]["from"], member.as_str());
    assert_eq!(last["evidence"][0]["kind"], "test");
    assert_eq!(
        (&last["links"], &last["updatedAt"]),
        (&json!([]), &events[5]["at"])
    );
    // In pages: each as it stood when the first was read.
    let page = |token: &Value| {
        let body = json!({"workstreamId": made["workstreamId"], "includeHistory": true, "pageSize": 4, "pageToken": token});
        bench.coordinate(&bench.member, "workstreams:get", &body)
    };
    let first = page(&json!("")).ok();
    let second = page(&first["nextPageToken"]).ok();
    assert_eq!(first["history"], json!(events[..4]));
    assert_eq!(
        (&second["history"], &second["nextPageToken"]),
        (&json!(events[4..]), &json!(""))
    );
    assert_eq!(fields(&page(&json!("x"))), ["pageToken"]);
}

#[test]
fn participants_report_and_link_and_only_the_owner_and_who_decides_change_the_rest() {
    let bench = Bench::new();
    let (lead, stranger, admin) = (bench.admit("member"), bench.admit("member"), bench.admit("admin"));
    let me = participant(&bench, &bench.member);
    let made = workstream(&bench, &lead, &json!({"participants": [me]}));
    assert_eq!(made["owner"], participant(&bench, &lead).as_str());
    let report = json!({"checkpoint": {"summary": "s"}, "addEvidence": [{"kind": "k", "summary": "s"}]});
    for (field, value) in [
        ("title", json!("t")),
        ("intent", json!("i")),
        ("owner", json!(me)),
        ("participants", json!([])),
        ("lifecycle", json!("active")),
    ] {
        let mut both = report.clone();
        both[field] = value;
        for token in [&bench.member, &stranger] {
            let reply = edit(&bench, token, "update", &made, both.clone());
            assert_eq!(refused(&reply), (403, 7, "NOT_OWNER".into()), "{field}");
        }
    }
    let resource = json!({"resource": outside("pr:1")});
    for (verb, body) in [("update", &report), ("link", &resource), ("unlink", &resource)] {
        let reply = edit(&bench, &stranger, verb, &made, body.clone());
        assert_eq!(reason(&reply), "NOT_OWNER", "{verb}");
    }
    let mut now = made;
    for token in [&bench.member, &lead, &admin, &bench.owner] {
        for (verb, body) in [("update", &report), ("link", &resource), ("unlink", &resource)] {
            now = edit(&bench, token, verb, &now, body.clone()).ok()["workstream"].clone();
        }
    }
    for token in [&lead, &admin, &bench.owner] {
        now = edit(&bench, token, "update", &now, json!({"title": "t"})).ok()["workstream"].clone();
    }
    // Who gives it away keeps nothing of it.
    now = edit(&bench, &lead, "update", &now, json!({ "owner": me })).ok()["workstream"].clone();
    assert_eq!(reason(&edit(&bench, &lead, "update", &now, report)), "NOT_OWNER");
    edit(&bench, &bench.member, "update", &now, json!({"title": "u"})).ok();
}

#[test]
fn who_owns_or_works_on_a_workstream_takes_part_in_the_session() {
    let bench = Bench::new();
    let out = bench.admit("member");
    let revoked = participant(&bench, &out);
    bench
        .operate(
            &bench.owner,
            "participants:revoke",
            &json!({ "participantId": revoked }),
        )
        .ok();
    let made = workstream(&bench, &bench.owner, &json!({}));
    for nobody in ["p-nobody", revoked.as_str()] {
        for body in [json!({ "owner": nobody }), json!({ "participants": [nobody] })] {
            let reply = edit(&bench, &bench.member, "update", &made, body);
            assert_eq!(refused(&reply), (404, 5, "PARTICIPANT_NOT_FOUND".into()));
        }
        let body = json!({"title": "t", "intent": "i", "participants": [nobody]});
        let reply = bench.coordinate(&bench.member, "workstreams:create", &body);
        assert_eq!(reason(&reply), "PARTICIPANT_NOT_FOUND");
    }
    let client = json!({"owner": participant(&bench, &bench.client)});
    assert_eq!(
        fields(&edit(&bench, &bench.owner, "update", &made, client)),
        ["owner"]
    );
    assert_eq!(
        fields(&edit(&bench, &bench.owner, "update", &made, json!({}))),
        ["title"]
    );
    assert_eq!(
        fields(&edit(
            &bench,
            &bench.owner,
            "update",
            &made,
            json!({"addEvidence": []})
        )),
        ["title"]
    );
    edit(&bench, &bench.owner, "update", &made, json!({"participants": []})).ok();
}

#[test]
fn a_resource_is_in_one_workstream_at_most_and_moves_with_both_versions() {
    let bench = Bench::new();
    let pr = outside("pr:1");
    let a = holding(&bench, &pr);
    let b = workstream(&bench, &bench.owner, &json!({}));
    let link = |to: &Value, more: Value| {
        let mut body = more;
        body["resource"] = pr.clone();
        edit(&bench, &bench.owner, "link", to, body)
    };
    let reply = link(&b, json!({}));
    assert_eq!(refused(&reply), (400, 9, "LINKED_ELSEWHERE".into()));
    let conflict = json!({"@type": format!("{DETAIL}/LinkConflict"), "resource": pr, "workstreamId": a["workstreamId"], "version": 2});
    assert_eq!(
        details(&reply),
        (json!({"workstreamId": a["workstreamId"]}), conflict)
    );
    assert_eq!(refused(&link(&a, json!({}))), (400, 9, "ALREADY_LINKED".into()));
    assert_eq!(
        fields(&link(&b, json!({"from": from(&b)}))),
        ["from.workstreamId"]
    );
    let mut stale = a.clone();
    stale["version"] = json!(1);
    let reply = link(&b, json!({"from": from(&stale)}));
    assert_eq!(reason(&reply), "VERSION_CONFLICT");
    assert_eq!(details(&reply).1["workstreamId"], a["workstreamId"]);
    let seq = bench.state().seq();
    let moved = link(&b, json!({"from": from(&a)})).ok();
    let (now_a, now_b) = (&moved["movedFrom"], &moved["workstream"]);
    assert_eq!((&now_a["version"], &now_b["version"]), (&json!(3), &json!(2)));
    assert_eq!(
        (&now_a["links"], &now_b["links"]),
        (&json!([]), &json!([moved["link"]]))
    );
    assert_eq!(
        moved["link"]["linkedBy"],
        participant(&bench, &bench.owner).as_str()
    );
    assert_eq!(bench.state().seq(), seq + 1, "one commit");
    let (last_a, last_b) = (history(&bench, &a)[2].clone(), history(&bench, &b)[1].clone());
    let data = |version: u32| json!({"version": version, "resource": pr, "from": a["workstreamId"], "to": b["workstreamId"]});
    assert_eq!((&last_a["data"], &last_b["data"]), (&data(3), &data(2)));
    for same in ["seq", "type", "actor", "at"] {
        assert_eq!(last_a[same], last_b[same], "{same}");
    }
    assert_eq!(last_a["type"], "workstream.link-moved");
    assert_eq!(
        reason(&link(now_b, json!({"from": from(now_a)}))),
        "ALREADY_LINKED"
    );
    // `from` must be who holds it.
    let c = workstream(&bench, &bench.owner, &json!({}));
    assert_eq!(
        reason(&link(&c, json!({"from": from(now_a)}))),
        "LINKED_ELSEWHERE"
    );
    let gone =
        edit(&bench, &bench.owner, "unlink", now_b, json!({ "resource": pr })).ok()["workstream"].clone();
    assert_eq!(
        refused(&link(&c, json!({"from": from(&gone)}))),
        (400, 9, "NOT_LINKED".into())
    );
    let reply = edit(&bench, &bench.owner, "unlink", &gone, json!({ "resource": pr }));
    assert_eq!(refused(&reply), (400, 9, "NOT_LINKED".into()));
    let nowhere = json!({"workstreamId": "ws-nowhere", "expectedVersion": 1});
    assert_eq!(
        refused(&link(&c, json!({ "from": nowhere }))),
        (404, 5, "WORKSTREAM_NOT_FOUND".into())
    );
    link(&c, json!({})).ok();
}

#[test]
fn a_move_takes_from_nobody_who_does_not_work_on_both() {
    let bench = Bench::new();
    let me = json!({"participants": [participant(&bench, &bench.member)]});
    let (mine, other) = (
        workstream(&bench, &bench.owner, &me),
        holding(&bench, &outside("pr:1")),
    );
    let body = |from_: &Value| json!({"resource": outside("pr:1"), "from": from(from_)});
    let reply = edit(&bench, &bench.member, "link", &mine, body(&other));
    assert_eq!(refused(&reply), (403, 7, "NOT_OWNER".into()));
    let own = edit(&bench, &bench.owner, "update", &other, me).ok()["workstream"].clone();
    edit(&bench, &bench.member, "link", &mine, body(&own)).ok();
}

#[test]
fn what_is_archived_is_read_and_never_changed_again() {
    let bench = Bench::new();
    let pr = outside("pr:1");
    let end = archived(&bench, &holding(&bench, &pr));
    let open = workstream(&bench, &bench.owner, &json!({}));
    let other = holding(&bench, &outside("pr:2"));
    let seq = bench.state().seq();
    let mut stale = end.clone();
    stale["version"] = json!(1);
    let on = |one: &Value, verb: &str, body: Value| edit(&bench, &bench.owner, verb, one, body);
    let replies = [
        on(&end, "update", json!({"lifecycle": "active"})),
        on(&end, "update", json!({"title": "t"})),
        on(&stale, "update", json!({"title": "t"})),
        on(&end, "link", json!({"resource": outside("pr:3")})),
        on(&end, "link", json!({ "resource": pr })),
        on(&end, "unlink", json!({ "resource": pr })),
        on(
            &end,
            "link",
            json!({"resource": outside("pr:2"), "from": from(&other)}),
        ),
        on(&open, "link", json!({"resource": pr, "from": from(&end)})),
        bench.coordinate(
            &bench.member,
            "status:announce",
            &json!({"status": "s", "workstreamId": end["workstreamId"]}),
        ),
        bench.coordinate(
            &bench.member,
            "claims:acquire",
            &json!({"resourceId": "a", "workstreamId": end["workstreamId"]}),
        ),
        bench.coordinate(
            &bench.member,
            "requests:create",
            &json!({"title": "t", "workstreamId": end["workstreamId"]}),
        ),
    ];
    for reply in &replies {
        assert_eq!(
            refused(reply),
            (400, 9, "WORKSTREAM_ARCHIVED".into()),
            "{}",
            reply.body
        );
        assert_eq!(details(reply).0, json!({"workstreamId": end["workstreamId"]}));
    }
    assert_eq!(
        reason(&on(&open, "link", json!({ "resource": pr }))),
        "LINKED_ELSEWHERE"
    );
    assert_eq!((bench.state().seq(), seen(&bench, &end)), (seq, end.clone()));
    let list = |body: Value| {
        let list = bench.coordinate(&bench.member, "workstreams:list", &body).ok();
        let list = list["workstreams"].as_array().unwrap().clone();
        list.iter()
            .map(|one| one["workstreamId"].clone())
            .collect::<Vec<_>>()
    };
    let ids = [&end, &open, &other].map(|one| one["workstreamId"].clone());
    assert_eq!(list(json!({})), ids[1..]);
    assert_eq!(list(json!({"includeArchived": true})), ids);
    assert_eq!(list(json!({"lifecycle": "archived"})), ids[..1]);
    assert_eq!(list(json!({"lifecycle": "active"})), Vec::<Value>::new());
}

#[test]
fn a_link_leads_to_a_record_that_is_there_or_outside() {
    let bench = Bench::new();
    let request = create(&bench, &json!({}));
    let task = bench.send(&bench.client, WORK, &json!({})).ok()["task"]["id"].clone();
    let claim = bench
        .coordinate(&bench.member, "claims:acquire", &json!({"resourceId": "a"}))
        .ok()["claim"]["claimId"]
        .clone();
    let entry = entry(&bench, &json!({}));
    let mut now = workstream(&bench, &bench.owner, &json!({}));
    for (kind, reason) in [
        ("request", "REQUEST_NOT_FOUND"),
        ("claim", "CLAIM_NOT_FOUND"),
        ("question", "QUESTION_NOT_FOUND"),
        ("decision", "DECISION_NOT_FOUND"),
        ("knowledge", "KNOWLEDGE_NOT_FOUND"),
        ("task", "TASK_NOT_FOUND"),
    ] {
        // What is not there is told of before whose the workstream is.
        let body = json!({"resource": {"kind": kind, "id": "nowhere"}});
        assert_eq!(
            refused(&edit(&bench, &bench.member, "link", &now, body)),
            (404, 5, reason.into())
        );
    }
    for (kind, id) in [
        ("request", json!(request)),
        ("claim", claim),
        ("knowledge", entry),
        ("task", task),
        ("external", json!("nowhere")),
    ] {
        let resource = json!({"kind": kind, "id": id});
        let linked = edit(
            &bench,
            &bench.owner,
            "link",
            &now,
            json!({ "resource": resource }),
        )
        .ok();
        assert_eq!(linked["link"]["resource"], resource);
        now = linked["workstream"].clone();
    }
    assert_eq!(now["links"].as_array().unwrap().len(), 5);
    let body =
        json!({"workstreamId": "ws-nowhere", "expectedVersion": 1, "title": "t", "resource": outside("a")});
    for verb in ["get", "update", "link", "unlink"] {
        let reply = bench.coordinate(&bench.member, &format!("workstreams:{verb}"), &body);
        assert_eq!(refused(&reply), (404, 5, "WORKSTREAM_NOT_FOUND".into()));
    }
}

#[test]
fn records_belong_to_the_workstream_that_they_name_and_change_nothing_of_it() {
    let bench = Bench::new();
    let made = workstream(&bench, &bench.owner, &json!({}));
    let id = &made["workstreamId"];
    create(&bench, &json!({}));
    let request = create(&bench, &json!({ "workstreamId": id }));
    let acquire = |more: Value| {
        let mut body = json!({"resourceId": "a"});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        bench.coordinate(&bench.member, "claims:acquire", &body).ok()["claim"].clone()
    };
    assert_eq!(acquire(json!({})).get("workstreamId"), None);
    assert_eq!(acquire(json!({ "workstreamId": id }))["workstreamId"], *id);
    assert_eq!(acquire(json!({}))["workstreamId"], *id, "renewing keeps it");
    let status = json!({"status": "s", "workstreamId": id});
    bench.coordinate(&bench.member, "status:announce", &status).ok();
    let list = |filter: &Value| {
        let list = bench
            .coordinate(&bench.member, "requests:list", &json!({ "workstreamId": filter }))
            .ok();
        list["requests"].as_array().unwrap().clone()
    };
    let found = list(id);
    assert_eq!(
        (found.len(), &found[0]["requestId"], &found[0]["workstreamId"]),
        (1, &json!(request), id)
    );
    assert_eq!(list(&json!("ws-nowhere")), Vec::<Value>::new());
    assert_eq!(seen(&bench, &made), made);
    let nowhere = json!({"title": "t", "workstreamId": "ws-nowhere"});
    let reply = bench.coordinate(&bench.member, "requests:create", &nowhere);
    assert_eq!(refused(&reply), (404, 5, "WORKSTREAM_NOT_FOUND".into()));
}

#[test]
fn a_key_makes_a_change_once_and_says_so_after_the_version_is_stale() {
    let bench = Bench::new();
    let made = workstream(&bench, &bench.owner, &json!({}));
    let change = || {
        edit(
            &bench,
            &bench.owner,
            "update",
            &made,
            json!({"title": "t", "idempotencyKey": "k"}),
        )
    };
    let first = change().ok();
    assert_eq!(change().ok().to_string(), first.to_string());
    let other = edit(
        &bench,
        &bench.owner,
        "update",
        &made,
        json!({"title": "u", "idempotencyKey": "k"}),
    );
    assert_eq!(refused(&other), (409, 6, "IDEMPOTENCY_KEY_REUSED".into()));
    assert_eq!(history(&bench, &made).len(), 2);
}

#[test]
fn the_limits_of_workstreams_are_the_sessions() {
    let bench = Bench::with_limits(&[
        "open-workstreams=2",
        "workstream-links=1",
        "workstream-evidence=3",
    ]);
    let full = |reply: &Reply, kind: &str| {
        assert_eq!(refused(reply), (429, 8, "SESSION_LIMIT".into()), "{}", reply.body);
        assert_eq!(details(reply).0["kind"], kind);
    };
    let first = holding(&bench, &outside("pr:1"));
    let second = holding(&bench, &outside("pr:2"));
    let new = json!({"title": "t", "intent": "i"});
    let another = || bench.coordinate(&bench.member, "workstreams:create", &new);
    full(&another(), "open workstreams");
    let moved = json!({"resource": outside("pr:1"), "from": from(&first)});
    full(
        &edit(&bench, &bench.owner, "link", &second, moved),
        "workstream links",
    );
    let third = json!({"resource": outside("pr:3")});
    full(
        &edit(&bench, &bench.owner, "link", &second, third),
        "workstream links",
    );
    let evidence = |count: usize| json!({"addEvidence": vec![json!({"kind": "k", "summary": "s"}); count]});
    let now = edit(&bench, &bench.owner, "update", &first, evidence(2)).ok()["workstream"].clone();
    full(
        &edit(&bench, &bench.owner, "update", &now, evidence(2)),
        "workstream evidence",
    );
    let now = edit(&bench, &bench.owner, "update", &now, evidence(1)).ok()["workstream"].clone();
    full(
        &edit(&bench, &bench.owner, "update", &now, evidence(1)),
        "workstream evidence",
    );
    let now = edit(
        &bench,
        &bench.owner,
        "update",
        &now,
        json!({"lifecycle": "completed"}),
    )
    .ok()["workstream"]
        .clone();
    full(&another(), "open workstreams");
    archived(&bench, &now);
    another().ok();
    full(&another(), "open workstreams");
}
