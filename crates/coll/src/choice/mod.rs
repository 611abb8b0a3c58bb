//! The choice of an algorithm for a call: a pure function of the call and the tuning, with the same
//! result on every rank.
//!
//! Every supported algorithm is a candidate with each of its parameters, and the one with the least
//! [cost](crate::cost) is chosen; for ranks in cyclic placement [decision trees](cyclic) choose, which are learned
//! from simulations. This is done once for all sizes: a [`ChoiceTable`] lists from which size on a candidate is used.
//! Its inputs are equal on all ranks: the group, the machine, the properties of the operation, and only such lengths
//! as all ranks know.

mod candidates;
pub mod cyclic;
#[cfg(feature = "json")]
mod json;
mod reproducible;
mod rules;
mod table;
#[cfg(feature = "alloc")]
mod tables;
#[cfg(test)]
mod tests;

#[cfg(feature = "json")]
pub use json::{RulesError, read_rules};
pub use reproducible::Reproducible;
pub use rules::{RULES, Rule, Rules};
pub use table::{ChoiceStep, ChoiceTable, STEPS};
#[cfg(feature = "alloc")]
pub use tables::ChoiceTables;

use self::candidates::{Candidates, candidates};
use crate::call::{Algorithm, Call, Collective, Parameters, Stage};
use crate::catalog::{AnyPlan, Unsuited};
use crate::cost::Model;
use crate::machine::Machine;
use crate::placement::{Order, Placement};

/// The inputs of choice and plans besides the call. All ranks of a group must use the same.
///
/// The default values are those of the rows in [`SETTINGS`](crate::settings::SETTINGS).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Algorithms that the user requires for all sizes.
    pub forced: Forced,
    /// Algorithms that the user requires for some sizes.
    pub rules: Rules,
    /// The costs of messages, reductions and copies.
    pub machine: Machine,
    /// Ranks per node; 0 if all are on one node.
    pub per_node: u32,
    /// The order in which ranks are placed on nodes.
    pub order: Order,
    /// Whether a rank's processor copies messages from its own node; see [`Model::serial_copies`].
    pub serial_copies: bool,
    /// Whether messages of at most one word are flags; see [`Model::flags`].
    pub flags: bool,
    /// The most bytes of a message of the allreduce ring, which has up to 64 messages per chunk.
    pub ring_segment_bytes: u64,
    /// The longest block, in bytes, that gatherv sends through its tree.
    pub gatherv_short_bytes: u64,
    /// The longest block, in bytes, that scatterv sends through its tree.
    pub scatterv_short_bytes: u64,
    /// When reductions that round must give the same bits.
    pub reproducible: Reproducible,
    /// Which algorithms are candidates, unless the user requires one.
    pub choosable: Choosable,
}

/// Which algorithms are candidates of a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choosable {
    /// All.
    #[default]
    All,
    /// Those without phases [on nodes](crate::catalog::CatalogRow::on_nodes).
    WithoutNodes,
}

impl Tuning {
    /// Whether the user requires an algorithm by messages that suits calls of this length and group; for any
    /// length if [not all ranks know it](Collective::has_known_length). The result is the same on all
    /// ranks.
    ///
    /// # Cost
    ///
    /// One comparison, and a few per rule.
    #[inline]
    pub fn requires_messages(&self, call: &Call) -> bool {
        self.requires(call, Algorithm::is_by_messages)
    }

    /// As [`Tuning::requires_messages`], for an algorithm of any kind.
    #[inline]
    pub fn requires_algorithm(&self, call: &Call) -> bool {
        self.requires(call, |_| true)
    }

    #[inline]
    fn requires(&self, call: &Call, is_meant: fn(Algorithm) -> bool) -> bool {
        let is_required =
            |algorithm: Algorithm| is_meant(algorithm) && algorithm.suits(call).is_ok();
        let by_rule = |rule: &Rule| {
            let (shortest, longest) = rule.lengths();
            rule.covers(call.collective, call.size)
                && (shortest..=longest).contains(&call.bytes())
                && is_required(rule.algorithm)
        };
        let forced = self.forced.get(call.collective);
        forced.is_some_and(is_required) || self.rules.iter().any(by_rule)
    }

    /// The tuning with another placement.
    #[must_use]
    pub fn placed(self, place: Placement) -> Tuning {
        Tuning {
            per_node: place.per_node(),
            order: place.order(),
            ..self
        }
    }

    /// The tuning with other candidates; but for all of them, without what the user requires.
    #[must_use]
    pub fn choosing(self, choosable: Choosable) -> Tuning {
        let tuning = Tuning { choosable, ..self };
        match choosable {
            Choosable::All => tuning,
            Choosable::WithoutNodes => Tuning {
                forced: Forced::default(),
                rules: Rules::default(),
                ..tuning
            },
        }
    }

    /// The placement of a group's ranks.
    fn placement(&self, size: u32) -> Placement {
        Placement::or_one_node(self.order, size, self.per_node)
    }

    /// The cost model of a group.
    pub fn model(&self, size: u32) -> Model {
        Model::new(self.machine, self.placement(size))
            .with_serial_copies(self.serial_copies)
            .with_flags(self.flags)
    }

    /// An algorithm with the parameters that the tuning gives it in a group; 0 stands for the algorithm's
    /// default.
    fn choice(&self, algorithm: Algorithm, size: u32) -> Choice {
        let bytes = |own: u64, bytes: u64| if own == 0 { 0 } else { bytes.max(1) };
        let own = algorithm.row().parameters;
        let place = self.placement(size);
        let cutoff = match algorithm.collective() {
            Collective::Scatterv => self.scatterv_short_bytes,
            _ => self.gatherv_short_bytes,
        };
        Choice {
            algorithm,
            parameters: Parameters {
                segment: bytes(own.segment, self.ring_segment_bytes),
                cutoff: bytes(own.cutoff, cutoff),
                per_node: if own.per_node == 0 {
                    0
                } else {
                    place.per_node()
                },
                order: place.order(),
                ..Parameters::NONE
            },
        }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            forced: Forced::default(),
            rules: Rules::default(),
            machine: Machine::ZEN4,
            per_node: 0,
            order: Order::Block,
            serial_copies: true,
            flags: false,
            ring_segment_bytes: 1 << 20,
            gatherv_short_bytes: 16 << 10,
            scatterv_short_bytes: 16 << 10,
            reproducible: Reproducible::Off,
            choosable: Choosable::All,
        }
    }
}

/// The algorithms that the user requires, at most one per collective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forced([Option<Algorithm>; Collective::ALL.len()]);

impl Forced {
    /// The required algorithm of a collective.
    pub const fn get(&self, collective: Collective) -> Option<Algorithm> {
        self.0[collective as usize]
    }

    /// Requires an algorithm, replacing another one of its collective.
    pub const fn set(&mut self, algorithm: Algorithm) {
        self.0[algorithm.collective() as usize] = Some(algorithm);
    }

    /// Removes the requirement for a collective.
    pub const fn unset(&mut self, collective: Collective) {
        self.0[collective as usize] = None;
    }
}

/// An algorithm and its parameters, which with a call determine a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Its parameters; 0 stands for the default.
    pub parameters: Parameters,
}

impl Choice {
    /// One rank's plan for the call.
    ///
    /// # Errors
    ///
    /// If the algorithm does not support the call.
    pub fn plan(&self, call: &Call) -> Result<AnyPlan, Unsuited> {
        self.algorithm.plan(call, &self.parameters)
    }

    /// The choice as a stage of another algorithm.
    const fn as_stage(&self) -> Stage {
        Stage::with(self.algorithm, &self.parameters)
    }
}

/// Chooses the algorithm for a call.
///
/// The algorithm that the user [requires](Tuning::forced) is chosen if it supports the call: a ring, for
/// instance, does not support an operation that does not commute.
///
/// # Errors
///
/// If no algorithm supports the call, or its rank or root is not in the group.
///
/// # Cost
///
/// It makes a [`ChoiceTable`] and reads it once. To choose often, keep the table, or
#[cfg_attr(feature = "alloc", doc = "[`ChoiceTables`].")]
#[cfg_attr(not(feature = "alloc"), doc = "several.")]
pub fn choose(call: &Call, tuning: &Tuning) -> Result<Choice, Unsuited> {
    ChoiceTable::new(call, tuning).map(|table| *table.choice(call.bytes()))
}

/// The candidates for a call, each with its expected time in picoseconds, in the order of the catalog.
///
/// # Errors
///
/// As [`choose`].
pub fn expected(
    call: &Call,
    tuning: &Tuning,
) -> Result<impl Iterator<Item = (Choice, u64)>, Unsuited> {
    let model = tuning.model(call.size);
    let call = *call;
    let cost = move |choice: Choice| {
        let time = choice.algorithm.cost(&call, &choice.parameters, &model);
        (choice, time)
    };
    let mut all = Candidates::new();
    candidates(&call, tuning, &mut all, table::staged)?;
    Ok(all.into_iter().map(cost))
}
