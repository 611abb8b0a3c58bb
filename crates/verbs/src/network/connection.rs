//! How a connection is made: the notices that two ranks exchange, and the stages that a peer goes through.

use super::rail_address::RailAddresses;
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
    /// This rank has refused to connect, and awaits that the peer does.
    Refused,
    /// Both have refused; this rank's notice waits for room.
    Leaving,
    Lost,
}

/// What a rank tells a peer over the control network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Notice {
    /// Where the peer reaches this rank, and whether it can receive already.
    Offer { address: RailAddresses, ready: bool },
    /// The sender, which has made an offer, can receive.
    Ready,
    /// The sender makes no connection, or the receiver did not: what follows are messages.
    Refuse,
}

/// What to do about a notice: connect the queue pair with the offered one, and answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// Offer a queue pair, connect it, send its address: it can receive.
    Offer(RailAddresses),
    /// Connect the queue pair that was offered, send [`Notice::Ready`].
    Ready(RailAddresses),
    /// Forget the queue pair, send [`Notice::Refuse`].
    Refuse,
    Nothing,
}

impl Stage {
    /// The stage after a notice, and the answer.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) fn after(self, notice: &Notice) -> Result<(Self, Answer), &'static str> {
        Ok(match (self, notice.clone()) {
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
            (Self::Idle | Self::Offered | Self::Receiving, Notice::Refuse) => {
                (Self::Leaving, Answer::Refuse)
            }
            (Self::Refused, Notice::Refuse) => (Self::Leaving, Answer::Nothing),
            // It was on its way.
            (Self::Refused, _) => (Self::Refused, Answer::Nothing),
            _ => return Err("a queue pair that does not fit the connection's stage"),
        })
    }
}

/// Before an address: that of a rank which can receive, and that of one which cannot yet.
const OFFERS: [(&str, bool); 2] = [("ready ", true), ("offer ", false)];

impl Notice {
    /// The most bytes of a notice: far more than an address has.
    pub(super) const MOST: usize = 4096;

    /// The header of a frame with a notice of `len` bytes.
    pub(super) const fn header(len: usize) -> Header {
        let envelope = Envelope { context: 0, tag: 0 };
        Header::new(Kind::Eager, Flags::empty(), len as u32, envelope)
    }

    /// The notice as text.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Ready => "ready".into(),
            Self::Refuse => "refuse".into(),
            Self::Offer { address, ready } => {
                let (word, _) = OFFERS[usize::from(!ready)];
                format!("{word}{address}")
            }
        }
    }

    /// The reverse of [`Notice::text`]; `None` if a peer sent something else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "ready" => return Some(Self::Ready),
            "refuse" => return Some(Self::Refuse),
            _ => {}
        }
        let find = |(word, ready)| text.strip_prefix(word).zip(Some(ready));
        let (address, ready) = OFFERS.into_iter().find_map(find)?;
        let address = address.parse().ok()?;
        Some(Self::Offer { address, ready })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn offer(ready: bool) -> Notice {
        let address = "roce4/0=P,128,8,4,2,7:S,2048,16,8,2;17,18;1193046;7;4096;16;::ffff:10.9.0.1";
        Notice::Offer {
            address: address.parse().expect("an address"),
            ready,
        }
    }

    /// Two sides, and the notices that are on their way to each.
    #[derive(Clone)]
    struct Pair {
        stages: [Stage; 2],
        sent: [Vec<Notice>; 2],
    }

    impl Pair {
        /// Goes on to `stage` and sends `notice`, or `fails` to.
        fn goes_on(&mut self, side: usize, stage: Stage, notice: Notice, fails: bool) {
            let (stage, notice) = match fails {
                true => (Stage::Refused, Notice::Refuse),
                false => (stage, notice),
            };
            self.stages[side] = stage;
            self.sent[1 - side].push(notice);
        }

        fn receives(&mut self, side: usize, fails: bool) {
            let notice = self.sent[side].remove(0);
            let (stage, answer) = self.stages[side].after(&notice).expect("no rule is broken");
            match answer {
                Answer::Offer(_) => self.goes_on(side, stage, offer(true), fails),
                Answer::Ready(_) => self.goes_on(side, stage, Notice::Ready, fails),
                Answer::Refuse => self.goes_on(side, stage, Notice::Refuse, false),
                Answer::Nothing => self.stages[side] = stage,
            }
        }
    }

    /// In every order of events, whatever fails: both sides become ready, and neither before the other can receive; or
    /// both leave, and neither expects a notice when the other sends messages.
    #[test]
    fn both_sides_become_ready_or_leave_in_every_order() {
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
                if pair.stages[side] == Stage::Leaving {
                    let left = pair.sent[1 - side].last() == Some(&Notice::Refuse);
                    assert!(left || pair.stages[1 - side] == Stage::Leaving);
                }
                for fails in [false, true] {
                    let mut next = pair.clone();
                    if pair.stages[side] == Stage::Idle {
                        next.goes_on(side, Stage::Offered, offer(false), fails);
                        open.push(next);
                    }
                    let mut next = pair.clone();
                    if !pair.sent[side].is_empty() {
                        next.receives(side, fails);
                        open.push(next);
                    }
                }
            }
            if pair.sent.iter().all(Vec::is_empty) {
                ends.insert(format!("{:?}", pair.stages));
            }
        }
        let ends: Vec<_> = ends.into_iter().collect();
        let expected = ["[Idle, Idle]", "[Leaving, Leaving]", "[Ready, Ready]"];
        assert_eq!(ends, expected);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (stage, notice) in [
            (Stage::Idle, Notice::Ready),
            (Stage::Idle, offer(true)),
            (Stage::Offered, Notice::Ready),
            (Stage::Receiving, offer(false)),
            (Stage::Ready, Notice::Ready),
            (Stage::Ready, Notice::Refuse),
            (Stage::Leaving, Notice::Refuse),
        ] {
            assert!(stage.after(&notice).is_err(), "{stage:?} {notice:?}");
        }
    }

    #[test]
    fn a_notice_reads_back() {
        for notice in [Notice::Ready, Notice::Refuse, offer(true), offer(false)] {
            assert!(notice.text().len() <= Notice::MOST);
            assert_eq!(Notice::parse(&notice.text()), Some(notice));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_notice_or_none(text in "(ready|offer)? ?.{0,60}") {
            if let Some(notice) = Notice::parse(&text) {
                prop_assert_eq!(Notice::parse(&notice.text()), Some(notice));
            }
        }
    }
}
