//! What the checker found wrong.

use alloc::boxed::Box;

use thiserror::Error;

use super::ranks::Ranks;
use crate::catalog::Unsuited;
use crate::plan::{Act, Buf, NodeRanks, Part};

/// A fault of a plan, and where it showed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("rank {rank}, step {step}: {kind}")]
pub struct Fault {
    /// The rank whose plan does what is wrong. With two ends at odds, one of them.
    pub rank: u32,
    /// The step of its plan; the number of its steps for what is found at the end.
    pub step: u32,
    /// What is wrong.
    pub kind: FaultKind,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are explained by the sentence of their variant"
)]
pub enum FaultKind {
    /// The algorithm refuses the call.
    #[error(transparent)]
    Unsuited(#[from] Unsuited),
    /// A message to a rank that does not exist, or to the rank itself.
    #[error("no message goes to or comes from rank {peer}")]
    Peer { peer: u32 },
    /// A tag out of range.
    #[error("tag {tag} is not below the limit")]
    Tag { tag: u32 },
    /// Sender and receiver, or the two parts of a local act, disagree about the length.
    #[error("{from} elements go where there is room for {into}")]
    Length { from: u64, into: u64 },
    /// A message whose part has no elements and is not [`Part::EMPTY`].
    #[error("a message without elements")]
    Empty,
    /// An element is read before it has a value.
    #[error("element {element} of {buf:?} is read and has no value")]
    Undefined { buf: Buf, element: u64 },
    /// A part leaves its buffer.
    #[error("{part:?} leaves its buffer of {len} elements")]
    Outside { part: Part, len: u64 },
    /// The input is written.
    #[error("{part:?} is written")]
    WritesInput { part: Part },
    /// A rank's contribution is counted twice.
    #[error("{one} and {other} are reduced with each other")]
    Twice { one: Ranks, other: Ranks },
    /// Elements with different indexes are reduced with each other.
    #[error("elements {one} and {other} of the vectors are reduced with each other")]
    Mixed { one: u64, other: u64 },
    /// Two acts that can run at the same time touch the same elements, and one writes them.
    #[error("conflicts with step {other}: {:?} and {:?}", acts.0, acts.1)]
    Conflict { other: u32, acts: Box<(Act, Act)> },
    /// A step needs itself or a later one.
    #[error("needs {needs} steps, which includes itself")]
    Needs { needs: u32 },
    /// Every rank waits, although each send has been met where a receive was posted.
    #[error("waits for ever, and with it {waiting} ranks")]
    Deadlock { waiting: u32 },
    /// The plan asks for a length that no message under way brings.
    #[error("waits for a length that nothing brings")]
    Stuck,
    /// More lengths are learned than there are slots.
    #[error("learns more lengths than there is room for")]
    Slots,
    /// Counts are taken for data, or data for counts.
    #[error("takes numbers for data, or data for numbers")]
    Numbers,
    /// A rank does something with others of its node which do not do the same, or is not one of them.
    #[error("does not do what others of its team do together")]
    Apart,
    /// A rank does something with others, and these are not all ranks of its node and nobody else.
    #[error("acts together with {ranks:?}, which are not the ranks of its node")]
    Strangers { ranks: NodeRanks },
    /// What ranks do together stands before other acts of its step, which would wait for it.
    #[error("does something together with others before the last act of its step")]
    Unfinished,
    /// The rank ends with a wrong value.
    #[error("ends with {found} in element {element} of the output, not with {expected}")]
    Wrong {
        element: u64,
        found: Ranks,
        expected: Ranks,
    },
    /// The rank ends with the right value of the wrong element.
    #[error("ends with element {found} of the vector where element {expected} belongs")]
    Misplaced { found: u64, expected: u64 },
    /// The rank ends with the same contributions as others, combined otherwise.
    #[error("ends with other bits than rank 0 in element {element} of the output")]
    Bits { element: u64 },
    /// The rank leaves a barrier that others have not entered.
    #[error("leaves the barrier when it knows only of {heard}")]
    Early { heard: Ranks },
}
