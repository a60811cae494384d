//! What a deployment is bound to, and sent, that nobody planned: everything is answered, and nothing is worse for it.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::thread;

use a2a_edge_stories::Http;
use a2a_edge_workers_tests::{Deployment, Directory, OPERATOR, Running};
use serde_json::{Value, json};

use crate::party::{Caller, PATIENCE, PLATFORM, Party, Session, scratch};
use crate::reading::{EVENTS, Reading};

const CARD: &str = "GET /.well-known/agent-card.json";

/// The first line, the headers and the body of the answer to these bytes.
fn raw(running: &Running, request: &str) -> (String, String, String) {
    let mut stream = TcpStream::connect(running.url().trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let (line, headers) = head.split_once("\r\n").unwrap_or((head, ""));
    (line.to_owned(), headers.to_ascii_lowercase(), body.to_owned())
}

/// Nothing has gone wrong on the server's side.
fn is_well(party: &Party) {
    for line in party.lines() {
        for event in ["trap", "panic", "failed", "store"] {
            assert!(!line.contains(&format!("\"event\":\"{event}\"")), "{line}");
        }
    }
}

#[test]
fn without_a_directory_or_with_what_is_none_everything_works() {
    for directory in [Directory::Absent, Directory::Mistaken] {
        let party = Party::new(&Deployment::default().directory(directory));
        let card = party.caller.call(CARD, "", &Value::Null).ok();
        assert_eq!(card["name"], "a2a-edge", "{directory:?}");
        let of_session = format!("GET /{}/.well-known/agent-card.json", party.session.id);
        party.caller.call(&of_session, "", &Value::Null).ok();
        party.caller.send(&party.session.client, "m-1").ok();
        is_well(&party);
    }
}

#[test]
fn without_objects_what_needs_one_is_a_500_and_the_card_is_shown() {
    let place = scratch();
    let deployment = Deployment::default().without_objects();
    let running = PLATFORM.start(&deployment, place.path()).unwrap();
    let caller = Caller::of(&running);
    caller.call(CARD, "", &Value::Null).ok();
    let reply = caller.call("POST /operator/v1/sessions:create", OPERATOR, &json!({}));
    assert_eq!((reply.status, reply.reason()), (500, "INTERNAL_ERROR"));
    assert!(
        running
            .line_with(&["\"event\":\"failed\"", &reply.id, "SESSIONS"])
            .is_some()
    );
}

/// `A2A_EDGE_WAIT_LIMIT = 1` in `wrangler.toml`, without quotes, is no text.
#[test]
fn a_variable_may_be_json() {
    let document = r#"{"name": "Bakery"}"#;
    let deployment = Deployment::default()
        .with_json("A2A_EDGE_CARD", document)
        .with_json("A2A_EDGE_WAIT_LIMIT", "1");
    let party = Party::new(&deployment);
    assert_eq!(party.caller.call(CARD, "", &Value::Null).ok()["name"], "Bakery");
    let message = json!({"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]});
    let start = std::time::Instant::now();
    party
        .caller
        .call(
            "POST /message:send",
            &party.session.client,
            &json!({"message": message}),
        )
        .ok();
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    for (name, json, rule) in [
        ("A2A_EDGE_STREAMS", "true", "expected on or off"),
        ("A2A_EDGE_WAIT_LIMIT", "301", "expected whole seconds"),
        ("A2A_EDGE_WAIT_LIMIT", "0.5", "expected whole seconds"),
    ] {
        let place = scratch();
        let running = PLATFORM
            .start(&Deployment::default().with_json(name, json), place.path())
            .unwrap();
        let reply = Caller::of(&running).call(CARD, "", &Value::Null);
        assert_eq!((reply.status, reply.reason()), (500, "MISCONFIGURED"), "{name}");
        assert!(
            reply.body.to_string().contains(&format!("{name}: {rule}")),
            "{}",
            reply.body
        );
    }
}

#[test]
fn every_target_has_an_answer_that_names_the_request() {
    let party = Party::new(&Deployment::default());
    let long = format!("/tasks/{}", "x".repeat(8_000));
    let token = &party.session.client;
    // What can be no target at all, such as one with an angle bracket, the runtime refuses itself.
    for (target, status) in [
        ("/", 404),
        ("//", 404),
        ("//tasks", 404),
        ("/tasks//", 401),
        ("/tasks/%", 404),
        ("/tasks/%00", 401),
        ("/tasks/%ff", 404),
        ("/tasks/..%2f..%2fcard", 401),
        ("/../tasks/../.well-known/agent-card.json", 404),
        ("/tasks\\x", 404),
        ("/tasks/a|b^c{d}e\"f", 401),
        ("/tasks/\u{e9}", 401),
        ("/tasks?pageSize=%", 401),
        ("/tasks?%00=%ff&&=&?#", 401),
        ("/.well-known/agent-card.json?x", 200),
        (&long, 401),
    ] {
        let request = format!("GET {target} HTTP/1.1\r\nHost: Desk.example:80\r\nConnection: close\r\n\r\n");
        let (line, headers, body) = raw(&party.running, &request);
        assert!(
            line.starts_with(&format!("HTTP/1.1 {status} ")),
            "{target}: {line} {body}"
        );
        assert!(headers.contains("x-request-id: "), "{target}: {headers}");
        assert!(headers.contains("json"), "{target}: {headers}");
        // The same with a token, which leads to the object.
        let authorized = request.replace(
            "\r\n\r\n",
            &format!("\r\nA2A-Version: 1.0\r\nAuthorization: Bearer {token}\r\n\r\n"),
        );
        let (line, headers, body) = raw(&party.running, &authorized);
        assert!(!line.starts_with("HTTP/1.1 5"), "{target}: {line} {body}");
        assert!(headers.contains("x-request-id: "), "{target}: {headers}");
    }
    is_well(&party);
}

#[test]
fn headers_that_are_long_many_or_said_twice_do_no_harm() {
    let party = Party::new(&Deployment::default());
    let token = &party.session.client;
    let long = "x".repeat(60_000);
    let many: String = (0..200).map(|index| format!("X-{index}: {index}\r\n")).collect();
    for (headers, status) in [
        (format!("Authorization: Bearer {long}\r\n"), 401),
        (format!("Authorization: Bearer {token}{long}\r\n"), 401),
        (
            format!("Authorization: Bearer {token}\r\nAuthorization: Bearer {token}\r\n"),
            401,
        ),
        (
            format!("Authorization: Bearer {token}\r\nA2A-Extensions: {long}\r\n"),
            200,
        ),
        (
            format!("Authorization: Bearer {token}\r\nX-Request-Id: mine\r\n{many}"),
            200,
        ),
        (
            format!("Authorization: Bearer {token}\r\nX-Bytes: \u{e9}\u{ff}\r\n"),
            200,
        ),
    ] {
        let request = format!(
            "GET /tasks HTTP/1.1\r\nHost: a\r\nConnection: close\r\nA2A-Version: 1.0\r\n{headers}\r\n"
        );
        let (line, answered, body) = raw(&party.running, &request);
        let shown: String = headers.chars().take(60).collect();
        assert!(
            line.starts_with(&format!("HTTP/1.1 {status} ")),
            "{shown}: {line} {body}"
        );
        assert!(
            answered.contains("x-request-id: ") && !answered.contains("x-request-id: mine"),
            "{answered}"
        );
    }
    is_well(&party);
}

#[test]
fn a_body_that_is_too_long_or_never_ends_is_the_sender_s_loss() {
    let party = Party::new(&Deployment::default());
    let token = &party.session.client;
    // No longer than what is read to the end: its sender reads the answer.
    let long = json!("x".repeat(1 << 20));
    assert_eq!(party.caller.call("POST /message:send", token, &long).status, 413);
    assert_eq!(party.caller.call("POST /message:send", "", &long).status, 401);
    // A client whose body breaks off, and that goes away or still reads.
    for (authorization, status) in [
        (String::new(), "401"),
        (format!("Authorization: Bearer {token}\r\n"), "400"),
    ] {
        let head = format!(
            "POST /message:send HTTP/1.1\r\nHost: a\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n{authorization}Content-Length: 1000\r\n\r\n{{"
        );
        let connected = || {
            let mut stream = TcpStream::connect(party.running.url().trim_start_matches("http://")).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            stream
        };
        connected().shutdown(Shutdown::Both).unwrap();
        let mut stream = connected();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert_eq!(answer.contains("BODY_INCOMPLETE"), status == "400", "{answer}");
    }
    party.caller.send(token, "m-1").ok();
    is_well(&party);
}

#[test]
fn a_token_opens_its_own_session_alone() {
    let party = Party::new(&Deployment::default());
    let other = Session::create(&party.caller);
    let task = party.caller.send(&party.session.client, "m-1").ok()["task"]["id"].clone();
    let task = task.as_str().unwrap();
    for (line, token, status) in [
        (format!("GET /{}/tasks", other.id), &party.session.client, 404),
        (format!("GET /{}/tasks", party.session.id), &other.owner, 404),
        (format!("GET /tasks/{task}"), &other.client, 404),
        (
            format!("GET /{}/tasks/{task}", party.session.id),
            &party.session.client,
            200,
        ),
    ] {
        assert_eq!(
            party.caller.call(&line, token, &Value::Null).status,
            status,
            "{line}"
        );
    }
    // The secret of one in the name of the other.
    let (_, secret) = party.session.owner.rsplit_once('_').unwrap();
    let mixed = format!("a2ae_{}_{secret}", other.id);
    assert_eq!(party.caller.call("GET /tasks", &mixed, &Value::Null).status, 401);
    is_well(&party);
}

#[test]
fn the_first_requests_of_a_process_may_come_all_at_once() {
    let mut party = Party::new(&Deployment::default());
    party.running.kill();
    party.running = PLATFORM
        .start(&Deployment::default(), party.place.path())
        .unwrap();
    party.caller = Caller::of(&party.running);
    let (caller, session) = (&party.caller, &party.session);
    thread::scope(|scope| {
        let senders: Vec<_> = (0..8)
            .map(|number| scope.spawn(move || caller.send(&session.client, &format!("m-{number}")).ok()))
            .collect();
        let creators: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| Session::create(caller).id))
            .collect();
        for sender in senders {
            sender.join().unwrap();
        }
        let mut ids: Vec<String> = creators
            .into_iter()
            .map(|creator| creator.join().unwrap())
            .collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 4);
    });
    let listed = caller.call("GET /tasks", &session.client, &Value::Null).ok();
    assert_eq!(listed["totalSize"], 8);
    let loads = party
        .lines()
        .iter()
        .filter(|line| line.contains("\"event\":\"load\"") && line.contains(&session.id))
        .count();
    assert_eq!(loads, 1);
    is_well(&party);
}

#[test]
fn streams_that_their_clients_drop_leave_nothing_behind() {
    let party = Party::new(&Deployment::default());
    let http = Http::new(party.running.url());
    for round in 0..5 {
        let open = |_| Reading::open(&http, "GET", EVENTS, &party.session.member, "", &Value::Null);
        let mut streams: Vec<Reading<'_>> = (0..10).map(open).collect();
        assert!(streams.iter_mut().all(|stream| stream.until("\n\n")));
        drop(streams);
        party
            .caller
            .send(&party.session.client, &format!("m-{round}"))
            .ok();
    }
    let mut last = Reading::open(&http, "GET", EVENTS, &party.session.member, "", &Value::Null);
    assert!(last.until("\n\n"));
    is_well(&party);
}

/// Clients whose streams a trap has ended go on as they like: nothing of theirs reaches the next instance.
#[test]
fn streams_of_an_instance_that_is_gone_do_not_touch_the_next() {
    let party = Party::new(&Deployment::default().trapping());
    let http = Http::new(party.running.url());
    let member = &party.session.member;
    for round in 0..3 {
        let open = |_| Reading::open(&http, "GET", EVENTS, member, "", &Value::Null);
        let mut streams: Vec<Reading<'_>> = (0..10).map(open).collect();
        assert!(streams.iter_mut().all(|stream| stream.until("\n\n")));
        party.caller.call("POST /arm", "", &Value::Null);
        let trapped = party
            .caller
            .send(&party.session.client, &format!("trapped-{round}"));
        assert_eq!(trapped.status, 500);
        let after = format!("after-{round}");
        party.caller.send(&party.session.client, &after).ok();
        drop(streams);
        for number in 0..10 {
            party
                .caller
                .send(&party.session.client, &format!("{after}-{number}"))
                .ok();
        }
    }
    let traps = party
        .lines()
        .iter()
        .filter(|line| line.contains("\"event\":\"trap\""))
        .count();
    assert_eq!(traps, 3, "{:?}", party.lines());
}
