//! Cost forms: the expected time of each algorithm of the catalog on a machine, in picoseconds.
//!
//! A form adds up the longest path through a plan's messages under the model of the simulator: LogGP
//! between nodes and inside them, one adapter per node, an eager limit, and a time per byte reduced or
//! copied. All forms but one (`trees/climbing.rs`) are closed: they take time logarithmic in the number
//! of ranks and no memory. The simulator (`sim`) runs every rank's plan under the same model, and a test
//! compares the forms with it.
//!
//! Alexandrov, Ionescu, Schauser and Scheiman, "LogGP: incorporating long messages into the LogP
//! model", 1995.

mod alternating;
mod direct;
mod exchanges;
mod folded;
mod intra_node;
mod latest_rank;
mod lines;
mod node_bruck;
mod nodes;
mod peers;
mod phases;
mod pipeline;
mod rails;
mod rooted;
mod round;
mod rounds;
mod scatter_ring;
mod trees;
mod windows;

pub(crate) use direct::{
    alltoall_linear, alltoall_pairwise, bcast_linear_linear, linear, neighbors,
    reduce_scatter_pairwise,
};
pub(crate) use exchanges::{
    allgather_bruck, allgather_circulant, allgather_doubling, allreduce_circulant,
    allreduce_gather_reduce, allreduce_splitting, alltoall_bruck, census, dissemination,
    exscan_doubling, exscan_shift, reduce_scatter_circulant, reduce_scatter_halving, scan,
};
pub(crate) use folded::{
    allreduce_doubling, allreduce_multiplying, allreduce_rabenseifner, reduce_rabenseifner,
};
#[cfg(feature = "sim")]
pub(crate) use intra_node::intra_node_op;
pub(crate) use intra_node::{
    allreduce_intra_node, bcast_intra_node, gather_intra_node, reduce_intra_node,
    scatter_intra_node, within_node,
};
pub(crate) use lines::{allreduce_ring, chain, neighbor_exchange, ring};
pub(crate) use node_bruck::{
    allgather_node_aware, allreduce_multirail, bcast_multirail, reduce_multirail,
    reduce_scatter_node_aware,
};
pub(crate) use nodes::{
    allreduce_node_aware, allreduce_postal, alltoall_node_aware, barrier_node_aware,
    bcast_node_aware, bcast_postal, exscan_node_aware, gather_node_aware, gatherv_node_aware,
    reduce_node_aware, reduce_postal, scan_node_aware, scatter_node_aware, scatterv_node_aware,
};
pub(crate) use phases::{
    bcast_knomial_bruck, bcast_knomial_ring, bcast_linear_all, bcast_linear_bruck,
    bcast_linear_ring, staged,
};
pub(crate) use pipeline::{pipeline, reduce_folded};
pub(crate) use rails::{
    allreduce_rail_circulant, rail_bruck, rail_chain, rail_circulant, rail_knomial, rail_ring,
    reduce_scatter_rail_circulant,
};
pub(crate) use rooted::{gather_linear, scatter_linear};
pub(crate) use trees::{barrier_knomial, bcast, gather, reduce, scatter, scatter_allgather};

use crate::call::{Call, Parameters, setters};
use crate::machine::{Machine, PathCosts};
use crate::placement::{Order, Placement};

/// A machine and the placement of ranks on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Model {
    /// The costs of messages, reductions and copies.
    pub machine: Machine,
    /// The nodes of the ranks.
    pub place: Placement,
    /// Whether a rank's processor copies messages from its own node one after another; else such copies
    /// overlap with all other work.
    pub serial_copies: bool,
    /// Whether messages of at most [`Machine::FLAG`] bytes are flags written to the receiver's memory,
    /// for which both processors pay what they pay inside a node.
    pub flags: bool,
}

/// The cost form of an algorithm.
type Cost = fn(&Call, &Parameters, &Model) -> u64;

/// The kind of path between two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Inside a node.
    Node,
    /// Between two nodes.
    Network,
}

/// A fraction: numerator and denominator.
#[derive(Clone, Copy, Debug)]
struct Fraction(u64, u64);

const HALF: Fraction = Fraction(1, 2);

impl Fraction {
    const fn of(self, time: u64) -> u64 {
        time / self.1 * self.0
    }
}

setters! {
    Model:
    with_serial_copies(serial_copies: bool)
    with_flags(flags: bool)
}

impl Model {
    /// A model in which copies inside a node overlap.
    pub const fn new(machine: Machine, place: Placement) -> Self {
        Model {
            machine,
            place,
            serial_copies: false,
            flags: false,
        }
    }

    /// The longest vector or block, in elements, for which all times fit into 64 bits.
    pub(crate) fn longest(&self, element_bytes: u64) -> u64 {
        let byte = self.machine.network.byte.max(self.machine.node.byte).max(1);
        let ranks = u64::from(self.place.size()) * u64::from(self.place.per_node());
        let each = ranks
            .saturating_mul(byte)
            .saturating_mul(element_bytes.max(1));
        ((1 << 60) / each).max(1)
    }

    const fn path(&self, reach: Reach) -> PathCosts {
        match reach {
            Reach::Node => self.machine.node,
            Reach::Network => self.machine.network,
        }
    }

    /// The time of one message until its receiver has it. A long one is announced, and fetched after one
    /// more message.
    fn hop(&self, reach: Reach, bytes: u64) -> u64 {
        let path = self.ends(reach, bytes);
        let once = self.bare(reach, bytes);
        let travel = bytes.saturating_mul(path.byte);
        let before = match reach {
            _ if bytes <= self.machine.eager => 0,
            Reach::Node => path.recv,
            Reach::Network => once + path.send + path.latency,
        };
        travel.saturating_add(once + before)
    }

    /// Whether a message of this length is a flag.
    const fn is_flag(&self, bytes: u64) -> bool {
        self.flags && bytes <= Machine::FLAG
    }

    /// The path with the overheads of processors for a message of this length.
    const fn ends(&self, reach: Reach, bytes: u64) -> PathCosts {
        let (path, node) = (self.path(reach), self.machine.node);
        if self.is_flag(bytes) {
            PathCosts {
                send: node.send,
                recv: node.recv,
                ..path
            }
        } else {
            path
        }
    }

    /// The time from when a receiver has a message until its waiting sender is done.
    fn acknowledged(&self, reach: Reach, bytes: u64) -> u64 {
        let node = self.machine.node;
        match reach {
            Reach::Node if bytes > self.machine.eager => node.latency.saturating_sub(node.recv),
            _ => 0,
        }
    }

    /// The time of a message besides the overheads of processors, if it is eager.
    const fn bare(&self, reach: Reach, bytes: u64) -> u64 {
        let path = self.ends(reach, bytes);
        path.send + path.latency + path.recv
    }

    /// The rest of a message's time after sender and adapter are done with it.
    fn end(&self, reach: Reach) -> u64 {
        let path = self.path(reach);
        path.latency + path.recv
    }

    /// The time that a message, with its announcement, occupies one end of an adapter.
    fn load(&self, bytes: u64) -> u64 {
        let network = self.machine.network;
        let announced = match bytes > self.machine.eager {
            true => network.gap,
            false => 0,
        };
        let carried = network.gap.max(bytes.saturating_mul(network.byte));
        carried.saturating_add(announced)
    }

    /// [`Model::load`] where equally many messages go the other way, whose requests pass this end.
    fn load_both_directions(&self, bytes: u64) -> u64 {
        let asked = match bytes > self.machine.eager {
            true => self.machine.network.gap,
            false => 0,
        };
        self.load(bytes).saturating_add(asked)
    }

    /// The receiver's processor time for one message, including the announcement and request of a long
    /// one.
    fn receive(&self, reach: Reach, bytes: u64) -> u64 {
        let copied = match reach {
            Reach::Node if self.serial_copies => bytes.saturating_mul(self.machine.node.byte),
            _ => 0,
        };
        let path = self.path(reach);
        let fetched = match reach {
            _ if bytes <= self.machine.eager => 0,
            Reach::Node => path.recv,
            Reach::Network => path.send + path.recv,
        };
        copied
            .saturating_add(self.ends(reach, bytes).recv)
            .saturating_add(fetched)
    }

    /// The sender's processor time for one message.
    const fn send(&self, reach: Reach, bytes: u64) -> u64 {
        self.ends(reach, bytes).send
    }

    /// The processor time for one message sent and one received.
    fn both(&self, reach: Reach, bytes: u64) -> u64 {
        self.receive(reach, bytes)
            .saturating_add(self.send(reach, bytes))
    }

    /// The time from the start of one message to the start of the next on the same path.
    fn gap(&self, reach: Reach, bytes: u64) -> u64 {
        let processor = self.send(reach, bytes).max(self.receive(reach, bytes));
        match reach {
            Reach::Node => processor,
            Reach::Network => processor.max(self.load(bytes)),
        }
    }

    /// Whether all nodes have equally many ranks.
    const fn is_even(&self) -> bool {
        self.place.size().is_multiple_of(self.place.per_node()) || self.place.nodes() == 1
    }

    /// Whether a byte takes longer between nodes than inside a node.
    const fn carries_slowly(&self) -> bool {
        self.machine.network.byte > self.machine.node.byte
    }

    /// The combined time of two groups of ranks that wait for each other's long messages: the longer time
    /// and a share of the shorter.
    fn uneven(&self, bytes: u64, [one, other]: [u64; 2], shown: Fraction) -> u64 {
        let place = self.place;
        let (more, less) = (one.max(other), one.min(other));
        match self.is_even() || place.order() == Order::Cyclic || bytes <= self.machine.eager {
            true => more,
            false => more.saturating_add(shown.of(less)),
        }
    }

    fn reduce(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.machine.node.byte)
    }

    fn copy(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.machine.copy())
    }

    /// The number of a node's ranks whose peers at this distance are on other nodes.
    fn leaving(&self, distance: u32) -> u64 {
        let place = self.place;
        let (ranks, nodes) = (place.per_node().min(place.size()), place.nodes());
        let leave = match place.order() {
            _ if nodes == 1 => 0,
            Order::Block => distance
                .min(place.size() - distance)
                .min(ranks)
                .min(place.size() - ranks),
            Order::Cyclic if distance.is_multiple_of(nodes) => 0,
            Order::Cyclic => ranks,
        };
        leave.into()
    }

    /// [`Model::leaving`] for pairs of ranks at a distance that is a power of two.
    fn parting(&self, distance: u32) -> u64 {
        let ranks = self.place.per_node();
        match self.place.order() {
            Order::Block if distance < ranks && ranks.is_multiple_of(2 * distance) => 0,
            _ => self.leaving(distance),
        }
    }

    /// The path from the first rank of a node to the rank at this distance.
    const fn reach(&self, distance: u64) -> Reach {
        let beyond = match self.place.order() {
            Order::Block => distance >= self.place.per_node() as u64,
            Order::Cyclic => !distance.is_multiple_of(self.place.nodes() as u64),
        };
        if beyond { Reach::Network } else { Reach::Node }
    }
}
