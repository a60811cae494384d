//! Questions and decisions (session coordination, §9): who is asked, who answers, and what becomes of a task whose
//! client is asked.

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

use refusals::{create, participant, reason, refused, update};
use serde_json::{Value, json};
use support::{Bench, Reply};

fn ask(bench: &Bench, token: &str, more: Value) -> Reply {
    let mut body = json!({"body": "Merge now?", "choices": ["yes", "no"]});
    body.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    bench.coordinate(token, "questions:ask", &body)
}

fn asked(bench: &Bench, token: &str, more: Value) -> Value {
    ask(bench, token, more).ok()["question"]["questionId"].clone()
}

fn answer(bench: &Bench, token: &str, question: &Value, more: Value) -> Reply {
    let mut body = more;
    body["questionId"] = question.clone();
    bench.coordinate(token, "questions:answer", &body)
}

fn announce(bench: &Bench, token: &str, capabilities: Value) {
    let body = json!({"capabilities": capabilities, "ttlSeconds": 15});
    bench.coordinate(token, "presence:announce", &body).ok();
}

/// A client's ask that the bench's member has claimed: the task and the request.
fn claimed_ask(bench: &Bench) -> (String, String) {
    let task = bench.send(&bench.client, "", &json!({})).ok()["task"]["id"].clone();
    let task = task.as_str().unwrap().to_owned();
    let request = bench.state().task(&task).unwrap().request_id.clone().unwrap();
    update(bench, &bench.member, &request, "claim").ok();
    (task, request)
}

fn state_of(bench: &Bench, task: &str) -> Value {
    bench.task(&bench.client, "", task).ok()["status"]["state"].clone()
}

#[test]
fn only_whom_it_is_put_to_and_those_who_decide_may_answer() {
    let bench = Bench::new();
    let (named, skilled, other, admin) = (
        bench.admit("member"),
        bench.admit("member"),
        bench.admit("member"),
        bench.admit("admin"),
    );
    announce(&bench, &skilled, json!(["rust", "review"]));
    let by_name = json!({"to": [participant(&bench, &named)]});
    let by_skill = json!({"capability": "review"});
    for (more, may) in [(by_name, &named), (by_skill, &skilled)] {
        let question = asked(&bench, &bench.member, more.clone());
        for stranger in [&other, &bench.member] {
            let reply = answer(&bench, stranger, &question, json!({"choice": "yes"}));
            assert_eq!(refused(&reply), (400, 9, "NOT_ADDRESSED".into()), "{more}");
        }
        let given = answer(&bench, may, &question, json!({"choice": "yes", "body": "Go."})).ok();
        assert_eq!(given["question"]["answer"]["from"], participant(&bench, may));
        let reply = answer(&bench, &admin, &question, json!({"choice": "no"}));
        assert_eq!(refused(&reply), (400, 9, "QUESTION_CLOSED".into()));
        let second = asked(&bench, &bench.member, more);
        answer(&bench, &admin, &second, json!({"body": "Wait."})).ok();
    }
    let everyone = asked(&bench, &bench.member, json!({}));
    answer(&bench, &other, &everyone, json!({"choice": "no"})).ok();
}

#[test]
fn a_capability_is_what_was_last_announced_when_the_answer_comes() {
    let bench = Bench::new();
    let late = bench.admit("member");
    let question = asked(&bench, &bench.owner, json!({"capability": "review"}));
    let reply = answer(&bench, &late, &question, json!({"choice": "yes"}));
    assert_eq!(reason(&reply), "NOT_ADDRESSED");
    announce(&bench, &late, json!(["Review"]));
    let reply = answer(&bench, &late, &question, json!({"choice": "yes"}));
    assert_eq!(reason(&reply), "NOT_ADDRESSED", "letters count");
    announce(&bench, &late, json!(["review"]));
    // It need not be there to be able.
    bench.wait(60);
    answer(&bench, &late, &question, json!({"choice": "yes"})).ok();
}

#[test]
fn the_first_rule_that_an_answer_breaks_is_told() {
    let bench = Bench::new();
    let to = json!({"to": [participant(&bench, &bench.owner)]});
    let question = asked(&bench, &bench.owner, to);
    let reply = answer(
        &bench,
        &bench.owner,
        &json!("question-x"),
        json!({"choice": "perhaps"}),
    );
    assert_eq!(refused(&reply), (404, 5, "QUESTION_NOT_FOUND".into()));
    let reply = answer(&bench, &bench.member, &question, json!({"choice": "perhaps"}));
    assert_eq!(reason(&reply), "NOT_ADDRESSED");
    for (more, field) in [
        (json!({"choice": "perhaps"}), "choice"),
        (json!({"choice": "Yes"}), "choice"),
        (json!({}), "body"),
        (json!({"body": " \n"}), "body"),
        (json!({"choice": null}), "choice"),
    ] {
        let reply = answer(&bench, &bench.owner, &question, more.clone());
        assert_eq!(
            reply.refused(),
            (400, "INVALID_ARGUMENT".into(), field.into()),
            "{more}"
        );
    }
    let free = asked(&bench, &bench.owner, json!({"choices": []}));
    let reply = answer(&bench, &bench.owner, &free, json!({"choice": "yes"}));
    assert_eq!(reply.refused().2, "choice");
    answer(&bench, &bench.owner, &question, json!({"choice": "no"})).ok();
    let reply = answer(&bench, &bench.owner, &question, json!({"choice": "perhaps"}));
    assert_eq!(reason(&reply), "QUESTION_CLOSED");
}

#[test]
fn whom_or_what_a_question_names_must_be_there() {
    let bench = Bench::new();
    let (here, gone) = (participant(&bench, &bench.owner), bench.admit("member"));
    let gone_id = participant(&bench, &gone);
    bench
        .operate(
            &bench.owner,
            "participants:revoke",
            &json!({"participantId": gone_id}),
        )
        .ok();
    let member = &bench.member;
    for (operation, rest) in [
        ("questions:ask", json!({"body": "b"})),
        ("requests:create", json!({"title": "t"})),
    ] {
        for stranger in ["p-nobody", &gone_id] {
            let mut body = rest.clone();
            body["to"] = json!([here, stranger]);
            let reply = bench.coordinate(member, operation, &body);
            assert_eq!(refused(&reply), (404, 5, "PARTICIPANT_NOT_FOUND".into()));
            let metadata = &reply.body["error"]["details"][0]["metadata"];
            assert_eq!(*metadata, json!({"participantId": stranger}), "{operation}");
        }
    }
    let reply = ask(&bench, member, json!({"requestId": "req-x", "to": ["p-nobody"]}));
    assert_eq!(reason(&reply), "REQUEST_NOT_FOUND");
    let reply = ask(
        &bench,
        member,
        json!({"workstreamId": "ws-x", "requestId": "req-x"}),
    );
    assert_eq!(reason(&reply), "WORKSTREAM_NOT_FOUND");
    let both = json!({"to": [here], "capability": "review"});
    assert_eq!(ask(&bench, member, both).refused().2, "capability");
    // An empty list names nobody.
    ask(&bench, member, json!({"to": [], "capability": "review"})).ok();
    let client = participant(&bench, &bench.client);
    let (_, request) = claimed_ask(&bench);
    for more in [
        json!({"to": [here, client]}),
        json!({"to": [here, client], "requestId": request}),
        json!({"to": [here, client], "requestId": create(&bench, &json!({}))}),
    ] {
        assert_eq!(ask(&bench, member, more).refused().2, "to[1]");
    }
}

#[test]
fn the_client_of_a_request_is_asked_and_its_message_is_the_answer() {
    let bench = Bench::new();
    let (task, request) = claimed_ask(&bench);
    let to = json!({"requestId": request, "to": [participant(&bench, &bench.client)]});
    let other = bench.admit("member");
    assert_eq!(
        refused(&ask(&bench, &other, to.clone())),
        (403, 7, "NOT_OWNER".into())
    );
    let made = ask(&bench, &bench.member, to.clone()).ok()["question"].clone();
    assert_eq!((&made["taskId"], &made["state"]), (&json!(task), &json!("open")));
    let seen = bench.task(&bench.client, "", &task).ok();
    assert_eq!(seen["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    assert_eq!(seen["status"]["message"]["messageId"], made["messageId"]);
    let choice = json!({"taskId": task, "parts": [{"text": "Not yet."}], "metadata": {support::ENVELOPE: {"choice": "no"}}});
    bench.send(&bench.client, "", &choice).ok();
    assert_eq!(state_of(&bench, &task), "TASK_STATE_WORKING");
    let kept = bench.state();
    let question = json!(kept.question(made["questionId"].as_str().unwrap()).unwrap());
    assert_eq!(question["state"], "answered");
    assert_eq!(question["answer"]["from"], participant(&bench, &bench.client));
    assert_eq!(question["answer"]["body"], "Not yet.");
    assert_eq!(question["answer"]["choice"], "no");
    update(&bench, &bench.member, &request, "complete").ok();
    assert_eq!(reason(&ask(&bench, &bench.member, to)), "REQUEST_CLOSED");
}

#[test]
fn who_decides_may_answer_in_the_client_s_place_and_the_client_reads_it() {
    let bench = Bench::new();
    let (task, request) = claimed_ask(&bench);
    let to = json!({"requestId": request, "to": [participant(&bench, &bench.client)]});
    let question = asked(&bench, &bench.member, to);
    let reply = answer(&bench, &bench.member, &question, json!({"choice": "yes"}));
    assert_eq!(reason(&reply), "NOT_ADDRESSED");
    answer(&bench, &bench.owner, &question, json!({"choice": "yes"})).ok();
    let seen = bench.task(&bench.client, "", &task).ok();
    assert_eq!(seen["status"]["state"], "TASK_STATE_WORKING");
    let last = seen["history"].as_array().unwrap().last().unwrap();
    assert_eq!(last["parts"][0]["text"], "yes");
    // What the client says now answers nothing.
    bench.send(&bench.client, "", &json!({"taskId": task})).ok();
    let kept = bench.state();
    let answer = kept.question(question.as_str().unwrap()).unwrap().answer.clone();
    assert_eq!(answer.unwrap().from, participant(&bench, &bench.owner));
}

#[test]
fn the_owner_s_verb_asks_the_same_question() {
    let bench = Bench::new();
    let (task, request) = claimed_ask(&bench);
    let body = json!({"taskId": task, "body": "Which region?", "choices": ["east", "west"]});
    bench.operate(&bench.owner, "tasks:ask", &body).ok();
    let kept = bench.state();
    let question = kept.questions().next().unwrap();
    assert_eq!(question.to, [participant(&bench, &bench.client)]);
    assert_eq!(question.request_id.as_ref(), Some(&request));
    assert_eq!(question.choices, ["east", "west"]);
    let twice = json!({"taskId": task, "body": "b", "choices": ["east", "east"]});
    let reply = bench.operate(&bench.owner, "tasks:ask", &twice);
    assert_eq!(reply.refused().2, "choices[1]");
}

#[test]
fn a_question_of_a_task_that_has_ended_leaves_it_alone() {
    let bench = Bench::new();
    let (task, request) = claimed_ask(&bench);
    let to = json!({"requestId": request, "to": [participant(&bench, &bench.client)]});
    let question = asked(&bench, &bench.member, to);
    update(&bench, &bench.member, &request, "complete").ok();
    let before = bench.task(&bench.client, "", &task).ok();
    answer(&bench, &bench.owner, &question, json!({"body": "Too late."})).ok();
    assert_eq!(bench.task(&bench.client, "", &task).ok(), before);
}

#[test]
fn a_member_whose_request_it_is_answers_as_a_participant() {
    let bench = Bench::new();
    let request = create(&bench, &json!({}));
    update(&bench, &bench.member, &request, "claim").ok();
    let to = json!({"requestId": request, "to": [participant(&bench, &bench.owner)]});
    let made = ask(&bench, &bench.member, to).ok()["question"].clone();
    assert_eq!(made.get("taskId"), None, "no task waits");
    let given = answer(
        &bench,
        &bench.owner,
        &made["questionId"],
        json!({"choice": "yes"}),
    );
    assert_eq!(given.ok()["question"]["state"], "answered");
}

#[test]
fn a_decision_takes_the_place_of_one_that_holds() {
    let bench = Bench::new();
    let record = |more: Value| {
        let mut body = json!({"title": "Store", "decision": "PostgreSQL"});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        bench.coordinate(&bench.member, "decisions:record", &body)
    };
    let first = record(json!({"rationale": "Known", "alternatives": ["SQLite"]})).ok()["decision"].clone();
    let id = |decision: &Value| decision["decisionId"].as_str().unwrap().to_owned();
    let second = record(json!({"supersedes": id(&first)})).ok()["decision"].clone();
    let kept = bench.state();
    let superseded = kept.decision(&id(&first)).unwrap();
    assert_eq!(superseded.superseded_by, Some(id(&second)));
    let reply = record(json!({"supersedes": id(&first)}));
    assert_eq!(refused(&reply), (400, 9, "DECISION_SUPERSEDED".into()));
    let metadata = &reply.body["error"]["details"][0]["metadata"];
    assert_eq!(*metadata, json!({"supersededBy": id(&second)}));
    let reply = record(json!({"supersedes": "decision-x"}));
    assert_eq!(refused(&reply), (404, 5, "DECISION_NOT_FOUND".into()));
    let reply = record(json!({"supersedes": "decision-x", "workstreamId": "ws-x"}));
    assert_eq!(reason(&reply), "WORKSTREAM_NOT_FOUND");
}

#[test]
fn a_held_request_waits_for_one_who_decides_and_only_those_read_why() {
    let bench = Bench::new();
    let (task, request) = claimed_ask(&bench);
    let hold = |token: &str, more: Value| {
        let mut body = json!({"requestId": request, "action": "hold", "gate": "tool-approval", "reason": "rm -rf build"});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        bench.coordinate(token, "requests:update", &body)
    };
    assert_eq!(reason(&hold(&bench.owner, json!({}))), "NOT_OWNER");
    for (more, field) in [
        (json!({"reason": " "}), "reason"),
        (json!({"gate": null}), "gate"),
        (json!({"gate": "task-proposal"}), "gate"),
    ] {
        assert_eq!(hold(&bench.member, more).refused().2, field);
    }
    let of = |more: Value| {
        let mut body = more;
        body["taskId"] = json!(task);
        body
    };
    let reply = bench.operate(&bench.owner, "tasks:approve", &of(json!({})));
    assert_eq!(reason(&reply), "NO_OPEN_GATE");
    for (verb, said, verdict) in [
        ("tasks:approve", json!({}), "Approved."),
        (
            "tasks:decline",
            json!({"reason": "Not that one."}),
            "Not that one.",
        ),
    ] {
        let held = hold(&bench.member, json!({})).ok();
        assert_eq!(held["request"]["state"], "claimed");
        let seen = bench.task(&bench.client, support::GATE, &task).ok();
        assert_eq!(seen["status"]["state"], "TASK_STATE_AUTH_REQUIRED");
        assert_eq!(
            seen["status"]["message"]["metadata"][support::GATE]["gates"][0]["type"],
            "tool-approval"
        );
        let open = bench.operate(&bench.owner, "tasks:list", &json!({})).ok();
        assert_eq!(open["tasks"][0]["gate"]["reason"], "rm -rf build");
        let listed = bench.coordinate(&bench.member, "requests:list", &json!({})).ok();
        for told in [&held, &seen, &listed] {
            assert!(!told.to_string().contains("rm -rf"), "{told}");
        }
        bench.operate(&bench.owner, verb, &of(said)).ok();
        assert_eq!(state_of(&bench, &task), "TASK_STATE_WORKING", "{verb}");
        let kept = bench.state();
        let note = kept.request(&request).unwrap().notes.last().unwrap().clone();
        assert_eq!(
            (note.body.as_str(), note.from),
            (verdict, participant(&bench, &bench.owner))
        );
        let seen = bench.task(&bench.client, "", &task).ok();
        assert!(!seen.to_string().contains(verdict), "{seen}");
    }
    // With no gate to decide, declining is the ask's again.
    bench.operate(&bench.owner, "tasks:decline", &of(json!({}))).ok();
    assert_eq!(state_of(&bench, &task), "TASK_STATE_REJECTED");
    assert_eq!(reason(&hold(&bench.member, json!({}))), "REQUEST_CLOSED");
}

#[test]
fn a_hold_of_an_approved_handoff_does_not_undo_its_approval() {
    let bench = Bench::new();
    let handoff = json!({"metadata": {support::WORK: {"skill": "handoff", "title": "t"}}});
    let task = bench.send(&bench.client, "", &handoff).ok()["task"]["id"].clone();
    let of = json!({ "taskId": task });
    bench.operate(&bench.owner, "tasks:approve", &of).ok();
    let task = task.as_str().unwrap();
    let request = bench.state().task(task).unwrap().request_id.clone().unwrap();
    update(&bench, &bench.member, &request, "claim").ok();
    update(&bench, &bench.member, &request, "hold").ok();
    assert_eq!(state_of(&bench, task), "TASK_STATE_AUTH_REQUIRED");
    bench.operate(&bench.owner, "tasks:decline", &of).ok();
    assert_eq!(state_of(&bench, task), "TASK_STATE_WORKING");
    update(&bench, &bench.member, &request, "complete").ok();
    assert_eq!(state_of(&bench, task), "TASK_STATE_COMPLETED");
}
