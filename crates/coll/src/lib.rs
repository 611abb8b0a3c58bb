//! Collective operations as plans: pure schedules of messages, an executor without IO that runs them,
//! and a checker that proves them.
//!
//! ```
//! use oxmpi_coll::catalog::{Algorithm, Call};
//! use oxmpi_coll::choice::{Tuning, choose};
//! use oxmpi_coll::plan::{Act, Acts, Buf, PlanInputs, Part, Plan, Side};
//!
//! // Rank 0 of two ranks sums one number of 8 bytes.
//! let call = Call::allreduce(0, 2, 1, 8);
//! let tuning = Tuning::default();
//! let choice = choose(&call, &tuning)?;
//! assert_eq!(choice.algorithm, Algorithm::AllreduceRecursiveDoubling);
//!
//! // Step 0 exchanges the numbers, step 1 adds them.
//! let plan = choice.plan(&call)?;
//! let (input, output) = (Part::new(Buf::In, 0, 1), Part::new(Buf::Out, 0, 1));
//! let mut acts = Acts::new();
//! plan.step(0, &PlanInputs::NOTHING, &mut acts);
//! let receive = Act::Recv { from: 1, tag: 0, into: output };
//! assert_eq!(*acts, [receive, Act::Send { to: 1, tag: 0, from: input }]);
//! acts.clear();
//! let needs = plan.step(1, &PlanInputs::NOTHING, &mut acts);
//! assert_eq!(needs, Some(1));
//! assert_eq!(*acts, [Act::Reduce { from: input, into: output, side: Side::Left }]);
//! # Ok::<(), oxmpi_coll::catalog::Unsuited>(())
//! ```
//!
//! [`call`] describes a call, [`plan`] what a rank does for it. Each collective is a module and each
//! algorithm a file in it:
//! `barrier`, `bcast`, `gather`, `gatherv`, `scatter`, `scatterv`, `allgather`,
//! `alltoall`, `reduce`, `allreduce`, `reduce_scatter`, `scan`, `exscan`, `neighbor`;
//! `hierarchy` has those that know the nodes, `stages` those of two collectives one after the other,
//! [`circulant`] the schedules over circulant graphs. [`catalog`] lists all algorithms, [`cost`] predicts
//! their time, [`choice`] chooses, [`settings`] are a user's words for it. [`exec`] runs a plan through a
//! driver that the caller writes. `check` (feature `std`) proves plans, `sim` (feature `sim`) times them.
//!
//! The crate sends nothing, waits for nothing, allocates nothing outside `check` and `sim`, and knows no
//! datatypes: it counts elements.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
pub mod call;
pub mod catalog;
#[cfg(feature = "std")]
pub mod check;
pub mod choice;
pub mod circulant;
pub mod cost;
pub mod exec;
mod exscan;
mod gather;
mod gatherv;
mod hierarchy;
pub mod machine;
mod neighbor;
#[cfg(feature = "alloc")]
pub mod nodes;
#[cfg(feature = "alloc")]
pub mod phased;
pub mod placement;
pub mod plan;
mod reduce;
mod reduce_scatter;
mod scan;
mod scatter;
mod scatterv;
pub mod settings;
#[cfg(feature = "sim")]
pub mod sim;
mod stages;

mod accumulate;
mod blocks;
mod digits;
mod eager;
mod fold;
mod halving;
mod long_blocks;
mod partition;
mod phase;
mod rank_ring;
mod ring_pieces;
mod scattered_vector;
mod split_exchanges;
mod symmetric;
mod tree;
mod window;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
