//! [`Fabric`]: what two ports must have in common to reach each other.

use crate::objects::{Gid, GidEntry, GidType, LinkLayer};
use std::fmt;
use std::str::FromStr;

/// A network of RDMA ports that reach each other (libfabric's term). Its text suits business cards: `ib.fe80000000000000`,
/// `roce4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fabric {
    /// The InfiniBand subnet with this prefix.
    InfiniBand(u64),
    /// InfiniBand subnets that routers join.
    RoutedInfiniBand,
    /// iWARP over IP, which routers forward.
    Iwarp,
    /// RoCE v2 over IPv4, which routers forward.
    RoceV2Ipv4,
    /// RoCE v2 over IPv6, which routers forward.
    RoceV2Ipv6,
    /// RoCE v1, or v2 with link-local addresses: one Ethernet.
    RoceLocal,
}

impl Fabric {
    /// The fabric of a port and the address by which it is reached there: on Ethernet the first one that reaches farthest.
    pub(super) fn of(layer: LinkLayer, gids: &[GidEntry]) -> Option<(Self, GidEntry)> {
        let fabric = |entry: &GidEntry| match (layer, entry.kind) {
            (LinkLayer::InfiniBand, _) => {
                let prefix = entry.gid.0.first_chunk().copied().unwrap_or_default();
                Some(Self::InfiniBand(u64::from_be_bytes(prefix)))
            }
            (LinkLayer::Ethernet, GidType::RoceV2) if is_ipv4(entry.gid) => Some(Self::RoceV2Ipv4),
            (LinkLayer::Ethernet, GidType::RoceV2) if !is_local(entry.gid) => {
                Some(Self::RoceV2Ipv6)
            }
            (LinkLayer::Ethernet, GidType::RoceV1 | GidType::RoceV2) => Some(Self::RoceLocal),
            _ => None,
        };
        let found = gids
            .iter()
            .filter_map(|entry| Some((fabric(entry)?, *entry)));
        found.min_by_key(|(fabric, _)| match fabric {
            Self::InfiniBand(_) | Self::RoutedInfiniBand | Self::Iwarp | Self::RoceV2Ipv4 => 0,
            Self::RoceV2Ipv6 => 1,
            Self::RoceLocal => 2,
        })
    }
}

/// `::ffff:a.b.c.d`.
fn is_ipv4(gid: Gid) -> bool {
    gid.0[..10] == [0; 10] && gid.0[10..12] == [0xff; 2]
}

/// `fe80::/10`.
const fn is_local(gid: Gid) -> bool {
    gid.0[0] == 0xfe && gid.0[1] & 0xc0 == 0x80
}

impl fmt::Display for Fabric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InfiniBand(prefix) => write!(f, "ib.{prefix:016x}"),
            Self::RoutedInfiniBand => f.write_str("ib"),
            Self::Iwarp => f.write_str("iwarp"),
            Self::RoceV2Ipv4 => f.write_str("roce4"),
            Self::RoceV2Ipv6 => f.write_str("roce6"),
            Self::RoceLocal => f.write_str("roce"),
        }
    }
}

impl FromStr for Fabric {
    type Err = ();

    /// # Errors
    /// When `text` names no fabric of this version: then the port is not reached.
    fn from_str(text: &str) -> Result<Self, ()> {
        match text.split_once('.') {
            Some(("ib", prefix)) => {
                let prefix = u64::from_str_radix(prefix, 16).map_err(drop)?;
                Ok(Self::InfiniBand(prefix))
            }
            _ => [
                Self::RoutedInfiniBand,
                Self::Iwarp,
                Self::RoceV2Ipv4,
                Self::RoceV2Ipv6,
                Self::RoceLocal,
            ]
            .into_iter()
            .find(|fabric| fabric.to_string() == text)
            .ok_or(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(index: u8, gid: &str, kind: GidType) -> GidEntry {
        GidEntry {
            index,
            gid: gid.parse().expect("a GID"),
            kind,
            interface: 0,
        }
    }

    #[test]
    fn the_address_that_reaches_farthest_is_taken() {
        let local = entry(0, "fe80::1", GidType::RoceV2);
        let old = entry(1, "::ffff:10.0.0.1", GidType::RoceV1);
        let ipv4 = entry(2, "::ffff:10.0.0.1", GidType::RoceV2);
        let ipv6 = entry(3, "fd00::1", GidType::RoceV2);
        for (gids, expected) in [
            (vec![local, old, ipv6, ipv4], Some((Fabric::RoceV2Ipv4, 2))),
            (vec![local, old, ipv6], Some((Fabric::RoceV2Ipv6, 3))),
            (vec![local, old], Some((Fabric::RoceLocal, 0))),
            (vec![], None),
        ] {
            let found = Fabric::of(LinkLayer::Ethernet, &gids);
            assert_eq!(found.map(|(of, entry)| (of, entry.index)), expected);
        }
        let subnet = entry(0, "fe80:0:0:7::1", GidType::InfiniBand);
        let found = Fabric::of(LinkLayer::InfiniBand, &[subnet]);
        assert_eq!(
            found.map(|(of, _)| of),
            Some(Fabric::InfiniBand(0xfe80_0000_0000_0007))
        );
    }

    #[test]
    fn a_text_reads_back() {
        for fabric in [
            Fabric::InfiniBand(0xfe80_0000_0000_0000),
            Fabric::RoutedInfiniBand,
            Fabric::Iwarp,
            Fabric::RoceV2Ipv4,
            Fabric::RoceV2Ipv6,
            Fabric::RoceLocal,
        ] {
            assert_eq!(fabric.to_string().parse(), Ok(fabric));
        }
        for other in ["", "-", "ib.", "ib.x", "roce9"] {
            assert_eq!(other.parse::<Fabric>(), Err(()));
        }
    }
}
