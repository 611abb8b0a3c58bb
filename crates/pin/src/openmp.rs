//! OpenMP threads inside a process: `KMP_AFFINITY` of Intel's and LLVM's runtimes.
//!
//! The setting was described once, and runtimes went on since. Two switches say whom to follow, see [`Dialect`].
//!
//! Sources: "Thread Affinity Interface" of Intel's compiler documentation; observations of the runtimes of LLVM 14 and 19
//! and Intel 2018.

mod affinity;
mod balanced;
mod granularity;
mod layers;
mod map;
mod message;
mod method;
mod places;
mod placing;
mod policy;
mod proclist;
mod report;
mod sorted;
mod subset;
mod team;
mod told;

pub use team::{Request, Team, bind};

/// Which levels a topology map has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Levels {
    /// A level whose nodes have no siblings is not in the map, except the packages. As documented.
    #[default]
    Documented,
    /// Packages, cores and threads always are, as in runtimes since 2021.
    Current,
}

/// Which rules settings follow where the document and the runtimes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// A later modifier negates an earlier one; the integer of `logical` and `physical` is a plain offset; a team has as
    /// many threads as the machine has hardware threads.
    #[default]
    Documented,
    /// The first modifier counts and later ones are warned of; that integer counts cores; a team has as many threads as
    /// the mask has processors.
    Runtime,
}

/// Whom to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// Which levels the topology map has.
    pub levels: Levels,
    /// Which rules settings follow.
    pub rules: Rules,
}
