//! Reading an address strictly: what is taken is read in one way by every parser of URLs, those of RFC 3986 and of the
//! WHATWG alike. Everything else is refused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The most bytes of an address.
pub const URL_BYTES: usize = 2048;

const HOST_BYTES: usize = 253;
const LABEL_BYTES: usize = 63;

/// What an address leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// Whether it is https rather than http.
    pub secure: bool,
    /// Where.
    pub host: Host<'a>,
    /// The port, where it is named.
    pub port: Option<u16>,
}

/// The host of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host<'a> {
    /// By its name, as it is written.
    Name(&'a str),
    /// By its number.
    Ip(IpAddr),
}

type Expected<T> = Result<T, &'static str>;

impl<'a> Target<'a> {
    /// Reads an absolute http or https address of at most [`URL_BYTES`] bytes.
    ///
    /// It is ASCII and has no user information, no fragment and nothing but what RFC 3986 lets stand unescaped. A host
    /// is a name as DNS knows it, an IPv4 address of four decimal numbers or an IPv6 address in brackets.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(address: &'a str) -> Expected<Self> {
        if address.len() > URL_BYTES {
            return Err("expected at most 2048 bytes");
        }
        let (scheme, rest) = address
            .split_once("://")
            .ok_or("expected an absolute https address")?;
        let secure = scheme.eq_ignore_ascii_case("https");
        if !secure && !scheme.eq_ignore_ascii_case("http") {
            return Err("expected an https address");
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if !is_escaped(path) {
            return Err("expected a path and query of RFC 3986, with all else escaped, and no fragment");
        }
        if authority.contains('@') {
            return Err("expected no user information");
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(bracketed) => {
                let (address, port) = bracketed.split_once(']').ok_or(HOST)?;
                let address: Ipv6Addr = address.parse().map_err(|_| HOST)?;
                (Host::Ip(address.into()), port)
            }
            None => {
                let end = authority.find(':').unwrap_or(authority.len());
                let (name, port) = authority.split_at_checked(end).unwrap_or((authority, ""));
                (host(name)?, port)
            }
        };
        let port = match port.strip_prefix(':') {
            Some(port) => Some(number(port).ok_or("expected a port from 1 to 65535")?),
            None if port.is_empty() => None,
            None => return Err(HOST),
        };
        Ok(Self { secure, host, port })
    }
}

const HOST: &str = "expected a host name, four decimal numbers or an IPv6 address in brackets";

fn number(port: &str) -> Option<u16> {
    let number = port.parse().ok().filter(|number: &u16| *number > 0)?;
    // Neither a sign nor zeros in front.
    (number.to_string() == port).then_some(number)
}

/// A host that stands in no brackets. What ends in a number is an IPv4 address to a browser, however it is written: so
/// it is one here, and only in the one way of writing it that all agree on.
fn host(text: &str) -> Expected<Host<'_>> {
    let last = text.rsplit('.').next().unwrap_or_default();
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    let is_number = hexadecimal.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        || last.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        let address: Ipv4Addr = text.parse().map_err(|_| HOST)?;
        return Ok(Host::Ip(address.into()));
    }
    if text.len() <= HOST_BYTES && text.split('.').all(is_label) {
        Ok(Host::Name(text))
    } else {
        Err(HOST)
    }
}

fn is_label(label: &str) -> bool {
    let at_ends = |byte: Option<&u8>| byte.is_some_and(|byte| *byte != b'-');
    let bytes = label.as_bytes();
    bytes.len() <= LABEL_BYTES
        && at_ends(bytes.first())
        && at_ends(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Whether a path with its query holds nothing that RFC 3986 wants escaped.
fn is_escaped(path: &str) -> bool {
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        let fits = match byte {
            b'%' => [bytes.next(), bytes.next()]
                .iter()
                .all(|digit| digit.is_some_and(|digit| digit.is_ascii_hexdigit())),
            b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b','
            | b';' | b'=' | b':' | b'@' | b'/' | b'?' => true,
            byte => byte.is_ascii_alphanumeric(),
        };
        if !fits {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(url: &str) -> bool {
        Target::parse(url).is_err()
    }

    #[test]
    fn an_address_is_taken_apart() {
        let target = Target::parse("https://Hooks.example.org:8443/a?b").unwrap();
        assert_eq!(
            target,
            Target {
                secure: true,
                host: Host::Name("Hooks.example.org"),
                port: Some(8443)
            }
        );
        let target = Target::parse("http://127.0.0.1").unwrap();
        assert_eq!((target.secure, target.port), (false, None));
        assert_eq!(target.host, Host::Ip(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        let target = Target::parse("https://[::1]:1?x").unwrap();
        assert_eq!(target.host, Host::Ip(IpAddr::V6(Ipv6Addr::LOCALHOST)));
        assert_eq!(target.port, Some(1));
    }

    #[test]
    fn an_address_of_2048_bytes_is_taken_and_one_of_2049_is_not() {
        let of = |length: usize| format!("https://a.example/{}", "x".repeat(length - 18));
        assert!(!refused(&of(URL_BYTES)));
        assert!(refused(&of(URL_BYTES + 1)));
    }

    #[test]
    fn hosts_ports_and_labels_have_their_limits() {
        let label = |length: usize| "a".repeat(length);
        let name = |length: usize| format!("{0}.{0}.{0}.{1}", label(63), label(length - 192));
        for (good, bad) in [
            (
                format!("https://{}.example", label(63)),
                format!("https://{}.example", label(64)),
            ),
            (format!("https://{}", name(253)), format!("https://{}", name(254))),
            ("https://a:65535".into(), "https://a:65536".into()),
            ("https://a:1".into(), "https://a:0".into()),
            ("https://a:80".into(), "https://a:080".into()),
            ("https://a:80".into(), "https://a:+80".into()),
            ("https://a".into(), "https://a:".into()),
            ("https://a-b_c".into(), "https://-a".into()),
            ("https://a.b".into(), "https://a.b.".into()),
            ("https://a.b".into(), "https://a..b".into()),
            ("https://a/%aF".into(), "https://a/%a".into()),
            ("https://a/%aF".into(), "https://a/%ag".into()),
            ("https://a/?".into(), "https://a/?#".into()),
            ("https://a/:@".into(), "https://a/[".into()),
            ("https://0xg".into(), "https://0xf".into()),
        ] {
            assert!(!refused(&good), "{good}");
            assert!(refused(&bad), "{bad}");
        }
    }

    #[test]
    fn other_ways_of_writing_an_address_are_refused() {
        for url in [
            "",
            "https://",
            "https:///a",
            "https:/a",
            "//a.example",
            "a.example",
            "ftp://a.example",
            "javascript://a.example",
            " https://a.example",
            "https://a.example ",
            "https://a.example\n",
            "https://a.example/a b",
            "https://a\\@b.example",
            "https://a.example\\",
            "https://user@a.example",
            "https://user:secret@a.example",
            "https://@a.example",
            "https://a%2eexample",
            "https://%61.example",
            "https://é.example",
            "https://a。example",
            "https://①②⑦.0.0.1",
            "https://2130706433",
            "https://0x7f000001",
            "https://0x7f.1",
            "https://017700000001",
            "https://0177.0.0.1",
            "https://127.1",
            "https://127.0.1",
            "https://127.0.0.01",
            "https://127.0.0.1.",
            "https://127.0.0.256",
            "https://1.2.3.4.5",
            "https://a.0x",
            "https://[::1",
            "https://::1",
            "https://[::1]a",
            "https://[127.0.0.1]",
            "https://[fe80::1%25eth0]",
            "https://[v1.a]",
            "https://a.example#",
        ] {
            assert!(refused(url), "{url:?}");
        }
    }

    proptest! {
        /// The parser of `http` is the one that native hosts connect by.
        #[test]
        fn what_is_taken_is_read_as_http_reads_it(
            url in "(https?|HTTPS)://[a-c0-9x.@:\\[\\]%é-]{0,9}(:[0-9]{0,6})?[/?#a-z%\\\\]{0,6}",
        ) {
            if let Ok(target) = Target::parse(&url) {
                let uri: http::Uri = url.parse().unwrap();
                prop_assert_eq!(uri.scheme_str() == Some("https"), target.secure);
                prop_assert_eq!(uri.port_u16(), target.port);
                let host = uri.host().unwrap();
                match target.host {
                    Host::Name(name) => prop_assert_eq!(name, host),
                    Host::Ip(ip) => prop_assert_eq!(Ok(ip), host.trim_matches(['[', ']']).parse()),
                }
            }
        }

        #[test]
        fn nothing_makes_it_panic(url in "\\PC{0,40}", tail in ".{0,40}") {
            let _ = Target::parse(&url);
            let _ = Target::parse(&format!("https://{tail}"));
        }
    }
}
