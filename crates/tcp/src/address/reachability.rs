//! [`address_pairs`]: the pairs of addresses by which one rank can connect to another, best first.

use std::net::IpAddr;

use super::Subnet;

/// How likely it is that one address reaches another, the most likely first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reachability {
    /// Both are in one subnet.
    SameSubnet,
    /// Both are public: routers connect them.
    BothPublic,
    /// Both are private, in different subnets: routers of one site may connect them.
    BothPrivate,
    /// One is private, the other public: at best the private one reaches the public one.
    PrivateToPublic,
    /// Both are the same address: of one host, or of two bridges with equal numbers on two hosts.
    SameAddress,
}

/// An address of a peer, and the address to connect from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressPair {
    /// The peer's address.
    pub remote: IpAddr,
    /// This side's address in the same subnet. `None`: the kernel's routes choose one.
    pub local: Option<IpAddr>,
    /// How likely it is that the two reach each other.
    pub reachability: Reachability,
}

/// How `from` reaches `to`; `None` if it cannot.
fn reachability(from: &Subnet, to: &Subnet) -> Option<Reachability> {
    if from.address.is_ipv4() != to.address.is_ipv4() {
        return None;
    }
    if from.address == to.address {
        return Some(Reachability::SameAddress);
    }
    if from.prefix == to.prefix && from.contains(&to.address) {
        return Some(Reachability::SameSubnet);
    }
    let local = |address: IpAddr| match address {
        IpAddr::V4(a) => a.is_loopback() || a.is_link_local(),
        IpAddr::V6(a) => a.is_loopback() || a.is_unicast_link_local(),
    };
    if local(from.address) || local(to.address) {
        return None;
    }
    let private = |address: IpAddr| match address {
        // RFC 1918; RFC 6598, section 7.
        IpAddr::V4(a) => a.is_private() || (a.to_bits() >> 22) == (0x6440_0000 >> 22),
        // RFC 4193.
        IpAddr::V6(a) => a.is_unique_local(),
    };
    Some(match (private(from.address), private(to.address)) {
        (false, false) => Reachability::BothPublic,
        (true, true) => Reachability::BothPrivate,
        _ => Reachability::PrivateToPublic,
    })
}

/// The pairs of addresses from a rank that has `local` to one that has `remote`: each remote address once,
/// the most likely first, equals in the order of `remote`.
#[must_use]
pub fn address_pairs(local: &[Subnet], remote: &[Subnet]) -> Vec<AddressPair> {
    let best = |to: &Subnet| {
        let reached = local
            .iter()
            .filter_map(|from| Some((reachability(from, to)?, from.address)));
        let (reachability, from) = reached.min_by_key(|(reachability, _)| *reachability)?;
        Some(AddressPair {
            remote: to.address,
            local: (reachability == Reachability::SameSubnet).then_some(from),
            reachability,
        })
    };
    let mut pairs: Vec<AddressPair> = remote.iter().filter_map(best).collect();
    pairs.sort_by_key(|pair| pair.reachability);
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(texts: &[&str]) -> Vec<Subnet> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn found(mine: &[&str], theirs: &[&str]) -> Vec<(String, Reachability)> {
        let pairs = address_pairs(&list(mine), &list(theirs));
        pairs
            .iter()
            .map(|pair| (pair.remote.to_string(), pair.reachability))
            .collect()
    }

    #[test]
    fn a_common_subnet_comes_before_routes() {
        let found = found(
            &["10.1.0.7/16", "192.168.9.7/24", "8.8.1.7/24", "fd00::7/64"],
            &[
                "10.2.0.9/16",
                "8.8.2.9/24",
                "192.168.9.9/24",
                "fd01::9/64",
                "2001:db8::9/64",
            ],
        );
        let expected = [
            ("192.168.9.9", Reachability::SameSubnet),
            ("8.8.2.9", Reachability::BothPublic),
            ("10.2.0.9", Reachability::BothPrivate),
            ("fd01::9", Reachability::BothPrivate),
            ("2001:db8::9", Reachability::PrivateToPublic),
        ];
        assert_eq!(
            found,
            expected.map(|(to, reachability)| (to.to_owned(), reachability))
        );
    }

    #[test]
    fn equal_bridges_come_last() {
        let bridge = "172.17.0.1/16";
        let found = found(&[bridge, "10.1.0.7/16"], &[bridge, "10.1.0.8/16"]);
        assert_eq!(found[0], ("10.1.0.8".to_owned(), Reachability::SameSubnet));
        assert_eq!(
            found.len(),
            2,
            "a bridge of the same number is tried at the end"
        );
    }

    #[test]
    fn impossible_pairs_are_left_out() {
        assert!(found(&["10.1.0.7/16"], &["fd00::7/64"]).is_empty());
        assert!(found(&["10.1.0.7/16"], &["127.0.0.1/8"]).is_empty());
        assert!(found(&["169.254.0.7/16"], &["10.0.0.1/8"]).is_empty());
        assert!(found(&[], &["10.0.0.1/8"]).is_empty());
        assert_eq!(
            found(&["127.0.0.1/8"], &["127.0.0.1/8"])[0].1,
            Reachability::SameAddress
        );
    }

    #[test]
    fn a_common_subnet_sets_the_local_address() {
        let pairs = address_pairs(
            &list(&["10.1.0.7/16", "10.2.0.7/16"]),
            &list(&["10.2.0.9/16", "10.3.0.9/16"]),
        );
        assert_eq!(pairs[0].local, Some("10.2.0.7".parse().unwrap()));
        assert_eq!(pairs[1].local, None);
    }
}
