//! Which collective a call is, and the mark by which ranks recognise the same call: [`CallKind`].

/// The collective of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// The root's vector to all.
    Bcast = 1,
    /// A block of the root's to each.
    Scatter,
    /// A block of each to the root.
    Gather,
    /// A block of each to all.
    Allgather,
    /// A block of each to each.
    Alltoall,
    /// The combined vectors to the root.
    Reduce,
    /// The combined vectors to all.
    Allreduce,
    /// A block of the combined vectors to each.
    ReduceScatter,
    /// No bytes.
    Barrier,
}

impl CallKind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Bcast,
        Self::Scatter,
        Self::Gather,
        Self::Allgather,
        Self::Alltoall,
        Self::Reduce,
        Self::Allreduce,
        Self::ReduceScatter,
        Self::Barrier,
    ];

    /// MPI's name, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bcast => "bcast",
            Self::Scatter => "scatter",
            Self::Gather => "gather",
            Self::Allgather => "allgather",
            Self::Alltoall => "alltoall",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::ReduceScatter => "reduce_scatter_block",
            Self::Barrier => "barrier",
        }
    }
}

/// One more than the highest number of a kind that moves bytes.
pub(super) const CALL_KINDS: usize = CallKind::ReduceScatter as usize + 1;

/// The mark of a call of `kind` with these numbers, equal on all ranks of the call.
pub(super) const fn mark(kind: CallKind, root: usize, len: u64) -> u16 {
    // Multiplication spreads differences over the upper bits (Knuth, TAOCP 3, section 6.4).
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let call = (kind as u64) << 8 | root as u64;
    let mixed = (len ^ call.wrapping_mul(SPREAD)).wrapping_mul(SPREAD);
    (mixed >> (u64::BITS - u16::BITS)) as u16
}
