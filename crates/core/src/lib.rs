//! The core of a message-passing library: messages and collectives on ranges of bytes, below any typed interface.
//!
//! It works on byte ranges with layouts, 64-bit counts, operations as functions, and requests as handles. It
//! knows ranks, [communicators](Communicator) and [endpoints](Endpoint), [elements](Element) for operations only, and it borrows no
//! buffers: its caller makes a range ([`oxmpi_os::RawBytes`]) and promises that the memory outlives the request.
//! It reads no settings and prints nothing: a [`JobPolicy`] and a function that takes warnings are handed in.
//!
//! ```no_run
//! use oxmpi_core::{Communicator, Job, JobPolicy, Result, Single};
//!
//! fn run(policy: JobPolicy) -> Result<()> {
//!     let mut warn = |warning: &str| eprintln!("{warning}");
//!     let (mut job, comm): (Job, Communicator<Single>) = Job::join(|| Ok(policy), &mut warn)?;
//!     comm.barrier()?;
//!     job.leave(&comm)
//! }
//! ```
//!
//! The modules by group:
//! - the job: `job`, `boot`, `policy`, `settings`;
//! - endpoints: `endpoint`, `thread_endpoints`, `links`, `ownership`, `threading`;
//! - asynchronous progress: `helper`, with `async_progress`;
//! - communicators: `communicator`, `create`, `intercomm`, `group`, `process_group`, `placement`, `split`;
//! - topologies: `topology`;
//! - windows: `window`, with `window_state`;
//! - messages: `envelope`, `request`, `bytes`, `data`, `error`, `failure`;
//! - collectives: `collective`, with `algorithm_choices`, `collective_members`, `collective_state`,
//!   `collective_scratch`, `node_calls`, `operation` and `barrier`.

mod algorithm_choices;
mod async_progress;
mod barrier;
mod boot;
mod bytes;
mod collective;
mod collective_members;
mod collective_scratch;
mod collective_state;
mod communicator;
mod create;
mod data;
mod endpoint;
mod envelope;
mod error;
mod failure;
mod group;
mod helper;
mod intercomm;
mod job;
mod links;
mod node_calls;
mod operation;
mod ownership;
mod placement;
mod policy;
mod process_group;
mod request;
pub mod settings;
mod split;
#[cfg(test)]
mod test_job;
mod thread_endpoints;
mod threading;
mod topology;
mod window;
mod window_state;

pub use boot::{AgreedSettings, NetworkPreference, StartOptions, open_transports, probe_verbs};
pub use collective::{InterGroups, PreparedCollective};
pub use collective_state::{Area, BlockRanges, Buffers, Neighbors, Stages, WidenedBuffers};
pub use communicator::{Communicator, PreparedMessage};
pub use create::StartedDuplicate;
pub use data::Data;
pub use endpoint::Endpoint;
pub use envelope::{Destination, PROC_NULL, Source, Status, Tag};
pub use error::{Error, ErrorClass, FaultReason, MAX_TAG, Result};
pub use group::Group;
pub use intercomm::{GroupLeaders, InterCommunicator};
pub use job::Job;
pub use links::OtherNetwork;
pub use node_calls::{serves_in_node, serves_in_phase, serves_on_nodes};
pub use operation::{
    Byte, Complex, Custom, Element, ElementKind, ExactSum, Fold, Half, KindReduction, Logical, Op,
    OperandOrder, Operation, OwnedOperation, Predefined, Quad, ResolvedReduction, ValueLoc,
    Widening, X87, elements, elementwise,
};
pub use ownership::{EndpointCell, Multi, ProcessEndpoint, Serialized, Single};
pub use oxmpi_wire::engine::Mode;
pub use policy::{AsyncProgress, EndpointPolicy, JobPolicy, WaitMode};
pub use process_group::{Comparison, ProcessGroup};
pub use request::{Claimed, OpenRequest, RawRequest};
pub use threading::Threading;
pub use topology::{Grid, Topology};
pub use window::{LockKind, Shape, Window, WindowFootprint, WindowRange};
pub use window_state::AccumulateOp;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
