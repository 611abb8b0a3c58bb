//! Estimates of the time until every rank knows the addresses of all others, on a network of given costs: a
//! simulation of the leaders and of the process manager's server.
//!
//! The model: the server answers one request after another. A message leaves its sender when the bytes before
//! it have left, travels `latency`, and costs a processor `overhead` on either side (LogGP). A connection
//! takes three round trips before its first frame leaves: TCP's handshake, whose third packet carries the
//! first bytes of ours, and the two exchanges of our handshake that prove knowledge of the job's key; and
//! `handshake` of the connecting processor. The ranks of a node copy the tables from its memory, all at once.
//! The model leaves out switches, noise, lost packets, and the time until the processes run.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{NodeAddressTable, message, round_source, round_target, rounds, tables_in_round};

/// Costs of the network and the server, in nanoseconds unless another unit is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireUpCosts {
    /// Latency between two hosts, one way.
    pub latency: u64,
    /// Processor time for a message, on either side.
    pub overhead: u64,
    /// Bandwidth of a node, in bytes per microsecond.
    pub network: u64,
    /// Processor time of the connecting side for a connection and its handshake.
    pub handshake: u64,
    /// Time of the manager's server for one request.
    pub serve: u64,
    /// Copy bandwidth of all ranks of a node together, in bytes per microsecond.
    pub memory: u64,
}

impl WireUpCosts {
    /// A cluster with 10 Gbit/s Ethernet: 20 us latency, a server that answers 200,000 requests a second.
    pub const ETHERNET: Self = Self {
        latency: 20_000,
        overhead: 4_000,
        network: 1_250,
        handshake: 60_000,
        serve: 5_000,
        memory: 10_000,
    };
}

/// The size of a job: at least one rank, and at least one rank on each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireUpJob {
    /// Number of ranks.
    pub ranks: u32,
    /// Ranks on a node; the last node may have fewer.
    pub per_node: u32,
    /// Length of the text that a node's ranks have in common, in bytes.
    pub common: u32,
}

impl WireUpJob {
    /// Number of nodes.
    #[must_use]
    pub const fn nodes(&self) -> u32 {
        self.ranks.div_ceil(self.per_node)
    }

    /// Ranks on `nodes` nodes from `first` on.
    const fn ranks_of(&self, first: u32, nodes: u32) -> u32 {
        let all = nodes as u64 * self.per_node as u64;
        let lacks = (self.nodes() as u64 * self.per_node as u64 - self.ranks as u64) as u32;
        let behind = first as u64 + nodes as u64;
        let has_last = behind >= self.nodes() as u64 && nodes > 0;
        all as u32 - if has_last { lacks } else { 0 }
    }

    /// Length of a message with the tables of `tables` nodes from `first` on, in bytes.
    const fn message(&self, first: u32, tables: u32) -> u64 {
        let heads = NodeAddressTable::len(0, self.common) * tables as u64;
        let ranks = self.ranks_of(first, tables);
        message::len(
            tables,
            heads + NodeAddressTable::len(ranks, 0) - NodeAddressTable::len(0, 0),
        )
    }
}

/// Result of an estimate: times in nanoseconds from the start, and amounts of traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireUpTime {
    /// When the last leader has all tables.
    pub leaders: u64,
    /// When the last rank has them.
    pub all: u64,
    /// Requests to the manager's server.
    pub gets: u64,
    /// Messages between leaders.
    pub messages: u64,
    /// Bytes of all these messages.
    pub bytes: u64,
}

/// An event of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A request of this node arrives at the server.
    Request(u32),
    /// The server's answer arrives at this node.
    Answer(u32),
    /// A message of this round arrives at this node.
    Message { node: u32, round: u32 },
}

/// State of a leader in the simulation.
#[derive(Clone, Copy, Debug, Default)]
struct Leader {
    round: u32,
    /// When the leader had sent the message of this round; `None` before.
    sent: Option<u64>,
    /// Rounds whose message has arrived, one bit each.
    arrived: u64,
    /// When its processor is free.
    free: u64,
}

/// Estimates the exchange of this module, from when the leaders have put their cards.
///
/// # Cost
/// Some 200 ns for each node and round.
#[must_use]
pub fn exchange(job: &WireUpJob, costs: &WireUpCosts) -> WireUpTime {
    let nodes = job.nodes();
    let (all, rtt) = (rounds(nodes), 2 * costs.latency);
    let mut leaders = vec![Leader::default(); nodes as usize];
    let mut events = BinaryHeap::new();
    let mut time = WireUpTime::default();
    if all > 0 {
        events.extend((0..nodes).map(|node| Reverse((costs.latency, Event::Request(node)))));
    }
    let mut server = 0;
    while let Some(Reverse((now, event))) = events.pop() {
        let node = match event {
            Event::Request(node) => {
                server = now.max(server) + costs.serve;
                time.gets += 1;
                events.push(Reverse((server + costs.latency, Event::Answer(node))));
                continue;
            }
            Event::Answer(node) => {
                let leader = &mut leaders[node as usize];
                let round = leader.round;
                let first = node;
                let bytes = job.message(first, tables_in_round(nodes, round));
                let connected = now.max(leader.free) + 3 * rtt + costs.handshake;
                let gone = connected + costs.overhead + bytes * 1000 / costs.network;
                (leader.sent, leader.free) = (Some(gone), gone);
                time.messages += 1;
                time.bytes += bytes;
                let to = round_target(node, nodes, round);
                let message = Event::Message { node: to, round };
                events.push(Reverse((gone + costs.latency + costs.overhead, message)));
                node
            }
            Event::Message { node, round } => {
                leaders[node as usize].arrived |= 1 << round;
                node
            }
        };
        let leader = &mut leaders[node as usize];
        if let Some(sent) = leader.sent
            && leader.arrived >> leader.round & 1 == 1
        {
            let done = now.max(sent);
            leader.round += 1;
            leader.sent = None;
            leader.free = done;
            if leader.round < all {
                events.push(Reverse((done + costs.latency, Event::Request(node))));
            } else {
                time.leaders = time.leaders.max(done);
            }
        }
    }
    let whole = job.message(0, nodes);
    let readers = u64::from(job.per_node.min(job.ranks) - 1);
    time.all = time.leaders + readers * whole * 1000 / costs.memory;
    time
}

/// Estimates what precedes [`exchange`]: every rank puts its node's name, one rank gets all of them and puts
/// the list of nodes, and the others get that. All of it is linear in the number of ranks.
///
/// The server answers four barriers and five requests of each rank; the counting rank gets one name after the
/// other.
#[must_use]
pub fn counting(job: &WireUpJob, costs: &WireUpCosts) -> WireUpTime {
    let (ranks, nodes) = (u64::from(job.ranks), u64::from(job.nodes()));
    let rtt = 2 * costs.latency;
    let names = ranks - 1;
    let lists = 1 + ranks.div_ceil(LISTED) + nodes.div_ceil(LISTED);
    let sequential = names + lists;
    // Each rank puts its name, gets the first one, the number of nodes, its place on its node and its
    // leader's address, and enters four barriers; each leader puts its card and gets those of others.
    let of_all = (5 + 4) * ranks + 2 * nodes;
    let all = sequential * (rtt + costs.serve) + of_all * costs.serve + 4 * rtt;
    WireUpTime {
        leaders: all,
        all,
        gets: sequential + of_all,
        ..WireUpTime::default()
    }
}

/// Ranks or nodes in one value of the manager's space.
const LISTED: u64 = 32;

/// Estimates the alternative without exchange: every rank gets the card of every other rank from the server.
#[must_use]
pub fn from_one_server(job: &WireUpJob, costs: &WireUpCosts) -> WireUpTime {
    let gets = u64::from(job.ranks) * u64::from(job.ranks - 1);
    let all = gets
        .saturating_mul(costs.serve)
        .saturating_add(2 * costs.latency);
    WireUpTime {
        leaders: all,
        all,
        gets,
        ..WireUpTime::default()
    }
}

/// Length of the largest message of each round, in bytes.
#[must_use]
pub fn largest(job: &WireUpJob) -> Vec<u64> {
    let nodes = job.nodes();
    let of = |round| job.message(round_source(0, nodes, round), tables_in_round(nodes, round));
    (0..rounds(nodes)).map(of).collect()
}
