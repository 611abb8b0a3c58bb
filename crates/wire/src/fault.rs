//! Failures of transports and peers ([`Fault`]).

/// A failure of a transport, a peer, or a peer's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The peer's process has ended.
    #[error("the peer's process has ended")]
    PeerDead,
    /// The peer has left the job in order and sends nothing more.
    #[error("the peer has left the job")]
    Left,
    /// The peer's process was gone before there was a connection to it. Most likely it has left in order,
    /// since a process manager ends a job in which a process fails.
    #[error(
        "the peer has left the job, or its process has ended, before this rank was connected to it"
    )]
    Gone,
    /// No connection to the peer can be made, for this reason.
    #[error("the peer cannot be reached: {0}")]
    Unreachable(&'static str),
    /// The peer's host has not answered within the time limit.
    #[error("the peer's host does not answer")]
    Silent,
    /// The peer broke this rule of the protocol.
    #[error("the peer broke the protocol: {0}")]
    Protocol(&'static str),
    /// The system refused this resource, or it ran out.
    #[error("refused: {0}")]
    Refused(&'static str),
    /// A resource with a known amount left is used up.
    #[error("refused: {wanted} B of {what} wanted, {left} B left")]
    NoRoom {
        /// The resource.
        what: Resource,
        /// Bytes requested.
        wanted: u64,
        /// Bytes left.
        left: u64,
    },
    /// The operation was cancelled before it began.
    #[error("the operation was cancelled")]
    Cancelled,
    /// This rank asked for an access to memory that breaks this rule; nothing was sent.
    #[error("this rank asked for an invalid access to memory: {0}")]
    Invalid(&'static str),
}

impl Fault {
    /// A peer's range of memory is not registered for the access that this rank asked for, or an atomic's word
    /// is not aligned.
    pub const NOT_REGISTERED: Self =
        Self::Refused("the peer has registered no such bytes for this access");

    /// Whether it is a failure, as far as is known. Else the peer sends nothing more, but receives from other
    /// peers are not affected.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        !matches!(self, Self::Left | Self::Gone)
    }
}

/// A resource whose amount the system reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resource {
    /// Memory.
    Memory,
    /// Address space of a process.
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
