//! Errors, with the rank, peer, tag and size that they concern.

mod class;
mod fault_reason;

use std::fmt;

pub use class::ErrorClass;
pub use fault_reason::FaultReason;

/// The result of every call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a call. Each variant says where it happened and what was expected.
///
/// [`class`](Error::class) gives its class (MPI 5.0, section 9.4). `Debug` prints the sentence of `Display`: it is
/// what a user sees where `main` returns the error, or where `unwrap` or `expect` panics.
#[non_exhaustive]
pub enum Error {
    /// A rank that the communicator does not have (`MPI_ERR_RANK`).
    Rank {
        /// The calling rank.
        rank: usize,
        /// The rank that was named.
        named: usize,
        /// Ranks in the communicator.
        size: usize,
    },
    /// A rank that a group does not have, or that a list of its ranks names twice (`MPI_ERR_RANK`).
    GroupRank {
        /// The rank that was named; below `size`, if it was named twice.
        named: usize,
        /// Members of the group.
        size: usize,
    },
    /// A tag above [`MAX_TAG`] (`MPI_ERR_TAG`).
    Tag {
        /// The calling rank.
        rank: usize,
        /// The tag that was named.
        tag: u32,
    },
    /// A blocking send of a rank to itself without a posted receive: it would wait for ever, as the message
    /// is synchronous or too long for a copy. The message was cancelled (`MPI_ERR_OTHER`).
    SelfSend {
        /// The rank.
        rank: usize,
        /// The message's tag.
        tag: u32,
    },
    /// A wait for a message that no rank can send: a receive of a rank from itself without a send that was
    /// started before, or from any rank when all others of the communicator have left the job (`MPI_ERR_OTHER`).
    NoSender {
        /// The receiving rank.
        rank: usize,
    },
    /// A message longer than the receive's buffer, which holds its beginning (`MPI_ERR_TRUNCATE`).
    Truncated {
        /// The receiving rank.
        rank: usize,
        /// The rank that sent it.
        source: usize,
        /// The message's tag.
        tag: u32,
        /// Bytes sent.
        sent: u64,
        /// Bytes of the buffer.
        room: u64,
    },
    /// No memory for a message to be received (`MPI_ERR_NO_MEM`).
    Memory {
        /// The receiving rank.
        rank: usize,
        /// Bytes of the message.
        bytes: usize,
    },
    /// No memory that other ranks can reach (`MPI_Alloc_mem`, `MPI_ERR_NO_MEM`).
    Alloc {
        /// The calling rank.
        rank: usize,
        /// Bytes asked for.
        bytes: u64,
        /// The reason, with how much is left.
        why: String,
    },
    /// A message whose length is not a multiple of the element's size (`MPI_ERR_TYPE`).
    PartialElement {
        /// The receiving rank.
        rank: usize,
        /// The rank that sent it.
        source: usize,
        /// The message's tag.
        tag: u32,
        /// Bytes sent.
        sent: u64,
        /// Bytes of one element.
        element: usize,
    },
    /// A buffer of a wrong length (`MPI_ERR_COUNT`).
    Count {
        /// The calling rank.
        rank: usize,
        /// The name of the buffer.
        what: &'static str,
        /// Elements it has.
        has: usize,
        /// Elements it should have.
        needs: usize,
    },
    /// Blocks that do not fit their slice, each other, or the number of ranks (`MPI_ERR_ARG`).
    Blocks {
        /// The calling rank.
        rank: usize,
        /// The name of the buffer.
        what: &'static str,
        /// The block that is wrong, and why.
        why: String,
    },
    /// A layout that does not fit its slice, or is to be written and has an element twice (`MPI_ERR_ARG`).
    Layout {
        /// The reason.
        why: String,
    },
    /// An operation that the element's type does not have (`MPI_ERR_OP`).
    Operation {
        /// The operation's name.
        op: &'static str,
        /// The element's type.
        element: &'static str,
    },
    /// An operation whose results cannot be as reproducible as the setting `coll_reproducible` asks
    /// (`MPI_ERR_OP`).
    Reproducible {
        /// The operation's name.
        op: &'static str,
    },
    /// A message of a collective that is longer or shorter than its receiver expects (`MPI_ERR_TRUNCATE`).
    CollectiveCount {
        /// The receiving rank.
        rank: usize,
        /// The rank that sent it.
        source: usize,
        /// Bytes sent.
        sent: u64,
        /// Bytes that the receiver expects.
        expected: u64,
    },
    /// A buffer of a collective that is shorter than the call says, as where the counts for sending and for receiving differ
    /// (`MPI_ERR_TRUNCATE`).
    CollectiveBuffer {
        /// The calling rank.
        rank: usize,
    },
    /// A collective that cannot be run as it was called (`MPI_ERR_OTHER`).
    Collective {
        /// The calling rank.
        rank: usize,
        /// The reason.
        why: String,
    },
    /// An access beyond the memory of its target in a window (`MPI_ERR_RMA_RANGE`).
    WindowRange {
        /// The calling rank.
        rank: usize,
        /// The rank whose memory was named.
        target: usize,
        /// The displacement, in units.
        displacement: u64,
        /// Bytes of a unit.
        unit: u64,
        /// Bytes from there to the end of the access.
        len: u64,
        /// Bytes of the target's memory.
        size: u64,
    },
    /// A call that does not suit the epochs of a window (`MPI_ERR_RMA_SYNC`).
    WindowEpoch {
        /// The calling rank.
        rank: usize,
        /// The name of the call.
        call: &'static str,
        /// What is wrong, and what to call first.
        why: &'static str,
    },
    /// A window that cannot do what it should (`MPI_ERR_WIN`, or the class that it gives).
    Window {
        /// The calling rank.
        rank: usize,
        /// Which of the classes that concern windows.
        class: ErrorClass,
        /// The reason.
        why: String,
    },
    /// A persistent operation that was started in a scope of another communicator than the one that prepared it
    /// (`MPI_ERR_REQUEST`).
    Persistent {
        /// The calling rank.
        rank: usize,
    },
    /// A peer died, left the job, or broke the protocol (`MPI_ERR_PROC_ABORTED`).
    Peer {
        /// The calling rank.
        rank: usize,
        /// The peer's rank in the same communicator, if it is a member.
        peer: usize,
        /// The peer's process, if known.
        pid: Option<u32>,
        /// The peer's host.
        host: String,
        /// The reason.
        fault: FaultReason,
    },
    /// The transport could not do what it should (`MPI_ERR_OTHER`).
    Transport {
        /// The calling rank.
        rank: usize,
        /// The reason.
        fault: FaultReason,
    },
    /// The endpoint's 2^28 communicators are used up (`MPI_ERR_INTERN`).
    Contexts,
    /// The call came after this process had left its job (`MPI_ERR_OTHER`).
    Finalized,
    /// This process tried to join its job a second time (`MPI_ERR_OTHER`).
    SecondInit,
    /// This process is a fork of a rank, and not part of the job (`MPI_ERR_OTHER`).
    Forked,
    /// A setting is wrong (`MPI_ERR_OTHER`). The text shows where, with a caret.
    Setting(String),
    /// Joining the job failed at this step (`MPI_ERR_OTHER`).
    Start {
        /// What was being done.
        step: &'static str,
        /// What went wrong, and what was expected.
        why: String,
    },
}

/// The largest tag: 2^31 - 1, as the largest `MPI_TAG_UB` of a C `int`.
pub const MAX_TAG: u32 = i32::MAX as u32;

impl Error {
    /// [`Error::Start`] at this step.
    pub fn start(step: &'static str, why: impl fmt::Display) -> Self {
        Self::Start {
            step,
            why: why.to_string(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rank { rank, named, size } => write!(
                f,
                "rank {rank} named rank {named}, but the communicator has ranks 0 to {}",
                size - 1
            ),
            Self::GroupRank { named, size } if named < size => write!(
                f,
                "rank {named} of a group was named twice; name each rank once"
            ),
            Self::GroupRank { named, size } => write!(
                f,
                "rank {named} of a group was named, but the group has {size} ranks, numbered from 0"
            ),
            Self::Tag { rank, tag } => write!(
                f,
                "rank {rank} used tag {tag}, but the largest tag is {MAX_TAG}"
            ),
            Self::SelfSend { rank, tag } => write!(
                f,
                "rank {rank} sent a message with tag {tag} to itself without a posted receive, and \
                 would wait for ever; post the receive first (irecv), or do not wait (isend)"
            ),
            Self::NoSender { rank } => write!(
                f,
                "rank {rank} waits for a message that no rank can send: the source is the rank itself, \
                 or any rank after all others have left the job"
            ),
            Self::Truncated {
                rank,
                source,
                tag,
                sent,
                room,
            } => write!(
                f,
                "rank {rank} received a message of {sent} bytes from rank {source} with tag {tag} \
                 into a buffer of {room} bytes; the buffer holds the first {room}"
            ),
            Self::Memory { rank, bytes } => write!(
                f,
                "rank {rank} has no memory for a message of {bytes} bytes"
            ),
            Self::Alloc { rank, bytes, why } => {
                write!(f, "rank {rank} asked for {bytes} bytes of memory: {why}")
            }
            Self::PartialElement {
                rank,
                source,
                tag,
                sent,
                element,
            } => write!(
                f,
                "rank {rank} received {sent} bytes from rank {source} with tag {tag}, which is not a \
                 multiple of the element's {element} bytes"
            ),
            Self::Count {
                rank,
                what,
                has,
                needs,
            } => write!(
                f,
                "on rank {rank} {what} has {has} elements, it needs {needs}"
            ),
            Self::Blocks { rank, what, why } => {
                write!(f, "on rank {rank}, in the blocks of {what}: {why}")
            }
            Self::Layout { why } => write!(f, "a layout does not fit its slice: {why}"),
            Self::Operation { op, element } => {
                write!(f, "the operation {op} does not exist for {element}")
            }
            Self::Reproducible { op } => write!(
                f,
                "{op} may have other bits on another number of ranks, and coll_reproducible is \
                 `ranks`: use sums of floats or operations on integers, or set it to `placement`"
            ),
            Self::CollectiveCount {
                rank,
                source,
                sent,
                expected,
            } => write!(
                f,
                "a collective on rank {rank}: rank {source} sent {sent} B where this rank expected {expected} B: \
                 they do not agree on the count"
            ),
            Self::CollectiveBuffer { rank } => write!(
                f,
                "a collective on rank {rank}: a buffer of this rank is shorter than the call says; what the rank sends to \
                 itself has to be as long as what it receives from itself"
            ),
            Self::Collective { rank, why } => write!(f, "a collective on rank {rank}: {why}"),
            Self::WindowRange {
                rank,
                target,
                displacement,
                unit,
                len,
                size,
            } => write!(
                f,
                "rank {rank} named {len} B at displacement {displacement} (in units of {unit} B) of a window, but the \
                 memory of rank {target} has {size} B in all"
            ),
            Self::WindowEpoch { rank, call, why } => {
                write!(f, "rank {rank} called {call} on a window: {why}")
            }
            Self::Window { rank, why, .. } => write!(f, "a window on rank {rank}: {why}"),
            Self::Persistent { rank } => write!(
                f,
                "rank {rank} started a persistent operation in a scope of another communicator; start it in a \
                 scope of the one that prepared it"
            ),
            Self::Contexts => f.write_str(
                "2^28 communicators were made on this endpoint, and each needs a context of its own",
            ),
            Self::Finalized => f.write_str(
                "this process has left its job (in Rust, the World has been dropped); communicators can be used only before",
            ),
            Self::Peer {
                rank,
                peer,
                pid,
                host,
                fault,
            } => {
                write!(f, "rank {rank} lost rank {peer}")?;
                match pid {
                    Some(pid) => write!(f, " (pid {pid} on {host}): {fault}"),
                    None => write!(f, " (on {host}): {fault}"),
                }
            }
            Self::Transport { rank, fault } => write!(f, "on rank {rank}: {fault}"),
            Self::SecondInit => f.write_str(
                "this process tried to join its job a second time (by World::init or MPI_Init); it joins once, and \
                 keeps the World it got",
            ),
            Self::Forked => f.write_str(
                "this process is a fork of a rank and has no part in the job; \
                 communicate from the parent, or start the child with exec",
            ),
            Self::Setting(text) => f.write_str(text),
            Self::Start { step, why } => write!(f, "while {step}: {why}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests;
