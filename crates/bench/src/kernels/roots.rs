//! Rotating roots: repetition i has root i mod the number of ranks.

/// The roots of the repetitions from number `repetition` on.
pub(super) fn from(repetition: usize, ranks: usize) -> impl Iterator<Item = usize> {
    (0..ranks).cycle().skip(repetition % ranks)
}

/// The root of the last repetition before `repetition`; before the first, the first one's root.
pub(super) fn last(ranks: usize, repetition: usize) -> usize {
    repetition.saturating_sub(1) % ranks
}

/// The last repetition before `repetition` whose root was `rank`.
pub(super) fn last_of(rank: usize, ranks: usize, repetition: usize) -> Option<usize> {
    let last = repetition.checked_sub(1)?;
    let since = last.checked_sub(rank)? % ranks;
    Some(last - since)
}
