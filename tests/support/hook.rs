//! A webhook on this machine: a server that keeps what it is told.

#![allow(dead_code, reason = "each test uses its part of it")]

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A notification as it arrived.
#[derive(Debug)]
pub struct Notified {
    pub head: String,
    pub body: Value,
}

impl Notified {
    /// What is the same of every try of one change: its task and its number.
    pub fn key(&self) -> (String, usize) {
        let head = self.head.to_ascii_lowercase();
        let (_, key) = head.split_once("idempotency-key: \"").unwrap();
        let (task, number) = key.split('"').next().unwrap().rsplit_once('-').unwrap();
        (task.to_owned(), number.parse().unwrap())
    }

    /// It tells of this task, at the webhook's own target, with the token `t-1` and the credentials `secret` of its config.
    #[track_caller]
    pub fn is_as_configured(&self, task: &str) {
        assert_eq!(self.body["statusUpdate"]["taskId"], task);
        assert!(
            self.head.starts_with("POST /hook?a=b HTTP/1.1\r\n"),
            "{}",
            self.head
        );
        let head = self.head.to_ascii_lowercase();
        for line in [
            "authorization: bearer secret\r\n",
            "x-a2a-notification-token: t-1\r\n",
            "content-type: application/a2a+json\r\n",
            "a2a-version: 1.0\r\n",
        ] {
            assert!(head.contains(line), "{line}: {head}");
        }
    }

    pub fn state(&self) -> &str {
        self.body["statusUpdate"]["status"]["state"]
            .as_str()
            .unwrap_or_default()
    }
}

/// A webhook on this machine, which answers with these statuses, and with 200 beyond them; where one is empty, not at
/// all.
pub struct Webhook {
    pub url: String,
    notified: mpsc::Receiver<Notified>,
    pub answers: Arc<Mutex<VecDeque<&'static str>>>,
}

impl Webhook {
    /// On a free port.
    pub fn start() -> Self {
        Self::at(SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    pub fn at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let url = format!("http://{}/hook?a=b", listener.local_addr().unwrap());
        let (tell, notified) = mpsc::channel();
        let answers = Arc::new(Mutex::new(VecDeque::new()));
        let told = Arc::clone(&answers);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (tell, answers) = (tell.clone(), Arc::clone(&told));
                thread::spawn(move || serve(stream, &tell, &answers));
            }
        });
        Self {
            url,
            notified,
            answers,
        }
    }

    /// What came and was not asked for yet.
    pub fn rest(&self) -> Vec<Notified> {
        self.notified.try_iter().collect()
    }

    pub fn next(&self) -> Notified {
        self.notified.recv_timeout(PATIENCE).unwrap()
    }
}

/// Reads requests from a connection, tells them and answers.
fn serve(mut stream: TcpStream, tell: &mpsc::Sender<Notified>, answers: &Mutex<VecDeque<&'static str>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or_default() == 0 {
                return;
            }
        }
        let length = head.to_ascii_lowercase();
        let (_, length) = length.split_once("content-length: ").unwrap();
        let mut body = vec![0; length.lines().next().unwrap().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        let body = serde_json::from_slice(&body).unwrap();
        let status = answers.lock().unwrap().pop_front().unwrap_or("200 OK");
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nlocation: /elsewhere\r\n\r\nok");
        // Told before it is answered: what follows may come by another connection, and to another thread.
        if tell.send(Notified { head, body }).is_err() {
            return;
        }
        if status.is_empty() {
            // Until whoever waits for the answer is gone.
            let _ = reader.read_to_end(&mut Vec::new());
            return;
        }
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}
