//! The protocol's vectors that need a host, played against the desk: what a client may send, and who raises and
//! answers the gate of a handoff's proposal.
//!
//! `a2a.inbound` is a send of the client with an envelope/v1 request; a `send` of the owner to the client is
//! `tasks:ask` on a task that the client opened before; a `reply` to a gate is `tasks:approve` or `tasks:decline`.
//! Each test has the name of its vector, and a guard fails when a vector has none.
//!
//! Of the expectations, `deliveries`, `calls` and `callsInclude` have no meaning here: they are about a mailbox with
//! a state for each recipient and about hooks into a host's own notifications, and the desk has neither; whether
//! work was taken in hand is told by its request. `given.limits` are a mailbox's too.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "support/desk.rs"]
mod support;

use a2a_edge::dispatch::{SYSTEM_ADDRESS, render};
use a2a_edge::session::decide::{Command, Context};
use a2a_edge::session::task::{Choice, Mail, TASK_PROPOSAL, WorkStatus};
use a2a_edge::session::{Session, SessionLimits, Token};
use a2a_edge::time::Timestamp;
use serde_json::{Value, json};
use support::{Bench, ENVELOPE, GATE, Reply, WORK};

const EXTERNAL: &str = include_str!("vectors/external.json");
const GATES: &str = include_str!("vectors/gates.task-proposal.json");

fn vectors(file: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(file).unwrap();
    file["vectors"].as_array().unwrap().clone()
}

fn vector(file: &str, id: &str) -> Value {
    vectors(file)
        .into_iter()
        .find(|vector| vector["id"] == id)
        .unwrap()
}

/// A vector under way.
struct Case {
    bench: Bench,
    /// What the names of the vector are called here.
    names: Vec<(String, String)>,
    /// Messages that were there before the first step.
    before: Vec<String>,
    /// The client's task that the owner asks about.
    task: Option<String>,
    /// By step: what was answered, and the message of the session that it became.
    steps: Vec<(Reply, Option<String>)>,
    /// The last message shown, as `render` shows it.
    shown: String,
}

impl Case {
    fn new(vector: &Value) -> Self {
        let bench = Bench::new();
        let stranger = bench.admit("client");
        let mut names = vec![
            ("human:wyat".to_owned(), bench.address(&bench.owner)),
            ("agent:wyat/a2a.acme".to_owned(), bench.address(&bench.client)),
            ("$system".to_owned(), SYSTEM_ADDRESS.to_owned()),
            ("human:alice".to_owned(), bench.address(&bench.member)),
        ];
        for item in vector["given"]["workItems"].as_array().into_iter().flatten() {
            // A work item that is there, approved, and another client's.
            let task = hand_off(&bench, &stranger);
            bench
                .operate(&bench.owner, "tasks:approve", &json!({ "taskId": task }))
                .ok();
            let here = bench
                .state()
                .task(&task)
                .unwrap()
                .work_item
                .as_ref()
                .unwrap()
                .id
                .clone();
            names.push((
                format!("task:{}", item["id"].as_str().unwrap()),
                format!("task:{here}"),
            ));
        }
        let asks = vector["when"]
            .as_array()
            .unwrap()
            .iter()
            .any(|step| step["op"] == "send");
        let task = asks.then(|| {
            let opened = bench
                .send(&bench.client, "", &json!({"parts": [{"text": "We are ready."}]}))
                .ok();
            opened["task"]["id"].as_str().unwrap().to_owned()
        });
        let before = mail(&bench.state()).into_iter().map(|mail| mail.id).collect();
        Self {
            bench,
            names,
            before,
            task,
            steps: Vec::new(),
            shown: String::new(),
        }
    }

    /// A value of the vector with the names that are used here.
    fn named(&self, value: &Value) -> Value {
        let mut text = value.to_string();
        for (name, here) in &self.names {
            text = text.replace(&format!("\"{name}\""), &json!(here).to_string());
        }
        serde_json::from_str(&text).unwrap()
    }

    fn play(&mut self, step: &Value) {
        let known: Vec<String> = mail(&self.bench.state())
            .into_iter()
            .map(|mail| mail.id)
            .collect();
        let reply = match step["op"].as_str().unwrap() {
            "a2a.inbound" => self.inbound(step),
            "send" => self.ask(step),
            "render" => return self.show(step),
            other => panic!("an unknown operation: {other}"),
        };
        let new: Vec<Mail> = mail(&self.bench.state())
            .into_iter()
            .filter(|mail| !known.contains(&mail.id))
            .collect();
        assert_eq!(
            new.len(),
            usize::from(reply.status == 200),
            "one message for a step that is taken: {new:?}"
        );
        let id = new.first().map(|mail| mail.id.clone());
        if let Some(id) = &id {
            self.names
                .push((format!("$s{}", self.steps.len() + 1), id.clone()));
        }
        self.steps.push((reply, id));
    }

    fn inbound(&self, step: &Value) -> Reply {
        let data = step["parts"].as_array().into_iter().flatten();
        let mut parts = vec![json!({ "text": step["body"] })];
        parts.extend(data.map(|data| json!({ "data": data })));
        let mut message = json!({ "parts": parts });
        if !step["envelope"].is_null() {
            message["metadata"] = json!({ ENVELOPE: self.named(&step["envelope"]) });
        }
        if !step["answers"].is_null() {
            message["taskId"] = json!(self.task);
        }
        self.bench.send(&self.bench.client, ENVELOPE, &message)
    }

    fn ask(&self, step: &Value) -> Reply {
        let input = &step["input"];
        let choices = input.get("choices").cloned().unwrap_or_else(|| json!([]));
        let body = json!({"taskId": self.task, "body": input["body"], "choices": choices});
        self.bench.operate(&self.bench.owner, "tasks:ask", &body)
    }

    fn show(&mut self, step: &Value) {
        let session = self.bench.state();
        let message = session
            .mail(self.named(&step["message"]).as_str().unwrap())
            .unwrap();
        let form = if step["form"] == "digest" {
            render::digest
        } else {
            render::push
        };
        self.shown = form(&message.note());
    }

    fn check(&self, then: &Value) {
        for (expected, (reply, _)) in then["steps"].as_array().unwrap().iter().zip(&self.steps) {
            if expected["ok"] == true {
                assert_eq!(reply.status, 200, "{}", reply.body);
            } else {
                assert_eq!(reply.refused(), refusal(&expected["error"]), "{}", reply.body);
            }
        }
        let session = self.bench.state();
        for expected in then["messages"].as_array().into_iter().flatten() {
            let expected = self.named(expected);
            let found = session.mail(expected["id"].as_str().unwrap()).unwrap();
            let found = serde_json::to_value(found).unwrap();
            for (member, value) in expected.as_object().unwrap() {
                assert_eq!(
                    found.get(member).unwrap_or(&Value::Null),
                    value,
                    "{member} of {found}"
                );
            }
        }
        if then["noOtherMessages"] == true {
            let steps = self.steps.iter().filter_map(|(_, id)| id.as_ref());
            let mut expected: Vec<&String> = self.before.iter().chain(steps).collect();
            let all: Vec<String> = mail(&session).into_iter().map(|mail| mail.id).collect();
            let mut all: Vec<&String> = all.iter().collect();
            expected.sort();
            all.sort();
            assert_eq!(all, expected);
        }
        // Whatever a client sends, it raises no gate and ends nothing.
        for task in session.tasks().filter(|task| task.work_item.is_none()) {
            assert!(task.gates.is_empty());
            assert!(
                !session
                    .standing(task, Timestamp::from_millis(i64::MAX / 2))
                    .state
                    .is_terminal()
            );
        }
    }
}

/// All messages of a session.
fn mail(session: &Session) -> Vec<Mail> {
    let snapshot: Value = serde_json::from_slice(&session.snapshot()).unwrap();
    let all = snapshot["mail"].as_object().unwrap().values();
    all.map(|mail| serde_json::from_value(mail.clone()).unwrap())
        .collect()
}

/// How a fault of a vector is answered over HTTP: status, reason, and the first field of the BadRequest.
fn refusal(error: &Value) -> (u16, String, String) {
    let field = error["field"].as_str().unwrap();
    match error["code"].as_str().unwrap() {
        "forbidden" => (403, "FORBIDDEN_ADDRESS".into(), String::new()),
        _ if field == "body" => (400, "INVALID_PARAMS".into(), "message.parts".into()),
        _ => (
            400,
            "INVALID_PARAMS".into(),
            format!("message.metadata[{ENVELOPE}].{field}"),
        ),
    }
}

fn play(id: &str) -> Case {
    let vector = vector(EXTERNAL, id);
    let mut case = Case::new(&vector);
    for step in vector["when"].as_array().unwrap() {
        case.play(step);
    }
    case.check(&vector["then"]);
    case
}

/// A test for each vector, of its name, and the list of those that there are.
macro_rules! played {
    ($($id:literal => $name:ident $(, $more:expr)?;)*) => {
        const PLAYED: &[&str] = &[$($id),*];
        $(
            #[test]
            fn $name() {
                let case = play($id);
                $($more(&case);)?
                let _ = case;
            }
        )*
    };
}

played! {
    "a2a.external.never-speaks-as-the-system" => a2a_external_never_speaks_as_the_system;
    "a2a.external.an-answer-from-a-client-is-never-a-close" => a2a_external_an_answer_from_a_client_is_never_a_close, is_answered;
    "a2a.external.an-opening-answer-or-handoff-is-refused" => a2a_external_an_opening_answer_or_handoff_is_refused;
    "a2a.external.the-host-sets-id-thread-and-from" => a2a_external_the_host_sets_id_thread_and_from;
    "a2a.external.defaults-to-a-blocking-question-to-the-owner" => a2a_external_defaults_to_a_blocking_question_to_the_owner;
    "a2a.external.a-client-reaches-only-the-owner" => a2a_external_a_client_reaches_only_the_owner, names_the_slot;
    "a2a.external.gate-shaped-data-is-wrapped" => a2a_external_gate_shaped_data_is_wrapped;
    "a2a.external.several-data-parts-become-one-array" => a2a_external_several_data_parts_become_one_array;
    "a2a.external.an-empty-message-is-refused" => a2a_external_an_empty_message_is_refused;
    "a2a.external.data-alone-reads-no-text" => a2a_external_data_alone_reads_no_text;
    "a2a.external.a-clients-question-is-quoted-when-pushed" => a2a_external_a_clients_question_is_quoted_when_pushed, quotes_every_line;
    "a2a.external.a-forged-header-stays-quoted" => a2a_external_a_forged_header_stays_quoted, quotes_every_line;
    "a2a.external.a-clients-digest-starts-with-host-text" => a2a_external_a_clients_digest_starts_with_host_text, is_one_line_of_the_hosts;
}

/// The question is answered: the task waits for the client no longer.
fn is_answered(case: &Case) {
    let session = case.bench.state();
    let task = session.task(case.task.as_ref().unwrap()).unwrap();
    assert_eq!(task.open_questions, Vec::<String>::new());
    assert_eq!(task.answer, None);
}

/// The slot that may not be addressed is named.
fn names_the_slot(case: &Case) {
    for (slot, (reply, _)) in ["to[0]", "to[1]"].iter().zip(&case.steps) {
        let field = &reply.body["error"]["details"][0]["metadata"]["field"];
        assert_eq!(*field, format!("message.metadata[{ENVELOPE}].{slot}"));
    }
}

fn header(case: &Case) -> String {
    let session = case.bench.state();
    let id = case.steps[0].1.as_ref().unwrap();
    let kind = session.mail(id).unwrap().kind.as_str();
    format!(
        "[message from {} · {kind} · {id}]",
        case.bench.address(&case.bench.client)
    )
}

/// The first line is the host's own, and every other one is quoted, choices included.
fn quotes_every_line(case: &Case) {
    let session = case.bench.state();
    let message = session.mail(case.steps[0].1.as_ref().unwrap()).unwrap();
    let mut lines = case.shown.lines();
    assert_eq!(lines.next(), Some(header(case).as_str()));
    let quoted: Vec<&str> = lines.map(|line| line.strip_prefix("> ").unwrap()).collect();
    let choices = message.choices.iter().map(|choice| format!("- {choice}"));
    let expected: Vec<String> = message.body.lines().map(str::to_owned).chain(choices).collect();
    assert_eq!(quoted, expected);
}

fn is_one_line_of_the_hosts(case: &Case) {
    assert_eq!(case.shown.lines().count(), 1);
    assert!(case.shown.starts_with(&header(case)), "{}", case.shown);
}

fn hand_off(bench: &Bench, client: &str) -> String {
    let metadata = json!({ WORK: {"skill": "handoff", "title": "Raise the upload limits"} });
    let sent = bench
        .send(
            client,
            &format!("{WORK},{GATE}"),
            &json!({ "metadata": metadata }),
        )
        .ok();
    sent["task"]["id"].as_str().unwrap().to_owned()
}

/// What a reply of the vector is here, by somebody who decides or does not.
fn reply_to_gate(bench: &Bench, task: &str, step: &Value) -> Reply {
    let token = if step["as"]["canDecide"] == true {
        &bench.owner
    } else {
        &bench.member
    };
    let verb = if step["input"]["choice"] == "decline" {
        "tasks:decline"
    } else {
        "tasks:approve"
    };
    bench.operate(
        token,
        verb,
        &json!({"taskId": task, "reason": step["input"]["body"]}),
    )
}

/// The proposal of a task: the gate's message.
fn proposal(session: &Session, task: &str) -> Mail {
    let task = session.task(task).unwrap();
    let gates: Vec<_> = task
        .gates
        .iter()
        .filter(|gate| gate.gate_type == TASK_PROPOSAL)
        .collect();
    assert_eq!(gates.len(), 1);
    session.mail(&gates[0].id).unwrap().clone()
}

/// The answers to a gate.
fn answers(session: &Session, gate: &str) -> Vec<Mail> {
    let to_it = |mail: &Mail| mail.reply_to.as_deref() == Some(gate);
    mail(session).into_iter().filter(to_it).collect()
}

/// The vector has three that send a gate. Here nobody but the system has an operation that takes a message's data:
/// the owner's and the members' own ignore it, and a client's is wrapped (`gate-shaped-data-is-wrapped`), so that the
/// refusal on `data` is that no such gate comes to be.
#[test]
fn core_gates_task_proposal_is_raised_only_by_the_system() {
    let vector = vector(GATES, "core.gates.task-proposal-is-raised-only-by-the-system");
    let bench = Bench::new();
    let opened = bench.send(&bench.client, "", &json!({})).ok();
    let ask = opened["task"]["id"].as_str().unwrap();
    for (step, then) in vector["when"]
        .as_array()
        .unwrap()
        .iter()
        .zip(vector["then"]["steps"].as_array().unwrap())
    {
        let input = &step["input"];
        if then["ok"] == true {
            let task = hand_off(&bench, &bench.client);
            let session = bench.state();
            let gate = proposal(&session, &task);
            let record = session.task(&task).unwrap();
            assert_eq!(gate.from, SYSTEM_ADDRESS);
            assert_eq!(gate.to, [bench.address(&bench.owner)]);
            assert_eq!(json!(gate.kind), input["kind"]);
            assert_eq!(json!(gate.blocking), input["blocking"]);
            assert_eq!(json!(gate.body), input["body"]);
            assert_eq!(json!(gate.choices), input["choices"]);
            let client = bench.address(&bench.client);
            let data = json!({"type": TASK_PROPOSAL, "task": record.work_item.as_ref().unwrap().id, "proposedBy": client,
                "message": record.root});
            assert_eq!(gate.data, Some(data));
            continue;
        }
        assert_eq!(then["error"], json!({"code": "forbidden", "field": "data"}));
        if step["as"]["canDecide"] == true {
            let mut body = input.clone();
            body["taskId"] = json!(ask);
            bench.operate(&bench.owner, "tasks:ask", &body).ok();
        } else {
            let mut body = input.clone();
            body["title"] = json!("Approve the handoff?");
            body["to"] = json!([]);
            bench.coordinate(&bench.member, "requests:create", &body).ok();
        }
        let session = bench.state();
        assert!(session.tasks().all(|task| task.gates.is_empty()));
        assert!(
            mail(&session)
                .iter()
                .all(|mail| mail.data.is_none() && !session.is_gate_traffic(mail))
        );
    }
}

/// To a participant who does not decide the verbs do not exist, and the session itself refuses it too.
#[test]
fn core_gates_task_proposal_needs_a_deciding_answer() {
    let vector = vector(GATES, "core.gates.task-proposal-needs-a-deciding-answer");
    let (when, then) = (&vector["when"], &vector["then"]);
    let bench = Bench::new();
    let task = hand_off(&bench, &bench.client);
    let refused = reply_to_gate(&bench, &task, &when[1]);
    assert_eq!(then["steps"][1]["error"]["code"], "forbidden");
    assert_eq!(refused.status, 404);
    let session = bench.state();
    for token in [&bench.member, &bench.client] {
        let command = Command::DecideProposal {
            task_id: task.clone(),
            choice: "approve".into(),
            reason: None,
        };
        let context = Context {
            now: Timestamp::from_millis(1_784_250_000_001),
            entropy: [7; 32],
            caller: session.authenticate(&Token::parse(token).unwrap()).unwrap(),
            limits: SessionLimits::default(),
            idempotency: None,
        };
        let refusal = session.decide(&command, &context).unwrap_err();
        assert_eq!((refusal.status(), refusal.reason()), (403, Some("NOT_OWNER")));
    }
    let gate = proposal(&session, &task).id;
    assert!(answers(&session, &gate).is_empty());

    reply_to_gate(&bench, &task, &when[2]).ok();
    let session = bench.state();
    let given = answers(&session, &gate);
    assert_eq!(given.len(), 1, "nothing but the one answer: {given:?}");
    let expected = &then["messages"][1];
    assert_eq!(json!(given[0].kind), expected["kind"]);
    assert_eq!(json!(given[0].choice), expected["choice"]);
    assert_eq!(then["gateEffects"], json!(["$s1"]));
    let record = session.task(&task).unwrap();
    assert_eq!(record.work_item.as_ref().unwrap().status, WorkStatus::Dropped);
    assert_eq!(record.gates[0].decision.as_ref().unwrap().choice, Choice::Decline);
    let told = bench.task(&bench.client, "", &task).ok();
    assert_eq!(
        told["status"]["message"]["parts"][0]["text"],
        when[2]["input"]["body"]
    );
    // Once and for this draft alone: a second answer finds nothing that waits.
    let again = bench.operate(&bench.owner, "tasks:approve", &json!({ "taskId": task }));
    assert_eq!(again.refused().1, "TASK_CLOSED");
}

/// The verbs leave no other choice, so the choices are put to the session itself; none is the empty text there.
#[test]
fn core_gates_task_proposal_is_answered_with_approve_or_decline() {
    let vector = vector(
        GATES,
        "core.gates.task-proposal-is-answered-with-approve-or-decline",
    );
    let bench = Bench::new();
    let task = hand_off(&bench, &bench.client);
    let gate = proposal(&bench.state(), &task).id;
    let mut session = bench.state();
    let replies = vector["when"]
        .as_array()
        .unwrap()
        .iter()
        .zip(vector["then"]["steps"].as_array().unwrap())
        .skip(1);
    for (step, then) in replies {
        let command = Command::DecideProposal {
            task_id: task.clone(),
            choice: step["input"]["choice"].as_str().unwrap_or_default().to_owned(),
            reason: None,
        };
        let context = Context {
            now: Timestamp::from_millis(1_784_250_000_001),
            entropy: [7; 32],
            caller: session
                .authenticate(&Token::parse(&bench.owner).unwrap())
                .unwrap(),
            limits: SessionLimits::default(),
            idempotency: None,
        };
        match session.decide(&command, &context) {
            Ok(decided) => {
                assert_eq!(then["ok"], true);
                assert!(session.apply(&decided.commit.unwrap()));
            }
            Err(refusal) => {
                assert_eq!(then["error"]["code"], "invalid");
                assert_eq!(json!(refusal.violations[0].field), then["error"]["field"]);
            }
        }
    }
    let given = answers(&session, &gate);
    assert_eq!(given.len(), 1);
    assert_eq!(json!(given[0].choice), vector["then"]["messages"][0]["choice"]);
    let record = session.task(&task).unwrap();
    assert_eq!(record.work_item.as_ref().unwrap().status, WorkStatus::Ready);
    assert_eq!(session.requests().count(), 1, "the draft is promoted once");
}

#[test]
fn every_vector_of_the_files_has_a_test_of_its_name() {
    let ids = |file| {
        vectors(file)
            .iter()
            .map(|vector| vector["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(EXTERNAL), PLAYED);
    let source = include_str!("external_vectors.rs");
    for id in ids(EXTERNAL).into_iter().chain(ids(GATES)) {
        let name = id.replace(['.', '-'], "_");
        assert!(
            source.contains(&format!("fn {name}()")) || source.contains(&format!("=> {name}")),
            "{id}"
        );
    }
}
