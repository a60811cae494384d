//! What is asked of every server, and how fast the answers come.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::JoinSet;
use xtask::{Failure, Outcome};

use crate::http::Connection;
use crate::peer::Peer;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A message that opens a task, answered as soon as there is one.
    Send,
    /// A task.
    Get,
    /// The agent's card.
    Card,
}

impl Operation {
    /// All of them, in the order of the table. Sending comes last: a server that keeps so many tasks and no more would
    /// forget those that are got.
    pub const ALL: [Self; 3] = [Self::Get, Self::Card, Self::Send];

    /// Its column.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Get => "get",
            Self::Card => "card",
        }
    }
}

/// Numbers the messages of a run, so that no two have one id.
static MESSAGES: AtomicU64 = AtomicU64::new(0);

/// A request of one client, which may be sent again and again.
fn request(operation: Operation, address: SocketAddr, token: Option<&str>, task: &str) -> Vec<u8> {
    let authorization = token.map_or_else(String::new, |token| format!("authorization: Bearer {token}\r\n"));
    let head = format!("host: {address}\r\na2a-version: 1.0\r\n{authorization}");
    match operation {
        Operation::Card => format!("GET /.well-known/agent-card.json HTTP/1.1\r\n{head}\r\n").into_bytes(),
        Operation::Get => format!("GET /tasks/{task} HTTP/1.1\r\n{head}\r\n").into_bytes(),
        Operation::Send => {
            let id = MESSAGES.fetch_add(1, Ordering::Relaxed);
            let body = format!(
                "{{\"message\":{{\"messageId\":\"message-{id:010}\",\"role\":\"ROLE_USER\",\"parts\":[{{\"text\":\
                 \"Is the export API rate limited?\"}}]}},\"configuration\":{{\"returnImmediately\":true}}}}"
            );
            format!(
                "POST /message:send HTTP/1.1\r\n{head}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
            .into_bytes()
        }
    }
}

/// Holds every server to the right answers, and opens the task that [`Operation::Get`] asks each client for.
///
/// # Errors
/// A wrong answer.
pub async fn agree(peer: &Peer) -> Outcome<Vec<String>> {
    let wrong = |what: &str, answer: &[u8]| {
        let answer = String::from_utf8_lossy(answer);
        Failure::new(format!("{}: {what}: {answer}", peer.name))
    };
    let mut connection = connected(peer).await?;
    let card = ask(&mut connection, &request(Operation::Card, peer.address, None, "")).await?;
    if card.pointer("/supportedInterfaces/0/url").is_none() {
        return Err(wrong("no card", card.to_string().as_bytes()));
    }
    let mut tasks = Vec::new();
    for token in clients(peer) {
        let sent = ask(
            &mut connection,
            &request(Operation::Send, peer.address, token, ""),
        )
        .await?;
        let state = sent.pointer("/task/status/state").and_then(Value::as_str);
        let id = sent.pointer("/task/id").and_then(Value::as_str);
        let (Some("TASK_STATE_SUBMITTED" | "TASK_STATE_WORKING"), Some(id)) = (state, id) else {
            return Err(wrong("no open task", sent.to_string().as_bytes()));
        };
        let task = ask(&mut connection, &request(Operation::Get, peer.address, token, id)).await?;
        let text = task.pointer("/history/0/parts/0/text").and_then(Value::as_str);
        if task.get("id").and_then(Value::as_str) != Some(id)
            || text != Some("Is the export API rate limited?")
        {
            return Err(wrong("not the task", task.to_string().as_bytes()));
        }
        tasks.push(id.to_owned());
    }
    Ok(tasks)
}

fn clients(peer: &Peer) -> Vec<Option<&str>> {
    if peer.tokens.is_empty() {
        return vec![None];
    }
    peer.tokens.iter().map(|token| Some(token.as_str())).collect()
}

/// Connects as soon as the server listens.
async fn connected(peer: &Peer) -> Outcome<Connection> {
    let begun = Instant::now();
    loop {
        match Connection::open(peer.address).await {
            Ok(connection) => return Ok(connection),
            Err(error) if begun.elapsed() > Duration::from_secs(60) => {
                return Err(Failure::new(format!("{} does not listen: {error}", peer.name)));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn ask(connection: &mut Connection, request: &[u8]) -> Outcome<Value> {
    let answer = connection.exchange(request).await;
    let answer = answer.map_err(|error| Failure::new(error.to_string()))?;
    let body = String::from_utf8_lossy(answer.body);
    if answer.status != 200 {
        return Err(Failure::new(format!("{} {body}", answer.status)));
    }
    serde_json::from_str(&body).map_err(|error| Failure::new(format!("{error}: {body}")))
}

/// How long the answers of one server to one operation took, in microseconds.
#[derive(Debug, Default)]
pub struct Times {
    took: Vec<u32>,
    measured: Duration,
}

impl Times {
    /// Answers in a second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.took.len() as f64 / self.measured.as_secs_f64()
    }

    /// The time that so many of a hundred answers took at most, in milliseconds.
    pub fn percentile(&mut self, percent: usize) -> f64 {
        self.took.sort_unstable();
        let at = self
            .took
            .len()
            .saturating_mul(percent)
            .checked_div(100)
            .unwrap_or_default();
        let time = self.took.get(at).or(self.took.last());
        f64::from(time.copied().unwrap_or_default()) / 1000.0
    }
}

/// Asks one thing of a server over so many connections at once, for a time.
///
/// # Errors
/// A connection breaks, or an answer is no success.
pub async fn load(
    peer: &Peer,
    tasks: &[String],
    operation: Operation,
    connections: usize,
    time: Duration,
    times: &mut Times,
) -> Outcome {
    let clients = clients(peer);
    let begun = Arc::new(Instant::now());
    let mut all = JoinSet::new();
    for (number, (token, task)) in clients.iter().zip(tasks).cycle().take(connections).enumerate() {
        let (address, token, task) = (peer.address, token.map(str::to_owned), task.clone());
        let begun = Arc::clone(&begun);
        let mut connection = connected(peer).await?;
        all.spawn(async move {
            let mut took = Vec::new();
            let fixed = request(operation, address, token.as_deref(), &task);
            while begun.elapsed() < time {
                let fresh = match operation {
                    Operation::Send => Some(request(operation, address, token.as_deref(), &task)),
                    Operation::Get | Operation::Card => None,
                };
                let sent = Instant::now();
                let answer = connection.exchange(fresh.as_ref().unwrap_or(&fixed)).await;
                let answer = answer.map_err(|error| format!("connection {number}: {error}"))?;
                if answer.status != 200 {
                    return Err(format!(
                        "{}: {}",
                        answer.status,
                        String::from_utf8_lossy(answer.body)
                    ));
                }
                took.push(u32::try_from(sent.elapsed().as_micros()).unwrap_or(u32::MAX));
            }
            Ok(took)
        });
    }
    while let Some(one) = all.join_next().await {
        let one = one.map_err(|error| error.to_string()).and_then(|one| one);
        let took = one.map_err(|why| Failure::new(format!("{}: {}: {why}", peer.name, operation.name())))?;
        times.took.extend(took);
    }
    times.measured = times.measured.saturating_add(begun.elapsed());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_what_was_measured() {
        let mut times = Times {
            took: (1..=100).rev().map(|ms| ms * 1000).collect(),
            measured: Duration::from_secs(4),
        };
        assert!((times.per_second() - 25.0).abs() < 1e-9);
        assert!((times.percentile(50) - 51.0).abs() < 1e-9);
        assert!((times.percentile(99) - 100.0).abs() < 1e-9);
    }
}
