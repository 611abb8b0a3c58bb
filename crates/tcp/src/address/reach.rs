//! By which addresses two ranks can meet, best first.

use std::net::IpAddr;

use super::Subnet;

/// How likely it is that one address reaches another, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// Both are in one subnet.
    Subnet,
    /// Both are public: routers know the way.
    Public,
    /// Both are private, in different subnets: routers of one site may know the way.
    Private,
    /// One is private and one public: only out of the private network, if at all.
    Outward,
    /// Both sides have the same address: they are on one host, or each has a bridge of its own that is
    /// numbered like the other's.
    Same,
}

/// A way to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The peer's address.
    pub to: IpAddr,
    /// This side's address in the same subnet. `None`: the one that the routes say.
    pub from: Option<IpAddr>,
    /// How likely it is that this is a way.
    pub reach: Reach,
}

/// How `from` reaches `to`; `None` if it cannot.
fn reach(from: &Subnet, to: &Subnet) -> Option<Reach> {
    if from.address.is_ipv4() != to.address.is_ipv4() {
        return None;
    }
    if from.address == to.address {
        return Some(Reach::Same);
    }
    if from.prefix == to.prefix && from.contains(&to.address) {
        return Some(Reach::Subnet);
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
        (false, false) => Reach::Public,
        (true, true) => Reach::Private,
        _ => Reach::Outward,
    })
}

/// The ways from a host that offers `mine` to one that offers `theirs`, each of its addresses once, best
/// first; among equals in the order in which they are offered.
#[must_use]
pub fn ways(mine: &[Subnet], theirs: &[Subnet]) -> Vec<Way> {
    let best = |to: &Subnet| {
        let reached = mine
            .iter()
            .filter_map(|from| Some((reach(from, to)?, from.address)));
        let (reach, from) = reached.min_by_key(|(reach, _)| *reach)?;
        Some(Way {
            to: to.address,
            from: (reach == Reach::Subnet).then_some(from),
            reach,
        })
    };
    let mut ways: Vec<Way> = theirs.iter().filter_map(best).collect();
    ways.sort_by_key(|way| way.reach);
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(texts: &[&str]) -> Vec<Subnet> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn found(mine: &[&str], theirs: &[&str]) -> Vec<(String, Reach)> {
        let ways = ways(&list(mine), &list(theirs));
        ways.iter()
            .map(|way| (way.to.to_string(), way.reach))
            .collect()
    }

    #[test]
    fn one_subnet_goes_before_routes() {
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
            ("192.168.9.9", Reach::Subnet),
            ("8.8.2.9", Reach::Public),
            ("10.2.0.9", Reach::Private),
            ("fd01::9", Reach::Private),
            ("2001:db8::9", Reach::Outward),
        ];
        assert_eq!(found, expected.map(|(to, reach)| (to.to_owned(), reach)));
    }

    #[test]
    fn equal_bridges_come_last() {
        let bridge = "172.17.0.1/16";
        let found = found(&[bridge, "10.1.0.7/16"], &[bridge, "10.1.0.8/16"]);
        assert_eq!(found[0], ("10.1.0.8".to_owned(), Reach::Subnet));
        assert_eq!(
            found.len(),
            2,
            "a bridge of the same number is tried at the end"
        );
    }

    #[test]
    fn what_cannot_be_is_not_tried() {
        assert!(found(&["10.1.0.7/16"], &["fd00::7/64"]).is_empty());
        assert!(found(&["10.1.0.7/16"], &["127.0.0.1/8"]).is_empty());
        assert!(found(&["169.254.0.7/16"], &["10.0.0.1/8"]).is_empty());
        assert!(found(&[], &["10.0.0.1/8"]).is_empty());
        assert_eq!(found(&["127.0.0.1/8"], &["127.0.0.1/8"])[0].1, Reach::Same);
    }

    #[test]
    fn a_subnet_is_left_by_its_own_address() {
        let ways = ways(
            &list(&["10.1.0.7/16", "10.2.0.7/16"]),
            &list(&["10.2.0.9/16", "10.3.0.9/16"]),
        );
        assert_eq!(ways[0].from, Some("10.2.0.7".parse().unwrap()));
        assert_eq!(ways[1].from, None);
    }
}
