//! What can go wrong, with the rank, peer, tag and size it went wrong for.

use std::fmt;

use oxmpi_wire::Fault;

/// The result of every call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed call. Each variant says where it happened and what would have been right.
///
/// `Debug` prints the same sentence as `Display`, since that is what a program shows whose `main`
/// returns the error.
#[non_exhaustive]
pub enum Error {
    /// A rank that the communicator does not have. MPI's class `MPI_ERR_RANK`.
    Rank {
        /// The calling rank.
        rank: usize,
        /// The rank that was named.
        named: usize,
        /// Ranks in the communicator.
        size: usize,
    },
    /// A tag above the largest one. `MPI_ERR_TAG`.
    Tag {
        /// The calling rank.
        rank: usize,
        /// The tag that was named.
        tag: u32,
    },
    /// A blocking send of a rank to itself that no posted receive takes: it would wait for ever,
    /// since the message is too long to be kept, or synchronous. The message was taken back.
    SelfSend {
        /// The rank.
        rank: usize,
        /// The message's tag.
        tag: u32,
    },
    /// A wait for a message that nobody is there to send: of a rank from itself without a send that
    /// was started before, or from any rank when all others of the communicator have left the job.
    NoSender {
        /// The receiving rank.
        rank: usize,
    },
    /// A message longer than the receive's buffer; the buffer holds its beginning.
    /// `MPI_ERR_TRUNCATE`.
    Truncated {
        /// The receiving rank.
        rank: usize,
        /// Where the message came from.
        source: usize,
        /// The message's tag.
        tag: u32,
        /// Bytes sent.
        sent: u64,
        /// Bytes the buffer has.
        room: u64,
    },
    /// There is no memory for the message that is to be received. `MPI_ERR_NO_MEM`.
    Memory {
        /// The receiving rank.
        rank: usize,
        /// Bytes it takes.
        bytes: usize,
    },
    /// Memory that was asked for and is not there. `MPI_ERR_NO_MEM`.
    Alloc {
        /// The calling rank.
        rank: usize,
        /// Bytes asked for.
        bytes: u64,
        /// Why not, with what is left.
        why: String,
    },
    /// A message whose length is no multiple of the element's size. `MPI_ERR_TYPE`.
    PartialElement {
        /// The receiving rank.
        rank: usize,
        /// Where the message came from.
        source: usize,
        /// The message's tag.
        tag: u32,
        /// Bytes sent.
        sent: u64,
        /// Bytes of one element.
        element: usize,
    },
    /// Buffers whose lengths do not fit each other, or differ from what the call needs.
    /// `MPI_ERR_COUNT`.
    Count {
        /// The calling rank.
        rank: usize,
        /// Which buffer.
        what: &'static str,
        /// Elements it has.
        has: usize,
        /// Elements it should have.
        needs: usize,
    },
    /// Blocks of a slice that do not fit it, each other, or the number of ranks. `MPI_ERR_ARG`.
    Blocks {
        /// The calling rank.
        rank: usize,
        /// Which buffer.
        what: &'static str,
        /// Which block is wrong, and why.
        why: String,
    },
    /// An operation that this element type does not have. `MPI_ERR_OP`.
    Operation {
        /// The operation's name.
        op: &'static str,
        /// The element's type.
        element: &'static str,
    },
    /// An operation whose results cannot be as reproducible as the setting `coll_reproducible`
    /// wants them. `MPI_ERR_OP`.
    Reproducible {
        /// The operation's name.
        op: &'static str,
    },
    /// A collective that cannot be run as it was called. `MPI_ERR_OTHER`.
    Collective {
        /// The calling rank.
        rank: usize,
        /// Why.
        why: String,
    },
    /// A peer died, or broke the protocol. `MPI_ERR_PROC_FAILED`.
    Peer {
        /// The calling rank.
        rank: usize,
        /// The peer's rank in the same communicator, if it is a member.
        peer: usize,
        /// The peer's process, when known.
        pid: Option<u32>,
        /// The host.
        host: String,
        /// Why.
        fault: Fault,
    },
    /// The transport could not do what was asked. `MPI_ERR_OTHER`.
    Transport {
        /// The calling rank.
        rank: usize,
        /// Why.
        fault: Fault,
    },
    /// The endpoint's 2^31 communicators are used up. `MPI_ERR_INTERN`.
    Contexts,
    /// The call came after the [`World`](crate::World) was dropped. `MPI_ERR_OTHER`.
    Finalized,
    /// `World::init` was called a second time in this process.
    SecondInit,
    /// The process forked after it joined the job; the child has no part in it.
    Forked,
    /// A setting is wrong. The text shows it with a caret.
    Setting(String),
    /// Joining the job failed at this step.
    Start {
        /// What was being done.
        step: &'static str,
        /// What went wrong, and what would have been right.
        why: String,
    },
}

/// Largest tag a program may use: 2^31 - 1, as the widest `MPI_TAG_UB` of a C `int`.
pub const MAX_TAG: u32 = i32::MAX as u32;

impl Error {
    pub(crate) fn start(step: &'static str, why: impl fmt::Display) -> Self {
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
            Self::Tag { rank, tag } => write!(
                f,
                "rank {rank} used tag {tag}, but the largest tag is {MAX_TAG}"
            ),
            Self::SelfSend { rank, tag } => write!(
                f,
                "rank {rank} sent a message with tag {tag} to itself and waited for its receive, \
                 which nobody can post meanwhile; post it first (irecv), or do not wait (isend)"
            ),
            Self::NoSender { rank } => write!(
                f,
                "rank {rank} waits for a message that nobody can send: it is to come from the rank \
                 itself, or from any rank when all others have left the job"
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
                "rank {rank} received {sent} bytes from rank {source} with tag {tag}, which is no \
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
            Self::Operation { op, element } => {
                write!(f, "the operation {op} does not exist for {element}")
            }
            Self::Reproducible { op } => write!(
                f,
                "{op} may have other bits on another number of ranks, and coll_reproducible is \
                 `ranks`: there are exact sums of floats, and operations on integers; or ask for \
                 `placement`"
            ),
            Self::Collective { rank, why } => write!(f, "a collective on rank {rank}: {why}"),
            Self::Contexts => f.write_str(
                "2^31 communicators were made on this endpoint, and each needs a context of its own",
            ),
            Self::Finalized => f.write_str(
                "the World has ended; communicators live only as long as the World they come from",
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
                "World::init was called a second time; a process joins its job once, and keeps \
                 the World it got",
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
