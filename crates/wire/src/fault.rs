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
    /// The peer broke the protocol; the text says which rule.
    #[error("the peer broke the protocol: {0}")]
    Protocol(&'static str),
    /// A resource of the system ran out or was refused; the text says which.
    #[error("refused: {0}")]
    Refused(&'static str),
    /// The operation was taken back before it began.
    #[error("the operation was cancelled")]
    Cancelled,
}
