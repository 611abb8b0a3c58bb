//! How a connection is made: the notices that two ranks exchange, and the stages that a peer goes through.

use crate::objects::{Gid, Mtu};
use crate::transport::PairAddress;
use oxmpi_wire::{Envelope, Flags, Header, Kind};

/// How far the connection with a peer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Messages go over the control network.
    Control,
    /// Neither side has offered a queue pair.
    Idle,
    /// This rank has offered one.
    Offered,
    /// This rank can receive; whether the peer can is not known.
    Receiving,
    /// Both can receive.
    Ready,
    Lost,
}

/// What a rank tells a peer over the control network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notice {
    /// Where the peer reaches this rank, and whether it can receive already.
    Offer { address: PairAddress, ready: bool },
    /// The sender, which has made an offer, can receive.
    Ready,
}

/// What to do about a notice: connect the queue pair with the offered one, and answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Offer a queue pair, connect it, send its address: it can receive.
    Offer(PairAddress),
    /// Connect the queue pair that was offered, send [`Notice::Ready`].
    Ready(PairAddress),
    Nothing,
}

impl Stage {
    /// The stage after a notice, and the answer.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) const fn after(self, notice: &Notice) -> Result<(Self, Answer), &'static str> {
        Ok(match (self, *notice) {
            (
                Self::Idle,
                Notice::Offer {
                    address,
                    ready: false,
                },
            ) => (Self::Receiving, Answer::Offer(address)),
            (
                Self::Offered,
                Notice::Offer {
                    address,
                    ready: false,
                },
            ) => (Self::Receiving, Answer::Ready(address)),
            (
                Self::Offered,
                Notice::Offer {
                    address,
                    ready: true,
                },
            ) => (Self::Ready, Answer::Ready(address)),
            (Self::Receiving, Notice::Ready) => (Self::Ready, Answer::Nothing),
            _ => return Err("a queue pair that does not fit the connection's stage"),
        })
    }
}

/// Bytes of a notice.
const LEN: usize = 40;

impl Notice {
    /// The header of the frame of each notice.
    pub(super) const HEADER: Header = Header {
        kind: Kind::Eager,
        flags: Flags::empty(),
        len: LEN as u32,
        envelope: Envelope { context: 0, tag: 0 },
    };

    /// Bytes of a notice.
    pub(super) const LEN: usize = LEN;

    pub(super) fn bytes(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        let Self::Offer { address, ready } = self else {
            bytes[0] = 2;
            return bytes;
        };
        bytes[0] = 1;
        bytes[1] = u8::from(*ready);
        bytes[2..4].copy_from_slice(&address.lid.to_le_bytes());
        bytes[4..8].copy_from_slice(&address.number.to_le_bytes());
        bytes[8..12].copy_from_slice(&address.sq_psn.to_le_bytes());
        bytes[12..16].copy_from_slice(&address.mtu.bytes().to_le_bytes());
        bytes[16] = u8::from(address.gid.is_some());
        let Gid(gid) = address.gid.unwrap_or(Gid([0; 16]));
        bytes[24..].copy_from_slice(&gid);
        bytes
    }

    /// The reverse of [`Notice::bytes`]; `None` if a peer sent something else.
    pub(super) fn parse(bytes: &[u8; LEN]) -> Option<Self> {
        let word = |at: usize| {
            let word = bytes[at..].first_chunk().copied();
            u32::from_le_bytes(word.unwrap_or_default())
        };
        if *bytes == Self::Ready.bytes() {
            return Some(Self::Ready);
        }
        let [1, ready @ (0 | 1), low, high] = bytes[..4] else {
            return None;
        };
        let gid = bytes[24..].first_chunk().copied().map(Gid);
        let notice = Self::Offer {
            address: PairAddress {
                number: word(4),
                sq_psn: word(8),
                lid: u16::from_le_bytes([low, high]),
                gid: gid.filter(|_| bytes[16] == 1),
                mtu: Mtu::new(word(12))?,
            },
            ready: ready == 1,
        };
        (notice.bytes() == *bytes).then_some(notice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn offer(ready: bool) -> Notice {
        let address = PairAddress {
            number: 0x12_3456,
            sq_psn: 0xab_cdef,
            lid: 7,
            gid: Some(Gid([9; 16])),
            mtu: Mtu::new(4096).expect("an MTU"),
        };
        Notice::Offer { address, ready }
    }

    /// Two sides, and the notices that are on their way to each.
    #[derive(Clone)]
    struct Pair {
        stages: [Stage; 2],
        sent: [Vec<Notice>; 2],
    }

    impl Pair {
        fn offers(&mut self, side: usize) {
            if self.stages[side] == Stage::Idle {
                self.stages[side] = Stage::Offered;
                self.sent[1 - side].push(offer(false));
            }
        }

        fn receives(&mut self, side: usize) {
            let notice = self.sent[side].remove(0);
            let (stage, answer) = self.stages[side].after(&notice).expect("no rule is broken");
            self.stages[side] = stage;
            match answer {
                Answer::Offer(_) => self.sent[1 - side].push(offer(true)),
                Answer::Ready(_) => self.sent[1 - side].push(Notice::Ready),
                Answer::Nothing => {}
            }
        }
    }

    /// In every order of events: both sides become ready, and neither before the other can receive.
    #[test]
    fn both_sides_become_ready_in_every_order() {
        let mut open = vec![Pair {
            stages: [Stage::Idle; 2],
            sent: [vec![], vec![]],
        }];
        let mut ends = BTreeSet::new();
        while let Some(pair) = open.pop() {
            for side in 0..2 {
                if pair.stages[side] == Stage::Ready {
                    let other = pair.stages[1 - side];
                    assert!(
                        matches!(other, Stage::Receiving | Stage::Ready),
                        "{other:?}"
                    );
                }
                if pair.stages[side] == Stage::Idle {
                    let mut next = pair.clone();
                    next.offers(side);
                    open.push(next);
                }
                if !pair.sent[side].is_empty() {
                    let mut next = pair.clone();
                    next.receives(side);
                    open.push(next);
                }
            }
            if pair.sent.iter().all(Vec::is_empty) {
                ends.insert(format!("{:?}", pair.stages));
            }
        }
        let ends: Vec<_> = ends.into_iter().collect();
        assert_eq!(ends, ["[Idle, Idle]", "[Ready, Ready]"]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (stage, notice) in [
            (Stage::Idle, Notice::Ready),
            (Stage::Idle, offer(true)),
            (Stage::Offered, Notice::Ready),
            (Stage::Receiving, offer(false)),
            (Stage::Ready, Notice::Ready),
        ] {
            assert!(stage.after(&notice).is_err(), "{stage:?} {notice:?}");
        }
    }

    proptest! {
        #[test]
        fn a_notice_reads_back(number: u32, sq_psn: u32, lid: u16, gid: Option<[u8; 16]>, ready: bool) {
            let mtu = Mtu::new(1024).expect("an MTU");
            let address = PairAddress { number, sq_psn, lid, gid: gid.map(Gid), mtu };
            for notice in [Notice::Ready, Notice::Offer { address, ready }] {
                prop_assert_eq!(Notice::parse(&notice.bytes()), Some(notice));
            }
        }

        #[test]
        fn any_bytes_are_a_notice_or_none(kind in 0..4u8, ready in 0..3u8, rest: [u8; 38]) {
            let mut bytes = [0; LEN];
            bytes[..2].copy_from_slice(&[kind, ready]);
            bytes[2..].copy_from_slice(&rest);
            if let Some(notice) = Notice::parse(&bytes) {
                prop_assert_eq!(notice.bytes(), bytes);
            }
        }
    }
}
