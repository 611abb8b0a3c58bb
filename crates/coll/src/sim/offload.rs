//! Closed forms of collectives that the network performs: no plans, only times.

use super::Setup;
use crate::tree::levels;

/// Work that switches or adapters do in place of the ranks' processors.
///
/// In both variants, the ranks of a node first signal their leader and are released by it at the end,
/// along binomial trees; only leaders use the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// Switches combine the leaders' data on the way up and send the result down. That takes as long as
    /// one message between the two most distant nodes, as switches combine at the adapters' rate. The
    /// capacity of switches and the number of groups they can serve are left out. Graham and others,
    /// "Scalable hierarchical aggregation protocol (SHArP)", 2016.
    InNetwork,
    /// Each leader adds 1 to a counter in one adapter, which serves one after another. When all have,
    /// flags release the leaders along a binomial tree.
    NicAtomic,
}

impl Offload {
    /// Picoseconds until the last rank is done with an allreduce of `bytes` bytes, or with a barrier for
    /// 0 bytes. [`Offload::NicAtomic`] transfers no bytes.
    pub fn time(self, setup: &Setup, bytes: u64) -> u64 {
        let (node, network) = (setup.machine.node, setup.machine.network);
        let (nodes, ranks) = (setup.placement.nodes(), setup.placement.per_node());
        let ranks = ranks.min(setup.placement.size());
        let hop = node.send + node.latency + node.recv + bytes * node.byte;
        // On the way up, each level reduces.
        let inside = u64::from(levels(ranks)) * (2 * hop + bytes * node.byte);
        let flag = node.send + network.latency + node.recv;
        let between = match self {
            _ if nodes == 1 => 0,
            Offload::InNetwork => {
                network.send + network.latency + bytes * network.byte + network.recv
            }
            Offload::NicAtomic => {
                let counted = flag + u64::from(nodes - 1) * network.gap;
                counted + u64::from(levels(nodes)) * flag
            }
        };
        inside + between
    }
}

#[cfg(test)]
mod tests {
    use super::Offload;
    use crate::placement::{Order, Placement};
    use crate::sim::{Machine, Setup};

    fn on(size: u32, per_node: u32) -> Setup {
        Setup::new(Machine::NDR, Placement::new(Order::Block, size, per_node))
    }

    #[test]
    fn the_time_in_switches_does_not_depend_on_the_number_of_nodes() {
        let time = |size| Offload::InNetwork.time(&on(size, 1), 1000);
        assert_eq!(time(2), 80_000 + 650_000 + 1000 * 20 + 120_000);
        assert_eq!(time(2), time(100_000));
        assert_eq!(time(1), 0);
    }

    #[test]
    fn an_adapter_serves_one_leader_after_another() {
        let time = |size| Offload::NicAtomic.time(&on(size, 1), 0);
        let flag = 50_000 + 650_000 + 50_000;
        assert_eq!(time(2), 2 * flag + 5_000);
        assert_eq!(time(1024), 11 * flag + 1023 * 5_000);
    }

    #[test]
    fn inside_a_node_nothing_is_offloaded() {
        let hop = 50_000 + 120_000 + 50_000;
        for offload in [Offload::InNetwork, Offload::NicAtomic] {
            assert_eq!(offload.time(&on(16, 64), 0), 2 * 4 * hop);
        }
    }
}
