//! Rotating roots: repetition i has root i mod the number of ranks.

/// The roots of the repetitions from number `turn` on.
pub(super) fn from(turn: usize, ranks: usize) -> impl Iterator<Item = usize> {
    (0..ranks).cycle().skip(turn % ranks)
}

/// The root of the last repetition before `turn`; before the first, the first one's root.
pub(super) fn last(ranks: usize, turn: usize) -> usize {
    turn.saturating_sub(1) % ranks
}

/// The last repetition before `turn` whose root was `rank`.
pub(super) fn last_of(rank: usize, ranks: usize, turn: usize) -> Option<usize> {
    let last = turn.checked_sub(1)?;
    let since = last.checked_sub(rank)? % ranks;
    Some(last - since)
}
