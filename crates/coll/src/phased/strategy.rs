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
pub enum Strategy {
    /// In phases.
    Phased,
    /// By one algorithm without phases for all ranks in the order of slots.
    InSlots(Choice),
}

/// All that a decision depends on: a call up to the power of two of its length, and the shape of the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Case {
    collective: Collective,
    commutative: bool,
    exact: bool,
    shared_memory: SharedMemory,
    element_bytes: u64,
    /// The binary digits of the number of elements.
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
            element_bytes: call.element_bytes,
            digits: u64::BITS - call.count.leading_zeros(),
            size: nodes.size(),
            nodes: nodes.count(),
            most: nodes.most(),
            is_in_order: nodes.is_in_order(),
        }
    }

    /// The shortest call of the case.
    fn shortest(&self, call: &Call) -> Call {
        let count = match self.digits {
            0 => 0,
            digits => 1 << (digits - 1),
        };
        Call { count, ..*call }
    }
}

/// Decisions that were made before.
#[derive(Clone, Debug, Default)]
pub struct Strategies(Vec<(Case, Strategy)>);

impl Strategies {
    /// No decisions.
    pub const fn new() -> Self {
        Strategies(Vec::new())
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
    pub fn strategy(
        &mut self,
        call: &Call,
        nodes: &Arc<NodeMap>,
        tuning: &Tuning,
        choose: impl FnMut(&Call, Placement, Choosable) -> Result<Choice, Unsuited>,
    ) -> Result<Strategy, Unsuited> {
        let case = Case::of(call, nodes);
        let at = match self.0.iter().position(|(known, _)| *known == case) {
            Some(at) => at,
            None => {
                // Decided for one length, so that it does not matter which call comes first.
                let strategy =
                    StrategyTimes::of(&case.shortest(call), nodes, tuning, choose)?.best();
                self.0.push((case, strategy));
                self.0.len() - 1
            }
        };
        // A call is often followed by calls of its kind.
        self.0.swap(0, at);
        Ok(self.0[0].1)
    }
}

/// The expected times of both strategies, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrategyTimes {
    /// Of the phases.
    pub phased: u64,
    /// Of the best algorithm without phases, and that algorithm.
    pub whole: (Choice, u64),
}

impl StrategyTimes {
    /// Those of a call; see [`Strategies::strategy`].
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
        let copies = copies_time(call, nodes, tuning);
        let (choice, whole) = whole(call, nodes, tuning, &mut choose)?;
        Ok(StrategyTimes {
            phased: phases_time(call, nodes, tuning, &mut choose)?.saturating_add(copies),
            whole: (choice, whole.saturating_add(copies)),
        })
    }

    /// The strategy that takes less. Phases are known exactly, and one algorithm as if nodes had one size, so it must take a
    /// tenth less.
    pub fn best(&self) -> Strategy {
        let (choice, time) = self.whole;
        match time < self.phased - self.phased / 10 {
            true => Strategy::InSlots(choice),
            false => Strategy::Phased,
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
    Ok(times.fold(0, u64::saturating_add))
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
    let has_copies = matches!(
        call.collective,
        Collective::Allgather | Collective::Gather | Collective::Scatter
    ) && !nodes.is_in_order();
    let bytes = u64::from(nodes.size()).saturating_mul(call.bytes());
    if has_copies {
        bytes.saturating_mul(tuning.machine.copy())
    } else {
        0
    }
}
