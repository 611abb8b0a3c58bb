//! Which algorithm serves a call: a pure function of the call and the tuning, the same on every
//! rank.
//!
//! Every algorithm that suits is a candidate, with each of its parameters, and what it
//! [costs](crate::cost) decides. That is done once for all sizes: a [`ChoiceTable`] says which candidate
//! serves from which size on. All that goes into it is known to every rank alike: the group, the
//! machine, the properties of the operation; of lengths those that all ranks are given.

mod candidates;
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
pub use json::{BadRules, read_rules};
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

/// What choice and plans depend on besides the call. All ranks of a group must use the same.
///
/// The default values are those of the rows in [`SETTINGS`](crate::settings::SETTINGS).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// What the user asks for on all sizes.
    pub forced: Forced,
    /// What the user asks for on some sizes.
    pub rules: Rules,
    /// What messages, reductions and copies cost.
    pub machine: Machine,
    /// Ranks of a node; 0: all are on one.
    pub per_node: u32,
    /// In which order ranks are on nodes.
    pub order: Order,
    /// Whether a rank's processor copies what comes from its node; see [`Model::serial_copies`].
    pub serial_copies: bool,
    /// Whether messages of at most one word are flags; see [`Model::flags`].
    pub flags: bool,
    /// Messages of the ring carry at most this many bytes, up to 64 messages for a chunk.
    pub ring_segment_bytes: u64,
    /// Gatherv sends blocks of at most this many bytes through its tree.
    pub gatherv_short_bytes: u64,
    /// Scatterv sends blocks of at most this many bytes through its tree.
    pub scatterv_short_bytes: u64,
    /// When results of reductions that round have the same bits.
    pub reproducible: Reproducible,
}

impl Tuning {
    /// Whether the user asks for an algorithm by messages for calls of this length and group; where [not all
    /// ranks know the length](Collective::has_known_length), for any. All ranks find the same.
    ///
    /// # Cost
    ///
    /// A compare, and a few for each rule.
    #[inline]
    pub fn asks_for(&self, call: &Call) -> bool {
        let by_rule = |rule: &Rule| {
            let (shortest, longest) = rule.lengths();
            rule.speaks_of(call.collective, call.size)
                && rule.algorithm.is_by_messages()
                && (shortest..=longest).contains(&call.bytes())
        };
        let forced = self.forced.get(call.collective);
        forced.is_some_and(Algorithm::is_by_messages) || self.rules.iter().any(by_rule)
    }

    /// The same among ranks that are placed so.
    #[must_use]
    pub fn placed(self, place: Placement) -> Tuning {
        Tuning {
            per_node: place.per_node(),
            order: place.order(),
            ..self
        }
    }

    /// Where the ranks of a group are.
    fn placement(&self, size: u32) -> Placement {
        Placement::or_one_node(self.order, size, self.per_node)
    }

    /// The costs in a group.
    pub fn model(&self, size: u32) -> Model {
        Model::new(self.machine, self.placement(size))
            .with_serial_copies(self.serial_copies)
            .with_flags(self.flags)
    }

    /// An algorithm with the parameters that the tuning gives it in a group; 0 stands for the
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
        }
    }
}

/// The algorithms that the user asks for, at most one for each collective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forced([Option<Algorithm>; Collective::ALL.len()]);

impl Forced {
    /// The algorithm that is asked for.
    pub const fn get(&self, collective: Collective) -> Option<Algorithm> {
        self.0[collective as usize]
    }

    /// Asks for the algorithm, in place of another one for the same collective.
    pub const fn set(&mut self, algorithm: Algorithm) {
        self.0[algorithm.collective() as usize] = Some(algorithm);
    }

    /// Leaves the collective to the choice again.
    pub const fn unset(&mut self, collective: Collective) {
        self.0[collective as usize] = None;
    }
}

/// An algorithm and its parameters: with the call, all that a plan depends on.
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
    /// When the algorithm does not suit the call.
    pub fn plan(&self, call: &Call) -> Result<AnyPlan, Unsuited> {
        self.algorithm.plan(call, &self.parameters)
    }

    /// The same as a stage of another algorithm.
    const fn as_stage(&self) -> Stage {
        Stage::with(self.algorithm, &self.parameters)
    }
}

/// The algorithm for the call.
///
/// What the user [asks for](Tuning::forced) is taken where it suits the call: an operation that
/// does not commute cannot go around a ring.
///
/// # Errors
///
/// When no algorithm serves the call, or it is wrong: its rank or root is not in the group.
///
/// # Cost
///
/// It makes a [`ChoiceTable`] and reads it once. Who calls often keeps the table, or
#[cfg_attr(feature = "alloc", doc = "[`ChoiceTables`].")]
#[cfg_attr(not(feature = "alloc"), doc = "several.")]
pub fn choose(call: &Call, tuning: &Tuning) -> Result<Choice, Unsuited> {
    ChoiceTable::new(call, tuning).map(|table| *table.choice(call.bytes()))
}

/// What may serve the call, each with the time that it is expected to take, in picoseconds, in the
/// order of the catalog.
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
