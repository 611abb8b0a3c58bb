//! [`OperationKind`]: what an operation does.

use crate::objects::RemoteAddress;
use oxmpi_wire::Width;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperationKind {
    /// Reads from there.
    Get(RemoteAddress),
    /// Writes to there.
    Put(RemoteAddress),
    /// Reads in pieces: from there, if the peer's memory is registered as a whole.
    GetInPieces(RemoteAddress),
    /// Writes in pieces, likewise.
    PutInPieces(RemoteAddress),
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

    /// The same by frames.
    pub(super) const fn by_frames(self) -> Self {
        match self {
            Self::Get(_) => Self::GetByFrames,
            Self::Put(_) => Self::PutByFrames,
            other => other,
        }
    }
}
