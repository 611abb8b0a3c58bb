//! The protocol that the user asks for: [`ProtocolPreference`].

use super::NodeProtocol;

/// A protocol that the user prefers: it takes every call that one of its rows may serve, without trials. Other calls go as
/// without a preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolPreference {
    /// Slots, bounce buffers and ping-pong buffers.
    Buffers,
    /// Single copy by process_vm calls.
    Cma,
    /// Reductions in which each rank combines a share.
    Shares,
    /// Reductions among the ranks of each processor first.
    Hierarchical,
}

impl ProtocolPreference {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Buffers, Self::Cma, Self::Shares, Self::Hierarchical];

    /// Whether rows with this protocol are preferred. What goes by messages stays with them.
    pub(super) const fn names(self, protocol: NodeProtocol) -> bool {
        match protocol {
            NodeProtocol::Slots | NodeProtocol::Bounce | NodeProtocol::PingPong => {
                matches!(self, Self::Buffers)
            }
            NodeProtocol::Cma => matches!(self, Self::Cma),
            NodeProtocol::Shares | NodeProtocol::SharesBounce => matches!(self, Self::Shares),
            NodeProtocol::Hierarchical => matches!(self, Self::Hierarchical),
            NodeProtocol::Messages => true,
        }
    }
}
