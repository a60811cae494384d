//! As much of Redis's protocol as a key-value store takes (RESP2).

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Longer than a busy server needs.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a command is answered.
#[derive(Debug)]
pub enum Reply {
    /// A value.
    Bytes(Vec<u8>),
    /// None: there is no such key, or the transaction was not done.
    Nothing,
    /// Anything else that is no error.
    Other,
}

/// A connection to a server, opened when it is needed and again after it broke. A command that it broke under is not
/// repeated: nobody knows whether it was done.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    connection: Mutex<Option<BufReader<TcpStream>>>,
}

impl Server {
    /// The server on a port of this machine.
    #[must_use]
    pub fn at(port: u16) -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            connection: Mutex::default(),
        }
    }

    /// Another connection to the same server.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::at(self.address.port())
    }

    /// Sends a command and reads its answer.
    ///
    /// # Errors
    /// The server is away, or refuses the command.
    pub fn call(&self, words: &[&[u8]]) -> Result<Reply, String> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        // Left empty where the command breaks it.
        let open = connection.take().map_or_else(|| self.connect(), Ok);
        let mut stream = open.map_err(|error| error.to_string())?;
        let reply = exchange(&mut stream, words).map_err(|error| error.to_string())?;
        *connection = Some(stream);
        reply
    }

    fn connect(&self) -> std::io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect_timeout(&self.address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(BufReader::new(stream))
    }
}

fn exchange(stream: &mut BufReader<TcpStream>, words: &[&[u8]]) -> std::io::Result<Result<Reply, String>> {
    let mut command = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        command.extend(format!("${}\r\n", word.len()).bytes());
        command.extend_from_slice(word);
        command.extend(b"\r\n");
    }
    stream.get_mut().write_all(&command)?;
    reply(stream)
}

fn reply(stream: &mut BufReader<TcpStream>) -> std::io::Result<Result<Reply, String>> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let mut rest = line.trim_end().chars();
    let kind = rest.next();
    let length = rest.as_str().parse::<usize>();
    Ok(match (kind, length) {
        (Some('-'), _) => Err(rest.as_str().to_owned()),
        (Some('$'), Ok(length)) => {
            let mut bytes = vec![0; length.saturating_add(2)];
            stream.read_exact(&mut bytes)?;
            bytes.truncate(length);
            Ok(Reply::Bytes(bytes))
        }
        (Some('*'), Ok(count)) => {
            let items: Result<Vec<_>, String> = (0..count)
                .map(|_| reply(stream))
                .collect::<std::io::Result<_>>()?;
            items.map(|_| Reply::Other)
        }
        // A length of -1.
        (Some('$' | '*'), Err(_)) => Ok(Reply::Nothing),
        _ => Ok(Reply::Other),
    })
}
