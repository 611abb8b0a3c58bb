//! Which connection is kept when two ranks connect to each other at once.

use super::Refusal;

/// What a rank knows of a peer that connects to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerState {
    /// This rank neither has a connection nor makes one.
    Unconnected,
    /// This rank connects to the peer, or will try again. It has not sent its proof: the peer cannot have
    /// accepted it.
    Connecting,
    /// This rank has sent its proof to the peer, which accepts it or has done so.
    Authenticated,
    /// There is a connection.
    Connected,
    /// This rank has lost the peer and reported it.
    Lost,
}

/// Whether the peer is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectDecision {
    /// Its connection is kept; this rank drops its own connect, if there is one.
    Accept,
    /// It is refused, for this reason.
    Refuse(Refusal),
}

/// Decides at rank `here` whether rank `from`, which connects, is accepted.
///
/// A connect without a proof gives way: the peer cannot have accepted it, and will not once it is dropped.
/// Of two with a proof the lower rank's wins: the lower rank refuses, and the higher rank drops its own
/// when the other arrives. So both sides keep the same one, and a rank that cannot reach its peer never
/// keeps the peer out. Frames wait with the rank, so none is lost with a dropped connect. A higher rank
/// that is refused tries again, and succeeds if the lower rank's connect fails after all.
///
/// A rank that has lost the peer refuses it, and the peer then loses that rank, too.
#[must_use]
pub const fn decide(here: u32, from: u32, state: PeerState) -> ConnectDecision {
    match state {
        PeerState::Unconnected | PeerState::Connecting => ConnectDecision::Accept,
        PeerState::Authenticated if from < here => ConnectDecision::Accept,
        PeerState::Authenticated | PeerState::Connected => {
            ConnectDecision::Refuse(Refusal::Duplicate)
        }
        PeerState::Lost => ConnectDecision::Refuse(Refusal::GivenUp),
    }
}
