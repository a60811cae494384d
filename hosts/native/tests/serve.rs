//! The server as its operator sees it: starting, stopping, and clients that misbehave.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "../../../tests/support/pages.rs"]
mod pages;
mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use support::{Desk, PATIENCE, Scratch, binary, file, run, run_with};

fn connect(address: &str) -> TcpStream {
    let client = TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.set_write_timeout(Some(PATIENCE)).unwrap();
    client
}

/// Sends a request whole and reads the answer whole.
fn ask(address: &str, request: &str, body: &str) -> String {
    let mut client = connect(address);
    let length = body.len();
    write!(
        client,
        "{request}\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

#[test]
fn the_first_start_tells_its_tokens_and_the_second_does_not() {
    let scratch = Scratch::new();
    let data = scratch.data();
    let first = Desk::start(&data, &[]);
    let session = first.welcome["sessionId"].as_str().unwrap().to_owned();
    let tokens = ["owner", "member", "client"].map(|role| first.token(role).to_owned());
    for token in &tokens {
        assert!(token.starts_with(&format!("a2ae_{session}_")), "{token}");
    }
    let log = first.stop();
    for token in &tokens {
        assert!(!log.contains(token.as_str()), "{log}");
    }
    let second = Desk::start(&data, &[]);
    assert_eq!(second.welcome["sessionId"], session.as_str());
    assert!(second.welcome.get("tokens").is_none(), "{}", second.welcome);
    // The tokens of the first start still work.
    second.run(&tokens[0], &["task", "open"], "").ended(0);
    second.run(&tokens[1], &["requests", "list"], "").ended(0);
    second.run(&tokens[2], &["task", "list"], "").ended(0);
    second.stop();
}

#[test]
fn people_are_told_what_to_paste() {
    let scratch = Scratch::new();
    let mut desk = Desk::start_for_people(&scratch.data());
    let curl = desk.line_with("curl -sS ");
    // Of `curl -sS URL -H 'NAME: VALUE' … -d 'BODY'`: words and quoted texts by turns.
    let pieces: Vec<&str> = curl.split('\'').collect();
    let url = pieces[0]
        .split(' ')
        .find(|word| word.starts_with("http://"))
        .unwrap();
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let quoted: Vec<&str> = pieces.iter().skip(1).step_by(2).copied().collect();
    let (body, headers) = quoted.split_last().unwrap();
    let answer = ask(
        address,
        &format!("POST /{path} HTTP/1.1\r\n{}", headers.join("\r\n")),
        body,
    );
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("TASK_STATE_AUTH_REQUIRED"), "{answer}");
    // Every further line is a command that a shell and the binary take.
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_a2a-edge"));
    for _ in 0..8 {
        let script = format!("{} --help", desk.line_with("A2A_EDGE_TOKEN=$"));
        let mut shell = std::process::Command::new("/bin/sh");
        run(
            shell.args(["-c", &script]).env("PATH", program.parent().unwrap()),
            "",
        )
        .ended(0);
    }
    desk.stop();
}

#[cfg(unix)]
#[test]
fn the_operators_token_is_readable_by_its_owner_only_and_makes_sessions() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::new();
    let data = scratch.data();
    let desk = Desk::start(&data, &[]);
    let path = std::path::Path::new(&data).join("operator-token");
    assert_eq!(
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let token = file(&data, "operator-token");
    let made = desk
        .run(
            "",
            &["session", "create", "--owner", "Ada", "--data", &data, "--json"],
            "",
        )
        .ended(0);
    assert_ne!(made.json()["sessionId"], desk.welcome["sessionId"]);
    let owner = made.json()["token"].as_str().unwrap().to_owned();
    desk.run(&owner, &["participant", "list"], "").ended(0);
    // Nobody else makes sessions.
    let create = ["session", "create", "--owner", "Eve", "--operator-token"];
    desk.run("", &[&create[..], &[&owner]].concat(), "").ended(4);
    desk.run(
        "",
        &["session", "create", "--owner", "Eve", "--data", "/nowhere"],
        "",
    )
    .ended(2);
    let log = desk.stop();
    assert!(!log.contains(token.trim()), "{log}");
}

#[test]
fn a_given_operators_token_is_not_written_down() {
    let scratch = Scratch::new();
    let data = scratch.data();
    let weak = run(
        binary()
            .env("A2A_EDGE_OPERATOR_TOKEN", "weak")
            .args(["serve", "--data", &data]),
        "",
    );
    assert!(weak.ended(2).err.contains("A2A_EDGE_OPERATOR_TOKEN"));
    assert!(!std::path::Path::new(&data).join("operator-token").exists());
}

#[test]
fn a_second_server_on_the_same_data_says_so() {
    let scratch = Scratch::new();
    let data = scratch.data();
    let desk = Desk::start(&data, &[]);
    let second = run_with(&["serve", "--listen", "127.0.0.1:0", "--data", &data], "").ended(5);
    assert!(
        second.err.contains("is in use by another a2a-edge server"),
        "{second:?}"
    );
    // Nor do two servers share a port.
    let other = Scratch::new();
    let second = run_with(
        &["serve", "--listen", desk.address(), "--data", &other.data()],
        "",
    )
    .ended(5);
    assert!(second.err.contains("cannot listen on 127.0.0.1:"), "{second:?}");
    desk.stop();
}

#[test]
fn a_store_without_the_session_of_the_first_start_is_not_served() {
    let scratch = Scratch::new();
    let data = scratch.data();
    Desk::start(&data, &[]).stop();
    let store = std::path::Path::new(&data).join("sessions.redb");
    let lost = |store: &std::path::Path| std::fs::remove_file(store).unwrap();
    let emptied = |store: &std::path::Path| drop(std::fs::File::create(store).unwrap());
    for lose in [lost, emptied] {
        lose(&store);
        let start = run_with(&["serve", "--listen", "127.0.0.1:0", "--data", &data], "").ended(5);
        assert!(start.err.contains("does not have the session"), "{start:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn tokens_that_could_not_be_shown_lead_to_another_session() {
    let scratch = Scratch::new();
    let data = scratch.data();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let start = binary()
        .args(["serve", "--listen", "127.0.0.1:0", "--data", &data])
        .stdout(full)
        .output()
        .unwrap();
    let why = String::from_utf8_lossy(&start.stderr).into_owned();
    assert_eq!(start.status.code(), Some(5), "{why}");
    assert!(why.contains("standard output"), "{why}");
    let desk = Desk::start(&data, &[]);
    desk.run(desk.token("owner"), &["task", "open"], "").ended(0);
    desk.stop();
}

#[test]
fn a_setting_that_is_no_good_is_named_by_its_option() {
    for (option, value) in [
        ("--public-url", "desk.example.org"),
        ("--name", ""),
        ("--description", ""),
        ("--allowed-origin", "app.example.org"),
    ] {
        let scratch = Scratch::new();
        let words = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--data",
            &scratch.data(),
            option,
            value,
        ];
        let said = run_with(&words, "").ended(2);
        assert!(said.err.starts_with(&format!("error: {option}")), "{said:?}");
    }
}

#[test]
fn a_page_of_an_origin_that_is_named_may_call() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--allowed-origin", pages::PAGE]);
    pages::only_the_page_may_call(desk.url());
    desk.stop();
}

#[test]
fn the_card_names_the_public_address() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--public-url", "https://desk.example.org/"]);
    let card = desk.run("", &["card", "--json"], "").ended(0).json();
    assert_eq!(card["supportedInterfaces"][0]["url"], "https://desk.example.org");
    desk.stop();
}

#[test]
fn a_send_waits_no_longer_than_the_server_lets_it() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--wait-limit", "1"]);
    let start = Instant::now();
    let said = desk.run_as("client", &["send", "What now?"]).ended(0);
    assert!(
        start.elapsed() >= Duration::from_millis(900),
        "{:?}",
        start.elapsed()
    );
    assert!(said.out.contains("a2a-edge task get "), "{said:?}");
    desk.stop();
}

#[test]
fn both_signals_end_it_cleanly_and_quickly() {
    for signal in ["INT", "TERM"] {
        let scratch = Scratch::new();
        let desk = Desk::start(&scratch.data(), &[]);
        // A send that waits for its task, and a connection that does nothing.
        let waiting = std::thread::spawn({
            let url = desk.url().to_owned();
            let token = desk.token("client").to_owned();
            move || {
                run(
                    binary().args(["--url", &url, "--token", &token, "send", "What now?"]),
                    "",
                )
            }
        });
        let idle = connect(desk.address());
        while desk.run_as("client", &["task", "list", "--json"]).ended(0).json()["totalSize"] == 0 {
            assert!(!waiting.is_finished(), "the send did not wait");
        }
        let start = Instant::now();
        desk.signal(signal);
        let (code, log) = desk.ended();
        assert_eq!(code, Some(0), "{log}");
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        // Whoever waited was answered with the task as it stood.
        let said = waiting.join().unwrap().ended(0);
        assert!(said.out.contains("SUBMITTED"), "{said:?}");
        drop(idle);
    }
}

/// A JSON object of this many bytes.
fn padded(length: usize) -> String {
    format!("{{{}}}", " ".repeat(length - 2))
}

#[test]
fn an_oversize_body_is_413() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &[]);
    let head = format!(
        "POST /message:send HTTP/1.1\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nA2A-Version: 1.0",
        desk.token("client")
    );
    let whole = ask(desk.address(), &head, &padded(262_144));
    assert!(whole.starts_with("HTTP/1.1 400"), "{whole}");
    for length in [262_145, 1_000_000] {
        let over = ask(desk.address(), &head, &padded(length));
        assert!(over.starts_with("HTTP/1.1 413"), "{over}");
        assert!(over.contains(r#""code":413"#), "{over}");
    }
    // One that says so itself is not waited for.
    let mut client = connect(desk.address());
    write!(
        client,
        "{head}\r\nHost: x\r\nConnection: close\r\nContent-Length: 99999999999\r\n\r\n"
    )
    .unwrap();
    let mut over = String::new();
    client.read_to_string(&mut over).unwrap();
    assert!(over.starts_with("HTTP/1.1 413"), "{over}");
    desk.stop();
}

#[test]
fn a_slow_client_is_cut() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--read-timeout", "1"]);
    let mut head = connect(desk.address());
    head.write_all(b"GET /tasks HTTP/1.1\r\nA2A-").unwrap();
    let mut body = connect(desk.address());
    body.write_all(b"POST /message:send HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{")
        .unwrap();
    assert_eq!(head.read(&mut [0; 64]).unwrap_or(0), 0);
    let mut answer = String::new();
    body.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    desk.stop();
}

#[test]
fn every_request_has_one_line_in_the_log_and_no_secret() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--log", "json"]);
    let token = desk.token("client").to_owned();
    desk.run_as("client", &["send", "--no-wait", "a body to keep to oneself"])
        .ended(0);
    desk.run_as("client", &["task", "get", "no-such-task"]).ended(1);
    let answer = ask(desk.address(), "GET /.well-known/agent-card.json HTTP/1.1", "");
    let id = answer
        .split("x-request-id: ")
        .nth(1)
        .unwrap()
        .split("\r\n")
        .next()
        .unwrap()
        .to_owned();
    let log = desk.stop();
    assert!(!log.contains(&token) && !log.contains("to oneself"), "{log}");
    let lines: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let requests: Vec<_> = lines.iter().filter(|line| line["event"] == "request").collect();
    let told = requests.iter().map(|line| {
        (
            line["method"].as_str(),
            line["path"].as_str(),
            line["status"].as_u64(),
        )
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            (Some("POST"), Some("/message:send"), Some(200)),
            (Some("GET"), Some("/tasks/no-such-task"), Some(404)),
            (Some("GET"), Some("/.well-known/agent-card.json"), Some(200)),
        ]
    );
    assert_eq!(requests.last().unwrap()["id"], id.as_str());
}

#[test]
fn a_quiet_server_logs_no_requests() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--quiet"]);
    desk.run_as("client", &["task", "list"]).ended(0);
    assert_eq!(desk.stop(), "");
}

#[test]
fn what_was_acknowledged_survives_a_power_cut() {
    let scratch = Scratch::new();
    let data = scratch.data();
    let desk = Desk::start(&data, &[]);
    let token = desk.token("client").to_owned();
    let sent = desk
        .run_as("client", &["send", "--handoff", "Keep this", "--json"])
        .ended(0);
    let id = sent.json()["task"]["id"].as_str().unwrap().to_owned();
    desk.kill();
    let desk = Desk::start(&data, &[]);
    let got = desk
        .run(&token, &["task", "get", &id, "--history", "10", "--json"], "")
        .ended(0);
    assert_eq!(got.json(), sent.json()["task"]);
    desk.stop();
}
