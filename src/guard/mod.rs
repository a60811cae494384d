//! What a client may have the desk call: the open internet, and nothing of the network that the desk stands in
//! (A2A 1.0, §13.2).
//!
//! An address is looked at twice: as it is written, before it is kept and before each use; and by whoever connects, once
//! its name is resolved. What reads like an address to one parser and like another to the next is none at all.

mod address;
mod url;

use std::net::IpAddr;

pub use address::is_public;
pub use url::{Host, Target, URL_BYTES};

/// How far calls may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Hosts of the public internet, over https.
    #[default]
    Public,
    /// Any host, over https or http: for development.
    Anywhere,
}

/// Names that no public server has (RFC 6761, RFC 6762, RFC 8375 and what networks use of their own accord). Below
/// `internal` are the metadata servers of clouds.
const PRIVATE_NAMES: [&str; 10] = [
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "lan",
    "home",
    "home.arpa",
];

impl Reach {
    /// Whether an address may be called, as far as it can be told from how it is written.
    ///
    /// # Errors
    /// What was expected.
    pub fn check(self, address: &str) -> Result<(), &'static str> {
        let target = Target::parse(address)?;
        if self == Self::Anywhere {
            return Ok(());
        }
        if !target.secure {
            return Err("expected an https address");
        }
        let public = match target.host {
            Host::Ip(ip) => is_public(ip),
            Host::Name(name) => {
                name.contains('.') && !PRIVATE_NAMES.iter().any(|private| is_within(name, private))
            }
        };
        if public {
            Ok(())
        } else {
            Err("expected a host of the public internet")
        }
    }

    /// Whether a host that has this address may be connected to.
    #[must_use]
    pub fn allows(self, address: IpAddr) -> bool {
        self == Self::Anywhere || is_public(address)
    }
}

/// Whether a name is a domain's own or below it.
fn is_within(name: &str, domain: &str) -> bool {
    let Some(start) = name.len().checked_sub(domain.len()) else {
        return false;
    };
    let (below, end) = name.as_bytes().split_at(start);
    end.eq_ignore_ascii_case(domain.as_bytes()) && below.last().is_none_or(|byte| *byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_host_over_https_is_called() {
        for url in [
            "https://client.example.com/hook",
            "HTTPS://Client.Example.COM",
            "https://a.io:8443/p/a/t/h?q=%C3%A9&x=(1)",
            "https://8.8.8.8/",
            "https://[2606:4700::1111]:443/?a",
            "https://mylocal.example",
            "https://local.example.com",
            "https://notlocalhost.com",
            "https://a.xn--p1ai/",
        ] {
            assert_eq!(Reach::Public.check(url), Ok(()), "{url}");
            assert_eq!(Reach::Anywhere.check(url), Ok(()), "{url}");
        }
    }

    #[test]
    fn what_is_not_public_is_called_only_in_development() {
        for url in [
            "http://client.example.com/hook",
            "https://localhost",
            "https://LOCALHOST:3000/",
            "https://a.localhost",
            "https://printer.local",
            "https://metadata.google.internal/computeMetadata/v1/",
            "https://nas.home.arpa",
            "https://router.lan",
            "https://redis",
            "https://127.0.0.1",
            "https://10.0.0.7:6379",
            "https://169.254.169.254/latest/meta-data/",
            "https://100.100.100.200/",
            "https://0.0.0.0",
            "https://[::1]",
            "https://[::]",
            "https://[::ffff:127.0.0.1]",
            "https://[::ffff:7f00:1]",
            "https://[64:ff9b::a00:1]",
            "https://[2002:7f00:1::]",
            "https://[fd00:ec2::254]",
            "https://[fe80::1]",
        ] {
            assert!(Reach::Public.check(url).is_err(), "{url}");
            assert_eq!(Reach::Anywhere.check(url), Ok(()), "{url}");
        }
    }

    #[test]
    fn who_connects_asks_again() {
        let loopback: IpAddr = "127.0.0.1".parse().unwrap();
        assert!(!Reach::Public.allows(loopback));
        assert!(Reach::Anywhere.allows(loopback));
        assert!(Reach::Public.allows("1.1.1.1".parse().unwrap()));
    }
}
