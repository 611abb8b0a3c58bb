//! Of which phases each collective consists.

use alloc::sync::Arc;

use super::compose::Phases;
use super::phase::{PhasePlan, PhaseRanks, PhaseWork, Place};
use crate::barrier::Signals;
use crate::call::{Call, Collective, SharedMemory};
use crate::catalog::Unsuited;
use crate::choice::Choice;
use crate::placement::{Order, Placement};
use crate::plan::Buf;

/// The radix of signals inside a node, where they are flags in shared memory.
const SIGNAL_RADIX: u32 = 4;

impl<F: FnMut(&Call, Placement) -> Result<Choice, Unsuited>> Phases<'_, F> {
    /// Signals up each node, a barrier of the leaders, signals down.
    pub(super) fn barrier(&mut self) -> Result<(), Unsuited> {
        let (ranks, places) = (PhaseRanks::OfNode(self.node), [Place::IN, Place::OUT]);
        let (local, size) = (self.local, self.ranks);
        let signals = |this: &mut Self, work, plan: fn(u32, u32, u32) -> Signals| {
            if !this.is_alone() {
                let plan = PhasePlan::Signals(plan(local, size, SIGNAL_RADIX));
                this.add(ranks, work, plan, places);
            }
        };
        signals(self, PhaseWork::SignalsUp, Signals::up);
        self.between(Call::barrier(self.node, self.count()), places)?;
        signals(self, PhaseWork::SignalsDown, Signals::down);
        Ok(())
    }

    /// From the root to the leaders, and from each leader to its node.
    pub(super) fn bcast(&mut self) -> Result<(), Unsuited> {
        let count = self.call.count;
        let between = Call::bcast(self.node, self.count(), self.root_node(), count);
        self.between(between, [Place::IN, Place::OUT])?;
        let from = match self.is_root() {
            true => Place::IN,
            false => Place::OUT,
        };
        self.bcast_inside(count, [from, Place::OUT])
    }

    fn bcast_inside(&mut self, count: u64, places: [Place; 2]) -> Result<(), Unsuited> {
        let call = Call::bcast(self.local, self.ranks, self.leader, count);
        self.inside(call, places)
    }

    /// In each node to its leader, and from the leaders to the root.
    pub(super) fn reduce(&mut self) -> Result<(), Unsuited> {
        let &Call {
            count, in_place, ..
        } = self.call;
        let (is_root, is_alone) = (self.is_root(), self.is_alone());
        let keeps = self.leads() && !is_root && !is_alone;
        let sum = match keeps {
            true => Place(Buf::Scratch, 0),
            false => Place::OUT,
        };
        self.plan.room = if keeps { count } else { 0 };
        let inside = Call::reduce(self.local, self.ranks, self.leader, count, 1);
        self.inside(inside.with_in_place(in_place), [Place::IN, sum])?;
        let between = Call::reduce(self.node, self.count(), self.root_node(), count, 1)
            .with_in_place(is_root && (in_place || !is_alone));
        let from = if keeps { sum } else { Place::IN };
        self.between(between, [from, Place::OUT])
    }

    /// In each node to its leader, between the leaders, and from each leader to its node.
    pub(super) fn allreduce(&mut self) -> Result<(), Unsuited> {
        let &Call {
            count, in_place, ..
        } = self.call;
        let inside = Call::reduce(self.local, self.ranks, self.leader, count, 1)
            .with_in_place(in_place && self.leads());
        self.inside(inside, [self.input(0), Place::OUT])?;
        let between = Call::allreduce(self.node, self.count(), count, 1)
            .with_in_place(in_place || !self.is_alone());
        self.between(between, [Place::IN, Place::OUT])?;
        self.bcast_inside(count, [Place::OUT, Place::OUT])
    }

    /// All ranks by slot.
    pub(super) fn slots(&mut self) -> Result<(), Unsuited> {
        let nodes = Arc::clone(&self.plan.nodes);
        let call = Call {
            rank: nodes.slot(self.call.rank),
            root: match self.call.collective.has_root() {
                true => nodes.slot(self.call.root),
                false => 0,
            },
            ..self.call.with_shared_memory(SharedMemory::None)
        };
        let mut places = [Place::IN, Place::OUT];
        let mut in_place = call.in_place;
        match self.call.collective {
            Collective::Gather if !self.is_root() => {}
            Collective::Gather | Collective::Allgather => {
                let input = self.input(u64::from(self.call.rank).saturating_mul(call.count));
                places = [input, self.gathered(0)];
                in_place &= places[1] == Place::OUT;
            }
            Collective::Scatter if self.is_root() => places[0] = self.dealt(0),
            _ => {}
        }
        let alone = Placement::new(Order::Block, nodes.size(), 1);
        let call = call.with_in_place(in_place);
        self.collective(PhaseRanks::Slots, alone, call, places)
    }

    /// The blocks of each node to its leader, and of the leaders to the root.
    pub(super) fn gather(&mut self) -> Result<(), Unsuited> {
        let input = self.input(u64::from(self.call.rank).saturating_mul(self.call.count));
        let (of_node, end) = self.node_blocks(input);
        let all = match self.is_root() {
            true => self.gathered(end),
            false => Place::OUT,
        };
        let inside = Call::gather(self.local, self.ranks, self.leader, self.call.count);
        self.inside(inside, [input, of_node])?;
        let is_there = self.is_alone() && self.call.in_place && all == Place::OUT;
        let own = u64::from(self.ranks).saturating_mul(self.call.count);
        let between = Call::gatherv(self.node, self.count(), self.root_node(), own);
        self.between_blocks(between.with_in_place(is_there), [of_node, all], false)
    }

    /// The blocks of each node from the root to its leader, and from each leader to its node.
    pub(super) fn scatter(&mut self) -> Result<(), Unsuited> {
        let (of_node, end) = self.node_blocks(Place::OUT);
        let all = match self.is_root() {
            true => self.dealt(end),
            false => Place::IN,
        };
        let in_place = self.call.in_place;
        let own = u64::from(self.ranks).saturating_mul(self.call.count);
        let between = Call::scatterv(self.node, self.count(), self.root_node(), own)
            .with_in_place(in_place && self.is_alone());
        self.between_blocks(between, [all, of_node], true)?;
        let inside = Call::scatter(self.local, self.ranks, self.leader, self.call.count);
        self.inside(inside.with_in_place(in_place), [of_node, Place::OUT])
    }

    /// The blocks of each node to its leader; all blocks to all leaders; and from each leader to its node.
    pub(super) fn allgather(&mut self) -> Result<(), Unsuited> {
        let &Call {
            rank,
            count,
            in_place,
            ..
        } = self.call;
        let all = u64::from(self.plan.nodes.size()).saturating_mul(count);
        let gathered = self.gathered(0);
        let is_in_order = gathered == Place::OUT;
        let own = u64::from(self.plan.nodes.start(self.node)).saturating_mul(count);
        let input = self.input(u64::from(rank).saturating_mul(count));
        let inside = Call::gather(self.local, self.ranks, 0, count)
            .with_in_place(in_place && is_in_order && self.leads());
        self.inside(inside, [input, Place(gathered.0, own)])?;
        let is_there = !self.is_alone() || (in_place && is_in_order);
        let between = Call::allgatherv(self.node, self.count(), all).with_in_place(is_there);
        self.between_blocks(between, [input, gathered], false)?;
        self.bcast_inside(all, [gathered, gathered])
    }
}
