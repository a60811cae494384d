//! The typed doors: each decides what the text door beside it decides, and loses nothing on the way.

use a2a_edge_component_tests::Instance;
use a2a_edge_component_tests::exports::a2a_edge::core::envelope::{
    Address, Agent, Envelope, Kind, Opens, Reference, ReferenceType, Written,
};
use a2a_edge_component_tests::exports::a2a_edge::core::projection::{Projected, Stage, TaskState};
use a2a_edge_component_tests::exports::a2a_edge::core::types::{Fault, FaultCode};
use a2a_edge_component_tests::exports::a2a_edge::core::work::{
    Draft, Handoff, Handoffs, Priority, Request, Risk,
};
use serde_json::{Value, json};

use crate::doors::door;
use crate::instance;
use crate::support::{FILES, vectors};

/// What the vectors hand to an operation, by the name of the member that holds it, and a few texts of no good.
fn inputs(member: &str) -> Vec<String> {
    let steps = FILES
        .iter()
        .flat_map(|(_, file)| vectors(file))
        .flat_map(|vector| match &vector["when"] {
            Value::Array(steps) => steps.clone(),
            _ => Vec::new(),
        });
    let mut inputs: Vec<String> = steps
        .filter_map(|step| step.get(member).map(Value::to_string))
        .collect();
    assert!(!inputs.is_empty(), "no step has a {member}");
    inputs.extend(["", "null", "1", "[]", "{}", "{\"a\":1,\"a\":1}"].map(str::to_owned));
    inputs
}

/// A typed answer as the verdict that the text door gives.
fn verdict<T>(answer: Result<T, Fault>, result: impl FnOnce(T) -> Option<Value>) -> Value {
    match answer {
        Ok(given) => match result(given) {
            Some(result) => json!({"ok": true, "result": result}),
            None => json!({"ok": true}),
        },
        Err(Fault { code, field, message }) => {
            let code = match code {
                FaultCode::Invalid => "invalid",
                FaultCode::Forbidden => "forbidden",
                FaultCode::NotFound => "not-found",
                FaultCode::Unsupported => "unsupported",
            };
            json!({"ok": false, "error": {"code": code, "field": field, "message": message}})
        }
    }
}

fn text_door(name: &str, instance: &mut Instance, text: &str) -> Value {
    serde_json::from_str(&door(name).component(instance, text)).unwrap()
}

#[test]
fn requests_are_taken_and_refused_as_by_the_text_doors() {
    let mut it = instance();
    for text in inputs("raw") {
        let work = it
            .core
            .a2a_edge_core_work()
            .call_validate(&mut it.store, &text, Handoffs::Taken)
            .unwrap();
        assert_eq!(
            verdict(work, |_| None),
            text_door("work.validate-json", &mut it, &text),
            "{text}"
        );
        let envelope = it
            .core
            .a2a_edge_core_envelope()
            .call_validate(&mut it.store, &text)
            .unwrap();
        assert_eq!(
            verdict(envelope, |_| None),
            text_door("envelope.validate-json", &mut it, &text),
            "{text}"
        );
    }
}

#[test]
fn a_handoff_comes_out_whole_and_becomes_the_same_draft_by_either_door() {
    let mut it = instance();
    let text = json!({
        "skill": "handoff", "title": " Title é ", "acceptance": ["one", "two"], "writes": ["src/**"],
        "priority": "urgent", "labels": ["API", "api"],
    })
    .to_string();
    let work = it.core.a2a_edge_core_work();
    let request = work
        .call_validate(&mut it.store, &text, Handoffs::Taken)
        .unwrap()
        .unwrap();
    let Some(Request::Handoff(handoff)) = request else {
        panic!("{text} is a handoff")
    };
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let expected = Handoff {
        title: " Title é ".to_owned(),
        acceptance: texts(&["one", "two"]),
        writes: texts(&["src/**"]),
        priority: Some(Priority::Urgent),
        labels: texts(&["API", "api"]),
    };
    assert_eq!(handoff, expected);

    let draft = work.call_shape_draft(&mut it.store, &handoff).unwrap();
    let expected = Draft {
        title: handoff.title,
        acceptance: handoff.acceptance,
        writes: handoff.writes,
        priority: Priority::Medium,
        labels: texts(&["a2a", "a2a/api"]),
        risk: Risk::Highest,
    };
    assert_eq!(draft, expected);
    let by_text = text_door("work.shape-draft-json", &mut it, &text);
    assert_eq!(
        by_text["result"],
        json!({
            "title": draft.title, "acceptance": draft.acceptance, "writes": draft.writes, "priority": "medium",
            "labels": draft.labels, "risk": "highest",
        })
    );
}

#[test]
fn a_status_request_names_its_task() {
    let mut it = instance();
    let work = it.core.a2a_edge_core_work();
    for (text, expected) in [
        ("null", None),
        (r#"{"skill":"status"}"#, Some(Request::Status(None))),
        (
            r#"{"skill":"status","task":"t"}"#,
            Some(Request::Status(Some("t".to_owned()))),
        ),
    ] {
        let request = work
            .call_validate(&mut it.store, &text.to_owned(), Handoffs::Refused)
            .unwrap();
        assert_eq!(request.unwrap(), expected, "{text}");
    }
}

#[test]
fn an_envelope_comes_out_whole() {
    let mut it = instance();
    let text = json!({
        "to": ["human:ada"], "kind": "question", "replyTo": "m-1", "blocking": false, "choices": ["yes", "no"],
        "choice": "yes", "refs": [{"type": "task", "id": "t-1"}, {"type": "message", "id": "m-2"}],
    })
    .to_string();
    let envelope = it
        .core
        .a2a_edge_core_envelope()
        .call_validate(&mut it.store, &text)
        .unwrap()
        .unwrap();
    let expected = Envelope {
        to: vec!["human:ada".to_owned()],
        kind: Some(Kind::Question),
        reply_to: Some("m-1".to_owned()),
        blocking: Some(false),
        choices: vec!["yes".to_owned(), "no".to_owned()],
        choice: Some("yes".to_owned()),
        refs: vec![
            reference(ReferenceType::Task, "t-1"),
            reference(ReferenceType::Message, "m-2"),
        ],
    };
    assert_eq!(envelope, Some(expected));
}

fn reference(type_: ReferenceType, id: &str) -> Reference {
    Reference {
        type_,
        id: id.to_owned(),
    }
}

#[test]
fn a_message_opens_the_same_by_either_door() {
    let mut it = instance();
    let work = |request: Value| json!({"https://dispatch.foo/a2a/ext/work/v1": request});
    let kind = |kind: &str| json!({"https://dispatch.foo/a2a/ext/envelope/v1": {"kind": kind}});
    let mut opened = Vec::new();
    for metadata in [
        json!({}),
        json!([]),
        json!(null),
        work(json!(null)),
        work(json!({"skill": "handoff", "title": "t"})),
        work(json!({"skill": "handoff"})),
        work(json!({"skill": "status"})),
        kind("question"),
        kind("message"),
        kind("notice"),
        kind("answer"),
        kind("handoff"),
        kind("x-own"),
    ] {
        let text = metadata.to_string();
        let typed = it
            .core
            .a2a_edge_core_envelope()
            .call_opening(&mut it.store, &text, Handoffs::Taken)
            .unwrap();
        let typed = verdict(typed, |opens| {
            let word = match opens {
                Opens::Handoff => "handoff",
                Opens::Status => "status",
                Opens::Ask => "ask",
                Opens::Note => "note",
            };
            opened.push(word);
            Some(json!({"opens": word}))
        });
        assert_eq!(
            typed,
            text_door("envelope.opening-json", &mut it, &text),
            "{text}"
        );
    }
    for word in ["handoff", "status", "ask", "note"] {
        assert!(opened.contains(&word), "nothing opened {word}");
    }
}

#[test]
fn what_is_written_back_is_what_the_rust_api_writes() {
    let mut it = instance();
    let message = Written {
        id: "m-1".to_owned(),
        thread: "m-0".to_owned(),
        from: "human:ada".to_owned(),
        kind: "question".to_owned(),
        reply_to: Some("m-0".to_owned()),
        blocking: true,
        choices: vec!["yes".to_owned()],
        choice: Some("no".to_owned()),
        refs: vec![reference(ReferenceType::Task, "t-1")],
    };
    let envelope = it.core.a2a_edge_core_envelope();
    assert_eq!(
        envelope.call_write_back(&mut it.store, &message).unwrap(),
        r#"{"id":"m-1","thread":"m-0","from":"human:ada","kind":"question","replyTo":"m-0","blocking":true,"choices":["yes"],"choice":"no","refs":[{"type":"task","id":"t-1"}]}"#
    );
    let bare = Written {
        reply_to: None,
        blocking: false,
        choices: Vec::new(),
        choice: None,
        refs: Vec::new(),
        ..message
    };
    assert_eq!(
        envelope.call_write_back(&mut it.store, &bare).unwrap(),
        r#"{"id":"m-1","thread":"m-0","from":"human:ada","kind":"question","refs":[]}"#
    );
}

#[test]
fn addresses_are_told_apart() {
    let mut it = instance();
    let envelope = it.core.a2a_edge_core_envelope();
    let agent = |owner: Option<&str>, handle: &str| {
        Address::Agent(Agent {
            owner: owner.map(str::to_owned),
            handle: handle.to_owned(),
        })
    };
    let addresses = [
        ("human:ada", Address::Human("ada".to_owned())),
        ("agent:dispatch", agent(None, "dispatch")),
        ("agent:wyat/a2a.acme", agent(Some("wyat"), "a2a.acme")),
        ("task:t-1", Address::Task("t-1".to_owned())),
        ("run:r-1", Address::Run("r-1".to_owned())),
        ("channel:ops", Address::Channel("ops".to_owned())),
        ("a2a:acme.research", Address::Peer("acme.research".to_owned())),
    ];
    for (text, expected) in &addresses {
        assert_eq!(
            &envelope.call_parse_address(&mut it.store, text).unwrap().unwrap(),
            expected
        );
    }
    let message = json!({"to": addresses.each_ref().map(|(text, _)| *text)}).to_string();
    let recipients = envelope
        .call_recipients(&mut it.store, &message)
        .unwrap()
        .unwrap();
    assert_eq!(recipients, addresses.map(|(_, address)| address));
}

#[test]
fn what_is_no_address_is_refused_as_by_the_text_doors() {
    let mut it = instance();
    for text in ["", "ada", "human:", "human:Ada", "a2a:.acme", "x:y"] {
        let typed = it
            .core
            .a2a_edge_core_envelope()
            .call_parse_address(&mut it.store, text)
            .unwrap();
        assert_eq!(
            verdict(typed, |_| None),
            text_door("envelope.parse-address-json", &mut it, text),
            "{text}"
        );
    }
    for text in inputs("input") {
        let typed = it
            .core
            .a2a_edge_core_envelope()
            .call_recipients(&mut it.store, &text)
            .unwrap();
        assert_eq!(
            verdict(typed, |_| None),
            text_door("envelope.recipients-json", &mut it, &text),
            "{text}"
        );
    }
}

/// A projection with the members of the text door's.
fn shown(projected: Projected) -> Value {
    let state = match projected.state {
        TaskState::Submitted => "SUBMITTED",
        TaskState::Working => "WORKING",
        TaskState::Completed => "COMPLETED",
        TaskState::Failed => "FAILED",
        TaskState::Canceled => "CANCELED",
        TaskState::InputRequired => "INPUT_REQUIRED",
        TaskState::Rejected => "REJECTED",
        TaskState::AuthRequired => "AUTH_REQUIRED",
    };
    let stage = |stage: Stage| match stage {
        Stage::Review => "review",
        Stage::Landing => "landing",
    };
    let mut shown = json!({"row": projected.row, "state": state, "text": projected.text});
    if let Some(id) = projected.message_id {
        shown["messageId"] = id.into();
    }
    if let Some(it) = projected.stage {
        shown["stage"] = stage(it).into();
    }
    if !projected.gates.is_empty() {
        let gates = projected.gates.into_iter();
        shown["gates"] = gates
            .map(|gate| json!({"id": gate.id, "type": gate.type_, "openedAt": gate.opened_at, "waitingOn": "owner"}))
            .collect();
    }
    if let Some(work) = projected.work {
        shown["work"] = json!({"task": work.task, "title": work.title, "status": work.status});
        if let Some(it) = work.stage {
            shown["work"]["stage"] = stage(it).into();
        }
    }
    shown
}

#[test]
fn facts_are_projected_the_same_by_either_door() {
    let mut it = instance();
    for text in inputs("facts") {
        let typed = it
            .core
            .a2a_edge_core_projection()
            .call_project(&mut it.store, &text, None)
            .unwrap();
        let typed = verdict(typed, |projected| Some(shown(projected)));
        assert_eq!(
            typed,
            text_door("projection.project-json", &mut it, &text),
            "{text}"
        );
    }
}

#[test]
fn another_system_address_speaks_for_the_host_where_one_is_given() {
    let mut it = instance();
    let closed = json!({"from": "human:ada", "data": {"type": "x-closed", "reason": "no time"}});
    let facts = json!({"answer": closed}).to_string();
    let mut state = |system| {
        let projection = it.core.a2a_edge_core_projection();
        projection
            .call_project(&mut it.store, &facts, system)
            .unwrap()
            .unwrap()
            .state
    };
    assert_eq!(state(Some("human:ada")), TaskState::Failed);
    assert_eq!(state(None), TaskState::Completed);
    assert_eq!(state(Some("")), TaskState::Completed);
}

#[test]
fn parts_and_budgets_are_judged_the_same_by_either_door() {
    let mut it = instance();
    let budget = |over: usize| json!({"m": "x".repeat(65_536 - r#"{"m":""}"#.len() + over)});
    for message in [
        json!({"parts": [{"text": "one"}, {"text": "two"}, {"url": "https://a.example/(x)"}]}),
        json!({"parts": [{"data": null}]}),
        json!({"parts": [{"text": "t"}, {"data": {"type": "gate"}}, {"data": [1]}]}),
        json!({"parts": [{"raw": "AA=="}]}),
        json!({"parts": [{"url": "ftp://a.example"}]}),
        json!({"parts": []}),
        json!({"parts": 1}),
        json!(null),
        budget(0),
        budget(1),
    ] {
        let text = message.to_string();
        let inbound = it
            .core
            .a2a_edge_core_shaping()
            .call_inbound(&mut it.store, &text)
            .unwrap();
        let inbound = verdict(inbound, |inbound| {
            let mut shown = json!({"body": inbound.body});
            if let Some(data) = inbound.data {
                shown["data"] = serde_json::from_str(&data).unwrap();
            }
            Some(shown)
        });
        assert_eq!(
            inbound,
            text_door("shaping.inbound-json", &mut it, &text),
            "{text:.200}"
        );
        let budget = it
            .core
            .a2a_edge_core_shaping()
            .call_metadata_budget(&mut it.store, &text)
            .unwrap();
        let budget = verdict(budget, |()| None);
        assert_eq!(
            budget,
            text_door("shaping.metadata-budget-json", &mut it, &text),
            "{text:.200}"
        );
    }
}
