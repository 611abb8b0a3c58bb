//! The distances of the circulant graph.

use crate::tree::levels;

/// The circulant graph of a number of ranks.
///
/// Distance `k` is the number of ranks divided by `2^(q - k)`, rounded up, where `q` is the number
/// of distances: distance 0 is 1, and each is twice the one before it, or one less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Skips {
    size: u32,
}

impl Skips {
    /// The graph of `size` ranks, at least one.
    pub(crate) const fn new(size: u32) -> Self {
        Skips { size }
    }

    /// The number of distances, `ceil(log2 size)`.
    pub(crate) const fn rounds(&self) -> u32 {
        levels(self.size)
    }

    /// Distance `k`, at most [`Skips::rounds`]; that last one is the size itself.
    pub(crate) const fn skip(&self, k: u32) -> u32 {
        let halvings = self.rounds() - k;
        ((self.size as u64 + (1 << halvings) - 1) >> halvings) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::Skips;

    #[test]
    fn distances_start_at_one_and_double_or_almost() {
        for size in (2..=2000).chain([1_000_003, 1 << 31, u32::MAX]) {
            let skips = Skips::new(size);
            assert_eq!(skips.skip(0), 1);
            assert_eq!(skips.skip(skips.rounds()), size);
            for k in 0..skips.rounds() {
                let (this, next) = (u64::from(skips.skip(k)), u64::from(skips.skip(k + 1)));
                assert!(next == 2 * this || next == 2 * this - 1, "{size} ranks");
            }
        }
    }
}
