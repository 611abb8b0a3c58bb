//! What a plan may look at besides itself.

use heapless::LinearMap;

/// The most lengths that one run of a plan learns.
pub const SLOTS: usize = 64;

/// The caller's arrays. Those that the collective does not have are empty.
///
/// Where blocks lie in memory is the driver's business: plans name them by
/// [`Buf::InBlock`](super::Buf::InBlock) and [`Buf::OutBlock`](super::Buf::OutBlock), so no array of
/// displacements is here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallArrays<'a> {
    /// Elements of each block of `In`: scatterv at the root, alltoallv, reduce_scatter and
    /// neighbor_alltoallv.
    pub sends: &'a [u64],
    /// Elements of each block of `Out`: gatherv at the root, allgatherv, alltoallv,
    /// neighbor_allgatherv and neighbor_alltoallv.
    pub recvs: &'a [u64],
    /// The peers from which a neighbourhood collective receives, in the caller's order. A peer may
    /// stand there more than once; [`PROC_NULL`](crate::call::PROC_NULL) sends nothing.
    pub sources: &'a [u32],
    /// The peers to which it sends.
    pub destinations: &'a [u32],
}

impl CallArrays<'_> {
    /// No array.
    pub const NOTHING: CallArrays<'static> = CallArrays {
        sends: &[],
        recvs: &[],
        sources: &[],
        destinations: &[],
    };
}

/// The lengths that one run of a plan has learned, by slots that the plan numbers itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LearnedLengths(LinearMap<u8, u64, SLOTS>);

impl LearnedLengths {
    /// Nothing.
    pub const fn new() -> Self {
        LearnedLengths(LinearMap::new())
    }

    /// What the slot holds, once it is known.
    pub fn get(&self, slot: u8) -> Option<u64> {
        self.0.get(&slot).copied()
    }

    /// Fills a slot; `false` when there is no room for another one.
    pub fn set(&mut self, slot: u8, value: u64) -> bool {
        self.0.insert(slot, value).is_ok()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// What a plan may look at besides itself, so that it holds no borrow.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PlanInputs<'a> {
    /// The caller's arrays.
    pub arrays: CallArrays<'a>,
    /// What [`Act::Size`](super::Act::Size) and [`Act::Learn`](super::Act::Learn) have brought.
    pub learned: &'a LearnedLengths,
}

impl PlanInputs<'static> {
    /// No array and no length.
    pub const NOTHING: PlanInputs<'static> = PlanInputs {
        arrays: CallArrays::NOTHING,
        learned: const { &LearnedLengths::new() },
    };
}

impl<'a> PlanInputs<'a> {
    /// Knows the caller's arrays and what was learned.
    pub const fn new(arrays: CallArrays<'a>, learned: &'a LearnedLengths) -> Self {
        PlanInputs { arrays, learned }
    }
}
