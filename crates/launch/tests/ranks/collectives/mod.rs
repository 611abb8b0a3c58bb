//! Tests of collectives with real ranks; a test computes the expected results in one process.

mod algorithms;
mod blocks;
mod by_value;
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

/// The names, as settings have them, of all algorithms of a collective in the catalog, and `auto`.
fn names(collective: Collective) -> Vec<&'static str> {
    let all = collective.algorithms().map(|algorithm| algorithm.name());
    all.chain(["auto"]).collect()
}

/// Pairs of algorithm names of two collectives; the shorter list is repeated.
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

/// Element `i` of all ranks, combined by `combine` in the order of ranks.
fn fold(size: usize, i: usize, combine: impl Fn(u64, u64) -> u64) -> u64 {
    (1..size)
        .map(|rank| value(rank, i))
        .fold(value(0, i), combine)
}

/// The composition of functions x -> a x + b: an associative operation that does not commute.
fn compose([a, b]: [u32; 2], [c, d]: [u32; 2]) -> [u32; 2] {
    [a.wrapping_mul(c), a.wrapping_mul(d).wrapping_add(b)]
}
