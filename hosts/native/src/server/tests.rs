//! The server against raw sockets, with handlers of the tests' own.

use std::io::{Read as _, Write as _};
use std::net::TcpStream as Client;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use super::*;
use tokio::sync::oneshot;

/// Answers with the length of the body; `/panic` panics and `/wait` takes for ever.
#[derive(Default)]
struct Echo {
    /// How many requests it was handed.
    handed: AtomicUsize,
}

impl Handler for Echo {
    async fn handle(self: &Arc<Self>, request: Request<Vec<u8>>) -> Response<Body> {
        self.handed.fetch_add(1, Ordering::SeqCst);
        match request.uri().path() {
            "/panic" => panic!("as asked"),
            "/wait" => std::future::pending().await,
            "/large" => Response::new(Body::Whole(vec![b'x'; 64 * 1024 * 1024])),
            _ => Response::new(Body::Whole(
                format!("{} bytes", request.body().len()).into_bytes(),
            )),
        }
    }
}

/// A server in a thread of its own.
struct Running {
    address: SocketAddr,
    echo: Arc<Echo>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(limits: Limits) -> Self {
        let (tell, told) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let echo = Arc::new(Echo::default());
        let handler = Arc::clone(&echo);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let server = Server::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
                tell.send(server.address()).unwrap();
                let quiet = Log {
                    quiet: true,
                    ..Log::default()
                };
                let stop = async move {
                    let _ = stopped.await;
                };
                server.run(handler, limits, quiet, stop).await;
            });
        });
        let address = told.recv_timeout(Duration::from_secs(10)).unwrap();
        Self {
            address,
            echo,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    fn connect(&self) -> Client {
        let client = Client::connect(self.address).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        client.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
        client
    }

    /// Sends a request with `Connection: close` and reads all that comes back.
    fn ask(&self, head: &str, body: &[u8]) -> String {
        let mut client = self.connect();
        write!(
            client,
            "{head}\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        )
        .unwrap();
        client.write_all(body).unwrap();
        read_all(&mut client)
    }

    fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
    }
}

fn read_all(client: &mut Client) -> String {
    let mut text = Vec::new();
    client.read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

/// Patient with a busy machine, but with bodies of at most 1,000 bytes.
fn limits() -> Limits {
    Limits {
        body_bytes: 1000,
        ..Limits::default()
    }
}

const SHORT: Duration = Duration::from_millis(300);

#[test]
fn a_body_is_handed_over_whole_up_to_one_byte_beyond_the_limit() {
    let server = Running::start(limits());
    for (sent, handed) in [(0, 0), (1000, 1000), (1001, 1001), (1002, 1001), (500_000, 1001)] {
        let answer = server.ask("POST / HTTP/1.1", &vec![b'a'; sent]);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(
            answer.ends_with(&format!("\r\n\r\n{handed} bytes")),
            "{sent}: {answer}"
        );
    }
}

#[test]
fn a_panic_is_a_500_that_names_its_request_and_the_server_lives() {
    let server = Running::start(limits());
    let answer = server.ask("GET /panic HTTP/1.1", b"");
    assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
    let id = answer
        .split("x-request-id: ")
        .nth(1)
        .and_then(|rest| rest.split("\r\n").next())
        .unwrap();
    assert!(
        answer.contains(&format!(r#""metadata":{{"requestId":"{id}"}}"#)),
        "{answer}"
    );
    assert!(!answer.contains("as asked"), "{answer}");
    assert!(server.ask("GET / HTTP/1.1", b"").starts_with("HTTP/1.1 200"));
}

#[test]
fn a_connection_is_used_again() {
    let server = Running::start(limits());
    let mut client = server.connect();
    for _ in 0..2 {
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut buffer = [0; 1024];
        let read = client.read(&mut buffer).unwrap();
        assert!(String::from_utf8_lossy(&buffer[..read]).starts_with("HTTP/1.1 200"));
    }
}

#[test]
fn a_client_that_never_ends_its_head_is_cut() {
    let server = Running::start(Limits {
        head: SHORT,
        ..limits()
    });
    let mut client = server.connect();
    client.write_all(b"GET / HTTP/1.1\r\nHost:").unwrap();
    assert_eq!(client.read(&mut [0; 100]).unwrap_or(0), 0);
}

#[test]
fn a_head_that_is_too_long_is_not_served() {
    let server = Running::start(limits());
    let mut client = server.connect();
    // The server may hang up while this is still being written, and before its refusal was read.
    let _ = write!(
        client,
        "GET / HTTP/1.1\r\nLong: {}\r\n\r\n",
        "x".repeat(4 * HEAD_BYTES)
    );
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
        "{answer}"
    );
    assert!(server.ask("GET / HTTP/1.1", b"").starts_with("HTTP/1.1 200"));
}

#[test]
fn a_client_that_never_ends_its_body_is_told_and_cut() {
    let server = Running::start(Limits {
        body: SHORT,
        ..limits()
    });
    let mut client = server.connect();
    client
        .write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
        .unwrap();
    let answer = read_all(&mut client);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("REQUEST_TIMEOUT"), "{answer}");
}

#[test]
fn a_client_that_never_reads_its_answer_is_cut() {
    let mut server = Running::start(Limits {
        connections: 1,
        write: SHORT,
        ..limits()
    });
    let mut greedy = server.connect();
    greedy
        .write_all(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    // The only seat is free again once the first client has been given up.
    assert!(server.ask("GET / HTTP/1.1", b"").starts_with("HTTP/1.1 200"));
    drop(greedy);
    server.stop();
}

#[test]
fn a_connection_over_the_limit_waits_for_its_turn() {
    let server = Running::start(Limits {
        connections: 1,
        head: SHORT,
        ..limits()
    });
    let start = std::time::Instant::now();
    let idle = server.connect();
    assert!(server.ask("GET / HTTP/1.1", b"").starts_with("HTTP/1.1 200"));
    assert!(start.elapsed() >= SHORT, "{:?}", start.elapsed());
    drop(idle);
}

#[test]
fn a_stopping_server_answers_what_is_in_flight() {
    let mut server = Running::start(Limits {
        grace: SHORT,
        ..limits()
    });
    let address = server.address;
    let waiting = std::thread::spawn({
        let mut client = server.connect();
        move || {
            client
                .write_all(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
                .unwrap();
            read_all(&mut client)
        }
    });
    let idle = server.connect();
    while server.echo.handed.load(Ordering::SeqCst) == 0 {
        assert!(!waiting.is_finished(), "the request was not handed over");
        std::thread::yield_now();
    }
    server.stop();
    let answer = waiting.join().unwrap();
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("retry-after: 1"), "{answer}");
    assert!(Client::connect(address).is_err());
    drop(idle);
}
