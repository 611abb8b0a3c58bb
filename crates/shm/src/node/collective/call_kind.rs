//! Which collective a call is, and the mark by which ranks recognise the same call: [`CallKind`].

/// The collective of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallKind {
    Bcast = 1,
    Scatter,
    Gather,
    Allgather,
    Alltoall,
    Reduce,
    Allreduce,
    ReduceScatter,
    Barrier,
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
