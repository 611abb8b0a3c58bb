//! The number of a work request: whose it is, for its completion.

/// A work request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestId {
    /// Of the send queue of a peer: the oldest that has not ended.
    Send {
        /// The peer.
        peer: u32,
    },
    /// A receive.
    Receive {
        /// The peer that sends.
        peer: u32,
        /// The buffer of its message.
        buffer: u32,
    },
}

impl RequestId {
    /// In place of a buffer: a queue has far fewer.
    const SEND: u32 = u32::MAX;

    pub(super) const fn word(self) -> u64 {
        let (peer, buffer) = match self {
            Self::Send { peer } => (peer, Self::SEND),
            Self::Receive { peer, buffer } => (peer, buffer),
        };
        (peer as u64) << 32 | buffer as u64
    }

    /// The reverse of [`RequestId::word`].
    pub(super) const fn from_word(word: u64) -> Self {
        let peer = (word >> 32) as u32;
        match word as u32 {
            Self::SEND => Self::Send { peer },
            buffer => Self::Receive { peer, buffer },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RequestId;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_id_reads_back(word: u64, peer: u32) {
            prop_assert_eq!(RequestId::from_word(word).word(), word);
            let send = RequestId::Send { peer };
            prop_assert_eq!(RequestId::from_word(send.word()), send);
        }
    }
}
