//! Which addresses are of the public internet: the special-purpose registries of IANA, read as a list of what is not.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks of IPv4 that are no public hosts, each with the length of its prefix.
const NOT_PUBLIC_V4: [([u8; 4], u32); 17] = [
    // "This network".
    ([0, 0, 0, 0], 8),
    // Private.
    ([10, 0, 0, 0], 8),
    ([172, 16, 0, 0], 12),
    ([192, 168, 0, 0], 16),
    // Shared by a carrier's customers, and some clouds' metadata.
    ([100, 64, 0, 0], 10),
    // Loopback.
    ([127, 0, 0, 0], 8),
    // Link-local, and most clouds' metadata.
    ([169, 254, 0, 0], 16),
    // Protocol assignments.
    ([192, 0, 0, 0], 24),
    // Documentation.
    ([192, 0, 2, 0], 24),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    // AS112, relays of 6to4, AMT.
    ([192, 31, 196, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 52, 193, 0], 24),
    // Benchmarks.
    ([198, 18, 0, 0], 15),
    // Multicast.
    ([224, 0, 0, 0], 4),
    // Reserved, and broadcast.
    ([240, 0, 0, 0], 4),
];

/// Networks within 2000::/3 that are no public hosts, each with the length of its prefix; beyond 2000::/3 there are
/// none.
const NOT_PUBLIC_V6: [([u16; 8], u32); 4] = [
    // Protocol assignments, Teredo and ORCHID among them.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23),
    // Documentation.
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),
    // AS112.
    ([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48),
];

/// Whether an address is of the public internet. One that carries an IPv4 address (mapped, NAT64, 6to4) is what that
/// one is.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match carried(address) {
            Some(carried) => is_public_v4(carried),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !NOT_PUBLIC_V4
        .iter()
        .any(|(network, prefix)| (bits ^ Ipv4Addr::from(*network).to_bits()).leading_zeros() >= *prefix)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let bits = address.to_bits();
    let within =
        |network: [u16; 8], prefix: u32| (bits ^ Ipv6Addr::from(network).to_bits()).leading_zeros() >= prefix;
    within([0x2000, 0, 0, 0, 0, 0, 0, 0], 3)
        && !NOT_PUBLIC_V6
            .iter()
            .any(|(network, prefix)| within(*network, *prefix))
}

/// The IPv4 address that an IPv6 address stands for.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let from = |high: u16, low: u16| Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match address.segments() {
        // Mapped (RFC 4291, §2.5.5.2), translated (RFC 2765) and the well-known prefix of NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        // 6to4 (RFC 3056).
        | [0x2002, high, low, ..] => from(high, low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn public(address: &str) -> bool {
        is_public(address.parse().unwrap())
    }

    #[test]
    fn each_network_ends_where_it_ends() {
        for (last_before, first, last, first_behind) in [
            ("", "0.0.0.0", "0.255.255.255", "1.0.0.0"),
            ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
            ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"),
            ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"),
            ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"),
            ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
            ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"),
            ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"),
            ("192.31.195.255", "192.31.196.0", "192.31.196.255", "192.31.197.0"),
            ("192.52.192.255", "192.52.193.0", "192.52.193.255", "192.52.194.0"),
            ("192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"),
            ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"),
            ("198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"),
            ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"),
            ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"),
            ("223.255.255.255", "224.0.0.0", "255.255.255.255", ""),
            ("", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"),
            (
                "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "2001::",
                "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
                "2001:200::",
            ),
            (
                "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
                "2001:db8::",
                "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
                "2001:db9::",
            ),
            (
                "2620:4f:7fff:ffff:ffff:ffff:ffff:ffff",
                "2620:4f:8000::",
                "2620:4f:8000:ffff:ffff:ffff:ffff:ffff",
                "2620:4f:8001::",
            ),
            (
                "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "3fff::",
                "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
                "3fff:1000::",
            ),
            (
                "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "4000::",
                "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "",
            ),
        ] {
            for inside in [first, last] {
                assert!(!public(inside), "{inside}");
            }
            for outside in [last_before, first_behind] {
                assert!(outside.is_empty() || public(outside), "{outside}");
            }
        }
    }

    #[test]
    fn special_addresses_of_ipv6_are_not_public() {
        for address in [
            "::1",
            "::127.0.0.1",
            "64:ff9b:1::808:808",
            "100::1",
            "5f00::1",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
        ] {
            assert!(!public(address), "{address}");
        }
    }

    proptest! {
        #[test]
        fn an_address_that_carries_another_is_what_that_one_is(bits: u32) {
            let v4 = Ipv4Addr::from_bits(bits);
            let [a, b, c, d] = v4.octets().map(u16::from);
            let (high, low) = (a << 8 | b, c << 8 | d);
            for carrier in [
                [0, 0, 0, 0, 0, 0xffff, high, low],
                [0, 0, 0, 0, 0xffff, 0, high, low],
                [0x64, 0xff9b, 0, 0, 0, 0, high, low],
                [0x2002, high, low, 1, 2, 3, 4, 5],
            ] {
                prop_assert_eq!(is_public(IpAddr::V6(carrier.into())), is_public(IpAddr::V4(v4)));
            }
        }

        #[test]
        fn nothing_that_the_standard_library_knows_to_be_special_is_public(bits: u32, wide: u128) {
            let v4 = Ipv4Addr::from_bits(bits);
            let special = v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_multicast()
                || v4.is_broadcast() || v4.is_documentation() || v4.is_unspecified();
            prop_assert!(!special || !is_public(IpAddr::V4(v4)));
            let v6 = Ipv6Addr::from_bits(wide);
            let special = v6.is_unique_local() || v6.is_unicast_link_local() || v6.is_multicast() || v6.is_loopback();
            prop_assert!(!special || !is_public(IpAddr::V6(v6)));
        }
    }
}
