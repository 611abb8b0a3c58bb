//! Of which phases each collective consists.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::phase::{Phase, PhasePlan, PhaseRanks, PhaseWork, Place};
use super::{PhasedPlan, Reorder};
use crate::barrier::Signals;
use crate::call::{Algorithm, Call, Collective, Parameters, SharedMemory};
use crate::catalog::Unsuited;
use crate::choice::Choice;
use crate::nodes::NodeMap;
use crate::placement::{Order, Placement};
use crate::plan::Buf;

/// The radix of signals inside a node, where they are flags in shared memory.
const SIGNAL_RADIX: u32 = 4;

/// A linear algorithm with its own parameters.
const fn linear(algorithm: Algorithm) -> Choice {
    Choice {
        algorithm,
        parameters: Parameters::NONE,
    }
}

impl PhasedPlan {
    /// Whether a call may be served in phases: the collective has them, and they keep the rank order if it matters.
    pub fn serves(call: &Call, nodes: &NodeMap) -> bool {
        let has_phases = match call.collective {
            Collective::Barrier
            | Collective::Bcast
            | Collective::Gather
            | Collective::Scatter
            | Collective::Allgather => true,
            Collective::Reduce | Collective::Allreduce => call.commutative || nodes.is_in_order(),
            _ => false,
        };
        has_phases && call.remote == 0 && nodes.count() > 1
    }

    /// This rank's plan for a call that is [served in phases](PhasedPlan::serves). `choose` chooses the algorithm for
    /// the call of a phase, whose ranks are placed so.
    ///
    /// # Errors
    ///
    /// If `choose` finds none, or the call's rank or root is not in the group.
    ///
    /// # Cost
    ///
    /// An allocation for the phases and, where nodes have blocks of different lengths, one for these.
    pub fn new(
        call: &Call,
        nodes: &Arc<NodeMap>,
        choose: impl FnMut(&Call, Placement) -> Result<Choice, Unsuited>,
    ) -> Result<Self, Unsuited> {
        let mut phases = Phases::new(call, nodes, choose)?;
        match call.collective {
            Collective::Barrier => phases.barrier()?,
            Collective::Bcast => phases.bcast()?,
            Collective::Gather => phases.gather()?,
            Collective::Scatter => phases.scatter()?,
            Collective::Reduce => phases.reduce()?,
            Collective::Allreduce => phases.allreduce()?,
            Collective::Allgather => phases.allgather()?,
            collective => return Err(Unsuited::None { collective }),
        }
        Ok(phases.plan)
    }

    /// This rank's plan for such a call as one phase: by one algorithm for all ranks in the order of slots, so that
    /// neighbours in that order share a node.
    ///
    /// # Errors
    ///
    /// As [`PhasedPlan::new`].
    pub fn in_slots(call: &Call, nodes: &Arc<NodeMap>, choice: Choice) -> Result<Self, Unsuited> {
        let mut phases = Phases::new(call, nodes, |_, _| Ok(choice))?;
        phases.slots()?;
        Ok(phases.plan)
    }
}

/// The phases of one rank so far, and what all of them are made from.
struct Phases<'a, F> {
    call: &'a Call,
    choose: F,
    plan: PhasedPlan,
    /// This rank's node, and its local number there.
    node: u32,
    local: u32,
    /// The ranks on it.
    ranks: u32,
    /// The local number of the node's leader.
    leader: u32,
}

impl<'a, F: FnMut(&Call, Placement) -> Result<Choice, Unsuited>> Phases<'a, F> {
    fn new(call: &'a Call, nodes: &Arc<NodeMap>, choose: F) -> Result<Self, Unsuited> {
        let &Call { rank, root, .. } = call;
        let size = nodes.size();
        if rank >= size {
            return Err(Unsuited::Rank { rank, size });
        }
        if root >= size {
            return Err(Unsuited::Root { root, size });
        }
        let node = nodes.node(rank);
        let leads_here = call.collective.has_root() && nodes.node(call.root) == node;
        Ok(Phases {
            call,
            choose,
            node,
            local: nodes.local(call.rank),
            ranks: nodes.ranks_on(node).len() as u32,
            leader: if leads_here {
                nodes.local(call.root)
            } else {
                0
            },
            plan: PhasedPlan {
                nodes: Arc::clone(nodes),
                phases: Vec::with_capacity(3),
                room: 0,
                reorder: None,
            },
        })
    }

    fn leads(&self) -> bool {
        self.local == self.leader
    }

    fn is_alone(&self) -> bool {
        self.ranks == 1
    }

    fn add(&mut self, ranks: PhaseRanks, work: PhaseWork, plan: PhasePlan, places: [Place; 2]) {
        let before = self.plan.steps_of_phases();
        self.plan.phases.push(Phase {
            ranks,
            work,
            plan,
            places,
            lengths: [Vec::new(), Vec::new()],
            before,
        });
    }

    /// Adds a phase of the ranks of this node, if there are several.
    fn inside(&mut self, call: Call, places: [Place; 2]) -> Result<(), Unsuited> {
        if self.is_alone() {
            return Ok(());
        }
        let call = call.with_shared_memory(match self.call.shared_memory {
            SharedMemory::None => SharedMemory::None,
            _ => SharedMemory::All,
        });
        let place = Placement::new(Order::Block, self.ranks, self.ranks);
        self.collective(PhaseRanks::OfNode(self.node), place, call, places)
    }

    /// Adds a phase of the leaders, at one of them.
    fn between(&mut self, call: Call, places: [Place; 2]) -> Result<(), Unsuited> {
        if !self.leads() {
            return Ok(());
        }
        let root = self.call.collective.has_root().then_some(self.call.root);
        let place = Placement::new(Order::Block, call.size, 1);
        self.collective(PhaseRanks::Leaders { root }, place, call, places)
    }

    fn collective(
        &mut self,
        ranks: PhaseRanks,
        place: Placement,
        call: Call,
        places: [Place; 2],
    ) -> Result<(), Unsuited> {
        let whole = self.call;
        let call = Call {
            element_bytes: whole.element_bytes,
            commutative: whole.commutative,
            exact: whole.exact,
            ..call
        };
        let choice = match call.collective {
            // The trees of these learn lengths from numbers that only the caller of the whole has.
            Collective::Gatherv => linear(Algorithm::GathervLinear),
            Collective::Scatterv => linear(Algorithm::ScattervLinear),
            _ => (self.choose)(&call, place)?,
        };
        let plan = PhasePlan::Collective(choice.plan(&call)?);
        self.add(ranks, PhaseWork::Collective(call, choice), plan, places);
        Ok(())
    }

    /// The number of nodes.
    fn count(&self) -> u32 {
        self.plan.nodes.count()
    }

    /// The root's node.
    fn root_node(&self) -> u32 {
        self.plan.nodes.node(self.call.root)
    }

    /// Where the input is: in place, from this element of the output on.
    fn input(&self, in_place: u64) -> Place {
        match self.call.in_place {
            true => Place(Buf::Out, in_place),
            false => Place::IN,
        }
    }

    /// Signals up each node, a barrier of the leaders, signals down.
    fn barrier(&mut self) -> Result<(), Unsuited> {
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
    fn bcast(&mut self) -> Result<(), Unsuited> {
        let count = self.call.count;
        let between = Call::bcast(self.node, self.count(), self.root_node(), count);
        self.between(between, [Place::IN, Place::OUT])?;
        let from = match self.call.rank == self.call.root {
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
    fn reduce(&mut self) -> Result<(), Unsuited> {
        let &Call {
            count, in_place, ..
        } = self.call;
        let (is_root, is_alone) = (self.call.rank == self.call.root, self.is_alone());
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
    fn allreduce(&mut self) -> Result<(), Unsuited> {
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
    fn slots(&mut self) -> Result<(), Unsuited> {
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

    fn is_root(&self) -> bool {
        self.call.rank == self.call.root
    }

    /// Elements of all blocks of this rank's node.
    fn node_block(&self) -> u64 {
        u64::from(self.ranks).saturating_mul(self.call.count)
    }

    /// Where all blocks are gathered in the order of slots: in the output, or where ranks have another order in scratch,
    /// from this element on, from which they are put in place.
    fn gathered(&mut self, at: u64) -> Place {
        self.reordered(at, false).unwrap_or(Place::OUT)
    }

    /// Where all blocks that are dealt lie in the order of slots, likewise.
    fn dealt(&mut self, at: u64) -> Place {
        self.reordered(at, true).unwrap_or(Place::IN)
    }

    /// Makes room for blocks in the order of slots, if ranks have another one.
    fn reordered(&mut self, at: u64, is_before: bool) -> Option<Place> {
        if self.plan.nodes.is_in_order() {
            return None;
        }
        let block = self.call.count;
        let all = u64::from(self.plan.nodes.size()).saturating_mul(block);
        self.plan.room = at.saturating_add(all);
        self.plan.reorder = (block > 0).then_some(Reorder {
            block,
            at,
            is_before,
        });
        Some(Place(Buf::Scratch, at))
    }

    /// A phase between leaders that have a block for each node, of as many elements as its ranks have together.
    fn between_blocks(
        &mut self,
        call: Call,
        places: [Place; 2],
        gives: bool,
    ) -> Result<(), Unsuited> {
        let before = self.plan.phases.len();
        self.between(call, places)?;
        let nodes = Arc::clone(&self.plan.nodes);
        let count = self.call.count;
        if let Some(phase) = self.plan.phases.get_mut(before) {
            let ranks = |node| nodes.ranks_on(node).len() as u64;
            let lengths = (0..nodes.count()).map(|node| ranks(node).saturating_mul(count));
            phase.lengths[usize::from(!gives)] = lengths.collect();
        }
        Ok(())
    }

    /// The blocks of each node to its leader, and of the leaders to the root.
    fn gather(&mut self) -> Result<(), Unsuited> {
        let &Call { rank, count, .. } = self.call;
        let own = self.node_block();
        let kept = if self.leads() && !self.is_alone() {
            own
        } else {
            0
        };
        self.plan.room = kept;
        let all = match self.is_root() {
            true => self.gathered(kept),
            false => Place::OUT,
        };
        let input = self.input(u64::from(rank).saturating_mul(count));
        let inside = Call::gather(self.local, self.ranks, self.leader, count);
        self.inside(inside, [input, Place(Buf::Scratch, 0)])?;
        let from = if self.is_alone() {
            input
        } else {
            Place(Buf::Scratch, 0)
        };
        let is_there = self.is_alone() && self.call.in_place && all == Place::OUT;
        let between = Call::gatherv(self.node, self.count(), self.root_node(), own);
        self.between_blocks(between.with_in_place(is_there), [from, all], false)
    }

    /// The blocks of each node from the root to its leader, and from each leader to its node.
    fn scatter(&mut self) -> Result<(), Unsuited> {
        let &Call {
            count, in_place, ..
        } = self.call;
        let own = self.node_block();
        let kept = if self.leads() && !self.is_alone() {
            own
        } else {
            0
        };
        self.plan.room = kept;
        let all = match self.is_root() {
            true => self.dealt(kept),
            false => Place::IN,
        };
        let into = if self.is_alone() {
            Place::OUT
        } else {
            Place(Buf::Scratch, 0)
        };
        let between = Call::scatterv(self.node, self.count(), self.root_node(), own);
        self.between_blocks(
            between.with_in_place(in_place && self.is_alone()),
            [all, into],
            true,
        )?;
        let inside = Call::scatter(self.local, self.ranks, self.leader, count);
        self.inside(inside.with_in_place(in_place), [into, Place::OUT])
    }

    /// The blocks of each node to its leader; all blocks to all leaders; and from each leader to its node.
    fn allgather(&mut self) -> Result<(), Unsuited> {
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
