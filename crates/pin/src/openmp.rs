//! Places OpenMP threads inside a process by `KMP_AFFINITY` (Intel's and LLVM's runtimes), `OMP_PLACES` and
//! `OMP_PROC_BIND` (the standard), `GOMP_CPU_AFFINITY` and `KMP_HW_SUBSET`.
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
//! # Ok::<(), oxmpi_pin::topo::SyntaxError>(())
//! ```
//!
//! Data flows one way: `affinity`, `proclist`, `places`, `policy` and `subset` read the settings, `method`
//! chooses the one that counts, `map` turns the machine into levels, `placing` assigns threads (`sorted`,
//! `balanced`, `places`), and `report` prints the result.
//!
//! Runtimes have departed from the documentation of `KMP_AFFINITY`: [`Dialect`] chooses which of both to
//! follow.
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

/// Which levels a topology map contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Levels {
    /// A level at which no parent has several children is left out, except packages. As documented.
    #[default]
    Documented,
    /// Packages, cores and threads are always in, as in runtimes since 2021.
    Current,
}

/// Which rules apply where Intel's document and the runtimes differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// A later modifier replaces an earlier one; the integer of `logical` and `physical` is a plain offset; a
    /// team has one thread for each hardware thread of the machine; in a list of places, a missing processor
    /// is left out alone.
    #[default]
    Documented,
    /// The first modifier counts and later ones cause a warning; that integer counts cores; a team has one
    /// thread for each processor of the mask; in a list of places, a missing processor ends its range.
    Runtime,
}

/// Which documentation or runtime a placement follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// Which levels the topology map contains.
    pub levels: Levels,
    /// Which rules settings follow.
    pub rules: Rules,
}
