//! Checks the data after the accesses of `rma`.

use super::content;

/// What is left on a rank after all accesses.
pub(crate) struct Outcome<'a> {
    pub(crate) rank: usize,
    pub(crate) size: usize,
    pub(crate) memory: &'a [u8],
    pub(crate) landing: &'a [u8],
    pub(crate) total: u64,
}

pub(crate) fn is_put(outcome: &Outcome<'_>) -> bool {
    outcome.rank == 0 || content::are_right(outcome.memory, 0)
}

pub(crate) fn is_got(outcome: &Outcome<'_>) -> bool {
    outcome.rank == 1 || content::are_right(outcome.landing, 1)
}

pub(crate) fn is_summed(outcome: &Outcome<'_>) -> bool {
    let sum = (outcome.total as f64).to_ne_bytes();
    outcome.rank == 0 || outcome.memory.as_chunks().0.iter().all(|&it| it == sum)
}

pub(crate) fn is_counted(outcome: &Outcome<'_>) -> bool {
    outcome.rank == 1 || outcome.landing == (outcome.total - 1).to_ne_bytes()
}

pub(crate) fn is_zero(outcome: &Outcome<'_>) -> bool {
    outcome.rank == 1 || outcome.landing == [0; 8]
}

pub(crate) fn is_last(outcome: &Outcome<'_>) -> bool {
    outcome.memory == (outcome.total / 2).to_ne_bytes()
}

/// Whether the rank that is `after` places after this one has put.
fn has_put(outcome: &Outcome<'_>, after: usize) -> bool {
    let (bytes, other) = (
        outcome.memory.len() / outcome.size,
        (outcome.rank + after) % outcome.size,
    );
    content::are_right(&outcome.memory[bytes * other..][..bytes], 0)
}

pub(crate) fn is_put_by_all(outcome: &Outcome<'_>) -> bool {
    (1..outcome.size).all(|after| has_put(outcome, after))
}

pub(crate) fn is_exchanged(outcome: &Outcome<'_>) -> bool {
    has_put(outcome, 1) && has_put(outcome, outcome.size - 1)
}
