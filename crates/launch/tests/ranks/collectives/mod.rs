//! Tests of collectives with real ranks, compared with the result of one process.

mod algorithms;
mod blocks;
mod exchanges;
mod forms;
mod kill;
mod mistakes;
mod neighbors;
mod persistent;
mod placed;
mod reductions;
mod reproducible;
mod started;

use oxmpi_coll::catalog::Collective;

/// The names in settings of all algorithms that the catalog has, and of the choice among them.
fn names(collective: Collective) -> Vec<&'static str> {
    let all = collective.algorithms().map(|algorithm| algorithm.name());
    all.chain(["auto"]).collect()
}

/// All names of two collectives, side by side; the shorter list begins again.
fn pairs(one: Collective, other: Collective) -> Vec<(&'static str, &'static str)> {
    let (ones, others) = (names(one), names(other));
    let most = ones.len().max(others.len());
    let both = ones.into_iter().cycle().zip(others.into_iter().cycle());
    both.take(most).collect()
}

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
