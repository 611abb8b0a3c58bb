//! [`OperationKind`]: what an operation does.

use crate::transport::remote_memory::RemoteMemory;
use oxmpi_wire::Width;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperationKind {
    /// Reads from there.
    Get(RemoteMemory),
    /// Writes to there.
    Put(RemoteMemory),
    /// Reads in pieces: from there, if the peer's memory is registered as a whole.
    GetInPieces(RemoteMemory),
    /// Writes in pieces, likewise.
    PutInPieces(RemoteMemory),
    Atomic(Width),
    /// Asks for bytes by frames.
    GetByFrames,
    /// Sends bytes by frames.
    PutByFrames,
}

impl OperationKind {
    pub(super) const fn is_in_pieces(self) -> bool {
        matches!(self, Self::GetInPieces(_) | Self::PutInPieces(_))
    }

    /// Whether it reads, and where the memory of the peer is: of an operation on memory that is registered as a whole.
    pub(super) const fn whole(self) -> Option<(bool, RemoteMemory)> {
        match self {
            Self::Get(start) => Some((true, start)),
            Self::Put(start) => Some((false, start)),
            _ => None,
        }
    }

    /// The same by frames.
    pub(super) const fn by_frames(self) -> Self {
        match self {
            Self::Get(_) => Self::GetByFrames,
            Self::Put(_) => Self::PutByFrames,
            other => other,
        }
    }
}
