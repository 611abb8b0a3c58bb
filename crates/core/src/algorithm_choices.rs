//! The algorithms that serve the collectives of an endpoint's communicators.

use std::sync::Arc;

use oxmpi_coll::catalog::{Call, SharedMemory, Unsuited};
use oxmpi_coll::choice::{Choice, ChoiceTables, Choosable, Tuning};
use oxmpi_coll::nodes::NodeMap;
use oxmpi_coll::phased::{Strategies, Strategy};
use oxmpi_coll::placement::Placement;

use super::node_calls::serves_in_phase;

/// Tables of algorithms. Each is made at the first call of its collective by ranks with its placement.
pub(super) struct Choices {
    tuning: Tuning,
    tables: PlacedTables,
    /// How calls on nodes of different sizes are served.
    strategies: Strategies,
}

impl Choices {
    pub(super) const fn new(tuning: Tuning) -> Self {
        Self {
            tuning,
            tables: PlacedTables(Vec::new()),
            strategies: Strategies::new(),
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
        (self.tables).choose(call, (place, Choosable::All), &self.tuning)
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
    pub(super) fn strategy(
        &mut self,
        call: &Call,
        nodes: &Arc<NodeMap>,
    ) -> Result<Strategy, Unsuited> {
        let Self {
            tuning,
            tables,
            strategies,
        } = self;
        strategies.strategy(call, nodes, tuning, |call, place, choosable| {
            tables.choose_phase(call, (place, choosable), tuning)
        })
    }

    /// The algorithm for the call of a phase, whose ranks are placed so.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn choose_phase(
        &mut self,
        call: &Call,
        place: Placement,
    ) -> Result<Choice, Unsuited> {
        (self.tables).choose_phase(call, (place, Choosable::All), &self.tuning)
    }
}

/// Tables for placements and candidates, which communicators of one size and placement share.
struct PlacedTables(Vec<((Placement, Choosable), ChoiceTables)>);

impl PlacedTables {
    #[inline]
    fn choose(
        &mut self,
        call: &Call,
        of: (Placement, Choosable),
        tuning: &Tuning,
    ) -> Result<Choice, Unsuited> {
        let known = self.0.iter().position(|(known, _)| *known == of);
        let at = known.unwrap_or_else(|| self.add(of, tuning));
        self.0[at].1.choose(call).copied()
    }

    /// Chooses for the call of a phase, which goes over shared memory where a node group serves it.
    fn choose_phase(
        &mut self,
        call: &Call,
        of: (Placement, Choosable),
        tuning: &Tuning,
    ) -> Result<Choice, Unsuited> {
        let by_messages = call.with_shared_memory(SharedMemory::None);
        let shares = serves_in_phase(call);
        self.choose(if shares { call } else { &by_messages }, of, tuning)
    }

    #[cold]
    fn add(&mut self, of: (Placement, Choosable), tuning: &Tuning) -> usize {
        let tuning = tuning.clone().placed(of.0).choosing(of.1);
        self.0.push((of, ChoiceTables::new(tuning)));
        self.0.len() - 1
    }
}
