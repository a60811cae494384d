//! What the fields of workstreams and knowledge take at most, and what they refuse.

use serde_json::{Value, json};

use super::fields_of::{Limit, limit};
use super::flows_of::{at, entry, outside, workstream};
use super::refusals::{chars, list, participant};
use super::support::Bench;

/// The least that an operation on workstreams or knowledge takes, of a workstream that is there.
pub fn flow_minimal(bench: &Bench, operation: &str) -> Value {
    let new = || workstream(bench, &bench.owner, &json!({}));
    match operation {
        "workstreams:create" => json!({"title": "t", "intent": "i"}),
        "workstreams:get" => json!({"workstreamId": new()["workstreamId"]}),
        "workstreams:update" => at(&new(), json!({"lifecycle": "active"})),
        "workstreams:link" => {
            let new = new();
            let resource = outside(new["workstreamId"].as_str().unwrap());
            at(&new, json!({ "resource": resource }))
        }
        "workstreams:unlink" => {
            let link = flow_minimal(bench, "workstreams:link");
            let linked = bench.coordinate(&bench.owner, "workstreams:link", &link).ok();
            at(&linked["workstream"], json!({"resource": link["resource"]}))
        }
        "knowledge:read" => json!({"knowledgeId": entry(bench, &json!({}))}),
        "knowledge:propose" => json!({"title": "t", "body": "b"}),
        _ => json!({}),
    }
}

pub fn flow_limits(bench: &Bench) -> Vec<Limit> {
    let mut limits = workstream_limits(bench);
    limits.extend(update_limits(bench));
    limits.extend(link_limits(bench));
    limits.extend(knowledge_limits(bench));
    let id = workstream(bench, &bench.owner, &json!({}))["workstreamId"].clone();
    for operation in ["status:announce", "claims:acquire", "requests:create"] {
        limits.push(limit(
            operation,
            "workstreamId",
            id.clone(),
            chars(65),
            "workstreamId",
        ));
    }
    limits.push(limit(
        "requests:list",
        "workstreamId",
        chars(64),
        chars(65),
        "workstreamId",
    ));
    limits
}

fn workstream_limits(bench: &Bench) -> Vec<Limit> {
    let (create, lists, get) = ("workstreams:create", "workstreams:list", "workstreams:get");
    let everybody: Vec<Value> = (0..50)
        .map(|_| json!(participant(bench, &bench.admit("member"))))
        .collect();
    let one = everybody[0].clone();
    let crowd: Vec<Value> = everybody.iter().chain([&one]).cloned().collect();
    let id = workstream(bench, &bench.owner, &json!({}))["workstreamId"].clone();
    vec![
        limit(create, "title", chars(200), chars(201), "title"),
        limit(create, "title", json!("a"), json!("a\nb"), "title"),
        limit(create, "intent", chars(4_000), chars(4_001), "intent"),
        limit(create, "intent", json!("a\n\tb"), json!(" \n"), "intent"),
        limit(
            create,
            "participants",
            json!(everybody),
            json!(crowd),
            "participants",
        ),
        limit(
            create,
            "participants",
            json!([]),
            json!([one, one]),
            "participants[1]",
        ),
        limit(lists, "lifecycle", json!("archived"), json!("open"), "lifecycle"),
        limit(
            lists,
            "includeArchived",
            json!(true),
            json!("true"),
            "includeArchived",
        ),
        limit(lists, "pageSize", json!(1), json!(0), "pageSize"),
        limit(lists, "pageSize", json!(100), json!(101), "pageSize"),
        limit(get, "workstreamId", id, chars(65), "workstreamId"),
        limit(get, "includeHistory", json!(true), Value::Null, "includeHistory"),
        limit(get, "pageSize", json!(1), json!(0), "pageSize"),
        limit(get, "pageSize", json!(100), json!(101), "pageSize"),
    ]
}

fn update_limits(bench: &Bench) -> Vec<Limit> {
    let update = "workstreams:update";
    let (me, url) = (json!(participant(bench, &bench.member)), |length: usize| {
        format!("https://{}", "é".repeat(length - 8))
    });
    let evidence =
        |kind: Value, summary: Value, url: Value| json!([{"kind": kind, "summary": summary, "url": url}]);
    let one = json!({"kind": "k", "summary": "s"});
    let (k, s, u) = (|| json!("k"), || json!("s"), || json!("https://a.example"));
    let checkpoint = |summary: Value, next: Value| json!({"summary": summary, "next": next});
    let mut limits = vec![
        limit(update, "expectedVersion", json!(1), json!(0), "expectedVersion"),
        limit(
            update,
            "expectedVersion",
            json!(1),
            json!(4_294_967_296_u64),
            "expectedVersion",
        ),
        limit(update, "title", chars(200), chars(201), "title"),
        limit(update, "title", json!("t"), json!(" "), "title"),
        limit(update, "intent", chars(4_000), chars(4_001), "intent"),
        limit(update, "intent", json!("a\n\tb"), json!(" \n"), "intent"),
        limit(update, "owner", me.clone(), chars(65), "owner"),
        limit(
            update,
            "participants",
            json!([me]),
            json!([me, me]),
            "participants[1]",
        ),
        limit(
            update,
            "addEvidence",
            list(20, &one),
            list(21, &one),
            "addEvidence",
        ),
    ];
    for life in ["proposed", "active", "paused", "completed", "archived"] {
        limits.push(limit(
            update,
            "lifecycle",
            json!(life),
            json!("done"),
            "lifecycle",
        ));
    }
    for (good, bad, at) in [
        (
            evidence(chars(40), s(), u()),
            evidence(chars(41), s(), u()),
            "addEvidence[0].kind",
        ),
        (
            evidence(k(), chars(1_000), u()),
            evidence(k(), chars(1_001), u()),
            "addEvidence[0].summary",
        ),
        (
            evidence(k(), s(), json!(url(2_048))),
            evidence(k(), s(), json!(url(2_049))),
            "addEvidence[0].url",
        ),
        (
            evidence(k(), s(), u()),
            evidence(k(), s(), json!("http://a.example")),
            "addEvidence[0].url",
        ),
        (
            json!([one, one]),
            json!([one, {"kind": "k"}]),
            "addEvidence[1].summary",
        ),
    ] {
        limits.push(limit(update, "addEvidence", good, bad, at));
    }
    for (good, bad, at) in [
        (
            checkpoint(chars(4_000), s()),
            checkpoint(chars(4_001), s()),
            "checkpoint.summary",
        ),
        (
            checkpoint(s(), chars(2_000)),
            checkpoint(s(), chars(2_001)),
            "checkpoint.next",
        ),
        (
            checkpoint(s(), json!("")),
            json!({"next": "n"}),
            "checkpoint.summary",
        ),
    ] {
        limits.push(limit(update, "checkpoint", good, bad, at));
    }
    let own = workstream(bench, &bench.owner, &json!({}))["workstreamId"].clone();
    limits.push(limit(update, "workstreamId", own, chars(65), "workstreamId"));
    limits
}

fn link_limits(bench: &Bench) -> Vec<Limit> {
    let (link, unlink) = ("workstreams:link", "workstreams:unlink");
    let new = |token: &str| workstream(bench, token, &json!({}))["workstreamId"].clone();
    let linked = || {
        let body = flow_minimal(bench, unlink);
        (body["workstreamId"].clone(), body)
    };
    // What `from` names must hold the resource, so that its last value is looked at by the tests of moves.
    let (holder, _) = linked();
    let from = |id: Value, version: Value| json!({"workstreamId": id, "expectedVersion": version});
    let mut limits = vec![
        limit(
            link,
            "resource",
            outside(&"é".repeat(512)),
            outside(&"é".repeat(513)),
            "resource.id",
        ),
        limit(
            link,
            "resource",
            outside("https://a.example/1"),
            json!({"kind": "page", "id": "a"}),
            "resource.kind",
        ),
        limit(link, "resource", outside("a"), outside(" "), "resource.id"),
    ];
    for operation in [link, unlink] {
        limits.push(limit(
            operation,
            "expectedVersion",
            json!(if operation == link { 1 } else { 2 }),
            json!(0),
            "expectedVersion",
        ));
    }
    limits.push(limit(
        link,
        "workstreamId",
        new(&bench.owner),
        chars(65),
        "workstreamId",
    ));
    let (id, body) = linked();
    limits.push(Limit {
        operation: unlink,
        field: "workstreamId",
        good: id,
        bad: chars(65),
        at: "workstreamId",
        with: Some(body.clone()),
    });
    let (_, body) = linked();
    limits.push(Limit {
        operation: unlink,
        field: "resource",
        good: body["resource"].clone(),
        bad: outside(&"é".repeat(513)),
        at: "resource.id",
        with: Some(body),
    });
    let (_, held) = linked();
    let to = workstream(bench, &bench.owner, &json!({}));
    let moving = at(&to, json!({"resource": held["resource"]}));
    limits.push(Limit {
        operation: link,
        field: "from",
        good: from(held["workstreamId"].clone(), held["expectedVersion"].clone()),
        bad: from(holder.clone(), json!(0)),
        at: "from.expectedVersion",
        with: Some(moving),
    });
    limits
}

fn knowledge_limits(bench: &Bench) -> Vec<Limit> {
    let (lists, read, propose) = ("knowledge:list", "knowledge:read", "knowledge:propose");
    let id = entry(bench, &json!({}));
    let with = |body: Value| Some(body);
    let mut limits = vec![
        limit(lists, "tag", chars(50), chars(51), "tag"),
        limit(lists, "query", chars(200), chars(201), "query"),
        limit(lists, "query", json!("a"), json!(" "), "query"),
        limit(lists, "pageSize", json!(1), json!(0), "pageSize"),
        limit(lists, "pageSize", json!(100), json!(101), "pageSize"),
        limit(read, "knowledgeId", id.clone(), chars(65), "knowledgeId"),
        limit(read, "version", json!(1), json!(0), "version"),
        limit(propose, "title", chars(200), chars(201), "title"),
        limit(propose, "title", json!("a"), json!("a\u{2028}"), "title"),
        limit(propose, "body", chars(65_536), chars(65_537), "body"),
        limit(propose, "body", json!("a\n\tb"), json!(" \n"), "body"),
        limit(
            propose,
            "tags",
            list(10, &chars(50)),
            list(11, &json!("t")),
            "tags",
        ),
        limit(propose, "tags", json!([]), json!(["t", chars(51)]), "tags[1]"),
        limit(propose, "rationale", chars(2_000), chars(2_001), "rationale"),
        limit(propose, "knowledgeId", id.clone(), chars(65), "knowledgeId"),
    ];
    for bad in [json!(0), json!(4_294_967_296_u64)] {
        limits.push(Limit {
            operation: propose,
            field: "baseVersion",
            good: json!(1),
            bad,
            at: "baseVersion",
            with: with(json!({"title": "t", "body": "b", "knowledgeId": id})),
        });
    }
    limits
}
