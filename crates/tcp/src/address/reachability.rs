//! [`address_pairs`]: the pairs of addresses by which one rank can connect to another, best first.

use std::net::IpAddr;

use super::{BusinessCard, Subnet};

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
        // The kernel takes an address of this host for its own, whichever address the connection comes from.
        let same = local.iter().find(|from| from.address == to.address);
        let from = same.map_or(local, std::slice::from_ref);
        let reached = from
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

/// How a rank that has `local` can reach the owner of `card`, as the end of an error: every address that it tries, and
/// where the card has none, why.
#[must_use]
pub fn routes(local: &[Subnet], card: &BusinessCard) -> String {
    let list = |subnets: &[Subnet]| {
        let texts: Vec<String> = subnets.iter().map(Subnet::to_string).collect();
        texts.join(", ")
    };
    let pairs = address_pairs(local, &card.addresses);
    if pairs.is_empty() {
        let (theirs, own) = (list(&card.addresses), list(local));
        return format!("no address of its host ({theirs}) can be reached from {own}");
    }
    let routes = pairs.iter().map(|pair| {
        let (to, port) = (pair.remote, card.port);
        match (pair.reachability, pair.local) {
            (Reachability::SameAddress, _) => format!(
                "{to} port {port} (this host has that address, too: if it is that of a bridge such as docker0, \
                 exclude it by tcp_exclude)"
            ),
            (_, Some(from)) => format!("{to} port {port} from {from}"),
            (_, None) => format!("{to} port {port}"),
        }
    });
    format!("tried {}", routes.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_lists_what_was_tried() {
        let said = |local: &[&str], remote: &str| {
            routes(&list(local), &format!("b:40001,{remote}").parse().unwrap())
        };
        let own = ["10.77.0.1/24", "172.17.0.1/16"];
        assert_eq!(
            said(&own, "172.17.0.1/16,10.77.0.2/24,10.78.0.2/24"),
            "tried 10.77.0.2 port 40001 from 10.77.0.1, 10.78.0.2 port 40001, 172.17.0.1 port 40001 (this host has \
             that address, too: if it is that of a bridge such as docker0, exclude it by tcp_exclude)"
        );
        assert_eq!(
            said(&own, "fd00::7/64"),
            "no address of its host (fd00::7/64) can be reached from 10.77.0.1/24, 172.17.0.1/16"
        );
    }

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
        let last = ("172.17.0.1".to_owned(), Reachability::SameAddress);
        assert_eq!(
            found[1..],
            [last],
            "no other address of this host leads there"
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
