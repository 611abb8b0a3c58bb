//! What a network could do by itself, as formulas: nothing here is a plan.

use super::Setup;
use crate::tree::levels;

/// Work that the network or the adapters do in place of the ranks' processors.
///
/// In both, the ranks of a node first meet at their leader and are released by it in the end, along
/// binomial trees; between, only leaders take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// The switches combine what the leaders send on its way up, and send the result down again.
    /// That takes as long as one message between the two nodes that are farthest apart: the way up
    /// and down is the same, and switches combine at the adapters' pace. Graham and others,
    /// "Scalable hierarchical aggregation protocol (SHArP)", 2016. Left out are what a switch can
    /// hold and how many groups it serves.
    InNetwork,
    /// Each leader adds 1 to a counter in one adapter, which serves one after another; when it is
    /// complete, flags release the leaders along a binomial tree.
    NicAtomic,
}

impl Offload {
    /// Picoseconds until the last rank is done with an allreduce of `bytes` bytes; 0 bytes are a
    /// barrier. [`Offload::NicAtomic`] carries no bytes.
    pub fn time(self, setup: &Setup, bytes: u64) -> u64 {
        let (node, network) = (setup.machine.node, setup.machine.network);
        let (nodes, ranks) = (setup.placement.nodes(), setup.placement.per_node());
        let ranks = ranks.min(setup.placement.size());
        let hop = node.send + node.latency + node.recv + bytes * node.byte;
        // Going up, each level reduces what has come.
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
    fn switches_take_as_long_for_any_number_of_nodes() {
        let time = |size| Offload::InNetwork.time(&on(size, 1), 1000);
        assert_eq!(time(2), 80_000 + 650_000 + 1000 * 20 + 120_000);
        assert_eq!(time(2), time(100_000));
        assert_eq!(time(1), 0);
    }

    #[test]
    fn an_adapter_counts_one_leader_after_another() {
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
