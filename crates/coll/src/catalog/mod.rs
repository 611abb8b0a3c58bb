//! The one list of collectives and algorithms: it drives dispatch, settings, documentation and the
//! checker's tests.

mod any;
mod call;

use core::fmt;

use thiserror::Error;

pub use any::AnyPlan;
pub use call::Call;

use crate::allreduce::{RecursiveDoubling, Ring};
use crate::barrier::Dissemination;
use crate::choice::Tuning;
use crate::{allreduce, bcast, reduce, tree};

/// A collective operation of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Collective {
    /// No rank leaves before all have entered.
    Barrier,
    /// All ranks get the root's elements.
    Bcast,
    /// The root gets the reduction of all ranks' elements.
    Reduce,
    /// All ranks get the reduction of all ranks' elements.
    Allreduce,
}

impl Collective {
    /// Every collective.
    pub const ALL: [Collective; 4] = [
        Collective::Barrier,
        Collective::Bcast,
        Collective::Reduce,
        Collective::Allreduce,
    ];

    /// The name in settings: MPI's, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Collective::Barrier => "barrier",
            Collective::Bcast => "bcast",
            Collective::Reduce => "reduce",
            Collective::Allreduce => "allreduce",
        }
    }

    /// The algorithms that implement it.
    pub fn algorithms(self) -> impl Iterator<Item = Algorithm> {
        Algorithm::ALL
            .into_iter()
            .filter(move |algorithm| algorithm.collective() == self)
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One algorithm for one collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Algorithm {
    /// [`Dissemination`].
    BarrierDissemination,
    /// [`bcast::Binomial`].
    BcastBinomial,
    /// [`reduce::Binomial`].
    ReduceBinomial,
    /// [`RecursiveDoubling`].
    AllreduceRecursiveDoubling,
    /// [`Ring`].
    AllreduceRing,
}

impl Algorithm {
    /// Every algorithm, in the order in which documentation and tests list them.
    pub const ALL: [Algorithm; 5] = [
        Algorithm::BarrierDissemination,
        Algorithm::BcastBinomial,
        Algorithm::ReduceBinomial,
        Algorithm::AllreduceRecursiveDoubling,
        Algorithm::AllreduceRing,
    ];

    /// The collective that it implements.
    pub const fn collective(self) -> Collective {
        match self {
            Algorithm::BarrierDissemination => Collective::Barrier,
            Algorithm::BcastBinomial => Collective::Bcast,
            Algorithm::ReduceBinomial => Collective::Reduce,
            Algorithm::AllreduceRecursiveDoubling | Algorithm::AllreduceRing => {
                Collective::Allreduce
            }
        }
    }

    /// The name in settings; unique within the collective.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::BarrierDissemination => "dissemination",
            Algorithm::BcastBinomial | Algorithm::ReduceBinomial => "binomial",
            Algorithm::AllreduceRecursiveDoubling => "recursive-doubling",
            Algorithm::AllreduceRing => "ring",
        }
    }

    /// What it is good for, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Algorithm::BarrierDissemination => "fewest rounds for every number of ranks",
            Algorithm::BcastBinomial | Algorithm::ReduceBinomial => {
                "fewest rounds; whole vector each round"
            }
            Algorithm::AllreduceRecursiveDoubling => {
                "few rounds; whole vector each round: for small vectors"
            }
            Algorithm::AllreduceRing => {
                "least volume, many rounds: for large vectors; the operation must commute"
            }
        }
    }

    /// Whether the operation must commute.
    pub const fn commutative_only(self) -> bool {
        matches!(self, Algorithm::AllreduceRing)
    }

    /// The largest group it takes.
    pub const fn max_size(self) -> u32 {
        match self {
            Algorithm::AllreduceRing => allreduce::RING_MAX_SIZE,
            _ => u32::MAX,
        }
    }

    /// The rounds that it promises for `size` ranks when the elements of one message are not cut
    /// into several: in one round a rank sends one message and receives one. A vector without
    /// elements takes none.
    pub const fn rounds(self, size: u32) -> u64 {
        let levels = tree::levels(size) as u64;
        match self {
            Algorithm::BarrierDissemination
            | Algorithm::BcastBinomial
            | Algorithm::ReduceBinomial => levels,
            Algorithm::AllreduceRecursiveDoubling if size.is_power_of_two() => levels,
            Algorithm::AllreduceRecursiveDoubling => levels + 1,
            Algorithm::AllreduceRing => 2 * size.saturating_sub(1) as u64,
        }
    }

    /// Whether it can serve the call.
    ///
    /// # Errors
    ///
    /// Says what stands against it.
    pub fn suits(self, call: &Call) -> Result<(), Unsuited> {
        let &Call {
            collective,
            rank,
            size,
            root,
            commutative,
            ..
        } = call;
        match () {
            () if self.collective() != collective => Err(Unsuited::Collective {
                algorithm: self,
                collective,
            }),
            () if rank >= size => Err(Unsuited::Rank { rank, size }),
            () if root >= size => Err(Unsuited::Root { root, size }),
            () if size > self.max_size() => Err(Unsuited::Size {
                algorithm: self,
                size,
            }),
            () if self.commutative_only() && !commutative => {
                Err(Unsuited::Order { algorithm: self })
            }
            () => Ok(()),
        }
    }

    /// One rank's plan for the call.
    ///
    /// # Errors
    ///
    /// As [`Algorithm::suits`].
    ///
    /// # Cost
    ///
    /// At most a logarithm of the number of ranks; nothing is allocated.
    pub fn plan(self, call: &Call, tuning: &Tuning) -> Result<AnyPlan, Unsuited> {
        self.suits(call)?;
        let &Call {
            rank,
            size,
            root,
            count,
            in_place,
            ..
        } = call;
        Ok(match self {
            Algorithm::BarrierDissemination => {
                AnyPlan::BarrierDissemination(Dissemination::new(rank, size))
            }
            Algorithm::BcastBinomial => {
                AnyPlan::BcastBinomial(bcast::Binomial::new(rank, size, root, count))
            }
            Algorithm::ReduceBinomial => {
                AnyPlan::ReduceBinomial(reduce::Binomial::new(rank, size, root, count, in_place))
            }
            Algorithm::AllreduceRecursiveDoubling => AnyPlan::AllreduceRecursiveDoubling(
                RecursiveDoubling::new(rank, size, count, in_place),
            ),
            Algorithm::AllreduceRing => {
                let segment = tuning.ring_segment_bytes / call.element_bytes.max(1);
                AnyPlan::AllreduceRing(Ring::new(rank, size, count, segment, in_place))
            }
        })
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
        /// What was called.
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
    #[error("{algorithm} takes at most {} ranks, not {size}", algorithm.max_size())]
    Size {
        /// The algorithm.
        algorithm: Algorithm,
        /// The group's size.
        size: u32,
    },
    /// The operation does not commute.
    #[error("{algorithm} needs an operation that commutes")]
    Order {
        /// The algorithm.
        algorithm: Algorithm,
    },
}
