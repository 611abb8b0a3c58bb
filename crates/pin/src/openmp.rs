//! OpenMP threads inside a process: `KMP_AFFINITY` of Intel's and LLVM's runtimes, `OMP_PLACES` and `OMP_PROC_BIND` of the
//! standard, `GOMP_CPU_AFFINITY`, and `KMP_HW_SUBSET`.
//!
//! ```
//! use oxmpi_pin::openmp::{Dialect, Request, bind};
//! use oxmpi_pin::topo::Machine;
//!
//! let machine = Machine::from_synthetic("package:2 core:2 pu:2")?;
//! let request = Request { kmp_affinity: Some("scatter"), threads: 3, ..Request::default() };
//! let team = bind(&machine, &request, Dialect::default());
//! let cpus: Vec<_> = team.threads.iter().map(|cpus| cpus.to_string()).collect();
//! assert_eq!(cpus, ["0-1", "4-5", "2-3"]);
//! # Ok::<(), oxmpi_pin::topo::Error>(())
//! ```
//!
//! The data flows one way: settings are read (`affinity`, `proclist`, `places`, `policy`, `subset`), `method` says which
//! of them counts, the machine becomes a `map` of levels, `placing` puts the threads on it (`sorted`, `balanced`,
//! `places`), and `report` tells of it.
//!
//! `KMP_AFFINITY` was described once, and runtimes went on since. Two switches say whom to follow, see [`Dialect`].
//!
//! Sources: "Thread Affinity Interface (Linux* and Windows*)" of Intel's compiler documentation; OpenMP 5.2, chapter 21;
//! observations of the runtimes of LLVM 14 and 19 and Intel 2018.

mod affinity;
mod balanced;
mod bind;
mod diagnostics;
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
mod variables;

pub use bind::bind;
pub use team::{Request, Team};

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
    /// many threads as the machine has hardware threads; of a list of places a processor that is missing is left out, and
    /// no more.
    #[default]
    Documented,
    /// The first modifier counts and later ones are warned of; that integer counts cores; a team has as many threads as
    /// the mask has processors; in a list of places a missing processor ends its range.
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
