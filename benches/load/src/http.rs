//! Just enough of HTTP/1.1 to put a load on a server: one request after the other on a connection that stays open.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The longest answer that is read.
const ANSWER_BYTES: usize = 1024 * 1024;

/// A connection that stays open.
pub struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

/// An answer, its body still in the connection's buffer.
pub struct Answer<'a> {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: &'a [u8],
}

impl Connection {
    /// Connects to a server.
    ///
    /// # Errors
    /// There is none.
    pub async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let read = Vec::with_capacity(16 * 1024);
        Ok(Self { stream, read })
    }

    /// Sends a request and reads its answer.
    ///
    /// # Errors
    /// The connection breaks, or the answer does not say how long it is.
    pub async fn exchange(&mut self, request: &[u8]) -> io::Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.read.clear();
        loop {
            if let Some(answer) = whole(&self.read)? {
                let body = self.read.get(answer.body..answer.end).unwrap_or_default();
                return Ok(Answer {
                    status: answer.status,
                    body,
                });
            }
            if self.read.len() > ANSWER_BYTES || self.stream.read_buf(&mut self.read).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Where an answer's body stands in what was read.
#[derive(Debug, PartialEq, Eq)]
struct Whole {
    status: u16,
    body: usize,
    end: usize,
}

/// The answer, once all of it is there.
fn whole(read: &[u8]) -> io::Result<Option<Whole>> {
    let Some(head) = read.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let text = std::str::from_utf8(read.get(..head).unwrap_or_default()).map_err(io::Error::other)?;
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    let (Some(status), Some(length)) = (status, length) else {
        return Err(io::Error::other("expected a status and a content-length"));
    };
    let body = head.saturating_add(4);
    let end = body.saturating_add(length);
    Ok((read.len() >= end).then_some(Whole { status, body, end }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_when_its_body_is() {
        let read = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        let answer = Whole {
            status: 200,
            body: 38,
            end: 40,
        };
        assert_eq!(whole(read).unwrap(), Some(answer));
        for end in 0..read.len() {
            assert_eq!(whole(&read[..end]).unwrap(), None, "{end}");
        }
        assert!(whole(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
