//! The one list of collectives and algorithms. Dispatch, settings, documentation and the checker's tests
//! go by it.

mod row;
mod rows;
mod table;

use core::fmt;

use thiserror::Error;

use crate::cost::Model;

pub use crate::call::{
    Algorithm, Call, Collective, Needs, PROC_NULL, Parameters, SharedMemory, Stage,
};
pub use row::CatalogRow;
pub use table::AnyPlan;

impl Algorithm {
    /// The collective that it implements.
    pub const fn collective(self) -> Collective {
        self.row().collective
    }

    /// The name in settings; unique within the collective.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// What it is good for, in one line.
    pub const fn about(self) -> &'static str {
        self.row().about
    }

    /// Whether it needs nothing but messages, and no intra-node operations.
    pub const fn is_by_messages(self) -> bool {
        matches!(self.row().needs.shared_memory, SharedMemory::None)
    }

    /// The promised number of rounds for a call whose vector has elements for every piece; see
    /// [`CatalogRow::rounds`]. A vector without elements takes none.
    pub fn rounds(self, call: &Call, parameters: &Parameters) -> u64 {
        (self.row().rounds)(call, &parameters.over(self.row()))
    }

    /// The predicted time of a call that suits the algorithm, in picoseconds; see [`CatalogRow::cost`].
    /// All vectors so long that their time would overflow 64 bits cost the same.
    ///
    /// # Cost
    ///
    /// At most logarithmic in the number of ranks; for a k-nomial gather on several nodes of up to 72 ranks,
    /// linear.
    pub fn cost(self, call: &Call, parameters: &Parameters, model: &Model) -> u64 {
        if call.size < 2 {
            return 0;
        }
        let call = Call {
            count: call.count.min(model.longest(call.element_bytes)),
            ..*call
        };
        (self.row().cost)(&call, &parameters.over(self.row()), model)
    }

    /// Checks that it can serve the call.
    ///
    /// # Errors
    ///
    /// The requirement that the call does not meet.
    pub fn suits(self, call: &Call) -> Result<(), Unsuited> {
        let (collective, rank) = (call.collective, call.rank);
        let (size, root) = (call.size, call.root);
        let needs = &self.row().needs;
        let why = |need| Unsuited::Need {
            algorithm: self,
            need,
        };
        match () {
            () if self.collective() != collective => Err(Unsuited::Collective {
                algorithm: self,
                collective,
            }),
            () if rank >= size => Err(Unsuited::Rank { rank, size }),
            () if call.remote > 0 => Err(why("a call within one group")),
            () if root >= size => Err(Unsuited::Root { root, size }),
            () if size > needs.max_size => Err(Unsuited::Size {
                algorithm: self,
                size,
            }),
            () if needs.commutative && !call.commutative => Err(why("a commutative operation")),
            () if needs.exact && !call.exact => {
                Err(why("an operation that gives the same bits in every order"))
            }
            () if needs.power_of_two && !size.is_power_of_two() => {
                Err(why("a power of two as the number of ranks"))
            }
            () if needs.apart && call.in_place => {
                Err(why("separate input and output, not in place"))
            }
            () if needs.shared_memory == SharedMemory::All
                && call.shared_memory != SharedMemory::All =>
            {
                Err(why("all ranks on one node, with shared memory"))
            }
            () if needs.shared_memory > call.shared_memory => {
                Err(why("ranks that share the memory of a node"))
            }
            () => Ok(()),
        }
    }

    /// One rank's plan for the call. Parameters that are 0 take their default; those that the algorithm
    /// does not have are ignored.
    ///
    /// # Errors
    ///
    /// As [`Algorithm::suits`].
    ///
    /// # Cost
    ///
    /// At most logarithmic in the number of ranks; nothing is allocated.
    pub fn plan(self, call: &Call, parameters: &Parameters) -> Result<AnyPlan, Unsuited> {
        self.suits(call)?;
        Ok(self.of(call, &parameters.over(self.row())))
    }
}

/// Former names of algorithms and their names now, or of the nearest one left; settings and rules accept both for
/// one release.
const FORMER_NAMES: [(&str, &str); 11] = [
    // word 'guest': former names stay accepted for one release
    ("guest", "folded"),
    ("lane-bruck", "rail-bruck"),         // word 'lane': a former name
    ("lane-chain", "rail-chain"),         // word 'lane': a former name
    ("lane-circulant", "rail-circulant"), // word 'lane': a former name
    ("lane-knomial", "rail-knomial"),     // word 'lane': a former name
    ("lane-ring", "rail-ring"),           // word 'lane': a former name
    ("knomial-linear", "knomial-bruck"),
    ("knomial-neighbor-exchange", "knomial-ring"),
    ("linear-neighbor-exchange", "linear-ring"),
    ("ports", "multirail"),
    ("team", "intra-node"),
];

impl Collective {
    /// The algorithms that implement it.
    pub fn algorithms(self) -> impl Iterator<Item = Algorithm> {
        Algorithm::ALL
            .into_iter()
            .filter(move |algorithm| algorithm.collective() == self)
    }

    /// The algorithm with this name or former name.
    pub fn algorithm(self, name: &str) -> Option<Algorithm> {
        let former = FORMER_NAMES.iter().find(|(former, _)| *former == name);
        let name = former.map_or(name, |(_, name)| name);
        self.algorithms().find(|algorithm| algorithm.name() == name)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.collective().name(), self.name())
    }
}

/// Why an algorithm cannot serve a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Unsuited {
    /// It implements another collective.
    #[error("{algorithm} cannot serve a call of {collective}")]
    Collective {
        /// The algorithm.
        algorithm: Algorithm,
        /// The collective that was called.
        collective: Collective,
    },
    /// No algorithm implements the collective.
    #[error("no algorithm serves {collective}")]
    None {
        /// The collective that was called.
        collective: Collective,
    },
    /// The calling rank is not in the group.
    #[error("rank {rank} is not in a group of {size} ranks")]
    Rank {
        /// The rank.
        rank: u32,
        /// The group's size.
        size: u32,
    },
    /// The root is not in the group.
    #[error("root {root} is not in a group of {size} ranks")]
    Root {
        /// The root.
        root: u32,
        /// The group's size.
        size: u32,
    },
    /// The group is too large.
    #[error("{algorithm} takes at most {} ranks, not {size}", algorithm.row().needs.max_size)]
    Size {
        /// The algorithm.
        algorithm: Algorithm,
        /// The group's size.
        size: u32,
    },
    /// The call does not meet a requirement.
    #[error("{algorithm} needs {need}")]
    Need {
        /// The algorithm.
        algorithm: Algorithm,
        /// The requirement.
        need: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::{Algorithm, AnyPlan};

    #[test]
    fn a_plan_is_small() {
        // What goes by stages holds any reduction, and any broadcast or scatter.
        let bytes = size_of::<AnyPlan>();
        assert!(bytes <= 336, "{bytes}");
    }

    #[test]
    fn names_are_unique_within_a_collective() {
        for (at, one) in Algorithm::ALL.into_iter().enumerate() {
            for other in &Algorithm::ALL[at + 1..] {
                assert!(one.collective() != other.collective() || one.name() != other.name());
            }
        }
    }
}
