//! Streams from the built server: told at once, gone on with after a restart, ended with the server.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on should stop where it is"
)]

#[path = "../../../tests/support/reading.rs"]
mod reading;
mod support;

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use a2a_edge_stories::Http;
use reading::{EVENTS, Reading};
use serde_json::{Value, json};
use support::{Desk, Scratch, binary};

fn ask() -> Value {
    json!({"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Now?"}]}})
}

/// The id of the only request there is.
fn only_request(desk: &Desk) -> String {
    let listed = desk
        .run_as("member", &["requests", "list", "--json"])
        .ended(0)
        .json();
    listed["requests"][0]["requestId"].as_str().unwrap().to_owned()
}

fn say(desk: &Desk, status: &str) {
    desk.run_as("member", &["status", "announce", status]).ended(0);
}

#[test]
fn each_event_arrives_before_the_next_happens() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--quiet"]);
    let http = Http::new(desk.url());
    let mut stream = Reading::open(&http, "POST", "/message:stream", desk.token("client"), "", &ask());
    assert!(stream.until("TASK_STATE_SUBMITTED"));
    let request = only_request(&desk);
    desk.run_as("member", &["requests", "claim", &request]).ended(0);
    assert!(stream.until("TASK_STATE_WORKING"));
    desk.run_as("member", &["requests", "complete", &request, "--note", "Yes."])
        .ended(0);
    assert!(stream.until("TASK_STATE_COMPLETED"));
    assert!(!stream.until("nothing more"), "{}", stream.text);
}

#[test]
fn a_stopping_server_ends_its_streams_and_the_next_one_goes_on() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--quiet"]);
    let member = desk.token("member").to_owned();
    let http = Http::new(desk.url());
    let mut stream = Reading::open(&http, "GET", EVENTS, &member, "", &Value::Null);
    assert!(stream.until("\n\n"));
    say(&desk, "before");
    assert!(stream.until("before"));
    say(&desk, "unread");
    let start = Instant::now();
    desk.stop();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    let (_, last) = stream.text.rsplit_once("id: ").unwrap();
    let last = last.lines().next().unwrap();
    let desk = Desk::start(&scratch.data(), &["--quiet"]);
    let http = Http::new(desk.url());
    let mut again = Reading::open(&http, "GET", EVENTS, &member, last, &Value::Null);
    assert!(again.until("\ndata"));
    assert!(
        again.text.contains("unread") && !again.text.contains("before"),
        "{}",
        again.text
    );
}

#[test]
fn clients_that_went_away_leave_their_places_to_others() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--quiet", "--max-connections", "4"]);
    for _ in 0..5 {
        let https: Vec<Http> = (0..3).map(|_| Http::new(desk.url())).collect();
        let open = |http| Reading::open(http, "GET", EVENTS, desk.token("member"), "", &Value::Null);
        let mut streams: Vec<Reading<'_>> = https.iter().map(open).collect();
        assert!(streams.iter_mut().all(|stream| stream.until("\n\n")));
    }
    say(&desk, "there is room");
}

#[test]
fn a_stream_says_that_it_is_there_as_often_as_it_is_told_to() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--quiet", "--keep-alive", "1"]);
    let http = Http::new(desk.url());
    let mut stream = Reading::open(&http, "GET", EVENTS, desk.token("member"), "", &Value::Null);
    assert!(stream.until(": keep-alive\n\n: keep-alive\n\n"));
}

/// A command that goes on, and the lines that it prints.
fn follow(desk: &Desk, who: &str, arguments: &[&str]) -> (Child, impl Iterator<Item = String>) {
    let mut command = binary();
    command
        .args(arguments)
        .env("A2A_EDGE_URL", desk.url())
        .env("A2A_EDGE_TOKEN", desk.token(who))
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines.map_while(Result::ok))
}

#[test]
fn a_send_can_be_followed_on_the_command_line() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--quiet"]);
    let (mut child, mut lines) = follow(&desk, "client", &["send", "--stream", "--plain", "Now?"]);
    assert!(lines.next().unwrap().starts_with("task task-"));
    let request = only_request(&desk);
    desk.run_as("member", &["requests", "claim", &request]).ended(0);
    assert_eq!(lines.next().unwrap(), "WORKING  Working.");
    desk.run_as("member", &["requests", "complete", &request, "--note", "Yes."])
        .ended(0);
    assert_eq!(lines.collect::<Vec<_>>(), ["artifact answer", "COMPLETED  Yes."]);
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_session_can_be_watched_on_the_command_line() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--quiet"]);
    let (mut child, mut lines) = follow(&desk, "member", &["watch", "--after", "0"]);
    assert!(lines.next().unwrap().starts_with("PARTICIPANT"));
    assert!(lines.any(|line| line.contains("session.created")));
    say(&desk, "Half of it");
    let line = lines.find(|line| line.contains("status.announced")).unwrap();
    assert!(line.ends_with("Half of it"), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A terminal, and all that was drawn on it so far.
#[cfg(unix)]
struct Terminal {
    drawn: Arc<Mutex<String>>,
}

#[cfg(unix)]
impl Terminal {
    /// Starts a command of which the output is a terminal.
    fn start(command: &mut std::process::Command) -> (Child, Self) {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let keeper = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keeper).unwrap();
        unlockpt(&keeper).unwrap();
        let name = ptsname(&keeper, Vec::new()).unwrap();
        let user = File::options().write(true).open(name.to_str().unwrap()).unwrap();
        let child = command.stdin(Stdio::null()).stdout(user).spawn().unwrap();
        let drawn = Arc::new(Mutex::new(String::new()));
        let seen = Arc::clone(&drawn);
        thread::spawn(move || {
            let mut keeper = File::from(keeper);
            let mut bytes = [0; 4096];
            while let Ok(count) = keeper.read(&mut bytes) {
                seen.lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        (child, Self { drawn })
    }

    /// Waits until what stands on it holds a text.
    fn shows(&self, text: &str) -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            let drawn = self.drawn.lock().unwrap().clone();
            if drawn.rsplit("\x1b[H\x1b[2J").next().unwrap().contains(text) {
                return true;
            }
            thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

#[cfg(unix)]
#[test]
fn a_terminal_shows_the_session_as_it_stands() {
    let scratch = Scratch::new();
    let desk = Desk::start(&scratch.data(), &["--quiet"]);
    let mut command = binary();
    command
        .arg("watch")
        .env("A2A_EDGE_URL", desk.url())
        .env("A2A_EDGE_TOKEN", desk.token("member"));
    let (mut child, terminal) = Terminal::start(&mut command);
    assert!(terminal.shows("session.created"));
    say(&desk, "Half of it");
    assert!(terminal.shows("Half of it"));
    // A server that is away for longer than a picture stands is waited for.
    let (address, token) = (desk.address().to_owned(), desk.token("member").to_owned());
    desk.stop();
    thread::sleep(Duration::from_secs(6));
    let desk = Desk::start_at(&address, &scratch.data(), &["--quiet"]);
    desk.run(&token, &["status", "announce", "All of it"], "")
        .ended(0);
    assert!(terminal.shows("All of it"));
    child.kill().unwrap();
    child.wait().unwrap();
}
