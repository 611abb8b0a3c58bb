//! Collectives in phases over subgroups, for nodes of any sizes with ranks in any order.
//!
//! A phase is a collective of the ranks of one node, or of the *leaders*, one rank of each node, by the algorithm
//! that is best for such a group. A later phase of a rank needs all its earlier phases; nothing is synchronised. Only
//! leaders exchange messages with other nodes, and each byte enters and leaves a node no more often than it must.
//!
//! Blocks that lie in rank order while nodes have ranks in another one pass through scratch in the order of
//! [slots](NodeMap), and are put in place at the end.
//!
//! Reductions by an operation that does not commute need nodes of consecutive ranks: then every phase keeps the
//! rank order.

mod collectives;
mod compose;
mod phase;
mod strategy;

pub use phase::{PhaseRanks, PhaseWork};
pub use strategy::{Strategies, Strategy, StrategyTimes, choose_phase, phase_time};

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::catalog::AnyPlan;
use crate::nodes::NodeMap;
use crate::plan::{ACTS, Acts, Buf, Part, Plan, PlanInputs, any_plan};
use phase::Phase;

/// One rank's plan for a collective on any nodes.
#[allow(
    clippy::large_enum_variant,
    reason = "an allocation would slow most collectives down"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankPlan {
    /// By one algorithm.
    Whole(AnyPlan),
    /// In phases.
    Phased(PhasedPlan),
}

any_plan!(RankPlan: Whole, Phased);

impl From<AnyPlan> for RankPlan {
    fn from(plan: AnyPlan) -> Self {
        RankPlan::Whole(plan)
    }
}

/// One rank's plan for a collective in phases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasedPlan {
    nodes: Arc<NodeMap>,
    phases: Vec<Phase>,
    /// Elements at the start of scratch that hold what one phase leaves to the next.
    room: u64,
    /// How blocks are put in another order, if they are.
    reorder: Option<Reorder>,
}

/// Blocks of all ranks that are copied between the order of ranks and that of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reorder {
    /// Elements of a block.
    block: u64,
    /// The element of scratch at which the blocks lie in the order of slots.
    at: u64,
    /// Whether they are taken from the input before all phases, or put into the output after them.
    is_before: bool,
}

impl PhasedPlan {
    /// This rank's phases in order: their ranks and what these do.
    pub fn phases(&self) -> impl Iterator<Item = (PhaseRanks, PhaseWork)> {
        self.phases.iter().map(|phase| (phase.ranks, phase.work))
    }

    /// The steps that copy blocks, before or after all phases.
    fn copies(&self, is_before: bool) -> u32 {
        match self.reorder {
            Some(reorder) if reorder.is_before == is_before => {
                self.nodes.runs().len().div_ceil(ACTS) as u32
            }
            _ => 0,
        }
    }

    /// The steps up to the end of the phases so far.
    fn steps_of_phases(&self) -> u32 {
        match self.phases.last() {
            Some(phase) => phase.before + phase.plan.steps(),
            None => self.copies(true),
        }
    }

    /// Copies as many runs of blocks as a step has acts.
    fn copy(&self, step: u32, acts: &mut Acts) {
        let Some(reorder) = self.reorder else { return };
        let runs = self.nodes.runs().chunks(ACTS).nth(step as usize);
        for run in runs.into_iter().flatten() {
            let [slot, rank, len] =
                [run.slot, run.rank, run.len].map(|n| u64::from(n) * reorder.block);
            let by_slot = Part::new(Buf::Scratch, reorder.at + slot, len);
            match reorder.is_before {
                true => acts.copy(Part::new(Buf::In, rank, len), by_slot),
                false => acts.copy(by_slot, Part::new(Buf::Out, rank, len)),
            }
        }
    }
}

impl Plan for PhasedPlan {
    fn steps(&self) -> u32 {
        self.steps_of_phases() + self.copies(false)
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        let of_phase = |phase: &Phase| phase.plan.scratch(&phase.inputs(inputs));
        self.room + self.phases.iter().map(of_phase).max().unwrap_or(0)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        if i < self.copies(true) {
            self.copy(i, acts);
            return Some(0);
        }
        let after = self.steps_of_phases();
        if let Some(step) = i.checked_sub(after) {
            self.copy(step, acts);
            return Some(after);
        }
        let at = self.phases.partition_point(|phase| phase.before <= i);
        let phase = &self.phases[at - 1];
        phase.step(i, inputs, (&self.nodes, self.room), acts)
    }
}
