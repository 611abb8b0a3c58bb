//! The algorithms that serve the collectives of an endpoint's communicators.

use std::sync::Arc;

use oxmpi_coll::catalog::{Call, Unsuited};
use oxmpi_coll::choice::{Choice, ChoiceTables, Tuning};
use oxmpi_coll::nodes::NodeMap;
use oxmpi_coll::phased::{Way, Ways};
use oxmpi_coll::placement::Placement;

use super::collective::serves_in_phase;

/// Tables of algorithms. Each is made at the first call of its collective by ranks with its placement.
pub(super) struct Choices {
    tuning: Tuning,
    /// Placements and their tables, which communicators of one size and placement share.
    by_placement: Vec<(Placement, ChoiceTables)>,
    /// How calls on nodes of different sizes are served.
    ways: Ways,
}

impl Choices {
    pub(super) const fn new(tuning: Tuning) -> Self {
        Self {
            tuning,
            by_placement: Vec::new(),
            ways: Ways::new(),
        }
    }

    /// The algorithm for a call of ranks with this placement.
    ///
    /// # Errors
    /// When there is none, or the call itself is wrong.
    ///
    /// # Cost
    /// A few compares, and one for each placement that was asked for before.
    #[inline]
    pub(super) fn choose(&mut self, call: &Call, place: Placement) -> Result<Choice, Unsuited> {
        let known = self
            .by_placement
            .iter()
            .position(|(known, _)| *known == place);
        let at = known.unwrap_or_else(|| self.add(place));
        self.by_placement[at].1.choose(call).copied()
    }

    /// Whether the user requires an algorithm for the call.
    pub(super) fn are_required(&self, call: &Call) -> bool {
        self.tuning.requires_algorithm(call)
    }

    /// How a call of ranks on nodes of different sizes is served, if it may go in phases.
    ///
    /// # Errors
    /// When no algorithm suits.
    ///
    /// # Cost
    /// A few compares for each kind of call that was asked for before.
    pub(super) fn way(&mut self, call: &Call, nodes: &Arc<NodeMap>) -> Result<Way, Unsuited> {
        self.ways.way(call, nodes, &self.tuning, serves_in_phase)
    }

    #[cold]
    fn add(&mut self, place: Placement) -> usize {
        let tuning = self.tuning.clone().placed(place);
        self.by_placement.push((place, ChoiceTables::new(tuning)));
        self.by_placement.len() - 1
    }
}
