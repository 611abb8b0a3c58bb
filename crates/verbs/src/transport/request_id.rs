//! The number of a work request: whose it is, for its completion.

/// A work request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestId {
    /// Of a send queue: the oldest signaled one that has not ended.
    Send {
        /// The peer.
        peer: u32,
        /// The receive queue of the peer.
        queue: u8,
    },
    /// One of a send queue that is not signaled: if it completes, it has failed.
    Unsignaled {
        /// The peer.
        peer: u32,
        /// The receive queue of the peer.
        queue: u8,
    },
    /// A receive for one peer.
    Receive {
        /// The peer that sends.
        peer: u32,
        /// The receive queue.
        queue: u8,
        /// The buffer of its message.
        buffer: u32,
    },
    /// The first message of a connection by iWARP, beside the requests of the send queue: if it completes, it has failed, and so
    /// do the requests behind it.
    Opening {
        /// The receive queue of the peer.
        queue: u8,
    },
    /// A receive for whichever peer sends.
    Shared {
        /// The receive queue.
        queue: u8,
        /// The buffer of its message.
        buffer: u32,
    },
}

/// Bits of the number of a buffer.
const BITS: u32 = 24;

impl RequestId {
    /// In place of a buffer: a queue has far fewer.
    const SEND: u32 = (1 << BITS) - 1;
    const UNSIGNALED: u32 = Self::SEND - 1;
    /// In place of a peer.
    const ANY: u32 = u32::MAX;

    pub(super) const fn word(self) -> u64 {
        let (peer, queue, buffer) = match self {
            Self::Send { peer, queue } => (peer, queue, Self::SEND),
            Self::Unsignaled { peer, queue } => (peer, queue, Self::UNSIGNALED),
            Self::Receive {
                peer,
                queue,
                buffer,
            } => (peer, queue, buffer),
            Self::Opening { queue } => (Self::ANY, queue, Self::SEND),
            Self::Shared { queue, buffer } => (Self::ANY, queue, buffer),
        };
        (peer as u64) << 32 | (queue as u64) << BITS | buffer as u64
    }

    /// The reverse of [`RequestId::word`].
    #[inline]
    pub(super) const fn from_word(word: u64) -> Self {
        let peer = (word >> 32) as u32;
        let queue = (word >> BITS) as u8;
        match (peer, word as u32 & Self::SEND) {
            (Self::ANY, Self::SEND) => Self::Opening { queue },
            (Self::ANY, buffer) => Self::Shared { queue, buffer },
            (peer, Self::SEND) => Self::Send { peer, queue },
            (peer, Self::UNSIGNALED) => Self::Unsignaled { peer, queue },
            (peer, buffer) => Self::Receive {
                peer,
                queue,
                buffer,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RequestId;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_id_reads_back(word: u64, peer in 0..u32::MAX, queue: u8, buffer in 0..1u32 << 23) {
            prop_assert_eq!(RequestId::from_word(word).word(), word);
            for id in [
                RequestId::Send { peer, queue },
                RequestId::Unsignaled { peer, queue },
                RequestId::Receive { peer, queue, buffer },
                RequestId::Opening { queue },
                RequestId::Shared { queue, buffer },
            ] {
                prop_assert_eq!(RequestId::from_word(id.word()), id);
            }
        }
    }
}
