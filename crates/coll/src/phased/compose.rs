//! Makes the phases of one rank, one after the other.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::phase::{Phase, PhasePlan, PhaseRanks, PhaseWork, Place};
use super::{PhasedPlan, Reorder};
use crate::call::{Algorithm, Call, Collective, Parameters, SharedMemory};
use crate::catalog::Unsuited;
use crate::choice::Choice;
use crate::nodes::NodeMap;
use crate::placement::{Order, Placement};
use crate::plan::Buf;

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
pub(super) struct Phases<'a, F> {
    pub(super) call: &'a Call,
    choose: F,
    pub(super) plan: PhasedPlan,
    /// This rank's node, and its local number there.
    pub(super) node: u32,
    pub(super) local: u32,
    /// The ranks on it.
    pub(super) ranks: u32,
    /// The local number of the node's leader.
    pub(super) leader: u32,
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

    pub(super) fn leads(&self) -> bool {
        self.local == self.leader
    }

    pub(super) fn is_alone(&self) -> bool {
        self.ranks == 1
    }

    pub(super) fn add(
        &mut self,
        ranks: PhaseRanks,
        work: PhaseWork,
        plan: PhasePlan,
        places: [Place; 2],
    ) {
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
    pub(super) fn inside(&mut self, call: Call, places: [Place; 2]) -> Result<(), Unsuited> {
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
    pub(super) fn between(&mut self, call: Call, places: [Place; 2]) -> Result<(), Unsuited> {
        if !self.leads() {
            return Ok(());
        }
        let root = self.call.collective.has_root().then_some(self.call.root);
        let place = Placement::new(Order::Block, call.size, 1);
        self.collective(PhaseRanks::Leaders { root }, place, call, places)
    }

    pub(super) fn collective(
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
    pub(super) fn count(&self) -> u32 {
        self.plan.nodes.count()
    }

    /// The root's node.
    pub(super) fn root_node(&self) -> u32 {
        self.plan.nodes.node(self.call.root)
    }

    /// Where the input is: in place, from this element of the output on.
    pub(super) fn input(&self, in_place: u64) -> Place {
        match self.call.in_place {
            true => Place(Buf::Out, in_place),
            false => Place::IN,
        }
    }

    pub(super) fn is_root(&self) -> bool {
        self.call.rank == self.call.root
    }

    /// Where a leader has all blocks of its node between two phases: in scratch, up to the element that is returned,
    /// too; of a node of one rank, where that rank has its own.
    pub(super) fn node_blocks(&mut self, own: Place) -> (Place, u64) {
        if self.is_alone() {
            return (own, 0);
        }
        let end = match self.leads() {
            true => u64::from(self.ranks).saturating_mul(self.call.count),
            false => 0,
        };
        self.plan.room = end;
        (Place(Buf::Scratch, 0), end)
    }

    /// Where all blocks are gathered in the order of slots: in the output, or where ranks have another order in scratch,
    /// from this element on, from which they are put in place.
    pub(super) fn gathered(&mut self, at: u64) -> Place {
        self.reordered(at, false).unwrap_or(Place::OUT)
    }

    /// Where all blocks that are dealt lie in the order of slots, likewise.
    pub(super) fn dealt(&mut self, at: u64) -> Place {
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
    pub(super) fn between_blocks(
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
}
