//! Collectives among ranks of one node, without messages: [`NodeGroup`].
//!
//! The ranks of a communicator are a [`NodeGroup`]. Each has a ring of numbered slots
//! ([`StepSlots`](crate::ring::StepSlots)), and a bounce buffer of some KiB beside each slot. Every
//! collective is a sequence of steps that all ranks count alike: in each, the senders write into a slot, if
//! the data fits, or a bounce buffer, and publish the slot; the receivers read it there. So bytes are copied
//! in and out, a long call is a pipeline of bounce buffers, and an 8-byte allreduce of two ranks is one line
//! each way.
//!
//! | collective | writers of a step | readers |
//! |---|---|---|
//! | barrier | all | all |
//! | bcast | the root | the others, all of it |
//! | scatter | the root, a part for each | the others, their part |
//! | gather | all but the root | the root |
//! | allgather | all | all |
//! | alltoall | all, a part for each | all, their parts |
//! | reduce | all but the root | the root, in rank order |
//! | allreduce | all | all, in rank order; if long, each its share, whose result it sends to the others |
//! | reduce_scatter | all, a part for each | all, their parts, in rank order |
//!
//! Of more than two ranks each writes its own slots, and bounce buffers for all readers; data for one other
//! rank goes through ping-pong buffers of the pair (`pair_buffers.rs`, `ping_pong_schedule.rs`). Two ranks
//! use ping-pong buffers and ping-pong slots for everything. Long blocks may move by cross-memory attach
//! (`cma.rs`), and long reductions by shares (`reduce_by_shares.rs`). Which protocol a call takes is a row of the
//! [`catalog`]; where two are to be tried, `protocol_trials.rs` learns which is faster. `non_temporal.rs` learns
//! whether bounce buffers are written past the caches; `non_temporal_outputs.rs` does so for outputs that the caches
//! cannot hold.
//!
//! Reductions apply the operation in the order of ranks, `((x0 op x1) op x2) ..`, on any rank and by any
//! protocol: all ranks get the same bits, and the operation need not commute. But where ranks share
//! processors, an allreduce of 128 KiB or more combines the ranks of each processor first
//! (`hierarchical_allreduce.rs`): all ranks get the same bits, and the same in each call, but others than
//! with another placement or a shorter vector.
//!
//! No rank waits for a rank that only reads until that is a whole ring of slots behind: so where ranks share
//! a processor, each does as much as it can before it yields. Of three or more on a processor, the likely
//! next root goes first in short calls (`next_root.rs`).
//!
//! Sources: R. Graham, G. Shipman, "MPI Support for Multi-core Architectures: Optimized Shared Memory
//! Collectives", EuroPVM/MPI 2008 (alternate segments, released in groups); S. Li, T. Hoefler, M. Snir,
//! "NUMA-aware shared-memory collective communication for MPI", HPDC 2013 (reductions by shares).

mod allgather;
mod alltoall;
mod awaited;
mod barrier;
mod bcast;
mod call_kind;
pub mod catalog;
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
#[cfg(test)]
mod polling;
mod processors;
mod protocol_choice;
mod protocol_trials;
#[cfg(test)]
mod record;
mod reduce;
mod reduce_by_shares;
mod run;
mod scatter;
mod scratch;
mod waits;

pub(crate) use awaited::ranks_of;
pub use awaited::{AwaitedSteps, StepLost};
pub use call_kind::CallKind;
pub use catalog::ProtocolPreference;
pub use driver::CollectiveDriver;
pub use group::NodeGroup;
pub(crate) use next_root::PredictedRoots;
pub use operands::Operands;

/// Node groups that a rank can be in.
pub const MAX_GROUPS: usize = crate::segment::arena::MAX_GROUPS;
