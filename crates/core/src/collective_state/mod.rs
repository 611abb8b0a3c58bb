//! The state of collectives, as an endpoint keeps it: buffers, plans that are carried out, stages, numbers.
//!
//! Nothing here sends, receives or waits: that is done by [`collective`](super::collective).

mod area;
mod buffers;
mod call_signatures;
mod collective_numbers;
mod plan_run;
mod stages;
mod started;
mod widened;

pub use self::area::{Area, BlockRanges};
pub use self::buffers::{Buffers, Neighbors};
pub(super) use self::call_signatures::CallSignatures;
pub(crate) use self::collective_numbers::CollectiveNumbers;
pub(super) use self::plan_run::{
    FastReceive, NodeGroups, PendingAct, PendingMessage, PendingPhase, PhaseStage, PlanRun,
    RunState,
};
pub(crate) use self::stages::Stage;
pub use self::stages::Stages;
pub(super) use self::stages::{PreparedStage, StageSequence};
pub(super) use self::started::{CallInNode, StartedCollective, StartedWork};
pub(crate) use self::started::{StartedCollectives, WhichCollectives};
pub use self::widened::WidenedBuffers;
