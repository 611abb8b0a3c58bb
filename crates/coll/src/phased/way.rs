//! Whether a call on nodes of different sizes goes in phases, or by one algorithm for all ranks.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{PhaseRanks, PhaseWork, PhasedPlan};
use crate::call::{Call, Collective, SharedMemory};
use crate::catalog::Unsuited;
use crate::choice::{Choice, Choosable, Tuning, choose};
use crate::nodes::NodeMap;
use crate::placement::{Order, Placement};

/// How a call is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// In phases.
    Phased,
    /// By one algorithm without phases for all ranks in the order of slots.
    InSlots(Choice),
}

/// What a decision depends on: a call up to the power of two of its length, and the shape of the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Case {
    collective: Collective,
    commutative: bool,
    exact: bool,
    shared_memory: SharedMemory,
    /// The binary digits of the length in bytes.
    digits: u32,
    size: u32,
    nodes: u32,
    most: u32,
    is_in_order: bool,
}

impl Case {
    fn of(call: &Call, nodes: &NodeMap) -> Self {
        Case {
            collective: call.collective,
            commutative: call.commutative,
            exact: call.exact,
            shared_memory: call.shared_memory,
            digits: u64::BITS - call.bytes().leading_zeros(),
            size: nodes.size(),
            nodes: nodes.count(),
            most: nodes.most(),
            is_in_order: nodes.is_in_order(),
        }
    }
}

/// Decisions that were made before.
#[derive(Clone, Debug, Default)]
pub struct Ways(Vec<(Case, Way)>);

impl Ways {
    /// No decisions.
    pub const fn new() -> Self {
        Ways(Vec::new())
    }

    /// How a call is served that [may go in phases](PhasedPlan::serves); the same on all ranks. `choose` chooses among
    /// these algorithms for the call of ranks that are placed so; times are those of `tuning`.
    ///
    /// # Errors
    ///
    /// If no algorithm suits.
    ///
    /// # Cost
    ///
    /// A few compares for each decision made before. A new one chooses two or three times, and computes as many costs.
    pub fn way(
        &mut self,
        call: &Call,
        nodes: &Arc<NodeMap>,
        tuning: &Tuning,
        choose: impl FnMut(&Call, Placement, Choosable) -> Result<Choice, Unsuited>,
    ) -> Result<Way, Unsuited> {
        let case = Case::of(call, nodes);
        if let Some((_, way)) = self.0.iter().find(|(known, _)| *known == case) {
            return Ok(*way);
        }
        let way = WayTimes::of(call, nodes, tuning, choose)?.best();
        self.0.push((case, way));
        Ok(way)
    }
}

/// The expected times of both ways, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WayTimes {
    /// Of the phases.
    pub phased: u64,
    /// Of the best algorithm without phases, and that algorithm.
    pub whole: (Choice, u64),
}

impl WayTimes {
    /// Those of a call; see [`Ways::way`].
    ///
    /// # Errors
    ///
    /// If no algorithm suits.
    pub fn of(
        call: &Call,
        nodes: &Arc<NodeMap>,
        tuning: &Tuning,
        mut choose: impl FnMut(&Call, Placement, Choosable) -> Result<Choice, Unsuited>,
    ) -> Result<Self, Unsuited> {
        let length = 1 << (call.bytes() | 1).ilog2();
        let call = Call {
            count: match call.count {
                0 => 0,
                _ => length / call.element_bytes.max(1),
            },
            ..*call
        };
        let copies = copies_time(&call, nodes, tuning);
        let (choice, whole) = whole(&call, nodes, tuning, &mut choose)?;
        Ok(WayTimes {
            phased: phases_time(&call, nodes, tuning, &mut choose)?.saturating_add(copies),
            whole: (choice, whole.saturating_add(copies)),
        })
    }

    /// The way that takes less. Phases are known exactly, and one algorithm as if nodes had one size, so it must take a
    /// tenth less.
    pub fn best(&self) -> Way {
        let (choice, time) = self.whole;
        match time < self.phased - self.phased / 10 {
            true => Way::InSlots(choice),
            false => Way::Phased,
        }
    }
}

/// The expected time of the phases of the leader of the largest node, in picoseconds. Signals inside a node count
/// as two messages.
fn phases_time(
    call: &Call,
    nodes: &Arc<NodeMap>,
    tuning: &Tuning,
    mut choose: impl FnMut(&Call, Placement, Choosable) -> Result<Choice, Unsuited>,
) -> Result<u64, Unsuited> {
    let rank = nodes.ranks_on(nodes.largest())[0];
    let root = if call.collective.has_root() { rank } else { 0 };
    let call = Call {
        rank,
        root,
        ..*call
    };
    let by = |call: &Call, place| choose(call, place, Choosable::All);
    let plan = PhasedPlan::new(&call, nodes, by)?;
    let node = tuning.machine.node;
    let signals = 2 * (node.send + node.latency + node.recv);
    let times = plan.phases().map(|(ranks, work)| match work {
        PhaseWork::Collective(call, choice) => phase_time(ranks, &call, &choice, tuning),
        PhaseWork::SignalsUp | PhaseWork::SignalsDown => signals,
    });
    Ok(times.sum())
}

/// Chooses for the call of a group, which may be a phase, by tables that are made for it alone. `shares` says whether the
/// ranks of a node can do it over shared memory.
///
/// # Errors
///
/// If no algorithm suits.
pub fn choose_phase(
    call: &Call,
    tuning: Tuning,
    shares: fn(&Call) -> bool,
) -> Result<Choice, Unsuited> {
    let call = match shares(call) {
        true => *call,
        false => call.with_shared_memory(SharedMemory::None),
    };
    choose(&call, &tuning)
}

/// The expected time of a phase in picoseconds.
pub fn phase_time(ranks: PhaseRanks, call: &Call, choice: &Choice, tuning: &Tuning) -> u64 {
    let per_node = match ranks {
        PhaseRanks::OfNode(_) => call.size,
        PhaseRanks::Leaders { .. } | PhaseRanks::Slots => 1,
    };
    let place = Placement::new(Order::Block, call.size, per_node);
    let model = tuning.clone().placed(place).model(call.size);
    choice.algorithm.cost(call, &choice.parameters, &model)
}

/// The algorithm without phases that takes least for all ranks in the order of slots, and its expected time.
///
/// Nodes look to it like ones of one size: where they are almost alike, few messages go elsewhere than the model thinks.
fn whole(
    call: &Call,
    nodes: &NodeMap,
    tuning: &Tuning,
    mut choose: impl FnMut(&Call, Placement, Choosable) -> Result<Choice, Unsuited>,
) -> Result<(Choice, u64), Unsuited> {
    let call = call.with_shared_memory(SharedMemory::None);
    let size = nodes.size();
    let place = Placement::new(Order::Block, size, size.div_ceil(nodes.count()));
    let choice = choose(&call, place, Choosable::WithoutNodes)?;
    let model = tuning.clone().placed(place).model(size);
    let time = choice.algorithm.cost(&call, &choice.parameters, &model);
    Ok((choice, time))
}

/// The expected time of putting blocks in place, in picoseconds.
fn copies_time(call: &Call, nodes: &NodeMap, tuning: &Tuning) -> u64 {
    let has_copies = call.collective == Collective::Allgather && !nodes.is_in_order();
    let bytes = u64::from(nodes.size()).saturating_mul(call.bytes());
    if has_copies {
        bytes.saturating_mul(tuning.machine.copy())
    } else {
        0
    }
}
