//! Which addresses may be connected to.
//!
//! The tables name what is not public: the registries of special-purpose addresses (RFC 6890 and its successors), and
//! the addresses at which clouds give a machine its own keys. The first row that holds an address decides.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The use of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressUse {
    /// Reachable from everywhere: an ordinary server.
    Public,
    /// This machine, or a network that only some can reach.
    Private,
    /// No server that a page could be on: link-local (the metadata of clouds), multicast, reserved, documentation, or
    /// another address in disguise.
    Special,
}

use AddressUse::{Private, Public, Special};

const V4: &[(Ipv4Addr, u32, AddressUse)] = &[
    // "This network"; Linux connects to itself.
    (Ipv4Addr::new(0, 0, 0, 0), 8, Special),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Private),
    // Metadata of Alibaba Cloud, within the range of carriers.
    (Ipv4Addr::new(100, 100, 100, 200), 32, Special),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Private),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Private),
    // The platform of Azure, which answers its machines only.
    (Ipv4Addr::new(168, 63, 129, 16), 32, Special),
    // Link-local; metadata of most clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16, Special),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Special),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Special),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Special),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Special),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Special),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Special),
    // Multicast, reserved, broadcast.
    (Ipv4Addr::new(224, 0, 0, 0), 3, Special),
    (Ipv4Addr::UNSPECIFIED, 0, Public),
];

const V6: &[(Ipv6Addr, u32, AddressUse)] = &[
    (Ipv6Addr::LOCALHOST, 128, Private),
    // Metadata of Amazon, within the range of unique local addresses.
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128, Special),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Private),
    // Protocols of the IETF: Teredo, benchmarks, ORCHID.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Special),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, Special),
    // 6to4 holds an IPv4 address.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, Special),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, Special),
    (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3, Public),
    // All else, with IPv4 addresses in disguise (`::ffff:0:0/96`, `::/96`, `64:ff9b::/96`), link-local and multicast.
    (Ipv6Addr::UNSPECIFIED, 0, Special),
];

/// Returns the use of an address.
#[must_use]
pub fn address_use(address: IpAddr) -> AddressUse {
    let found = match address {
        IpAddr::V4(address) => {
            let bits = address.to_bits();
            let is_in = |net: Ipv4Addr, length: u32| (bits ^ net.to_bits()).leading_zeros() >= length;
            V4.iter().find(|(net, length, _)| is_in(*net, *length)).map(|row| row.2)
        }
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            let is_in = |net: Ipv6Addr, length: u32| (bits ^ net.to_bits()).leading_zeros() >= length;
            V6.iter().find(|(net, length, _)| is_in(*net, *length)).map(|row| row.2)
        }
    };
    found.unwrap_or(Special)
}

/// Returns whether everybody can reach the address.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    address_use(address) == Public
}

/// Returns whether the address is public, of this machine or of a private network.
#[must_use]
pub fn is_public_or_private(address: IpAddr) -> bool {
    address_use(address) != Special
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last address before a block, its first and last ones, and the first after it, with their uses: written from the
    /// registries, not from the tables above.
    const EDGES: &[(&str, AddressUse)] = &[
        ("0.0.0.0", Special),
        ("0.255.255.255", Special),
        ("1.0.0.0", Public),
        ("9.255.255.255", Public),
        ("10.0.0.0", Private),
        ("10.255.255.255", Private),
        ("11.0.0.0", Public),
        ("100.63.255.255", Public),
        ("100.64.0.0", Private),
        ("100.100.100.199", Private),
        ("100.100.100.200", Special),
        ("100.127.255.255", Private),
        ("100.128.0.0", Public),
        ("126.255.255.255", Public),
        ("127.0.0.0", Private),
        ("127.255.255.255", Private),
        ("128.0.0.0", Public),
        ("168.63.129.15", Public),
        ("168.63.129.16", Special),
        ("168.63.129.17", Public),
        ("169.253.255.255", Public),
        ("169.254.0.0", Special),
        ("169.254.169.254", Special),
        ("169.254.255.255", Special),
        ("169.255.0.0", Public),
        ("172.15.255.255", Public),
        ("172.16.0.0", Private),
        ("172.31.255.255", Private),
        ("172.32.0.0", Public),
        ("191.255.255.255", Public),
        ("192.0.0.0", Special),
        ("192.0.0.255", Special),
        ("192.0.1.0", Public),
        ("192.0.2.0", Special),
        ("192.0.2.255", Special),
        ("192.0.3.0", Public),
        ("192.88.98.255", Public),
        ("192.88.99.1", Special),
        ("192.88.100.0", Public),
        ("192.167.255.255", Public),
        ("192.168.0.0", Private),
        ("192.168.255.255", Private),
        ("192.169.0.0", Public),
        ("198.17.255.255", Public),
        ("198.18.0.0", Special),
        ("198.19.255.255", Special),
        ("198.20.0.0", Public),
        ("198.51.99.255", Public),
        ("198.51.100.7", Special),
        ("198.51.101.0", Public),
        ("203.0.112.255", Public),
        ("203.0.113.9", Special),
        ("203.0.114.0", Public),
        ("223.255.255.255", Public),
        ("224.0.0.0", Special),
        ("239.255.255.255", Special),
        ("240.0.0.0", Special),
        ("255.255.255.255", Special),
        ("::", Special),
        ("::1", Private),
        ("::2", Special),
        ("::127.0.0.1", Special),
        ("::ffff:8.8.8.8", Special),
        ("::ffff:127.0.0.1", Special),
        ("64:ff9b::7f00:1", Special),
        ("64:ff9b:1::1", Special),
        ("100::1", Special),
        ("1fff:ffff::1", Special),
        ("2000::1", Public),
        ("2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Public),
        ("2001::1", Special),
        ("2001:10::1", Special),
        ("2001:20::1", Special),
        ("2001:1ff:ffff::1", Special),
        ("2001:200::1", Public),
        ("2001:4860:4860::8888", Public),
        ("2001:db7:ffff::1", Public),
        ("2001:db8::1", Special),
        ("2001:db9::1", Public),
        ("2001:ffff::1", Public),
        ("2002:7f00:1::1", Special),
        ("2003::1", Public),
        ("2a00:1450::1", Public),
        ("3ffe::1", Public),
        ("3fff::1", Special),
        ("3fff:fff::1", Special),
        ("3fff:1000::1", Public),
        ("4000::1", Special),
        ("5f00::1", Special),
        ("fbff::1", Special),
        ("fc00::1", Private),
        ("fd00:ec2::253", Private),
        ("fd00:ec2::254", Special),
        ("fdff:ffff::1", Private),
        ("fe00::1", Special),
        ("fe80::1", Special),
        ("fec0::1", Special),
        ("ff02::1", Special),
    ];

    #[test]
    fn the_edges_of_every_block_have_their_use() {
        for (address, wanted) in EDGES {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(address_use(address), *wanted, "{address}");
            assert_eq!(is_public(address), *wanted == Public, "{address}");
            assert_eq!(is_public_or_private(address), *wanted != Special, "{address}");
        }
    }
}
