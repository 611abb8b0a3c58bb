//! What a plan may read besides itself: the caller's arrays and lengths learned on the way.

use heapless::LinearMap;

/// The most lengths that one run of a plan may learn.
pub const SLOTS: usize = 64;

/// The caller's arrays; empty where the collective has none.
///
/// The driver knows where blocks lie in memory. Plans name them by
/// [`Buf::InBlock`](super::Buf::InBlock) and [`Buf::OutBlock`](super::Buf::OutBlock), so there is no array
/// of displacements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallArrays<'a> {
    /// Elements of each block of `In`: scatterv at the root, alltoallv, reduce_scatter and
    /// neighbor_alltoallv.
    pub sends: &'a [u64],
    /// Elements of each block of `Out`: gatherv at the root, allgatherv, alltoallv,
    /// neighbor_allgatherv and neighbor_alltoallv.
    pub recvs: &'a [u64],
    /// The peers from which a neighbourhood collective receives, in the caller's order. A peer may appear
    /// more than once; [`PROC_NULL`](crate::call::PROC_NULL) sends nothing.
    pub sources: &'a [u32],
    /// The peers to which a neighbourhood collective sends, likewise.
    pub destinations: &'a [u32],
}

impl CallArrays<'_> {
    /// No arrays.
    pub const NOTHING: CallArrays<'static> = CallArrays {
        sends: &[],
        recvs: &[],
        sources: &[],
        destinations: &[],
    };
}

/// The lengths that one run of a plan has learned, by slot; the plan numbers the slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LearnedLengths(LinearMap<u8, u64, SLOTS>);

impl LearnedLengths {
    /// No lengths.
    pub const fn new() -> Self {
        LearnedLengths(LinearMap::new())
    }

    /// The value of a slot, once it is known.
    pub fn get(&self, slot: u8) -> Option<u64> {
        self.0.get(&slot).copied()
    }

    /// Sets a slot; `false` when there is no room for another one.
    pub fn set(&mut self, slot: u8, value: u64) -> bool {
        self.0.insert(slot, value).is_ok()
    }

    /// Clears all slots.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// What a plan reads besides itself, so that it borrows nothing.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PlanInputs<'a> {
    /// The caller's arrays.
    pub arrays: CallArrays<'a>,
    /// The lengths that [`Act::Size`](super::Act::Size) and [`Act::Learn`](super::Act::Learn) have brought.
    pub learned: &'a LearnedLengths,
}

impl PlanInputs<'static> {
    /// No arrays and no lengths.
    pub const NOTHING: PlanInputs<'static> = PlanInputs {
        arrays: CallArrays::NOTHING,
        learned: const { &LearnedLengths::new() },
    };
}

impl<'a> PlanInputs<'a> {
    /// The caller's arrays and the lengths learned so far.
    pub const fn new(arrays: CallArrays<'a>, learned: &'a LearnedLengths) -> Self {
        PlanInputs { arrays, learned }
    }
}
