//! The state of a simulation (ranks, adapters, messages) and the effect of each event on it.

use alloc::vec::Vec;

use super::Setup;
use super::counts::MessageCounts;
use super::error::Error;
use super::events::{Event, EventKind, EventQueue};
use super::intra_node::PendingOps;
use super::memory::{Budget, filled};
use super::message::{MessageStage, PostedReceive, SimMessage};
use super::nodes::SimNodes;
use super::queue::{MatchQueue, NONE, QueueEntry};
use crate::cost::intra_node_op;
use crate::machine::{Machine, PathCosts};
use crate::plan::IntraNodeOp;
use slab::Slab;

/// The state of a rank apart from its program.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimRank {
    /// The time until which the processor is busy.
    pub(super) cpu: u64,
    pub(super) posted: MatchQueue,
    pub(super) unexpected: MatchQueue,
    /// Messages under way from ranks of the same node, in the order of sending.
    local_in_flight: MatchQueue,
    /// The number of messages sent.
    sent: u32,
    /// The number of intra-node phases entered, and of those that have ended.
    pub(super) phases: u32,
    pub(super) ended: u32,
    pub(super) done: bool,
}

/// The times until which the two ends of a node's adapter are busy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Adapter {
    out: u64,
    into: u64,
}

/// The state of a simulation apart from the ranks' programs.
pub(super) struct SimState<'a> {
    pub(super) setup: &'a Setup,
    nodes: SimNodes<'a>,
    /// Bytes of an element.
    pub(super) element: u64,
    /// The value of every length that a plan learns.
    pub(super) block: u64,
    pub(super) ranks: Vec<SimRank>,
    pub(super) adapters: Vec<Adapter>,
    pub(super) messages: Slab<SimMessage>,
    pub(super) receives: Slab<PostedReceive>,
    pub(super) pending_ops: PendingOps,
    pub(super) events: EventQueue,
    pub(super) counts: MessageCounts,
    /// The messages that are received and whose senders are done.
    pub(super) finished: u64,
    pub(super) budget: Budget,
}

impl<'a> SimState<'a> {
    /// The state at time 0.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is no room for the ranks.
    pub(super) fn new(
        setup: &'a Setup,
        nodes: SimNodes<'a>,
        element: u64,
        block: u64,
        budget: Budget,
    ) -> Result<Self, Error> {
        let rank = SimRank {
            cpu: 0,
            posted: MatchQueue::EMPTY,
            unexpected: MatchQueue::EMPTY,
            local_in_flight: MatchQueue::EMPTY,
            sent: 0,
            phases: 0,
            ended: 0,
            done: false,
        };
        let ranks = filled(setup.ranks(), rank, &budget)?;
        let adapters = filled(nodes.count(), Adapter::default(), &budget)?;
        Ok(SimState {
            setup,
            nodes,
            element,
            block,
            ranks,
            adapters,
            messages: Slab::new(),
            receives: Slab::new(),
            pending_ops: PendingOps::default(),
            events: EventQueue::new(),
            counts: MessageCounts::default(),
            finished: 0,
            budget,
        })
    }

    /// The simulated time, in picoseconds.
    pub(super) fn now(&self) -> u64 {
        self.events.now()
    }

    pub(super) fn rank(&mut self, rank: u32) -> &mut SimRank {
        &mut self.ranks[rank as usize]
    }

    /// The costs of a path between nodes or inside one.
    const fn path(&self, remote: bool) -> PathCosts {
        if remote {
            self.setup.machine.network
        } else {
            self.setup.machine.node
        }
    }

    /// Whether a message of this length is a flag written to the receiver's memory.
    fn is_flag(&self, bytes: u64) -> bool {
        self.setup.flags && bytes <= Machine::FLAG
    }

    /// Sends `bytes` bytes from the simulated rank `source` to rank `to` of the group. Returns the record
    /// of a long message, which stays until [`SimState::release`].
    pub(super) fn send(
        &mut self,
        source: u32,
        to: u32,
        tag: u32,
        bytes: u64,
    ) -> Result<Option<u32>, Error> {
        let path_to = self.nodes.message_path(source, to);
        let path = self.path(path_to.distance > 0);
        let overhead = if self.is_flag(bytes) {
            self.setup.machine.node.send
        } else {
            path.send
        };
        let eager = bytes <= self.setup.machine.eager;
        let rank_state = self.rank(source);
        rank_state.cpu += overhead;
        rank_state.sent = rank_state.sent.wrapping_add(1);
        let (start, number) = (rank_state.cpu, rank_state.sent);
        let local = self.nodes.local(source);
        let tie = u64::from(path_to.distance) << 40
            | u64::from(local & 0xffff) << 24
            | u64::from(number & 0x00ff_ffff);
        let message = self.insert_message(SimMessage {
            tie,
            bytes,
            arrival: 0,
            source,
            target: path_to.target,
            from: path_to.from,
            tag,
            next: NONE,
            receive: NONE,
            stage: if eager {
                MessageStage::Eager
            } else {
                MessageStage::Request
            },
            remote: path_to.distance > 0,
            sent: false,
            holders: if eager { 1 } else { 2 },
        })?;
        self.counts.messages += 1;
        if path_to.distance > 0 {
            self.counts.remote += 1;
            self.counts.remote_bytes += bytes;
        }
        self.launch(message, start)?;
        Ok((!eager).then_some(message))
    }

    /// Posts a receive of the simulated rank `target`. `None` if an eager message was there, which
    /// completes it.
    pub(super) fn post(
        &mut self,
        target: u32,
        from: u32,
        tag: u32,
        bytes: u64,
    ) -> Result<Option<u32>, Error> {
        let (flag, matching) = (self.is_flag(bytes), self.setup.matching);
        let (node, copy) = (self.setup.machine.node, self.setup.machine.copy());
        let posted = PostedReceive {
            from,
            tag,
            bytes,
            next: NONE,
            done: false,
        };
        let rank_state = &mut self.ranks[target as usize];
        let (found, walked) = rank_state.unexpected.take(&mut self.messages, (from, tag));
        let Some(message) = found else {
            if !flag {
                rank_state.cpu += walked * matching;
                self.counts.walked += walked;
            }
            let receive = self.insert_receive(posted)?;
            self.ranks[target as usize]
                .posted
                .push(&mut self.receives, receive);
            return Ok(Some(receive));
        };
        let (stage, length) = {
            let record = &mut self.messages[message as usize];
            (record.stage, record.bytes)
        };
        if length != bytes {
            return Err(Error::Length {
                rank: target,
                from,
                sent: length,
                room: bytes,
            });
        }
        if flag {
            rank_state.cpu += node.recv;
        } else {
            rank_state.cpu += walked * matching;
            self.counts.walked += walked;
        }
        if stage == MessageStage::Eager {
            rank_state.cpu += bytes * copy;
            self.release(message);
            return Ok(None);
        }
        let receive = self.insert_receive(posted)?;
        self.messages[message as usize].receive = receive;
        self.fetch(message)?;
        Ok(Some(receive))
    }

    /// The bytes of the first unexpected message of this sender and tag at the simulated rank `target`.
    pub(super) fn unexpected_bytes(&mut self, target: u32, from: u32, tag: u32) -> Option<u64> {
        let matching = self.setup.matching;
        let rank_state = &mut self.ranks[target as usize];
        let (message, walked) = rank_state
            .unexpected
            .find(&mut self.messages, (from, tag))?;
        rank_state.cpu += walked * matching;
        self.counts.walked += walked;
        Some(self.messages[message as usize].bytes)
    }

    /// Drops one use of the message's record.
    pub(super) fn release(&mut self, message: u32) {
        let record = &mut self.messages[message as usize];
        record.holders -= 1;
        if record.holders == 0 {
            self.messages.remove(message as usize);
            self.finished += 1;
        }
    }

    /// Starts the data transfer of a matched long message: a request to another node, or a copy within
    /// the node.
    fn fetch(&mut self, message: u32) -> Result<(), Error> {
        let machine = self.setup.machine;
        let record = &mut self.messages[message as usize];
        let (bytes, target) = (record.bytes, record.target);
        if record.remote {
            record.stage = MessageStage::Grant;
            let rank_state = self.rank(target);
            rank_state.cpu += machine.network.send;
            let start = rank_state.cpu;
            self.launch(message, start)
        } else {
            record.stage = MessageStage::Data;
            let start = self.rank(target).cpu;
            let end = start + self.copy_time(target, bytes);
            self.schedule(message, end, EventKind::Deliver)?;
            self.schedule(message, end + machine.node.latency, EventKind::Sent)
        }
    }

    /// The picoseconds to copy bytes from a rank of the same node. With serial copies the target's
    /// processor is busy with them.
    fn copy_time(&mut self, target: u32, bytes: u64) -> u64 {
        let time = bytes * self.setup.machine.node.byte;
        if self.setup.serial_copies {
            self.rank(target).cpu += time;
        }
        time
    }

    fn launch(&mut self, message: u32, time: u64) -> Result<(), Error> {
        if self.messages[message as usize].remote {
            self.schedule(message, time, EventKind::Inject)
        } else {
            let SimMessage { stage, bytes, .. } = self.messages[message as usize];
            let node = self.setup.machine.node;
            let travels = stage == MessageStage::Eager && !self.setup.serial_copies;
            let copy = if travels { bytes * node.byte } else { 0 };
            let arrival = self.in_order(message, time + node.latency + copy);
            self.schedule(message, arrival, EventKind::Deliver)
        }
    }

    /// The time at which a message within a node becomes visible, if it could be at `time`: not before an
    /// earlier message of the same sender, receiver and tag (MPI 4.1, section 3.5: messages do not
    /// overtake). Between nodes the adapters keep that order.
    fn in_order(&mut self, message: u32, time: u64) -> u64 {
        let SimMessage { target, .. } = self.messages[message as usize];
        let key = self.messages[message as usize].key();
        let local_in_flight = &mut self.ranks[target as usize].local_in_flight;
        let before = local_in_flight.last(&mut self.messages, key);
        let arrival = before.map_or(time, |before| {
            time.max(self.messages[before as usize].arrival)
        });
        self.messages[message as usize].arrival = arrival;
        local_in_flight.push(&mut self.messages, message);
        arrival
    }

    fn schedule(&mut self, message: u32, time: u64, kind: EventKind) -> Result<(), Error> {
        let tie = self.messages[message as usize].tie;
        self.push(Event {
            time,
            tie,
            message,
            kind,
        })
    }

    /// Adds an event of a rank that concerns no message.
    pub(super) fn schedule_rank(
        &mut self,
        rank: u32,
        time: u64,
        kind: EventKind,
    ) -> Result<(), Error> {
        self.push(Event {
            time,
            tie: rank.into(),
            message: rank,
            kind,
        })
    }

    /// Processes the next event. Returns the simulated rank that may continue, if there is one; `None`
    /// when no event is left.
    pub(super) fn step(&mut self) -> Option<Result<Option<u32>, Error>> {
        Some(self.pop()?.and_then(|event| match event.kind {
            EventKind::Inject => self.inject(event).map(|()| None),
            EventKind::Arrive => self.arrive(event).map(|()| None),
            EventKind::Deliver => self.deliver(event),
            EventKind::Sent => {
                let record = &mut self.messages[event.message as usize];
                record.sent = true;
                let source = record.source;
                let rank_state = self.rank(source);
                rank_state.cpu = rank_state.cpu.max(event.time);
                Ok(Some(source))
            }
            EventKind::PhaseEnd => {
                let rank_state = self.rank(event.message);
                rank_state.cpu = rank_state.cpu.max(event.time);
                rank_state.ended += 1;
                Ok(Some(event.message))
            }
        }))
    }

    /// A rank enters an intra-node phase, which all its ranks leave as long after the last one enters as
    /// the [cost form](crate::cost) says. Returns the number of the phase among the rank's phases.
    pub(super) fn join(&mut self, rank: u32, act: &IntraNodeOp) -> Result<u32, Error> {
        let rank_state = self.rank(rank);
        rank_state.phases += 1;
        let (request, now) = (rank_state.phases, rank_state.cpu);
        if let Some((ranks, last)) = self.pending_ops.join(rank, act, now)? {
            let bytes = act.count * self.element;
            let node = self.setup.machine.node;
            let end = last + intra_node_op(node, act.collective, act.ranks.size, bytes);
            for rank in ranks {
                self.schedule_rank(rank, end, EventKind::PhaseEnd)?;
            }
        }
        Ok(request)
    }

    /// The nodes that the message's current stage leaves and reaches, and the bytes that it carries.
    fn stage(&mut self, message: u32) -> (u32, u32, u64) {
        let record = self.messages[message as usize];
        let (source, target) = (
            self.nodes.node(record.source),
            self.nodes.node(record.target),
        );
        match record.stage {
            MessageStage::Eager | MessageStage::Data => (source, target, record.bytes),
            MessageStage::Request => (source, target, 0),
            MessageStage::Grant => (target, source, 0),
        }
    }

    fn inject(&mut self, event: Event) -> Result<(), Error> {
        let network = self.setup.machine.network;
        let (node, _, bytes) = self.stage(event.message);
        let out = &mut self.adapters[node as usize].out;
        let start = event.time.max(*out);
        *out = start + network.gap.max(bytes * network.byte);
        self.schedule(event.message, start + network.latency, EventKind::Arrive)?;
        if self.messages[event.message as usize].stage == MessageStage::Data {
            self.schedule(event.message, start + bytes * network.byte, EventKind::Sent)?;
        }
        Ok(())
    }

    fn arrive(&mut self, event: Event) -> Result<(), Error> {
        let network = self.setup.machine.network;
        let (_, node, bytes) = self.stage(event.message);
        let into = &mut self.adapters[node as usize].into;
        let start = event.time.max(*into);
        *into = start + network.gap.max(bytes * network.byte);
        self.schedule(
            event.message,
            start + bytes * network.byte,
            EventKind::Deliver,
        )
    }

    /// A message's current stage has reached the receiver's memory.
    fn deliver(&mut self, event: Event) -> Result<Option<u32>, Error> {
        let record = self.messages[event.message as usize];
        let recv = self.path(record.remote).recv;
        match record.stage {
            MessageStage::Eager | MessageStage::Request => return self.match_message(event),
            MessageStage::Grant => {
                self.messages[event.message as usize].stage = MessageStage::Data;
                self.schedule(event.message, event.time, EventKind::Inject)?;
                return Ok(None);
            }
            MessageStage::Data => {
                let rank_state = self.rank(record.target);
                rank_state.cpu = rank_state.cpu.max(event.time) + recv;
                self.receives[record.receive as usize].done = true;
                self.release(event.message);
            }
        }
        Ok(Some(record.target))
    }

    /// Matches a message that has arrived with a posted receive, or queues it.
    fn match_message(&mut self, event: Event) -> Result<Option<u32>, Error> {
        let record = self.messages[event.message as usize];
        let (flag, path) = (self.is_flag(record.bytes), self.path(record.remote));
        let matching = self.setup.matching;
        let rank_state = &mut self.ranks[record.target as usize];
        if !record.remote {
            // It is the first of its key, see `in_order`.
            rank_state
                .local_in_flight
                .take(&mut self.messages, record.key());
        }
        let (found, walked) = rank_state.posted.take(&mut self.receives, record.key());
        if !flag {
            rank_state.cpu = rank_state.cpu.max(event.time) + path.recv + walked * matching;
            self.counts.walked += walked;
        }
        let Some(receive) = found else {
            rank_state
                .unexpected
                .push(&mut self.messages, event.message);
            self.counts.unexpected = self.counts.unexpected.max(rank_state.unexpected.len);
            return Ok(Some(record.target));
        };
        let room = self.receives[receive as usize].bytes;
        if room != record.bytes {
            let (rank, from) = (record.target, record.from);
            return Err(Error::Length {
                rank,
                from,
                sent: record.bytes,
                room,
            });
        }
        if flag {
            rank_state.cpu = rank_state.cpu.max(event.time) + self.setup.machine.node.recv;
        }
        if record.stage == MessageStage::Request {
            self.messages[event.message as usize].receive = receive;
            self.fetch(event.message)?;
        } else {
            if !record.remote && self.setup.serial_copies {
                rank_state.cpu += record.bytes * path.byte;
            }
            self.receives[receive as usize].done = true;
            self.release(event.message);
        }
        Ok(Some(record.target))
    }
}
