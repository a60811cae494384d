//! Lends the kit, which sends no credential, that of a client.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

/// The longest head of a request.
const HEAD_BYTES: usize = 64 * 1024;

/// Passes every request that comes to `listener` on to the desk at `to`, with the token where there is none. It ends
/// with the process.
pub fn start(listener: TcpListener, to: SocketAddr, token: String) {
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let token = token.clone();
            // A connection that breaks is its client's affair.
            thread::spawn(move || pass(client, to, &token));
        }
    });
}

fn pass(mut client: TcpStream, to: SocketAddr, token: &str) -> io::Result<()> {
    let head = head(&mut client)?;
    let mut desk = TcpStream::connect(to)?;
    desk.write_all(&with(&head, token))?;
    let (mut rest, mut sent) = (client.try_clone()?, desk.try_clone()?);
    thread::spawn(move || io::copy(&mut rest, &mut sent));
    let copied = io::copy(&mut desk, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = desk.shutdown(Shutdown::Both);
    copied.map(drop)
}

/// Everything up to the empty line, and what else came with it.
fn head(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        let read = client.read(&mut piece)?;
        if read == 0 || head.len() > HEAD_BYTES {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend(piece.iter().take(read));
    }
    Ok(head)
}

/// The head with the token, of the only request on its connection.
fn with(head: &[u8], token: &str) -> Vec<u8> {
    let first = head
        .windows(2)
        .position(|two| two == b"\r\n")
        .map_or(0, |at| at.saturating_add(2));
    let (line, rest) = head.split_at_checked(first).unwrap_or((head, &[]));
    let mut out = line.to_vec();
    out.extend_from_slice(b"connection: close\r\n");
    out.extend_from_slice(format!("authorization: Bearer {token}\r\n").as_bytes());
    let end = rest
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap_or(rest.len());
    let (fields, body) = rest.split_at_checked(end).unwrap_or((rest, &[]));
    for field in fields.split(|byte| *byte == b'\n') {
        let is_connection = field
            .get(..11)
            .is_some_and(|name| name.eq_ignore_ascii_case(b"connection:"));
        if !is_connection {
            out.extend_from_slice(field.strip_suffix(b"\r").unwrap_or(field));
            out.extend_from_slice(b"\r\n");
        }
    }
    // The last field's own end of line is there already.
    out.extend_from_slice(body.strip_prefix(b"\r\n").unwrap_or(body));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_goes_with_the_only_request_of_its_connection() {
        let head = b"POST /x HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n{}";
        let expected =
            b"POST /x HTTP/1.1\r\nconnection: close\r\nauthorization: Bearer t\r\nHost: a\r\n\r\n{}";
        assert_eq!(
            String::from_utf8_lossy(&with(head, "t")),
            String::from_utf8_lossy(expected)
        );
    }
}
