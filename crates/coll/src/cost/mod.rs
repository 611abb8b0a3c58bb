//! What an algorithm costs on a machine: forms, one for each row of the catalog, closed but for one (`trees/climbing.rs`).
//!
//! A form adds up what stands on the longest way through the messages of a plan, under the model of
//! the simulator: LogGP between nodes and inside them, one adapter for the ranks of a node, an eager
//! limit, and each byte that is reduced or copied. A closed one looks at no single rank, so it takes a
//! logarithm of the number of ranks and no memory; the simulator (`sim`) runs every rank's plan
//! under the same model, and a test holds the forms against it.
//!
//! Times are picoseconds.
//!
//! Alexandrov, Ionescu, Schauser and Scheiman, "LogGP: incorporating long messages into the LogP
//! model", 1995.

mod alternating;
mod around;
mod direct;
mod exchanges;
mod folded;
mod intra_node;
mod latest;
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
mod trees;
mod unaligned;
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
    bcast_knomial_bruck, bcast_knomial_linear, bcast_knomial_neighbor_exchange, bcast_knomial_ring,
    bcast_linear_all, bcast_linear_bruck, bcast_linear_neighbor_exchange, bcast_linear_ring,
    staged,
};
pub(crate) use pipeline::{pipeline, reduce_folded};
pub(crate) use rails::{
    allreduce_rail_circulant, rail_bruck, rail_chain, rail_circulant, rail_knomial, rail_ring,
    reduce_scatter_rail_circulant,
};
pub(crate) use rooted::{gather_linear, scatter_linear};
pub(crate) use trees::{barrier_knomial, bcast, gather, reduce, scatter, scatter_allgather};

use crate::call::{Call, Parameters};
use crate::machine::{Machine, PathCosts};
use crate::placement::{Order, Placement};

/// A machine and where the ranks are on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Model {
    /// What things cost.
    pub machine: Machine,
    /// Where the ranks are.
    pub place: Placement,
    /// Whether a rank's processor copies what comes from its node, one message after another; else
    /// such copies overlap with everything.
    pub serial_copies: bool,
    /// Whether messages of at most [`Machine::FLAG`] bytes are flags put into the receiver's memory, for which both
    /// processors pay what they pay inside a node.
    pub flags: bool,
}

/// The form of an algorithm.
type Cost = fn(&Call, &Parameters, &Model) -> u64;

/// The way of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Inside a node.
    Node,
    /// From node to node.
    Network,
}

/// So many parts of so many.
#[derive(Clone, Copy, Debug)]
struct Share(u64, u64);

const HALF: Share = Share(1, 2);

impl Share {
    const fn of(self, time: u64) -> u64 {
        time / self.1 * self.0
    }
}

impl Model {
    /// Ranks on a machine, whose copies inside a node overlap.
    pub const fn new(machine: Machine, place: Placement) -> Self {
        Model {
            machine,
            place,
            serial_copies: false,
            flags: false,
        }
    }

    /// Says whether each rank's processor copies what comes from its node.
    pub const fn with_serial_copies(self, serial_copies: bool) -> Self {
        Model {
            serial_copies,
            ..self
        }
    }

    /// The most elements of a vector or block of which all times fit into 64 bits.
    pub(crate) fn longest(&self, element_bytes: u64) -> u64 {
        let byte = self.machine.network.byte.max(self.machine.node.byte).max(1);
        let ranks = u64::from(self.place.size()) * u64::from(self.place.per_node());
        let each = ranks
            .saturating_mul(byte)
            .saturating_mul(element_bytes.max(1));
        ((1 << 60) / each).max(1)
    }

    /// Says whether messages of at most [`Machine::FLAG`] bytes are flags.
    pub const fn with_flags(self, flags: bool) -> Self {
        Model { flags, ..self }
    }

    const fn path(&self, reach: Reach) -> PathCosts {
        match reach {
            Reach::Node => self.machine.node,
            Reach::Network => self.machine.network,
        }
    }

    /// One message alone, from when its sender turns to it until its receiver has it. A long one is
    /// announced, and fetched over the network after one more message.
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

    /// Whether a message of so many bytes is a flag.
    const fn is_flag(&self, bytes: u64) -> bool {
        self.flags && bytes <= Machine::FLAG
    }

    /// A way with what the processors pay for a message of so many bytes.
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

    /// From when a receiver is done with a message until its sender sees that, who waits for it: a long
    /// one on a node has then been copied.
    fn told(&self, reach: Reach, bytes: u64) -> u64 {
        let node = self.machine.node;
        match reach {
            Reach::Node if bytes > self.machine.eager => node.latency.saturating_sub(node.recv),
            _ => 0,
        }
    }

    /// What a message of so many bytes takes besides them, if it is sent at once.
    const fn bare(&self, reach: Reach, bytes: u64) -> u64 {
        let path = self.ends(reach, bytes);
        path.send + path.latency + path.recv
    }

    /// What is left of a message's way when its sender has sent it and an adapter has carried it.
    fn end(&self, reach: Reach) -> u64 {
        let path = self.path(reach);
        path.latency + path.recv
    }

    /// How long a message keeps one end of an adapter busy, with what announces a long one.
    fn load(&self, bytes: u64) -> u64 {
        let network = self.machine.network;
        let announced = match bytes > self.machine.eager {
            true => network.gap,
            false => 0,
        };
        let carried = network.gap.max(bytes.saturating_mul(network.byte));
        carried.saturating_add(announced)
    }

    /// The same where as many messages go the other way: what asks for a long one of those goes beside this one.
    fn load_both_ways(&self, bytes: u64) -> u64 {
        let asked = match bytes > self.machine.eager {
            true => self.machine.network.gap,
            false => 0,
        };
        self.load(bytes).saturating_add(asked)
    }

    /// The receiver's processor for one message. A long one comes twice: announced, and when it has
    /// been fetched, which over the network takes asking for it.
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

    /// The sender's processor for one message.
    const fn send(&self, reach: Reach, bytes: u64) -> u64 {
        self.ends(reach, bytes).send
    }

    /// The processor for one message sent and one received.
    fn both(&self, reach: Reach, bytes: u64) -> u64 {
        self.receive(reach, bytes)
            .saturating_add(self.send(reach, bytes))
    }

    /// From the start of one message to the start of the next that goes the same way.
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

    /// Whether a byte takes longer between nodes than inside one.
    const fn carries_slowly(&self) -> bool {
        self.machine.network.byte > self.machine.node.byte
    }

    /// The time of ranks that wait for one another with long messages, where those of a last, smaller
    /// node are busy so long with the network, and the others inside their nodes: about so much of the
    /// shorter time is not hidden by the longer one.
    fn uneven(&self, bytes: u64, [one, other]: [u64; 2], shown: Share) -> u64 {
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

    /// The ranks of a node whose peers, all of them so far above around the group, are on other
    /// nodes.
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

    /// The same where ranks exchange in pairs so far apart, a power of two.
    fn parting(&self, distance: u32) -> u64 {
        let ranks = self.place.per_node();
        match self.place.order() {
            Order::Block if distance < ranks && ranks.is_multiple_of(2 * distance) => 0,
            _ => self.leaving(distance),
        }
    }

    /// The way from the first rank of a node to a rank so far above.
    const fn reach(&self, distance: u64) -> Reach {
        let beyond = match self.place.order() {
            Order::Block => distance >= self.place.per_node() as u64,
            Order::Cyclic => !distance.is_multiple_of(self.place.nodes() as u64),
        };
        if beyond { Reach::Network } else { Reach::Node }
    }
}
