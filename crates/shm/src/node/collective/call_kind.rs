//! Which collective a call is, and the mark by which ranks recognise the same call: [`CallKind`].

/// What a call is, so that ranks find out when theirs differ.
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
}

/// Numbers that kinds have.
pub(super) const CALL_KINDS: usize = CallKind::ReduceScatter as usize + 1;

/// The mark of a call of `kind` with these numbers.
pub(super) const fn mark(kind: CallKind, root: usize, len: u64) -> u16 {
    // Multiplication spreads what differs over the upper bits (Knuth, TAOCP 3, section 6.4).
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let call = (kind as u64) << 8 | root as u64;
    let mixed = (len ^ call.wrapping_mul(SPREAD)).wrapping_mul(SPREAD);
    (mixed >> (u64::BITS - u16::BITS)) as u16
}
