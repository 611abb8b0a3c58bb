//! The operations of a scenario.

use oxmpi_wire::{Envelope, Mode, Peer, Source, Tag};

use crate::oracle::ReceivePattern;
use crate::rng::Rng;

/// One operation. Ranks and indices wrap around.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// A send, with a request; `len` is at least 8.
    Send {
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
        /// Context and tag.
        envelope: Envelope,
        /// When it completes.
        mode: Mode,
        /// Bytes.
        len: u16,
    },
    /// A standard send without a request if possible; `len` is at least 8.
    Eager {
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
        /// Context and tag.
        envelope: Envelope,
        /// Bytes.
        len: u16,
    },
    /// A receive.
    Recv {
        /// The receiver.
        at: u32,
        /// What it asks for.
        want: ReceivePattern,
        /// Bytes of the buffer, at least 8.
        room: u16,
    },
    /// One look down the direct road, if it is open.
    FastRecv {
        /// The receiver.
        at: u32,
        /// The sender.
        source: u32,
        /// Context and tag.
        envelope: Envelope,
    },
    /// A probe.
    Probe {
        /// The receiver.
        at: u32,
        /// What it asks for.
        want: ReceivePattern,
    },
    /// A matched probe and its receive.
    MatchedProbe {
        /// The receiver.
        at: u32,
        /// What it asks for.
        want: ReceivePattern,
    },
    /// Takes the open send of this index back.
    CancelSend(u16),
    /// Takes the open receive of this index back.
    CancelRecv(u16),
    /// Every rank polls this often.
    Step(u8),
    /// A rank dies, unless it is the last one.
    Kill(u32),
}

impl Op {
    /// A random operation; nobody dies.
    pub fn random(rng: &mut Rng) -> Self {
        let (from, to) = (rng.below(6) as u32, rng.below(6) as u32);
        let envelope = Envelope {
            context: rng.below(2) as u32,
            tag: rng.below(3) as u32,
        };
        let want = ReceivePattern {
            source: if rng.chance(40) {
                Source::Any
            } else {
                Source::Peer(Peer(from))
            },
            context: envelope.context,
            tag: if rng.chance(40) {
                Tag::Any
            } else {
                Tag::Exact(envelope.tag)
            },
        };
        let len = [8, 48, 49, 500, 2000][rng.below(5) as usize];
        match rng.below(20) {
            0..=3 => Self::Send {
                from,
                to,
                envelope,
                mode: [Mode::Standard, Mode::Synchronous, Mode::Ready][rng.below(3) as usize],
                len,
            },
            4 => Self::Eager {
                from,
                to,
                envelope,
                len,
            },
            5..=9 => Self::Recv {
                at: to,
                want,
                room: if rng.chance(80) { 3000 } else { len },
            },
            10 => Self::FastRecv {
                at: to,
                source: from,
                envelope,
            },
            11 => Self::Probe { at: to, want },
            12 => Self::MatchedProbe { at: to, want },
            13 => Self::CancelSend(rng.next() as u16),
            14 => Self::CancelRecv(rng.next() as u16),
            _ => Self::Step(rng.below(4) as u8),
        }
    }
}
