//! Collectives among ranks of one node, without messages: flags and buffers of their own.
//!
//! The ranks of a communicator are a [`NodeGroup`]. Each has a ring of numbered slots
//! ([`Steps`](crate::ring::Steps)), and a cell of some KiB beside each slot. Every collective is a row of steps that
//! all ranks count alike: in each, those who give something write it into a slot, where it fits, or a cell, and
//! publish the slot; those who get something read it there. So bytes are copied in and copied out, a long call is a
//! pipeline of cells, and an 8-byte allreduce of two ranks is one line each way.
//!
//! | collective | who writes a step | who reads it |
//! |---|---|---|
//! | bcast | the root | the others, all of it |
//! | scatter | the root, a part for each | the others, their part |
//! | gather | all but the root | the root |
//! | allgather | all | all |
//! | alltoall | all, a part for each | all, their parts |
//! | reduce | all but the root | the root, in rank order |
//! | allreduce | all | all, in rank order; where long, each rank its share, which it then gives the others |
//! | reduce_scatter | all, a part for each | all, their parts, in rank order |
//!
//! Of more than two ranks each writes its own slots, and cells for all to read; what is for one other rank only goes
//! through cells that the two write in turn (`dialogues.rs`, `turns.rs`). Of two ranks all goes so, and their slots
//! too. Ranks may read long blocks straight from the others' memory, and those of a gather write them there
//! (`direct.rs`); from which length on stands in `ways.rs`, and whether they do is learned (`roads.rs`). So is whether
//! cells are written past the caches (`streams.rs`); outputs are where a call moves more than those hold (`outputs.rs`).
//!
//! Reductions apply the operation in the order of ranks, `((x0 op x1) op x2) ..`, on whichever rank
//! and by whichever protocol: all ranks get the same bits, and the operation need not commute. But where ranks share
//! processors, an allreduce of 128 KiB or more combines what those of one have first (`domains.rs`): all get the same
//! bits then, too, and the same in each call, but others than if the ranks were elsewhere, or the vector shorter.
//!
//! Nobody waits for a rank that only reads, until that one is a whole ring of slots behind: so where
//! ranks share a processor, each does as much as it can before it gives way. Of three or more there the one goes
//! first, in short calls, that is likely to be the next root (`succession.rs`).
//!
//! Sources: R. Graham, G. Shipman, "MPI Support for Multi-core Architectures: Optimized Shared Memory
//! Collectives", EuroPVM/MPI 2008 (segments in turn, told free in groups); S. Li, T. Hoefler, M. Snir,
//! "NUMA-aware shared-memory collective communication for MPI", HPDC 2013 (reductions by shares).

mod allgather;
mod alltoall;
mod awaited;
mod bcast;
mod call_kind;
mod cma;
mod driver;
mod exchange;
mod gather;
mod group;
mod hierarchical_allreduce;
mod next_root;
mod non_temporal;
mod non_temporal_outputs;
mod operands;
mod pair_buffers;
mod pieces;
mod ping_pong_schedule;
mod processors;
mod protocol_choice;
mod protocol_trials;
mod reduce;
mod reduce_by_shares;
mod run;
mod scatter;
mod scratch;

pub use awaited::{AwaitedSteps, NeverComes};
pub use driver::CollectiveDriver;
pub use group::NodeGroup;
pub(crate) use next_root::PredictedRoots;
pub use operands::Operands;

/// Communicators of a rank that can have a team.
pub const MAX_GROUPS: usize = crate::segment::arena::MAX_GROUPS;
