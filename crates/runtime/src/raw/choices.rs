//! What serves the collectives of an endpoint's communicators.

use oxmpi_coll::catalog::{Call, Unsuited};
use oxmpi_coll::choice::{Choice, Tables, Tuning};
use oxmpi_coll::placement::Placement;

/// The tables of choices, each made when the first call of its kind and of ranks so placed comes.
pub(super) struct Choices {
    tuning: Tuning,
    /// Placements and their tables: communicators of one size and placement share theirs.
    by_place: Vec<(Placement, Tables)>,
}

impl Choices {
    pub(super) const fn new(tuning: Tuning) -> Self {
        Self {
            tuning,
            by_place: Vec::new(),
        }
    }

    /// What serves the call among ranks that are placed so.
    ///
    /// # Errors
    /// When nothing does, or the call itself is wrong.
    ///
    /// # Cost
    /// A few compares, and one for each placement that was asked for before.
    #[inline]
    pub(super) fn choose(&mut self, call: &Call, place: Placement) -> Result<Choice, Unsuited> {
        let known = self.by_place.iter().position(|(known, _)| *known == place);
        let at = known.unwrap_or_else(|| self.add(place));
        self.by_place[at].1.choose(call).copied()
    }

    #[cold]
    fn add(&mut self, place: Placement) -> usize {
        let tuning = self.tuning.clone().placed(place);
        self.by_place.push((place, Tables::new(tuning)));
        self.by_place.len() - 1
    }
}
