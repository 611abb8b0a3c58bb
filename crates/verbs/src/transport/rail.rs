//! [`Rail`]: a port by which a rank exchanges messages; [`PortPair`]: the connection with a peer by one rail of each.

use super::pair_address::PairAddress;
use crate::objects::Context;

/// The most rails of a rank, and port pairs to a peer.
pub(crate) const MOST_RAILS: usize = 8;

/// A port by which a rank exchanges messages.
#[derive(Debug, Clone)]
pub struct Rail {
    /// Its device. Memory is registered with those of the first rails, two at most.
    pub context: Context,
    /// The number of the port, from 1 on.
    pub port: u8,
    /// The index of this rank's own address in the port's table.
    pub gid_index: u8,
}

/// The connection with a peer by one rail of each. Both sides number their port pairs alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortPair {
    /// The rail of this rank, by its place.
    pub rail: u8,
    /// The place of the device of the peer's rail among the devices of the peer. Keys of its memory are for the first two.
    pub device: u8,
    /// What the peer has offered on its rail.
    pub there: PairAddress,
}

impl PortPair {
    /// The only port pair of ranks that use their first rails, of which `there` has that of the peer first.
    #[must_use]
    pub fn first(there: &[PairAddress]) -> Vec<Self> {
        let port_pair = |there: &PairAddress| Self {
            rail: 0,
            device: 0,
            there: there.clone(),
        };
        there.first().map(port_pair).into_iter().collect()
    }
}
