//! [`RailAddresses`]: what a rank offers on each of its rails, and the port pairs that two ranks make of theirs.

use super::fabric::Fabric;
use crate::transport::{MOST_RAILS, PairAddress, PortPair};
use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

/// What a rank offers a peer on a rail. Its text is `roce4/0=` with that of the queue pairs behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RailAddress {
    fabric: Fabric,
    /// The place of the device among those of the rank. Keys of memory are for the first two.
    device: u8,
    pairs: PairAddress,
}

/// What a rank offers a peer on all its rails, the nearest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RailAddresses(Vec<RailAddress>);

impl RailAddresses {
    /// Those of rails of these fabrics and devices.
    pub(super) fn new(rails: &[(Fabric, u8)], pairs: Vec<PairAddress>) -> Self {
        let address = |(&(fabric, device), pairs)| RailAddress {
            fabric,
            device,
            pairs,
        };
        Self(rails.iter().zip(pairs).map(address).collect())
    }

    /// The port pairs between these rails and those of a peer, one to one, the smaller number where they differ. The peer finds
    /// the same ones, in the same order.
    ///
    /// Ports reach each other on one fabric. Of those, whose addresses have the most in common come first: on Ethernet a
    /// fabric may have several subnets.
    ///
    /// Source: the Open MPI FAQ, "In a configuration with multiple host ports on the same fabric, what connection pattern
    /// does Open MPI use?".
    pub(super) fn port_pairs(&self, there: &Self) -> Vec<PortPair> {
        let mut reached = Vec::new();
        for (rail, here) in self.0.iter().enumerate() {
            for (at, there) in there.0.iter().enumerate() {
                if here.fabric == there.fabric {
                    reached.push((here.nearness(there), rail, at));
                }
            }
        }
        reached.sort_unstable();
        let mut port_pairs = Vec::new();
        let (mut rails, mut taken) = ([false; MOST_RAILS], [false; MOST_RAILS]);
        for (_, rail, at) in reached {
            if rails[rail] || taken[at] {
                continue;
            }
            (rails[rail], taken[at]) = (true, true);
            port_pairs.push(PortPair {
                rail: rail as u8,
                device: there.0[at].device,
                there: there.0[at].pairs.clone(),
            });
        }
        port_pairs
    }
}

/// What tells the port of one rank from that of another.
type Identity = (Option<[u8; 16]>, u16, Option<u32>);

impl RailAddress {
    fn identity(&self) -> Identity {
        let PairAddress {
            gid, lid, numbers, ..
        } = &self.pairs;
        (gid.map(|gid| gid.0), *lid, numbers.first().copied())
    }

    /// Orders pairs of rails of two ranks: the same for both ranks.
    fn nearness(&self, other: &Self) -> (Reverse<u32>, Identity, Identity) {
        let (a, b) = (self.identity(), other.identity());
        let bits = |of: &Identity| of.0.map_or(0, u128::from_be_bytes);
        let common = (bits(&a) ^ bits(&b)).leading_zeros();
        (Reverse(common), a.min(b), a.max(b))
    }
}

impl fmt::Display for RailAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, rail) in self.0.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            let RailAddress {
                fabric,
                device,
                pairs,
            } = rail;
            write!(f, "{space}{fabric}/{device}={pairs}")?;
        }
        Ok(())
    }
}

impl FromStr for RailAddresses {
    type Err = ();

    /// # Errors
    /// When `text` is none of 1 to 8 rails.
    fn from_str(text: &str) -> Result<Self, ()> {
        let rail = |text: &str| {
            let (rail, pairs) = text.split_once('=').ok_or(())?;
            let (fabric, device) = rail.split_once('/').ok_or(())?;
            Ok(RailAddress {
                fabric: fabric.parse()?,
                device: device.parse().map_err(drop)?,
                pairs: pairs.parse().map_err(drop)?,
            })
        };
        let rails: Vec<RailAddress> = text.split(' ').map(rail).collect::<Result<_, ()>>()?;
        match rails.len() {
            1..=MOST_RAILS => Ok(Self(rails)),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn rail(fabric: u8, gid: [u8; 2], number: u32) -> RailAddress {
        let fabrics = [Fabric::RoceV2Ipv4, Fabric::InfiniBand(7), Fabric::RoceLocal];
        let pairs = format!(
            "P,128;{number};1;0;4096;16;::ffff:10.0.{}.{}",
            gid[0], gid[1]
        );
        RailAddress {
            fabric: fabrics[usize::from(fabric)],
            device: gid[1] % 3,
            pairs: pairs.parse().expect("an address"),
        }
    }

    fn rails() -> impl Strategy<Value = Vec<(u8, [u8; 2])>> {
        prop::collection::vec((0..3u8, [0..3u8, 0..250]), 1..=MOST_RAILS)
    }

    proptest! {
        /// Both ranks find the same port pairs; no rail has two; on each fabric there are as many as the rank with fewer rails
        /// has there.
        #[test]
        fn rails_are_assigned_one_to_one(here in rails(), there in rails()) {
            let address = |rails: &[(u8, [u8; 2])], first: u32| {
                let rails = rails.iter().zip(first..);
                RailAddresses(rails.map(|((fabric, gid), number)| rail(*fabric, *gid, number)).collect())
            };
            let ends = [address(&here, 100), address(&there, 200)];
            let port_pairs = [ends[0].port_pairs(&ends[1]), ends[1].port_pairs(&ends[0])];
            prop_assert_eq!(port_pairs[0].len(), port_pairs[1].len());
            for (a, b) in port_pairs[0].iter().zip(&port_pairs[1]) {
                prop_assert_eq!(&ends[0].0[usize::from(a.rail)].pairs, &b.there);
                prop_assert_eq!(&ends[1].0[usize::from(b.rail)].pairs, &a.there);
            }
            let used: BTreeSet<u8> = port_pairs[0].iter().map(|port_pair| port_pair.rail).collect();
            prop_assert_eq!(used.len(), port_pairs[0].len());
            let on = |rails: &[(u8, [u8; 2])], fabric| rails.iter().filter(|rail| rail.0 == fabric).count();
            let expected = (0..3).map(|fabric| on(&here, fabric).min(on(&there, fabric))).sum::<usize>();
            prop_assert_eq!(port_pairs[0].len(), expected);
            let text = ends[0].to_string();
            prop_assert_eq!(text.parse(), Ok(ends[0].clone()));
        }

        #[test]
        fn any_text_is_an_address_or_none(text in "(roce4/0=)?.{0,60}") {
            let _ = text.parse::<RailAddresses>();
        }
    }

    /// Two networks of Ethernet, whose ports the two ranks have found in different orders.
    #[test]
    fn ports_of_one_subnet_are_assigned_to_each_other() {
        let ends = [
            RailAddresses(vec![rail(0, [1, 1], 1), rail(0, [2, 1], 2)]),
            RailAddresses(vec![rail(0, [2, 2], 3), rail(0, [1, 2], 4)]),
        ];
        let found = |port_pair: &PortPair| (port_pair.rail, port_pair.there.numbers[0]);
        let port_pairs: BTreeSet<_> = ends[0].port_pairs(&ends[1]).iter().map(found).collect();
        assert_eq!(port_pairs, BTreeSet::from([(0, 4), (1, 3)]));
    }
}
