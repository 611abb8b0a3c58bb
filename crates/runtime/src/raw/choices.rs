//! What serves the collectives of a lane's communicators.

use oxmpi_coll::catalog::{Call, Unsuited};
use oxmpi_coll::choice::{Choice, Tables, Tuning};

/// The tables of choices, each made when the first call of its kind and group size comes.
pub(super) struct Choices {
    tuning: Tuning,
    /// Group sizes and their tables: communicators of one size share theirs.
    by_size: Vec<(u32, Tables)>,
}

impl Choices {
    pub(super) const fn new(tuning: Tuning) -> Self {
        Self {
            tuning,
            by_size: Vec::new(),
        }
    }

    /// What serves the call.
    ///
    /// # Errors
    /// When nothing does, or the call itself is wrong.
    ///
    /// # Cost
    /// A few compares, and one for each size of group that was asked for before.
    #[inline]
    pub(super) fn choose(&mut self, call: &Call) -> Result<Choice, Unsuited> {
        let known = self.by_size.iter().position(|(size, _)| *size == call.size);
        let at = known.unwrap_or_else(|| self.add(call.size));
        self.by_size[at].1.choose(call).copied()
    }

    #[cold]
    fn add(&mut self, size: u32) -> usize {
        self.by_size.push((size, Tables::new(self.tuning.clone())));
        self.by_size.len() - 1
    }
}
