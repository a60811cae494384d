//! The official clients of A2A, Python's and JavaScript's, against a host: in both bindings a handoff is followed from its
//! proposal to its landing, with the extensions and without, a webhook is set, and what is refused is the error it should
//! be.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use a2a_edge::dispatch::{GATE_URI as GATE, WORK_URI as WORK};
use a2a_edge_stories::server::PATIENCE;
use serde_json::{Value, json};

use crate::callers::{Caller, Session, scratch, text};
use crate::hook::Webhook;

const BINDINGS: [&str; 2] = ["JSONRPC", "HTTP+JSON"];

/// A program that does what lines of JSON tell it (`tests/clients/`).
struct Program {
    child: Child,
    input: ChildStdin,
    lines: mpsc::Receiver<String>,
    /// What came for other calls than the one that was waited for.
    kept: BTreeMap<u64, VecDeque<Value>>,
    calls: u64,
}

impl Program {
    fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (tell, lines) = mpsc::channel();
        thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            for line in lines {
                let _ = tell.send(line);
            }
        });
        Self {
            child,
            input,
            lines,
            kept: BTreeMap::new(),
            calls: 0,
        }
    }

    /// Begins a call, and says how it is known.
    fn begin(&mut self, client: &str, what: &str, more: &Value) -> u64 {
        self.calls += 1;
        let mut call = json!({"n": self.calls, "client": client, "do": what});
        add(&mut call, more);
        writeln!(self.input, "{call}").unwrap();
        self.calls
    }

    /// The next line about a call.
    #[track_caller]
    fn next(&mut self, call: u64) -> Value {
        loop {
            if let Some(line) = self.kept.get_mut(&call).and_then(VecDeque::pop_front) {
                return line;
            }
            let line = self.lines.recv_timeout(PATIENCE);
            let line: Value =
                serde_json::from_str(&line.unwrap_or_else(|why| panic!("call {call}: {why}"))).unwrap();
            let about = line["n"].as_u64().unwrap();
            self.kept.entry(about).or_default().push_back(line);
        }
    }

    /// A call's result.
    #[track_caller]
    fn call(&mut self, client: &str, what: &str, params: &Value) -> Value {
        let call = self.begin(client, what, &json!({ "params": params }));
        let line = self.next(call);
        assert!(line.get("result").is_some(), "{what}: {line}");
        line["result"].clone()
    }

    /// What a call is refused with.
    #[track_caller]
    fn refused(&mut self, client: &str, what: &str, params: &Value) -> String {
        let call = self.begin(client, what, &json!({ "params": params }));
        let line = self.next(call);
        let error = line["error"].as_str().unwrap_or_else(|| panic!("{what}: {line}"));
        // JavaScript's say in which binding they came.
        let name = error
            .strip_prefix("JsonRpc")
            .or_else(|| error.strip_prefix("Rest"));
        name.unwrap_or(error).to_owned()
    }

    #[track_caller]
    fn event(&mut self, call: u64) -> Value {
        let line = self.next(call);
        assert!(line.get("event").is_some(), "{line}");
        line["event"].clone()
    }

    #[track_caller]
    fn ends(&mut self, call: u64) {
        let line = self.next(call);
        assert_eq!(line["ends"], true, "{line}");
    }

    /// Opens a client with the extensions, `{binding}+`, and one without, `{binding}`.
    fn open(&mut self, desk: &Desk<'_>, binding: &str) -> [String; 2] {
        [(format!("{binding}+"), json!([WORK, GATE])), (binding.to_owned(), json!([]))].map(|(name, extensions)| {
            let how = json!({"url": desk.url, "binding": binding, "token": desk.session.client, "extensions": extensions});
            let call = self.begin(&name, "open", &how);
            let line = self.next(call);
            assert!(line.get("result").is_some(), "{line}");
            name
        })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn clients(language: &str) -> PathBuf {
    // Every crate that this is a part of is two folders below the workspace.
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients")).join(language)
}

fn python() -> Command {
    let python = xtask::pip::install("tests/clients/python", "client-python");
    let mut command = Command::new(python.unwrap_or_else(|failure| panic!("{failure}")));
    command.arg(clients("python").join("client.py"));
    command
}

fn javascript(place: &Path) -> Command {
    let modules = xtask::npm::install("tests/clients/js", "client-js");
    let modules = modules.unwrap_or_else(|failure| panic!("{failure}"));
    // Node looks for packages beside the program.
    std::os::unix::fs::symlink(modules, place.join("node_modules")).unwrap();
    for file in ["client.js", "package.json"] {
        fs::copy(clients("js").join(file), place.join(file)).unwrap();
    }
    let mut command = Command::new("node");
    command.args(["--preserve-symlinks", "--preserve-symlinks-main"]);
    command.arg(place.join("client.js"));
    command
}

/// A host with a session.
pub(crate) struct Desk<'a> {
    pub(crate) url: &'a str,
    pub(crate) caller: &'a Caller,
    pub(crate) session: &'a Session,
}

impl Desk<'_> {
    /// The owner lets a task run.
    #[track_caller]
    fn approve(&self, task: &str) {
        let body = json!({ "taskId": task });
        self.caller.operate(&self.session.owner, "tasks:approve", &body);
    }

    /// The request that carries a task.
    #[track_caller]
    fn request_of(&self, task: &str) -> String {
        let member = &self.session.member;
        let listed = self.caller.coordinate(member, "requests:list", &json!({})).ok();
        let mut requests = listed["requests"].as_array().unwrap().iter();
        text(&requests.find(|request| request["taskId"] == task).unwrap()["requestId"])
    }

    /// The member does something about a request.
    #[track_caller]
    fn update(&self, request: &str, action: &str, more: &Value) {
        let mut body = json!({"requestId": request, "action": action});
        add(&mut body, more);
        let member = &self.session.member;
        self.caller.coordinate(member, "requests:update", &body).ok();
    }
}

fn add(object: &mut Value, more: &Value) {
    object
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
}

fn message(id: &str, more: &Value) -> Value {
    let mut message =
        json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": "The export API has no limit."}]});
    add(&mut message, more);
    json!({ "message": message })
}

/// The status that an event tells, of the task or of an update.
fn status(event: &Value) -> &Value {
    match event.get("task") {
        Some(task) => &task["status"],
        None => &event["statusUpdate"]["status"],
    }
}

/// A handoff is proposed with the extensions and followed with them and without, until it has landed.
fn follows_a_handoff(
    program: &mut Program,
    desk: &Desk<'_>,
    binding: &str,
    rich: &str,
    plain: &str,
) -> String {
    let handoff = json!({WORK: {"skill": "handoff", "title": "Add rate limiting"}});
    let proposal = message(&format!("handoff-{binding}"), &json!({ "metadata": handoff }));
    let told = program.begin(rich, "stream", &json!({ "params": proposal }));
    let first = program.event(told);
    let task = first["task"]["id"].as_str().unwrap().to_owned();
    assert_eq!(first["task"]["metadata"][WORK]["status"], "draft", "{first}");
    let followed = program.begin(plain, "subscribe", &json!({"params": {"id": task}}));
    let same = program.event(followed);
    for event in [&first, &same] {
        assert_eq!(status(event)["state"], "TASK_STATE_AUTH_REQUIRED", "{event}");
    }
    assert!(
        same["task"].get("metadata").is_none_or(|it| *it == json!({})),
        "{same}"
    );

    desk.approve(&task);
    let request = desk.request_of(&task);
    desk.update(&request, "claim", &json!({}));
    desk.update(
        &request,
        "progress",
        &json!({"stage": "review", "note": "Read it, please."}),
    );
    let url = "https://example.org/pull/7";
    let pull_request = json!({
        "artifactId": "pr",
        "parts": [{"url": url}],
        "metadata": {WORK: {"kind": "pr", "url": url, "number": 7, "state": "merged"}},
    });
    desk.update(&request, "complete", &json!({"artifacts": [pull_request]}));
    let expected = [
        ("TASK_STATE_SUBMITTED", json!(null)),
        ("TASK_STATE_WORKING", json!(null)),
        ("TASK_STATE_WORKING", json!("review")),
        ("", json!(null)),
        ("TASK_STATE_COMPLETED", json!(null)),
    ];
    for (state, stage) in expected {
        let events = [program.event(told), program.event(followed)];
        if state.is_empty() {
            for event in &events {
                assert_eq!(event["artifactUpdate"]["artifact"]["artifactId"], "pr", "{event}");
            }
            continue;
        }
        for event in &events {
            assert_eq!(status(event)["state"], state, "{event}");
        }
        let [rich, plain] = &events;
        assert_eq!(rich["statusUpdate"]["metadata"][WORK]["stage"], stage, "{rich}");
        assert!(!plain.to_string().contains(WORK), "{plain}");
    }
    program.ends(told);
    program.ends(followed);
    task
}

/// What a client may ask of a task that has ended, and of tasks in general.
fn reads_it(program: &mut Program, rich: &str, plain: &str, task: &str) {
    let id = json!({ "id": task });
    let landed = program.call(rich, "get", &id);
    assert_eq!(landed["metadata"][WORK]["status"], "landed", "{landed}");
    assert_eq!(
        landed["artifacts"][0]["parts"][0]["url"],
        "https://example.org/pull/7"
    );
    let said = program.call(plain, "get", &id);
    assert_eq!(said["status"]["state"], "TASK_STATE_COMPLETED", "{said}");
    assert!(!said.to_string().contains(WORK), "{said}");
    let mut pages = Vec::new();
    let mut params = json!({"pageSize": 1, "status": "TASK_STATE_COMPLETED", "includeArtifacts": true});
    loop {
        let page = program.call(plain, "list", &params);
        pages.extend(page["tasks"].as_array().unwrap().clone());
        let next = page["nextPageToken"].as_str().unwrap_or_default().to_owned();
        if next.is_empty() {
            assert_eq!(page["totalSize"], pages.len());
            break;
        }
        params["pageToken"] = json!(next);
    }
    let found = pages.iter().find(|found| found["id"] == task).unwrap();
    assert_eq!(found["artifacts"], said["artifacts"]);

    let nowhere = json!({"id": "task-nowhere"});
    for (what, params, name) in [
        ("get", &nowhere, "TaskNotFoundError"),
        ("cancel", &nowhere, "TaskNotFoundError"),
        ("cancel", &id, "TaskNotCancelableError"),
        ("subscribe", &id, "UnsupportedOperationError"),
        ("subscribe", &nowhere, "TaskNotFoundError"),
    ] {
        assert_eq!(program.refused(plain, what, params), name, "{what} {params}");
    }
}

/// The task that a message opens, as soon as it is there.
fn begun(program: &mut Program, client: &str, message_id: &Value) -> String {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let waiting = program.call(client, "list", &json!({"status": "TASK_STATE_SUBMITTED"}));
        let mut tasks = waiting["tasks"].as_array().into_iter().flatten();
        if let Some(task) = tasks.find(|task| task["history"][0]["messageId"] == *message_id) {
            return task["id"].as_str().unwrap().to_owned();
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("no task of {message_id}");
}

/// Questions: one is answered while the client waits for it, one is taken back.
fn asks(program: &mut Program, desk: &Desk<'_>, binding: &str, plain: &str) {
    let question = message(&format!("ask-{binding}"), &json!({}));
    let waits = program.begin(plain, "send", &json!({ "params": question }));
    let mut later = message(&format!("later-{binding}"), &json!({}));
    later["configuration"] = json!({"returnImmediately": true});
    let canceled = program.call(plain, "send", &later)["task"].clone();
    let asked = begun(program, plain, &question["message"]["messageId"]);
    let request = desk.request_of(&asked);
    desk.update(&request, "claim", &json!({}));
    desk.update(&request, "complete", &json!({"note": "A hundred a minute."}));
    let answered = program.next(waits)["result"]["task"].clone();
    assert_eq!(answered["status"]["state"], "TASK_STATE_COMPLETED", "{answered}");
    assert!(answered.to_string().contains("A hundred a minute."), "{answered}");
    let canceled = program.call(plain, "cancel", &json!({ "id": canceled["id"] }));
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED", "{canceled}");
}

/// A webhook is set for a task that has ended, is told so, is listed, and is taken away.
fn sets_a_webhook(program: &mut Program, webhook: &Webhook, client: &str, task: &str) {
    let authentication = json!({"scheme": "Bearer", "credentials": "secret"});
    let config = json!({"taskId": task, "id": "hook", "url": webhook.url, "authentication": authentication});
    let created = program.call(client, "create config", &config);
    assert_eq!(created["url"], webhook.url, "{created}");
    let told = webhook.next();
    assert_eq!(
        (told.state(), &told.body["statusUpdate"]["taskId"]),
        ("TASK_STATE_COMPLETED", &json!(task))
    );
    let one = json!({"taskId": task, "id": "hook"});
    assert_eq!(program.call(client, "get config", &one), created);
    let all = json!({ "taskId": task });
    let listed = program.call(client, "list configs", &all);
    assert_eq!(listed["configs"], json!([created]), "{listed}");
    for _ in 0..2 {
        program.call(client, "delete config", &one);
    }
    let listed = program.call(client, "list configs", &all);
    assert!(
        listed.get("configs").is_none_or(|configs| *configs == json!([])),
        "{listed}"
    );
    assert_eq!(program.refused(client, "get config", &one), "TaskNotFoundError");
}

fn plays(mut program: Program, desk: &Desk<'_>) {
    let webhook = Webhook::start();
    for binding in BINDINGS {
        let [rich, plain] = program.open(desk, binding);
        let task = follows_a_handoff(&mut program, desk, binding, &rich, &plain);
        reads_it(&mut program, &rich, &plain, &task);
        sets_a_webhook(&mut program, &webhook, &plain, &task);
        asks(&mut program, desk, binding, &plain);
    }
}

/// Plays all of it with the client for Python.
pub(crate) fn in_python(desk: &Desk<'_>) {
    plays(Program::start(&mut python()), desk);
}

/// Plays all of it with the client for JavaScript.
pub(crate) fn in_javascript(desk: &Desk<'_>) {
    let place = scratch();
    plays(Program::start(&mut javascript(place.path())), desk);
}
