//! The class of an error (MPI 5.0, section 9.4): what a program decides by.

use std::fmt;

use super::Error;

/// The class of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// A wrong count of elements.
    Count,
    /// A wrong type of elements.
    Type,
    /// A wrong tag.
    Tag,
    /// A rank that does not exist.
    Rank,
    /// A reduction's operation that does not exist for its elements.
    Op,
    /// A wrong argument of another kind.
    Argument,
    /// A message longer than the receive's buffer.
    Truncate,
    /// A wrong request.
    Request,
    /// No memory.
    NoMemory,
    /// A process has died, has left the job, or broke the protocol.
    ProcessAborted,
    /// An access beyond the memory of a window.
    RmaRange,
    /// A call that does not suit the epochs of a window.
    RmaSync,
    /// Memory that cannot be attached to a window, or is not.
    RmaAttach,
    /// Memory that cannot be shared.
    RmaShared,
    /// A window of another kind than a call needs.
    RmaFlavor,
    /// Accesses to a window that conflict.
    RmaConflict,
    /// A wrong window.
    Window,
    /// A limit of the library.
    Internal,
    /// None of the others: the error's text says more.
    Other,
}

impl ErrorClass {
    /// The name of the class in C.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "MPI_ERR_COUNT",
            Self::Type => "MPI_ERR_TYPE",
            Self::Tag => "MPI_ERR_TAG",
            Self::Rank => "MPI_ERR_RANK",
            Self::Op => "MPI_ERR_OP",
            Self::Argument => "MPI_ERR_ARG",
            Self::Truncate => "MPI_ERR_TRUNCATE",
            Self::Request => "MPI_ERR_REQUEST",
            Self::NoMemory => "MPI_ERR_NO_MEM",
            Self::ProcessAborted => "MPI_ERR_PROC_ABORTED",
            Self::RmaRange => "MPI_ERR_RMA_RANGE",
            Self::RmaSync => "MPI_ERR_RMA_SYNC",
            Self::RmaAttach => "MPI_ERR_RMA_ATTACH",
            Self::RmaShared => "MPI_ERR_RMA_SHARED",
            Self::RmaFlavor => "MPI_ERR_RMA_FLAVOR",
            Self::RmaConflict => "MPI_ERR_RMA_CONFLICT",
            Self::Window => "MPI_ERR_WIN",
            Self::Internal => "MPI_ERR_INTERN",
            Self::Other => "MPI_ERR_OTHER",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Error {
    /// The error's class.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Rank { .. } | Self::GroupRank { .. } => ErrorClass::Rank,
            Self::Tag { .. } => ErrorClass::Tag,
            Self::Truncated { .. }
            | Self::CollectiveCount { .. }
            | Self::CollectiveBuffer { .. } => ErrorClass::Truncate,
            Self::Memory { .. } | Self::Alloc { .. } => ErrorClass::NoMemory,
            Self::PartialElement { .. } => ErrorClass::Type,
            Self::Count { .. } => ErrorClass::Count,
            Self::Blocks { .. } | Self::Layout { .. } => ErrorClass::Argument,
            Self::Operation { .. } | Self::Reproducible { .. } => ErrorClass::Op,
            Self::WindowRange { .. } => ErrorClass::RmaRange,
            Self::WindowEpoch { .. } => ErrorClass::RmaSync,
            Self::Window { class, .. } => *class,
            Self::Persistent { .. } => ErrorClass::Request,
            Self::Peer { .. } => ErrorClass::ProcessAborted,
            Self::Contexts => ErrorClass::Internal,
            Self::SelfSend { .. }
            | Self::NoSender { .. }
            | Self::Collective { .. }
            | Self::Transport { .. }
            | Self::Finalized
            | Self::SecondInit
            | Self::Forked
            | Self::Setting(_)
            | Self::Start { .. } => ErrorClass::Other,
        }
    }
}
