//! Why a transport or a peer could not do what was asked.

/// A failure of a transport, a peer, or a peer's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The peer's process has ended.
    #[error("the peer's process has ended")]
    PeerDead,
    /// The peer has left the job in order, and sends nothing more.
    #[error("the peer has left the job")]
    Left,
    /// The peer's process was gone before there was a connection to it, so nobody can say how: most likely it has
    /// left, since a process manager ends a job in which a process fails.
    #[error(
        "the peer has left the job, or its process has ended, before this rank was connected to it"
    )]
    Gone,
    /// No connection to the peer can be made; the text says why.
    #[error("the peer cannot be reached: {0}")]
    Unreachable(&'static str),
    /// The peer's host has not answered for as long as it may take.
    #[error("the peer's host does not answer")]
    Silent,
    /// The peer broke the protocol; the text says which rule.
    #[error("the peer broke the protocol: {0}")]
    Protocol(&'static str),
    /// A resource of the system ran out or was refused; the text says which.
    #[error("refused: {0}")]
    Refused(&'static str),
    /// Something that the system has so much of is used up.
    #[error("refused: {wanted} B of {what} wanted, {left} B left")]
    NoRoom {
        /// Of what.
        what: Resource,
        /// Bytes that were asked for.
        wanted: u64,
        /// Bytes that there are.
        left: u64,
    },
    /// The operation was taken back before it began.
    #[error("the operation was cancelled")]
    Cancelled,
}

impl Fault {
    /// Whether something went wrong, as far as can be known. Else the peer merely sends nothing more, which is
    /// nothing to those who wait for others.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        !matches!(self, Self::Left | Self::Gone)
    }
}

/// What a system has so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resource {
    /// Memory.
    Memory,
    /// Addresses of a process.
    Addresses,
}

impl core::fmt::Display for Resource {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Addresses => "addresses",
        })
    }
}
