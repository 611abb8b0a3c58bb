//! [`FaultReason`]: why a peer is lost, or a transport has failed.

use std::fmt;

use oxmpi_wire::Fault;

/// Why a peer is lost, or a transport has failed. It displays as a sentence.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FaultReason(pub(crate) Fault);

impl FaultReason {
    /// Whether the peer has left the job in order, as far as is known. Else it has died, cannot be reached, or has
    /// broken the protocol.
    #[must_use]
    pub const fn has_left(&self) -> bool {
        !self.0.is_failure()
    }
}

impl fmt::Display for FaultReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for FaultReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
