//! The state of a simulation (ranks, adapters, messages) and the effect of each event on it.

use alloc::vec::Vec;

use super::Setup;
use super::error::Error;
use super::events::{Event, EventKind, Events};
use super::intra_node::PendingOps;
use super::message::{Leg, Message, Receive};
use super::queue::{Linked, NONE, Queue};
use crate::cost::intra_node_op;
use crate::machine::{Machine, PathCosts};
use crate::plan::IntraNodeOp;
use slab::Slab;

/// The state of a rank apart from its program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rank {
    /// The time until which the processor is busy.
    pub(super) cpu: u64,
    pub(super) posted: Queue,
    pub(super) unexpected: Queue,
    /// Messages under way from ranks of the same node, in the order of sending.
    coming: Queue,
    /// The number of messages sent.
    sent: u32,
    /// The number of intra-node phases entered, and of those that have ended.
    pub(super) joined: u32,
    pub(super) met: u32,
    pub(super) done: bool,
}

/// The times until which the two ends of a node's adapter are busy.
#[derive(Clone, Copy, Debug, Default)]
struct Adapter {
    out: u64,
    into: u64,
}

/// The counts of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Messages.
    pub messages: u64,
    /// Messages between nodes.
    pub remote: u64,
    /// Bytes of the messages between nodes.
    pub remote_bytes: u64,
    /// Queue entries that matching visited.
    pub walked: u64,
    /// The largest number of unexpected messages in a rank's queue.
    pub unexpected: u32,
}

impl MessageCounts {
    /// The counts of this many nodes like the simulated ones.
    pub(super) const fn times(self, nodes: u64) -> Self {
        MessageCounts {
            messages: self.messages * nodes,
            remote: self.remote * nodes,
            remote_bytes: self.remote_bytes * nodes,
            walked: self.walked * nodes,
            unexpected: self.unexpected,
        }
    }
}

/// The state of a simulation apart from the ranks' programs.
pub(super) struct World<'a> {
    pub(super) setup: &'a Setup,
    /// Bytes of an element.
    pub(super) element: u64,
    /// The value of every length that a plan learns.
    pub(super) block: u64,
    pub(super) ranks: Vec<Rank>,
    adapters: Vec<Adapter>,
    pub(super) messages: Slab<Message>,
    pub(super) receives: Slab<Receive>,
    pub(super) pending_ops: PendingOps,
    events: Events,
    pub(super) counts: MessageCounts,
}

impl<'a> World<'a> {
    /// The state at time 0.
    pub(super) fn new(setup: &'a Setup, element: u64, block: u64, ranks: u32) -> Self {
        let rank = Rank {
            cpu: 0,
            posted: Queue::EMPTY,
            unexpected: Queue::EMPTY,
            coming: Queue::EMPTY,
            sent: 0,
            joined: 0,
            met: 0,
            done: false,
        };
        World {
            setup,
            element,
            block,
            ranks: alloc::vec![rank; ranks as usize],
            adapters: alloc::vec![Adapter::default(); setup.nodes() as usize],
            messages: Slab::new(),
            receives: Slab::new(),
            pending_ops: PendingOps::default(),
            events: Events::new(),
            counts: MessageCounts::default(),
        }
    }

    pub(super) fn rank(&mut self, rank: u32) -> &mut Rank {
        &mut self.ranks[rank as usize]
    }

    /// The costs of the message's path.
    fn path(&self, message: &Message) -> PathCosts {
        if message.remote {
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
    /// of a long message, which stays until [`World::release`].
    pub(super) fn send(&mut self, source: u32, to: u32, tag: u32, bytes: u64) -> Option<u32> {
        let place = self.setup.placement;
        let hop = self.setup.hop(source, to);
        let path = if hop.distance > 0 {
            self.setup.machine.network
        } else {
            self.setup.machine.node
        };
        let overhead = if self.is_flag(bytes) {
            self.setup.machine.node.send
        } else {
            path.send
        };
        let eager = bytes <= self.setup.machine.eager;
        let me = self.rank(source);
        me.cpu += overhead;
        me.sent = me.sent.wrapping_add(1);
        let (start, number) = (me.cpu, me.sent);
        let tie = u64::from(hop.distance) << 40
            | u64::from(place.local(source) & 0xffff) << 24
            | u64::from(number & 0x00ff_ffff);
        let message = self.messages.insert(Message {
            tie,
            bytes,
            due: 0,
            source,
            target: hop.target,
            from: hop.from,
            tag,
            next: NONE,
            receive: NONE,
            leg: if eager { Leg::Eager } else { Leg::Request },
            remote: hop.distance > 0,
            sent: false,
            holders: if eager { 1 } else { 2 },
        }) as u32;
        self.counts.messages += 1;
        if hop.distance > 0 {
            self.counts.remote += 1;
            self.counts.remote_bytes += bytes;
        }
        self.launch(message, start);
        (!eager).then_some(message)
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
        let me = &mut self.ranks[target as usize];
        let (found, walked) = me.unexpected.take(&mut self.messages, (from, tag));
        let Some(message) = found else {
            if !flag {
                me.cpu += walked * matching;
                self.counts.walked += walked;
            }
            let receive = self.receives.insert(Receive {
                from,
                tag,
                bytes,
                next: NONE,
                done: false,
            }) as u32;
            self.ranks[target as usize]
                .posted
                .push(&mut self.receives, receive);
            return Ok(Some(receive));
        };
        let (leg, length) = {
            let m = &mut self.messages[message as usize];
            (m.leg, m.bytes)
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
            me.cpu += node.recv;
        } else {
            me.cpu += walked * matching;
            self.counts.walked += walked;
        }
        if leg == Leg::Eager {
            me.cpu += bytes * copy;
            self.release(message);
            return Ok(None);
        }
        let receive = self.receives.insert(Receive {
            from,
            tag,
            bytes,
            next: NONE,
            done: false,
        }) as u32;
        self.messages[message as usize].receive = receive;
        self.fetch(message);
        Ok(Some(receive))
    }

    /// The bytes of the first unexpected message of this sender and tag at the simulated rank `target`.
    pub(super) fn announced(&mut self, target: u32, from: u32, tag: u32) -> Option<u64> {
        let matching = self.setup.matching;
        let me = &mut self.ranks[target as usize];
        let (message, walked) = me.unexpected.find(&mut self.messages, (from, tag))?;
        me.cpu += walked * matching;
        self.counts.walked += walked;
        Some(self.messages[message as usize].bytes)
    }

    /// Drops one use of the message's record.
    pub(super) fn release(&mut self, message: u32) {
        let record = &mut self.messages[message as usize];
        record.holders -= 1;
        if record.holders == 0 {
            self.messages.remove(message as usize);
        }
    }

    /// Starts the data transfer of a matched long message: a request to another node, or a copy within
    /// the node.
    fn fetch(&mut self, message: u32) {
        let machine = self.setup.machine;
        let record = &mut self.messages[message as usize];
        let (bytes, target) = (record.bytes, record.target);
        if record.remote {
            record.leg = Leg::Grant;
            let me = self.rank(target);
            me.cpu += machine.network.send;
            let start = me.cpu;
            self.launch(message, start);
        } else {
            record.leg = Leg::Data;
            let start = self.rank(target).cpu;
            let end = start + self.copying(target, bytes);
            self.happens(message, end, EventKind::Deliver);
            self.happens(message, end + machine.node.latency, EventKind::Sent);
        }
    }

    /// The picoseconds to copy bytes from a rank of the same node. With serial copies the target's
    /// processor is busy with them.
    fn copying(&mut self, target: u32, bytes: u64) -> u64 {
        let time = bytes * self.setup.machine.node.byte;
        if self.setup.serial_copies {
            self.rank(target).cpu += time;
        }
        time
    }

    fn launch(&mut self, message: u32, time: u64) {
        if self.messages[message as usize].remote {
            self.happens(message, time, EventKind::Inject);
        } else {
            let Message { leg, bytes, .. } = self.messages[message as usize];
            let node = self.setup.machine.node;
            let travels = leg == Leg::Eager && !self.setup.serial_copies;
            let copy = if travels { bytes * node.byte } else { 0 };
            let due = self.in_order(message, time + node.latency + copy);
            self.happens(message, due, EventKind::Deliver);
        }
    }

    /// The time at which a message within a node becomes visible, if it could be at `time`: not before an
    /// earlier message of the same sender, receiver and tag (MPI 4.1, section 3.5: messages do not
    /// overtake). Between nodes the adapters keep that order.
    fn in_order(&mut self, message: u32, time: u64) -> u64 {
        let Message { target, .. } = self.messages[message as usize];
        let key = self.messages[message as usize].key();
        let coming = &mut self.ranks[target as usize].coming;
        let before = coming.last(&mut self.messages, key);
        let due = before.map_or(time, |before| time.max(self.messages[before as usize].due));
        self.messages[message as usize].due = due;
        coming.push(&mut self.messages, message);
        due
    }

    fn happens(&mut self, message: u32, time: u64, kind: EventKind) {
        let tie = self.messages[message as usize].tie;
        self.events.push(Event {
            time,
            tie,
            message,
            kind,
        });
    }

    /// Adds an event of a rank that concerns no message.
    pub(super) fn passes(&mut self, rank: u32, time: u64, kind: EventKind) {
        self.events.push(Event {
            time,
            tie: rank.into(),
            message: rank,
            kind,
        });
    }

    /// Processes the next event. Returns the simulated rank that may continue, if there is one; `None`
    /// when no event is left.
    pub(super) fn step(&mut self) -> Option<Result<Option<u32>, Error>> {
        let event = self.events.pop()?;
        Some(match event.kind {
            EventKind::Inject => {
                self.inject(event);
                Ok(None)
            }
            EventKind::Arrive => {
                self.arrive(event);
                Ok(None)
            }
            EventKind::Deliver => self.deliver(event),
            EventKind::Sent => {
                let record = &mut self.messages[event.message as usize];
                record.sent = true;
                let source = record.source;
                let me = self.rank(source);
                me.cpu = me.cpu.max(event.time);
                Ok(Some(source))
            }
            EventKind::Met => {
                let me = self.rank(event.message);
                me.cpu = me.cpu.max(event.time);
                me.met += 1;
                Ok(Some(event.message))
            }
        })
    }

    /// A rank enters an intra-node phase, which all its ranks leave as long after the last one enters as
    /// the [cost form](crate::cost) says. Returns the number of the phase among the rank's phases.
    pub(super) fn join(&mut self, rank: u32, act: &IntraNodeOp) -> Result<u32, Error> {
        let me = self.rank(rank);
        me.joined += 1;
        let (request, now) = (me.joined, me.cpu);
        if let Some((ranks, last)) = self.pending_ops.join(rank, act, now)? {
            let bytes = act.count * self.element;
            let node = self.setup.machine.node;
            let end = last + intra_node_op(node, act.collective, act.ranks.size, bytes);
            for rank in ranks {
                self.passes(rank, end, EventKind::Met);
            }
        }
        Ok(request)
    }

    /// The nodes that the message's current stage leaves and reaches, and the bytes that it carries.
    fn leg(&mut self, message: u32) -> (u32, u32, u64) {
        let m = self.messages[message as usize];
        let (source, target) = (self.setup.home(m.source), self.setup.home(m.target));
        match m.leg {
            Leg::Eager | Leg::Data => (source, target, m.bytes),
            Leg::Request => (source, target, 0),
            Leg::Grant => (target, source, 0),
        }
    }

    fn inject(&mut self, event: Event) {
        let network = self.setup.machine.network;
        let (node, _, bytes) = self.leg(event.message);
        let out = &mut self.adapters[node as usize].out;
        let start = event.time.max(*out);
        *out = start + network.gap.max(bytes * network.byte);
        self.happens(event.message, start + network.latency, EventKind::Arrive);
        if self.messages[event.message as usize].leg == Leg::Data {
            self.happens(event.message, start + bytes * network.byte, EventKind::Sent);
        }
    }

    fn arrive(&mut self, event: Event) {
        let network = self.setup.machine.network;
        let (_, node, bytes) = self.leg(event.message);
        let into = &mut self.adapters[node as usize].into;
        let start = event.time.max(*into);
        *into = start + network.gap.max(bytes * network.byte);
        self.happens(
            event.message,
            start + bytes * network.byte,
            EventKind::Deliver,
        );
    }

    /// A message's current stage has reached the receiver's memory.
    fn deliver(&mut self, event: Event) -> Result<Option<u32>, Error> {
        let record = self.messages[event.message as usize];
        let recv = self.path(&record).recv;
        match record.leg {
            Leg::Eager | Leg::Request => return self.meet(event),
            Leg::Grant => {
                self.messages[event.message as usize].leg = Leg::Data;
                self.happens(event.message, event.time, EventKind::Inject);
                return Ok(None);
            }
            Leg::Data => {
                let me = self.rank(record.target);
                me.cpu = me.cpu.max(event.time) + recv;
                self.receives[record.receive as usize].done = true;
                self.release(event.message);
            }
        }
        Ok(Some(record.target))
    }

    /// Matches a message that has arrived with a posted receive, or queues it.
    fn meet(&mut self, event: Event) -> Result<Option<u32>, Error> {
        let record = self.messages[event.message as usize];
        let (flag, path) = (self.is_flag(record.bytes), self.path(&record));
        let matching = self.setup.matching;
        let me = &mut self.ranks[record.target as usize];
        if !record.remote {
            // It is the first of its key, see `in_order`.
            me.coming.take(&mut self.messages, record.key());
        }
        let (found, walked) = me.posted.take(&mut self.receives, record.key());
        if !flag {
            me.cpu = me.cpu.max(event.time) + path.recv + walked * matching;
            self.counts.walked += walked;
        }
        let Some(receive) = found else {
            me.unexpected.push(&mut self.messages, event.message);
            self.counts.unexpected = self.counts.unexpected.max(me.unexpected.len);
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
            me.cpu = me.cpu.max(event.time) + self.setup.machine.node.recv;
        }
        if record.leg == Leg::Request {
            self.messages[event.message as usize].receive = receive;
            self.fetch(event.message);
        } else {
            if !record.remote && self.setup.serial_copies {
                me.cpu += record.bytes * path.byte;
            }
            self.receives[receive as usize].done = true;
            self.release(event.message);
        }
        Ok(Some(record.target))
    }
}
