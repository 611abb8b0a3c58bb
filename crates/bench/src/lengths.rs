//! The message lengths of a run.

use alloc::vec::Vec;
use core::iter::once;

/// The message lengths of a run, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lengths {
    /// 0, then powers of two.
    Powers {
        /// The least length except 0, as a power of two (MINMSGLOG).
        min_log: u32,
        /// The largest length, as a power of two (MAXMSGLOG).
        max_log: u32,
    },
    /// A list of lengths, in this order (`-msglen`).
    Listed(Vec<usize>),
}

impl Default for Lengths {
    /// 0, 1, 2, 4 ... 4 MiB.
    fn default() -> Self {
        Lengths::Powers {
            min_log: 0,
            max_log: 22,
        }
    }
}

impl Lengths {
    /// The lengths that are 0 or hold at least one whole item of `item` bytes.
    pub fn of(&self, item: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        let (powers, listed) = match self {
            Lengths::Powers { min_log, max_log } => (Some(*min_log..=*max_log), [].as_slice()),
            Lengths::Listed(listed) => (None, listed.as_slice()),
        };
        let powers = powers.into_iter().flat_map(|logs| {
            let lengths = logs.map(|log| 1usize << log);
            once(0).chain(lengths)
        });
        powers
            .chain(listed.iter().copied())
            .filter(move |&bytes| bytes == 0 || bytes >= item)
    }

    /// The largest length in bytes; 0 when there is none.
    pub fn largest(&self) -> usize {
        self.of(1).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Lengths;
    use alloc::vec::Vec;

    fn of(lengths: &Lengths, item: usize) -> Vec<usize> {
        lengths.of(item).collect()
    }

    #[test]
    fn powers_begin_with_nothing_and_hold_whole_items() {
        let powers = Lengths::Powers {
            min_log: 0,
            max_log: 4,
        };
        assert_eq!(of(&powers, 1), [0, 1, 2, 4, 8, 16]);
        assert_eq!(of(&powers, 4), [0, 4, 8, 16]);
        assert_eq!(powers.largest(), 16);
    }

    #[test]
    fn listed_lengths_keep_their_order() {
        let listed = Lengths::Listed([100, 3, 0, 1000].into());
        assert_eq!(of(&listed, 1), [100, 3, 0, 1000]);
        assert_eq!(of(&listed, 4), [100, 0, 1000]);
        assert_eq!(listed.largest(), 1000);
        assert_eq!(Lengths::Listed(Vec::new()).largest(), 0);
    }
}
