//! The protocols by which the bytes of a get travel, and what the user prefers: [`BulkProtocol`].

/// A protocol by which the bytes of a get travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BulkProtocol {
    /// Through the link's larger buffers; a frame names each chunk.
    Buffers,
    /// Through a ping-pong window, which both sides write in turn, so it is in the sender's cache. Where the
    /// sender has one, it replaces `Copy` and `CopyNt`.
    Slots,
    /// Through a FIFO in shared memory, with plain stores: through the cache that both share.
    Copy,
    /// Through a FIFO, which the sender fills by non-temporal stores: past the caches.
    CopyNt,
    /// One side copies from address space to address space (cross-memory attach): the receiver reads, or the sender
    /// writes if its bytes have gaps. A range of its own costs the side that copies 60 ns, the other side 500 ns (Zen 5,
    /// November 2026), so where both have gaps it is not available.
    Cma,
    /// Both sides copy from address space to address space, each the next piece that is left.
    CmaBoth,
    /// The receiver copies from memory of the sender that it has mapped: contiguous bytes, or ranges of equal length at
    /// equal distances.
    Mapped,
}

impl BulkProtocol {
    /// All protocols that a receiver claims an offer by, in the order in which they are tried.
    pub const CLAIMABLE: [Self; PROTOCOLS] = [
        Self::Slots,
        Self::Copy,
        Self::CopyNt,
        Self::Cma,
        Self::CmaBoth,
        Self::Mapped,
    ];

    /// Its name in settings and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buffers => "buffers",
            Self::Slots => "slots",
            Self::Copy => "copy",
            Self::CopyNt => "copy_nt",
            Self::Cma => "cma",
            Self::CmaBoth => "cma_both",
            Self::Mapped => "mapped",
        }
    }

    /// Its number in an offer.
    pub(in crate::transport) const fn code(self) -> u8 {
        self as u8
    }

    /// The claimable protocol of this [code](BulkProtocol::code).
    pub(super) fn of_code(code: u8) -> Option<Self> {
        let index = usize::from(code).checked_sub(1)?;
        Self::CLAIMABLE.get(index).copied()
    }

    /// Whether the sender copies into shared memory and the receiver out of it.
    pub(super) const fn is_double_copy(self) -> bool {
        matches!(self, Self::Slots | Self::Copy | Self::CopyNt)
    }

    /// Its index in [`BulkProtocol::CLAIMABLE`].
    pub(super) const fn index(self) -> usize {
        self.code() as usize - 1
    }
}

/// Number of protocols that can be claimed.
pub(super) const PROTOCOLS: usize = 6;

/// A set of protocols, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProtocolSet(u8);

impl ProtocolSet {
    pub(super) const fn with(self, protocol: BulkProtocol) -> Self {
        Self(self.0 | 1 << protocol.code())
    }

    pub(super) const fn has(self, protocol: BulkProtocol) -> bool {
        self.0 >> protocol.code() & 1 == 1
    }

    pub(super) fn iter(self) -> impl Iterator<Item = BulkProtocol> {
        BulkProtocol::CLAIMABLE
            .into_iter()
            .filter(move |&protocol| self.has(protocol))
    }
}

/// How the user wants large messages to go: the settings `shm_protocol` and `shm_chunk`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkPreference {
    /// The protocol, where it is available; `None`: the best by trial.
    pub protocol: Option<BulkProtocol>,
    /// Bytes of a piece in a FIFO; `None`: by the message length.
    pub chunk: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip() {
        for protocol in BulkProtocol::CLAIMABLE {
            assert_eq!(BulkProtocol::of_code(protocol.code()), Some(protocol));
        }
        assert_eq!(BulkProtocol::of_code(0), None);
        assert_eq!(BulkProtocol::of_code(7), None);
    }
}
