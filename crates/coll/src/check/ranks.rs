//! Lists and sets of ranks, stored as intervals: the contributors of a value, or the ranks known to have
//! entered a barrier.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

/// A list of ranks, stored as intervals. Adjacent intervals are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ranks {
    /// The first interval; empty if there is none. It is stored apart because most lists have no other.
    first: Range<u32>,
    rest: Vec<Range<u32>>,
}

impl Ranks {
    /// No rank.
    pub const fn new() -> Self {
        Ranks {
            first: 0..0,
            rest: Vec::new(),
        }
    }

    /// The intervals, in order.
    fn intervals(&self) -> impl Iterator<Item = &Range<u32>> {
        let first = (!self.first.is_empty()).then_some(&self.first);
        first.into_iter().chain(&self.rest)
    }

    /// One rank.
    pub fn one(rank: u32) -> Self {
        Ranks::range(rank..rank + 1)
    }

    /// Consecutive ranks in ascending order.
    pub fn range(ranks: Range<u32>) -> Self {
        Ranks {
            first: if ranks.is_empty() { 0..0 } else { ranks },
            rest: Vec::new(),
        }
    }

    /// The set with `by` added to each rank, modulo `size`.
    pub(super) fn rotated(&self, by: u32, size: u32) -> Ranks {
        let (by, size) = (u64::from(by), u64::from(size));
        let pieces = self.intervals().flat_map(|interval| {
            let (start, end) = (u64::from(interval.start) + by, u64::from(interval.end) + by);
            let low = start.min(size)..end.min(size);
            let high = start.max(size) - size..end.max(size) - size;
            [low, high].map(|piece| piece.start as u32..piece.end as u32)
        });
        let mut pieces: Vec<_> = pieces.filter(|piece| !piece.is_empty()).collect();
        pieces.sort_unstable_by_key(|piece| piece.start);
        let mut rotated = Ranks::new();
        pieces.into_iter().for_each(|piece| rotated.append(piece));
        rotated
    }

    /// The ranks, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.intervals().cloned().flatten()
    }

    /// The first rank of the list.
    pub fn first(&self) -> Option<u32> {
        self.intervals().next().map(|interval| interval.start)
    }

    /// Whether no rank is in both lists.
    pub fn is_disjoint(&self, other: &Ranks) -> bool {
        let apart = |a: &Range<u32>, b: &Range<u32>| a.end <= b.start || b.end <= a.start;
        if !(self.is_ascending() && other.is_ascending()) {
            let mut ones = self.intervals();
            return ones.all(|a| other.intervals().all(|b| apart(a, b)));
        }
        let (mut ones, mut others) = (self.intervals(), other.intervals());
        let mut pair = ones.next().zip(others.next());
        while let Some((a, b)) = pair {
            pair = match apart(a, b) {
                false => return false,
                true if a.start < b.start => ones.next().zip(Some(b)),
                true => Some(a).zip(others.next()),
            };
        }
        true
    }

    fn is_ascending(&self) -> bool {
        self.rest.is_empty() || self.intervals().is_sorted_by(|a, b| a.end <= b.start)
    }

    /// This list followed by `others`.
    pub fn then(&self, others: &Ranks) -> Ranks {
        let mut all = self.clone();
        for interval in others.intervals() {
            all.append(interval.clone());
        }
        all
    }

    /// The union of two sets, in ascending order. Both must be ascending.
    pub fn union(&self, other: &Ranks) -> Ranks {
        let mut all = Ranks::new();
        all.rest.reserve(self.rest.len() + other.rest.len());
        let (mut ones, mut others) = (self.intervals().peekable(), other.intervals().peekable());
        loop {
            let next = match (ones.peek(), others.peek()) {
                (Some(a), Some(b)) if b.start < a.start => others.next(),
                (Some(_), _) => ones.next(),
                (None, _) => others.next(),
            };
            match next {
                Some(interval) => all.append(interval.clone()),
                None => return all,
            }
        }
    }

    /// Appends an interval. If it starts within or at the end of the last interval, it extends that one.
    fn append(&mut self, interval: Range<u32>) {
        let last = self.rest.last_mut().unwrap_or(&mut self.first);
        match () {
            () if last.start >= last.end => *last = interval,
            () if (last.start..=last.end).contains(&interval.start) => {
                last.end = last.end.max(interval.end);
            }
            () => self.rest.push(interval),
        }
    }
}

impl fmt::Display for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ranks")?;
        for interval in self.intervals() {
            match interval.end - interval.start {
                1 => write!(f, " {}", interval.start)?,
                _ => write!(f, " {}-{}", interval.start, interval.end - 1)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Ranks;

    #[test]
    fn order_counts_in_lists_and_not_in_sets() {
        let (low, high) = (Ranks::range(0..3), Ranks::range(3..5));
        assert_eq!(low.then(&high), Ranks::range(0..5));
        assert_ne!(high.then(&low), Ranks::range(0..5));
        assert_eq!(high.union(&low), Ranks::range(0..5));
        assert_eq!(low.union(&Ranks::range(1..7)), Ranks::range(0..7));
        assert_eq!(
            low.union(&Ranks::one(9)).union(&Ranks::range(3..9)),
            Ranks::range(0..10)
        );
        assert!(low.is_disjoint(&high) && !low.is_disjoint(&Ranks::one(2)));
        let even = (0..5).map(|rank| Ranks::one(2 * rank));
        let even = even.fold(Ranks::new(), |all, one| all.union(&one));
        assert!((0..10).all(|rank| even.is_disjoint(&Ranks::one(rank)) == (rank % 2 == 1)));
        let falling = Ranks::one(8).then(&Ranks::one(2));
        assert!(!falling.is_disjoint(&even) && falling.is_disjoint(&Ranks::range(3..8)));
    }
}
