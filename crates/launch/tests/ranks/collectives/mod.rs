//! Collectives with real ranks, against what one process computes.

mod algorithms;
mod blocks;
mod exchanges;
mod kill;
mod mistakes;
mod neighbors;
mod persistent;
mod reductions;
mod started;

/// The value of element `i` on `rank`.
fn value(rank: usize, i: usize) -> u64 {
    (rank as u64 + 3)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(i as u32 % 64)
}

fn values(rank: usize, len: usize) -> Vec<u64> {
    (0..len).map(|i| value(rank, i)).collect()
}

/// What `combine` makes of all ranks' element `i`, in the order of ranks.
fn fold(size: usize, i: usize, combine: impl Fn(u64, u64) -> u64) -> u64 {
    (1..size)
        .map(|rank| value(rank, i))
        .fold(value(0, i), combine)
}

/// The composition of x -> a x + b: associative, and not commutative.
fn compose([a, b]: [u32; 2], [c, d]: [u32; 2]) -> [u32; 2] {
    [a.wrapping_mul(c), a.wrapping_mul(d).wrapping_add(b)]
}
