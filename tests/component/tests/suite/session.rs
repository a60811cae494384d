//! The desk and its sessions behind the component: every story, and what nobody should send.

use std::cell::RefCell;
use std::collections::BTreeMap;

use a2a_edge_component_tests::Instance;
use a2a_edge_component_tests::exports::a2a_edge::core::session as wit;
use a2a_edge_stories::{Chunks, Opened, Story, Target, directory, play};
use http::{Request, Response};
use serde_json::{Value, json};
use wasmtime::component::ResourceAny;

use crate::desk::OPERATOR;
use crate::instance;
use crate::story_bench::StoryBench;

const BASE: &str = "http://127.0.0.1:8420";
const ENTROPY: wit::Entropy = (1, 2, 3, 4);

/// The least host there can be: the component, a clock, a counter for randomness and each session's log.
struct Host {
    instance: Instance,
    desk: ResourceAny,
    sessions: BTreeMap<String, Kept>,
    now: i64,
    drawn: u64,
    /// Whether a session is built from its log, or a snapshot, anew for every look at it.
    forgets: bool,
}

struct Kept {
    session: ResourceAny,
    log: Vec<Vec<u8>>,
}

impl Host {
    fn new(forgets: bool) -> Self {
        let mut instance = instance();
        let settings = json!({"operator_token": OPERATOR, "base_url": BASE, "push": "on", "card_modified": "2026-07-17T01:00:00Z"}).to_string();
        let session = instance.core.a2a_edge_core_session();
        let desk = session.desk().call_open(&mut instance.store, &settings);
        Self {
            desk: desk.unwrap().unwrap(),
            instance,
            sessions: BTreeMap::new(),
            now: 1_784_250_000_000,
            drawn: 0,
            forgets,
        }
    }

    fn entropy(&mut self) -> wit::Entropy {
        self.drawn += 1;
        (self.drawn, 0, 0, 0)
    }

    fn empty(&mut self) -> ResourceAny {
        let session = self.instance.core.a2a_edge_core_session();
        session
            .session()
            .call_constructor(&mut self.instance.store)
            .unwrap()
    }

    /// The session, as it stands; an empty one where none exists.
    fn session(&mut self, id: &str) -> ResourceAny {
        let known = self.sessions.get(id).map(|kept| (kept.session, kept.log.clone()));
        let Some((session, log)) = known else {
            return self.empty();
        };
        if !self.forgets {
            return session;
        }
        let calls = self.instance.core.a2a_edge_core_session();
        let store = &mut self.instance.store;
        let snapshot = calls.session().call_snapshot(&mut *store, session).unwrap();
        let restored = calls
            .session()
            .call_restore(&mut *store, &snapshot)
            .unwrap()
            .unwrap();
        let seq = calls.session().call_seq(&mut *store, restored).unwrap();
        assert_eq!(usize::try_from(seq).unwrap(), log.len());
        session.resource_drop(&mut *store).unwrap();
        self.sessions.get_mut(id).unwrap().session = restored;
        restored
    }

    fn keep(&mut self, id: &str, commit: wit::Commit) {
        if !self.sessions.contains_key(id) {
            let kept = Kept {
                session: self.empty(),
                log: Vec::new(),
            };
            self.sessions.insert(id.to_owned(), kept);
        }
        let calls = self.instance.core.a2a_edge_core_session();
        let kept = self.sessions.get_mut(id).unwrap();
        let applied = calls
            .session()
            .call_apply(&mut self.instance.store, kept.session, &commit.bytes);
        applied.unwrap().unwrap();
        kept.log.push(commit.bytes);
    }

    fn supply(&mut self, id: &str, exchange: ResourceAny, span: wit::Span) {
        let log = self
            .sessions
            .get(id)
            .map(|kept| kept.log.clone())
            .unwrap_or_default();
        let (after, most) = (
            usize::try_from(span.after).unwrap(),
            usize::try_from(span.most).unwrap(),
        );
        let commits: Vec<Vec<u8>> = log.into_iter().skip(after).take(most).collect();
        let calls = self.instance.core.a2a_edge_core_session();
        let supplied = calls
            .exchange()
            .call_supply(&mut self.instance.store, exchange, &commits);
        supplied.unwrap().unwrap();
    }

    fn view(&mut self, id: &str, exchange: ResourceAny) -> wit::View {
        let session = self.session(id);
        let calls = self.instance.core.a2a_edge_core_session();
        calls
            .session()
            .call_view(&mut self.instance.store, session, exchange, self.now)
            .unwrap()
    }

    /// Looks until there is something to be told. The clock moves to whatever is waited for.
    fn look(&mut self, id: &str, exchange: ResourceAny) -> wit::View {
        loop {
            match self.view(id, exchange) {
                wit::View::Wait(until) => self.now = until,
                wit::View::Log(span) => self.supply(id, exchange, span),
                view => return view,
            }
        }
    }

    /// The answer to a request, and the exchange that it is the beginning of if it is a stream.
    fn answer(&mut self, request: &wit::Request) -> (wit::Response, Option<(String, ResourceAny)>) {
        let calls = self.instance.core.a2a_edge_core_session();
        let plan = calls
            .desk()
            .call_plan(&mut self.instance.store, self.desk, request)
            .unwrap();
        let exchange = match plan {
            wit::Plan::Answer(answer) => return (answer, None),
            wit::Plan::Card(card) => return (self.card(card), None),
            wit::Plan::Create(creation) => {
                let (now, entropy) = (self.now, self.entropy());
                let calls = self.instance.core.a2a_edge_core_session();
                let begun = calls
                    .creation()
                    .call_begin(&mut self.instance.store, creation, None, now, entropy)
                    .unwrap();
                creation.resource_drop(&mut self.instance.store).unwrap();
                self.keep(&begun.session_id, begun.first);
                return (begun.answer, None);
            }
            wit::Plan::Call(exchange) => exchange,
            wit::Plan::Batch(batch) => return (self.batch(batch), None),
        };
        self.call(exchange)
    }

    fn card(&mut self, card: ResourceAny) -> wit::Response {
        let calls = self.instance.core.a2a_edge_core_session();
        let id = calls.card().call_session_id(&mut self.instance.store, card);
        let exists = self.sessions.contains_key(&id.unwrap());
        let calls = self.instance.core.a2a_edge_core_session();
        let answer = calls.card().call_answer(&mut self.instance.store, card, exists);
        card.resource_drop(&mut self.instance.store).unwrap();
        answer.unwrap()
    }

    /// Calls one after the other.
    fn batch(&mut self, batch: ResourceAny) -> wit::Response {
        loop {
            let calls = self.instance.core.a2a_edge_core_session();
            let next = calls.batch().call_next(&mut self.instance.store, batch).unwrap();
            let Some(exchange) = next else { break };
            let (answer, _) = self.call(exchange);
            let calls = self.instance.core.a2a_edge_core_session();
            let added = calls.batch().call_add(&mut self.instance.store, batch, &answer);
            added.unwrap();
        }
        let calls = self.instance.core.a2a_edge_core_session();
        calls
            .batch()
            .call_answer(&mut self.instance.store, batch)
            .unwrap()
    }

    fn call(&mut self, exchange: ResourceAny) -> (wit::Response, Option<(String, ResourceAny)>) {
        let calls = self.instance.core.a2a_edge_core_session();
        let id = calls
            .exchange()
            .call_session_id(&mut self.instance.store, exchange)
            .unwrap();
        let (session, now, entropy) = (self.session(&id), self.now, self.entropy());
        let calls = self.instance.core.a2a_edge_core_session();
        let decided = calls
            .session()
            .call_decide(&mut self.instance.store, session, exchange, now, entropy)
            .unwrap();
        match decided {
            Err(refusal) => return (refusal, None),
            Ok(None) => {}
            Ok(Some(commit)) => self.keep(&id, commit),
        }
        match self.look(&id, exchange) {
            wit::View::Ready(answer) => {
                exchange.resource_drop(&mut self.instance.store).unwrap();
                (answer, None)
            }
            wit::View::Stream(head) => (head, Some((id, exchange))),
            other => panic!("{other:?}"),
        }
    }
}

/// The component as a place where stories play.
struct Component(RefCell<Host>);

struct Pieces<'a> {
    host: &'a RefCell<Host>,
    id: String,
    exchange: ResourceAny,
}

impl Chunks for Pieces<'_> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        match self.host.borrow_mut().look(&self.id, self.exchange) {
            wit::View::Piece(bytes) => Ok(Some(bytes)),
            wit::View::End => Ok(None),
            other => Err(format!("{other:?}")),
        }
    }
}

impl Target for Component {
    fn base_url(&self) -> &str {
        BASE
    }

    fn call(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        match self.open(request)? {
            Opened::Whole(answer) => Ok(answer),
            Opened::Stream(..) => Err("a stream".to_owned()),
        }
    }

    fn open(&self, request: Request<Vec<u8>>) -> Result<Opened<'_>, String> {
        let (head, body) = request.into_parts();
        let headers = head.headers.iter();
        let request = wit::Request {
            method: head.method.to_string(),
            target: head.uri.to_string(),
            headers: headers
                .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
                .collect(),
            body,
        };
        let (answer, stream) = self.0.borrow_mut().answer(&request);
        let mut response = Response::builder().status(answer.status);
        for (name, value) in answer.headers {
            response = response.header(name, value);
        }
        let response = response.body(answer.body).map_err(|error| error.to_string())?;
        Ok(match stream {
            None => Opened::Whole(response),
            Some((id, exchange)) => {
                let host = &self.0;
                Opened::Stream(response.map(drop), Box::new(Pieces { host, id, exchange }))
            }
        })
    }

    fn tick(&self) {
        self.0.borrow_mut().now += 1_000;
    }
}

fn every_story(forgets: bool) {
    let (there, here) = (Component(RefCell::new(Host::new(forgets))), StoryBench::new());
    for story in Story::read_all(&directory()).unwrap() {
        let [there, here]: [String; 2] = [&there as &dyn Target, &here]
            .map(|target| play(&story, target, OPERATOR).unwrap_or_else(|failure| panic!("{failure}")));
        assert_eq!(there, here, "{}", story.name);
    }
}

#[test]
fn every_story_has_the_same_transcript_by_the_component_and_by_the_rust_api() {
    every_story(false);
}

#[test]
fn a_session_that_is_restored_for_every_look_answers_the_same() {
    every_story(true);
}

fn request(method: &str, target: &str, headers: &[(&str, &[u8])]) -> wit::Request {
    let headers = headers.iter();
    wit::Request {
        method: method.to_owned(),
        target: target.to_owned(),
        headers: headers
            .map(|(name, value)| ((*name).to_owned(), value.to_vec()))
            .collect(),
        body: Vec::new(),
    }
}

/// Calls the component as a host would, with JSON; the answer must be a success.
fn called(host: &mut Host, target: &str, token: &str, body: &Value) -> Value {
    let bearer = format!("Bearer {token}");
    let headers: [(&str, &[u8]); 3] = [
        ("authorization", bearer.as_bytes()),
        ("a2a-version", b"1.0"),
        ("content-type", b"application/json"),
    ];
    let asked = wit::Request {
        body: body.to_string().into_bytes(),
        ..request("POST", target, &headers)
    };
    let (answer, _) = host.answer(&asked);
    let body = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(answer.status, 200, "{body}");
    body
}

/// A session with a task that a webhook is to be told of: the session's id, and the task's.
fn with_a_webhook(host: &mut Host) -> (String, String) {
    let created = called(host, "/operator/v1/sessions:create", OPERATOR, &json!({}));
    let owner = created["token"].as_str().unwrap();
    let client = json!({"displayName": "c", "role": "client", "kind": "agent"});
    let added = called(host, "/operator/v1/participants:add", owner, &client);
    let message = json!({
        "message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "?"}]},
        "configuration": {"returnImmediately": true, "taskPushNotificationConfig": {
            "id": "hook", "url": "https://client.example/hook?a=b", "token": "t-1",
        }},
    });
    let sent = called(host, "/message:send", added["token"].as_str().unwrap(), &message);
    let id = |value: &Value| value.as_str().unwrap().to_owned();
    (id(&created["sessionId"]), id(&sent["task"]["id"]))
}

/// What is due of a session, and its first place.
fn due(host: &mut Host, id: &str, most: u32) -> wit::Due {
    let (session, now) = (host.session(id), host.now);
    let calls = host.instance.core.a2a_edge_core_session();
    calls
        .desk()
        .call_due(&mut host.instance.store, host.desk, session, now, most)
        .unwrap()
}

fn next_due(host: &mut Host, id: &str) -> Option<i64> {
    let session = host.session(id);
    let calls = host.instance.core.a2a_edge_core_session();
    calls
        .session()
        .call_next_due(&mut host.instance.store, session)
        .unwrap()
}

/// Records what came of sending; the places that were given up by it.
fn land(host: &mut Host, id: &str, landed: wit::Landed) -> Vec<wit::Place> {
    let (session, now, entropy) = (host.session(id), host.now, host.entropy());
    let calls = host.instance.core.a2a_edge_core_session();
    let landing = calls
        .session()
        .call_land(&mut host.instance.store, session, &[landed], now, entropy)
        .unwrap()
        .unwrap();
    host.keep(id, landing.commit);
    landing.given_up
}

/// What a courier has next for its webhook.
fn next(host: &mut Host, id: &str, courier: ResourceAny) -> wit::Next {
    let (session, now) = (host.session(id), host.now);
    let calls = host.instance.core.a2a_edge_core_session();
    calls
        .courier()
        .call_next(&mut host.instance.store, courier, session, now)
        .unwrap()
}

fn courier(host: &mut Host, place: &wit::Place) -> ResourceAny {
    let calls = host.instance.core.a2a_edge_core_session();
    let courier = calls
        .desk()
        .call_courier(&mut host.instance.store, host.desk, place);
    courier.unwrap()
}

fn landed(host: &mut Host, courier: ResourceAny, outcome: wit::Outcome) -> wit::Landed {
    let calls = host.instance.core.a2a_edge_core_session();
    let landed = calls
        .courier()
        .call_landed(&mut host.instance.store, courier, outcome);
    landed.unwrap()
}

#[test]
fn what_is_due_is_taken_to_its_webhook_recorded_and_due_no_more() {
    let mut host = Host::new(false);
    let (id, task) = with_a_webhook(&mut host);
    assert_eq!(due(&mut host, &id, 0).places.len(), 0);
    let wit::Due { places, later } = due(&mut host, &id, 7);
    let [place] = &places[..] else {
        panic!("{places:?}");
    };
    assert_eq!(
        (&place.task_id, place.config_id.as_str(), later),
        (&task, "hook", None)
    );
    assert_eq!(next_due(&mut host, &id), Some(host.now));
    let courier = courier(&mut host, place);
    let wit::Next::Send(notification) = next(&mut host, &id, courier) else {
        panic!("nothing to send");
    };
    assert_eq!(notification.url, "https://client.example/hook?a=b");
    let has = |name: &str, value: &str| {
        let mut headers = notification.headers.iter();
        headers.any(|(known, is)| known == name && is == value.as_bytes())
    };
    assert!(has("x-a2a-notification-token", "t-1") && has("content-type", "application/a2a+json"));
    let body: Value = serde_json::from_slice(&notification.body).unwrap();
    assert_eq!(body["statusUpdate"]["status"]["state"], "TASK_STATE_SUBMITTED");
    let calls = host.instance.core.a2a_edge_core_session();
    calls
        .courier()
        .call_taken(&mut host.instance.store, courier)
        .unwrap();
    let after = next(&mut host, &id, courier);
    assert!(
        matches!(after, wit::Next::Nothing(wit::Outcome::Taken)),
        "{after:?}"
    );
    let landed = landed(&mut host, courier, wit::Outcome::Taken);
    assert!(land(&mut host, &id, landed).is_empty());
    assert_eq!(
        (due(&mut host, &id, 7).places.len(), next_due(&mut host, &id)),
        (0, None)
    );
}

#[test]
fn what_was_not_taken_is_due_later_and_what_never_will_be_is_given_up() {
    let mut host = Host::new(true);
    let (id, task) = with_a_webhook(&mut host);
    let place = due(&mut host, &id, 1).places.remove(0);
    let first = courier(&mut host, &place);
    assert!(matches!(next(&mut host, &id, first), wit::Next::Send(_)));
    let failed = landed(&mut host, first, wit::Outcome::Failed);
    assert!(land(&mut host, &id, failed).is_empty());
    let later = due(&mut host, &id, 1).later.unwrap();
    assert!((5_000..=6_250).contains(&(later - host.now)), "{later}");
    assert_eq!(next_due(&mut host, &id), Some(later));
    host.now = later;
    assert_eq!(due(&mut host, &id, 1).places.len(), 1);
    let again = courier(&mut host, &place);
    let refused = landed(&mut host, again, wit::Outcome::Refused);
    let given_up = land(&mut host, &id, refused);
    assert_eq!((given_up.len(), &given_up[0].task_id), (1, &task));
    assert_eq!(next_due(&mut host, &id), None);
}

#[test]
fn a_courier_to_nowhere_has_nothing_and_reads_no_garbage() {
    let mut host = Host::new(false);
    let (id, _) = with_a_webhook(&mut host);
    let mut place = due(&mut host, &id, 1).places.remove(0);
    place.set_by += 1;
    let courier = courier(&mut host, &place);
    let nothing = next(&mut host, &id, courier);
    assert!(
        matches!(nothing, wit::Next::Nothing(wit::Outcome::Taken)),
        "{nothing:?}"
    );
    let calls = host.instance.core.a2a_edge_core_session();
    let supplied = calls
        .courier()
        .call_supply(&mut host.instance.store, courier, &[b"{".to_vec()]);
    assert!(supplied.unwrap().is_err());
}

#[test]
fn a_request_that_is_none_is_refused() {
    let mut host = Host::new(false);
    let long = "x".repeat(100_000);
    for (method, target) in [
        ("", "/tasks"),
        ("GE T", "/tasks"),
        ("GET", ""),
        ("GET", "tasks"),
        ("GET", "http://"),
        ("GET", "/\u{0}"),
        ("GET", &long),
    ] {
        let headers: [(&str, &[u8]); 3] = [("", b"x"), ("a b", b"x"), ("x", b"\n\xff")];
        let (answer, _) = host.answer(&request(method, target, &headers));
        assert!(
            (400..500).contains(&answer.status),
            "{method} {target}: {}",
            answer.status
        );
    }
}

#[test]
fn bytes_that_are_no_commit_and_no_snapshot_change_nothing() {
    let mut host = Host::new(false);
    let empty = host.empty();
    let calls = host.instance.core.a2a_edge_core_session();
    let store = &mut host.instance.store;
    let commit = br#"{"seq":2,"at":"2026-07-17T01:00:00.000Z","nonce":"n","events":[]}"#;
    for bytes in [&b""[..], b"{", b"{}", b"\xff", commit] {
        let applied = calls.session().call_apply(&mut *store, empty, bytes).unwrap();
        assert!(applied.is_err(), "{bytes:?}");
        assert_eq!(calls.session().call_seq(&mut *store, empty).unwrap(), 0);
    }
    for bytes in [&b""[..], b"{", b"[]", b"\xff"] {
        assert!(
            calls.session().call_restore(&mut *store, bytes).unwrap().is_err(),
            "{bytes:?}"
        );
    }
}

#[test]
fn an_exchange_is_refused_by_a_session_that_is_not_its_own() {
    let mut host = Host::new(false);
    let token = format!("Bearer a2ae_s1_{}", "x".repeat(43));
    let asked = request("GET", "/tasks", &[("authorization", token.as_bytes())]);
    let calls = host.instance.core.a2a_edge_core_session();
    let plan = calls
        .desk()
        .call_plan(&mut host.instance.store, host.desk, &asked)
        .unwrap();
    let wit::Plan::Call(exchange) = plan else {
        panic!("{plan:?}");
    };
    let empty = host.empty();
    let calls = host.instance.core.a2a_edge_core_session();
    let store = &mut host.instance.store;
    // Looked at before it was decided, and decided where nobody is known.
    let wit::View::Ready(early) = calls
        .session()
        .call_view(&mut *store, empty, exchange, i64::MIN)
        .unwrap()
    else {
        panic!("no answer");
    };
    let decided = calls
        .session()
        .call_decide(&mut *store, empty, exchange, i64::MAX, ENTROPY)
        .unwrap();
    assert_eq!((early.status, decided.unwrap_err().status), (401, 401));
    let failed = calls
        .exchange()
        .call_fail(&mut *store, exchange, wit::Failure::Broken)
        .unwrap();
    assert_eq!(failed.status, 500);
    let garbage = calls
        .exchange()
        .call_supply(&mut *store, exchange, &[b"{".to_vec()])
        .unwrap();
    assert!(garbage.is_err());
}

#[test]
fn a_setting_at_fault_is_named() {
    let mut instance = instance();
    let calls = instance.core.a2a_edge_core_session();
    for (settings, fault) in [
        ("", "settings"),
        (r#"{"colour":"blue"}"#, "settings"),
        (r#"{"wait_limit":"0"}"#, "wait_limit"),
        (r#"{"operator_token":"short"}"#, "operator_token"),
    ] {
        let opened = calls.desk().call_open(&mut instance.store, settings).unwrap();
        assert_eq!(opened.unwrap_err().setting, fault, "{settings}");
    }
}
