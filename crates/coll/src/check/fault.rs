//! The faults that the checker reports.

use alloc::boxed::Box;

use thiserror::Error;

use super::ranks::Ranks;
use crate::catalog::Unsuited;
use crate::plan::{Act, Buf, NodeRanks, Part};

/// A fault of a plan: rank, step and kind.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("rank {rank}, step {step}: {kind}")]
pub struct Fault {
    /// The rank whose plan is at fault; if two ranks disagree, one of them.
    pub rank: u32,
    /// The step of that rank's plan; the number of its steps if the fault shows at the end.
    pub step: u32,
    /// The kind of fault.
    pub kind: FaultKind,
}

/// A kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant explains its fields")]
pub enum FaultKind {
    /// The algorithm does not support the call.
    #[error(transparent)]
    Unsuited(#[from] Unsuited),
    /// A message to or from a rank that does not exist, or the rank itself.
    #[error("sends to or receives from rank {peer}, which is not another rank of the group")]
    Peer { peer: u32 },
    /// A tag that is not below [`TAGS`](crate::plan::TAGS).
    #[error("uses tag {tag}, which is not below the limit")]
    Tag { tag: u32 },
    /// Sender and receiver, or the two parts of a local act, have different lengths.
    #[error("moves {from} elements to a part of {into}")]
    Length { from: u64, into: u64 },
    /// A message whose part has no elements but is not [`Part::EMPTY`].
    #[error("sends or receives a part without elements that is not `Part::EMPTY`")]
    EmptyPart,
    /// An undefined element is read.
    #[error("reads element {element} of {buf:?}, which is undefined")]
    Undefined { buf: Buf, element: u64 },
    /// A part exceeds its buffer.
    #[error("accesses {part:?}, outside of its buffer of {len} elements")]
    OutsideBuffer { part: Part, len: u64 },
    /// The input is written.
    #[error("writes {part:?}, which is input")]
    WritesInput { part: Part },
    /// A rank's contribution counts twice.
    #[error("reduces {one} with {other}, which counts a contribution twice")]
    CountedTwice { one: Ranks, other: Ranks },
    /// Elements of different indexes are reduced with each other.
    #[error("reduces elements {one} and {other} of the vectors with each other")]
    MixedElements { one: u64, other: u64 },
    /// Two acts that can run at the same time access the same elements, and one of them writes.
    #[error("conflicts with step {other}: {:?} and {:?}", acts.0, acts.1)]
    Conflict { other: u32, acts: Box<(Act, Act)> },
    /// A step needs itself or a later step.
    #[error("needs {needs} steps, which includes this one")]
    Needs { needs: u32 },
    /// No rank can continue.
    #[error("deadlocks: {waiting} ranks wait for messages that are never sent or received")]
    Deadlock { waiting: u32 },
    /// The plan waits for a length that no message in flight brings.
    #[error("waits for a length that no act in progress provides")]
    UnknownLength,
    /// The plan learns more lengths than there are slots.
    #[error("learns more lengths than there are slots")]
    Slots,
    /// Counts are used as data, or data as counts.
    #[error("uses counts as data, or data as counts")]
    CountsAsData,
    /// The rank enters an intra-node phase that differs from that of the other ranks, or does not include
    /// it.
    #[error("enters an intra-node phase that the other ranks of its node do not enter")]
    PhaseMismatch,
    /// The ranks of an intra-node phase are not exactly those of the rank's node.
    #[error("enters an intra-node phase of {ranks:?}, which are not the ranks of its node")]
    PhaseRanks { ranks: NodeRanks },
    /// An intra-node phase is followed by other acts in its step, which would wait for it.
    #[error("has an intra-node phase before the last act of its step")]
    PhaseNotLast,
    /// The rank ends with a wrong value.
    #[error("ends with {found} in element {element} of the output, not with {expected}")]
    Wrong {
        element: u64,
        found: Ranks,
        expected: Ranks,
    },
    /// The rank ends with the value of another element.
    #[error("ends with element {found} of the vector where element {expected} belongs")]
    Misplaced { found: u64, expected: u64 },
    /// The rank ends with the same contributions as rank 0, combined in another way.
    #[error("ends with other bits than rank 0 in element {element} of the output")]
    Bits { element: u64 },
    /// The rank leaves a barrier that other ranks have not entered.
    #[error("leaves the barrier when only {entered} are known to have entered")]
    LeftEarly { entered: Ranks },
}
