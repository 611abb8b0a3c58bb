//! The symbolic network: all ranks' memories and the messages between them. A send completes only when
//! its receive has been posted.

use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::contract::Contract;
use super::fault::{Fault, FaultKind};
use super::intra_node::{self, PendingOps, PhaseMember, Request};
use super::memory::RankMemory;
use super::message::SymbolMessage;
use super::rank::RankState;
use super::ranks::Ranks;
use super::rotation::Rotation;
use super::sums::{SumHashState, Sums};
use crate::call::Collective;
use crate::exec::{Driver, IntraNodeStart, MessageSize};
use crate::plan::{Buf, IntraNodeOp, Part, Side, TAGS};

/// The sender, receiver and tag of a message.
type MessageKey = (u32, u32, u32);

/// The order of deliveries: the round, then the order of sending, in one number because these are compared often.
type DeliveryOrder = u64;

const fn delivery_order(round: u32, order: u32) -> DeliveryOrder {
    (round as u64) << 32 | order as u64
}

/// The send or the receive of a message, or one rank's share of an intra-node phase.
#[derive(Debug)]
struct PendingAct {
    rank: u32,
    step: u32,
    /// The round after which it can be matched.
    ready_after: u32,
    part: Part,
    /// The contents of a send; `None` for a receive, and once delivered.
    payload: Option<Payload>,
    /// Whether it is complete.
    is_complete: bool,
    /// The next one in its queue.
    next: Option<Request>,
}

/// A queue of unmatched sends, or of unmatched receives, with the same key.
#[derive(Clone, Copy, Debug)]
struct UnmatchedQueue {
    first: Request,
    last: Request,
}

/// The contents of a message: symbols, and the ranks that the sender knew to have entered the barrier.
#[derive(Debug)]
struct Payload {
    runs: SymbolMessage,
    entered: Ranks,
    /// The rotation from the sender's part to the receiver's, if few ranks represent all.
    rotation: u32,
    /// The position among all messages in the order of sending.
    order: u32,
}

/// The state of all ranks and the messages between them.
#[derive(Debug)]
pub(super) struct Network<'a> {
    contract: &'a Contract,
    /// The number of ranks in the group.
    size: u32,
    /// How the other ranks' plans follow from those of the first ranks, if these represent all.
    symmetry: Option<Rotation>,
    pub(super) ranks: Vec<RankState>,
    pub(super) sums: Sums,
    pending: Vec<PendingAct>,
    free: Vec<Request>,
    waiting: HashMap<MessageKey, UnmatchedQueue, SumHashState>,
    /// Messages whose length a rank waits for.
    awaited_lengths: HashSet<MessageKey, SumHashState>,
    /// Matched messages, ordered by the round in which they can be delivered, then by send order:
    /// sender's and receiver's request.
    pairs: BinaryHeap<Reverse<(DeliveryOrder, Request, Request)>>,
    order: u32,
    /// Intra-node phases that some ranks have entered.
    pending_ops: PendingOps,
    /// Ranks that may be able to continue.
    pub(super) ready: VecDeque<u32>,
    pub(super) rounds: u32,
    pub(super) messages: u64,
}

impl<'a> Network<'a> {
    /// The initial state of the ranks for which the contract has tasks, of `size` ranks. `scratch` gives
    /// each one's elements of scratch.
    pub(super) fn new(
        contract: &'a Contract,
        size: u32,
        symmetry: Option<Rotation>,
        scratch: impl Iterator<Item = u64>,
    ) -> Self {
        let mut sums = Sums::new(contract.commutative);
        let rank = |((number, task), scratch): ((u32, &super::Task), u64)| {
            let memory = RankMemory::new(number, task, scratch, contract, symmetry, &mut sums);
            let entered = if contract.barrier {
                Ranks::one(number)
            } else {
                Ranks::new()
            };
            RankState::new(memory, entered)
        };
        let ranks: Vec<_> = (0..).zip(&contract.tasks).zip(scratch).map(rank).collect();
        Network {
            contract,
            size,
            symmetry,
            ready: (0..ranks.len() as u32).collect(),
            ranks,
            sums,
            pending: Vec::new(),
            free: Vec::new(),
            waiting: HashMap::default(),
            awaited_lengths: HashSet::default(),
            pairs: BinaryHeap::new(),
            order: 0,
            pending_ops: PendingOps::default(),
            rounds: 0,
            messages: 0,
        }
    }

    /// The driver of one rank.
    pub(super) fn driver(&mut self, rank: u32) -> RankDriver<'_, 'a> {
        RankDriver {
            network: self,
            rank,
        }
    }

    /// Whether few ranks represent all.
    pub(super) const fn is_by_symmetry(&self) -> bool {
        self.symmetry.is_some()
    }

    /// A fault of a rank in the step that it started last.
    pub(super) fn fault(&self, rank: u32, kind: FaultKind) -> Fault {
        Fault {
            rank,
            step: self.ranks[rank as usize].step,
            kind,
        }
    }

    fn rank(&mut self, rank: u32) -> &mut RankState {
        &mut self.ranks[rank as usize]
    }

    fn act(&self, request: Request) -> &PendingAct {
        &self.pending[request as usize]
    }

    fn act_mut(&mut self, request: Request) -> &mut PendingAct {
        &mut self.pending[request as usize]
    }

    /// Stores a pending act.
    fn add_pending(&mut self, act: PendingAct) -> Request {
        match self.free.pop() {
            Some(request) => {
                self.pending[request as usize] = act;
                request
            }
            None => {
                self.pending.push(act);
                self.pending.len() as u32 - 1
            }
        }
    }

    /// Matches a send or receive with the first counterpart in its queue, or queues it.
    fn match_or_queue(&mut self, key: MessageKey, request: Request) {
        let is_sent = |act: &PendingAct| act.payload.is_some();
        match self.waiting.get_mut(&key) {
            Some(queue)
                if is_sent(&self.pending[queue.first as usize])
                    == is_sent(&self.pending[request as usize]) =>
            {
                self.pending[queue.last as usize].next = Some(request);
                queue.last = request;
            }
            Some(queue) => {
                let other = queue.first;
                match self.pending[other as usize].next {
                    Some(next) => queue.first = next,
                    None => drop(self.waiting.remove(&key)),
                }
                if self.pending[request as usize].payload.is_some() {
                    self.pair(request, other);
                } else {
                    self.pair(other, request);
                }
            }
            None => {
                let queue = UnmatchedQueue {
                    first: request,
                    last: request,
                };
                self.waiting.insert(key, queue);
            }
        }
    }

    /// Records that a message has been matched.
    fn pair(&mut self, sender: Request, receiver: Request) {
        let (sent, posted) = (self.act(sender), self.act(receiver));
        let round = 1 + sent.ready_after.max(posted.ready_after);
        let order = sent.payload.as_ref().map_or(0, |payload| payload.order);
        let at = delivery_order(round, order);
        self.pairs.push(Reverse((at, sender, receiver)));
    }

    /// Delivers the next message. `false` if none is matched. Messages are delivered by round and, within
    /// a round, in the order of sending.
    pub(super) fn deliver_next(&mut self) -> Result<bool, Fault> {
        while let Some(Reverse((at, sender, receiver))) = self.pairs.pop() {
            let (round, order) = ((at >> 32) as u32, at as u32);
            let [from, to] = [sender, receiver].map(|act| self.act(act).rank);
            let free = 1 + self.rank(from).send_free.max(self.rank(to).recv_free);
            if free > round {
                let at = delivery_order(free, order);
                self.pairs.push(Reverse((at, sender, receiver)));
                continue;
            }
            let (rank, step) = (to, self.act(receiver).step);
            self.deliver(round, sender, receiver)
                .map_err(|kind| Fault { rank, step, kind })?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Delivers a message in a round.
    fn deliver(&mut self, round: u32, sender: Request, receiver: Request) -> Result<(), FaultKind> {
        let [(from, sent), (to, into)] =
            [sender, receiver].map(|act| (self.act(act).rank, self.act(act).part));
        let [sent_in, received_in] = [sender, receiver].map(|act| self.act(act).step);
        if sent.len() != into.len() {
            return Err(FaultKind::Length {
                from: sent.len(),
                into: into.len(),
            });
        }
        let payload = self.act_mut(sender).payload.take();
        let mut payload = payload.unwrap_or_else(|| unreachable!("a message is delivered once"));
        if let Some(symmetry) = self.symmetry {
            payload.runs = symmetry.runs(payload.runs, payload.rotation, &mut self.sums);
            payload.entered = symmetry.ranks(&payload.entered, payload.rotation);
        }
        self.rank(from).note_sent(sent_in, round, sent.len());
        let receiving = self.rank(to);
        receiving.memory.write(into, &payload.runs)?;
        receiving.note_received(received_in, round, &payload.entered);
        for act in [sender, receiver] {
            self.act_mut(act).is_complete = true;
            self.ready.push_back(self.act(act).rank);
        }
        self.rounds = self.rounds.max(round);
        self.messages += 1;
        Ok(())
    }
}

impl Network<'_> {
    /// Completes an intra-node phase: writes each member's result. It takes no round, as only messages
    /// count.
    fn complete_phase(
        &mut self,
        act: &IntraNodeOp,
        members: &[PhaseMember],
    ) -> Result<(), FaultKind> {
        let ready_after = |member: &PhaseMember| self.act(member.request).ready_after;
        let round = members.iter().map(ready_after).max().unwrap_or(0);
        let results = intra_node::results(act, members, &mut self.sums)?;
        for (member, result) in members.iter().zip(&results) {
            let pending = self.act_mut(member.request);
            pending.is_complete = true;
            let (rank, step, mut into) = (pending.rank, pending.step, pending.part);
            if act.collective == Collective::ReduceScatterBlock {
                // In place the part holds all blocks of the contribution, and all but the first stay.
                into.count = act.count;
            }
            self.ready.push_back(rank);
            let state = self.rank(rank);
            state.memory.write(into, result)?;
            state.note_phase(step, round);
        }
        Ok(())
    }
}

/// The driver of one rank.
pub(super) struct RankDriver<'w, 'a> {
    network: &'w mut Network<'a>,
    rank: u32,
}

impl RankDriver<'_, '_> {
    fn rank(&mut self) -> &mut RankState {
        self.network.rank(self.rank)
    }

    fn check_message(&self, peer: u32, tag: u32, part: Part) -> Result<(), FaultKind> {
        match () {
            () if peer == self.rank || peer >= self.network.size => Err(FaultKind::Peer { peer }),
            () if tag >= TAGS => Err(FaultKind::Tag { tag }),
            () if part.is_empty() && part != Part::EMPTY => Err(FaultKind::EmptyPart),
            () => Ok(()),
        }
    }

    /// Stores a pending act of this rank.
    fn add_pending(&mut self, part: Part, payload: Option<Payload>) -> Request {
        let rank = self.rank;
        let state = self.rank();
        let act = PendingAct {
            rank,
            step: state.step,
            ready_after: state.started(),
            part,
            payload,
            is_complete: false,
            next: None,
        };
        self.network.add_pending(act)
    }

    /// Stores and matches this rank's send or receive.
    fn post(&mut self, key: MessageKey, part: Part, payload: Option<Payload>) -> Request {
        let request = self.add_pending(part, payload);
        self.network.match_or_queue(key, request);
        request
    }
}

impl Driver for RankDriver<'_, '_> {
    type Request = Request;
    type Error = FaultKind;

    fn starting(&mut self, step: u32, needs: u32) {
        self.rank().start(step, needs);
    }

    fn send(&mut self, to: u32, tag: u32, from: Part) -> Result<Option<Request>, FaultKind> {
        self.check_message(to, tag, from)?;
        let runs = self.rank().memory.read(from)?;
        let entered = self.rank().entered().clone();
        // Where few ranks represent all, the receiver is rotated back to its representative, and the
        // sender with it.
        let (key, rotation) = match self.network.symmetry {
            Some(symmetry) => {
                let (class, by) = symmetry.class(to);
                let back = (symmetry.size - by) % symmetry.size;
                ((symmetry.above(self.rank, back), class, tag), back)
            }
            None => ((self.rank, to, tag), 0),
        };
        self.network.order += 1;
        let payload = Payload {
            runs,
            entered,
            rotation,
            order: self.network.order,
        };
        if self.network.awaited_lengths.remove(&key) {
            self.network.ready.push_back(key.1);
        }
        Ok(Some(self.post(key, from, Some(payload))))
    }

    fn recv(&mut self, from: u32, tag: u32, into: Part) -> Result<Option<Request>, FaultKind> {
        self.check_message(from, tag, into)?;
        Ok(Some(self.post((from, self.rank, tag), into, None)))
    }

    fn copy(&mut self, from: Part, into: Part) -> Result<(), FaultKind> {
        same_length(from, into)?;
        let message = self.rank().memory.read(from)?;
        self.rank().memory.write(into, &message)
    }

    fn reduce(&mut self, from: Part, into: Part, side: Side) -> Result<(), FaultKind> {
        same_length(from, into)?;
        let Network { ranks, sums, .. } = &mut *self.network;
        let memory = &mut ranks[self.rank as usize].memory;
        memory.reduce(from, into, side, sums)
    }

    fn size(&mut self, from: u32, tag: u32) -> Result<MessageSize, FaultKind> {
        self.check_message(from, tag, Part::new(Buf::Out, 0, 1))?;
        let key = (from, self.rank, tag);
        let next = self
            .network
            .waiting
            .get(&key)
            .map(|queue| self.network.act(queue.first));
        Ok(match next.filter(|act| act.payload.is_some()) {
            Some(sent) => MessageSize::Elements(sent.part.len()),
            None => {
                self.network.awaited_lengths.insert(key);
                MessageSize::Pending
            }
        })
    }

    fn sum(&mut self, from: Part) -> Result<Option<u64>, FaultKind> {
        let mut total = 0;
        for run in self.rank().memory.read(from)?.iter() {
            let whole = |at: u64| at.is_multiple_of(8).then_some((at / 8) as usize);
            let (start, end) = (whole(run.source), whole(run.source + run.count));
            let sum = self.network.sums.get(run.sum);
            let numbers = start.zip(end).filter(|_| sum.counts);
            let (start, end) = numbers.ok_or(FaultKind::CountsAsData)?;
            let tasks = &self.network.contract.tasks;
            let owner = sum.ranks.first().and_then(|rank| tasks.get(rank as usize));
            let sends = owner.map(|task| &task.arrays.sends);
            let sends = sends
                .filter(|sends| end <= sends.len())
                .ok_or(FaultKind::CountsAsData)?;
            let lengths = (start..end).map(|index| sends.length(index));
            total += lengths.filter(|&length| length <= from.limit).sum::<u64>();
        }
        Ok(Some(total))
    }

    fn intra_node(&mut self, act: &IntraNodeOp) -> Result<IntraNodeStart<Request>, FaultKind> {
        if !act.is_well_formed() {
            return Err(FaultKind::PhaseMismatch);
        }
        if !self.network.contract.is_of_node(act, self.rank) {
            return Err(FaultKind::PhaseRanks { ranks: act.ranks });
        }
        let part = intra_node::contribution_part(act)?;
        let contribution = self.rank().memory.read(part)?;
        let request = self.add_pending(act.into, None);
        if let Some(members) = self.network.pending_ops.join(act, request, contribution)? {
            self.network.complete_phase(act, &members)?;
        }
        Ok(IntraNodeStart::Pending(request))
    }

    fn grow(&mut self, elements: u64) -> Result<bool, FaultKind> {
        self.rank().memory.grow(elements);
        Ok(true)
    }

    fn done(&mut self, request: &mut Request) -> Result<bool, FaultKind> {
        let is_complete = self.network.act(*request).is_complete;
        if is_complete {
            self.network.free.push(*request);
        }
        Ok(is_complete)
    }
}

fn same_length(from: Part, into: Part) -> Result<(), FaultKind> {
    if from.len() == into.len() {
        Ok(())
    } else {
        Err(FaultKind::Length {
            from: from.len(),
            into: into.len(),
        })
    }
}
