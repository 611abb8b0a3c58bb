//! How a connection is made: the notices that two ranks exchange, and the stages that a peer goes through.

use super::rail_address::RailAddresses;
use crate::transport::PairAddress;
use oxmpi_wire::{Envelope, Flags, Header, Kind};
use std::net::SocketAddr;

/// How far the connection with a peer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Messages go over the control network.
    Control,
    /// Neither side has offered a queue pair.
    Idle,
    /// This rank has asked for an offer, which depends on where the ranks are (`X` receive queues).
    Asked,
    /// This rank has offered one.
    Offered,
    /// This rank connects by rdmacm to the peer, which has offered one.
    Connecting,
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
    /// Where the sender is: the peer offers connections that fit, maybe one that it has with the sender's node.
    Ask { address: RailAddresses },
    /// Where the peer reaches this rank, and whether it can receive already.
    Offer { address: RailAddresses, ready: bool },
    /// The same by rdmacm, of one of the sender's rails.
    Listen {
        address: PairAddress,
        at: ListenAddress,
    },
    /// The sender, which has made an offer, can receive.
    Ready,
    /// The sender makes no connection, or the receiver did not: what follows are messages.
    Refuse,
}

/// Where a rank awaits the connections of its offer by rdmacm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListenAddress {
    pub(super) address: SocketAddr,
    /// Which offer a request answers.
    pub(super) key: u64,
    /// The place of the rail's device among those of the rank: keys of memory are for the first.
    pub(super) device: u8,
}

/// What to do about a notice: connect the queue pair with the offered one, and answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// Offer a queue pair that fits a rank which is there, send its address.
    Propose(RailAddresses),
    /// Offer a queue pair, connect it, send its address: it can receive.
    Offer(RailAddresses),
    /// Connect the queue pair that was offered, send [`Notice::Ready`].
    Ready(RailAddresses),
    /// Connect by rdmacm the queue pair that was offered, or another one.
    Connect(PairAddress, ListenAddress),
    /// Forget the queue pair, send [`Notice::Refuse`].
    Refuse,
    Nothing,
}

impl Stage {
    /// The stage after a notice, and the answer. `key` is of this rank's own offer by rdmacm.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) fn after(
        self,
        notice: &Notice,
        key: Option<u64>,
    ) -> Result<(Self, Answer), &'static str> {
        Ok(match (self, notice.clone()) {
            // Both may have asked; then both propose.
            (Self::Idle | Self::Asked, Notice::Ask { address }) => {
                (Self::Offered, Answer::Propose(address))
            }
            (
                Self::Idle | Self::Asked,
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
            (Self::Offered, Notice::Listen { at, .. }) if key.is_some_and(|key| key > at.key) => {
                (Self::Offered, Answer::Nothing)
            }
            // The peer, which has offered as well, was faster by rdmacm.
            (Self::Receiving, Notice::Listen { .. }) => (Self::Receiving, Answer::Nothing),
            (Self::Idle | Self::Offered, Notice::Listen { address, at }) => {
                (Self::Connecting, Answer::Connect(address, at))
            }
            (Self::Receiving, Notice::Ready) => (Self::Ready, Answer::Nothing),
            (
                Self::Idle | Self::Asked | Self::Offered | Self::Connecting | Self::Receiving,
                Notice::Refuse,
            ) => (Self::Leaving, Answer::Refuse),
            (Self::Refused, Notice::Refuse) => (Self::Leaving, Answer::Nothing),
            // It was on its way.
            (Self::Refused, _) => (Self::Refused, Answer::Nothing),
            _ => return Err("a queue pair that does not fit the connection's stage"),
        })
    }
}

/// Before an address: that of a rank which can receive, and that of one which cannot yet.
const OFFERS: [(&str, bool); 2] = [("ready ", true), ("offer ", false)];

/// Before an address.
const ASK: &str = "ask ";

/// Before a socket address, the key of the offer, the device and an address.
const LISTEN: &str = "listen ";

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
            Self::Ask { address } => format!("{ASK}{address}"),
            Self::Offer { address, ready } => {
                let (word, _) = OFFERS[usize::from(!ready)];
                format!("{word}{address}")
            }
            Self::Listen {
                address: of_pair,
                at:
                    ListenAddress {
                        address,
                        key,
                        device,
                    },
            } => format!("{LISTEN}{address} {key:x} {device} {of_pair}"),
        }
    }

    /// The reverse of [`Notice::text`]; `None` if a peer sent something else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "ready" => return Some(Self::Ready),
            "refuse" => return Some(Self::Refuse),
            _ => {}
        }
        if let Some(address) = text.strip_prefix(ASK) {
            let address = address.parse().ok()?;
            return Some(Self::Ask { address });
        }
        if let Some(rest) = text.strip_prefix(LISTEN) {
            let (at, rest) = rest.split_once(' ')?;
            let (key, rest) = rest.split_once(' ')?;
            let (device, address) = rest.split_once(' ')?;
            let at = ListenAddress {
                address: at.parse().ok()?,
                key: u64::from_str_radix(key, 16).ok()?,
                device: device.parse().ok()?,
            };
            let address = address.parse().ok()?;
            return Some(Self::Listen { address, at });
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

    const PAIR: &str = "P,128,8,4,2,7:S,2048,16,8,2;17,18;1193046;7;4096;16;::ffff:10.9.0.1";

    fn offer(ready: bool) -> Notice {
        let address = format!("roce4/0={PAIR}");
        Notice::Offer {
            address: address.parse().expect("an address"),
            ready,
        }
    }

    fn ask() -> Notice {
        let address = "roce4/0=X,2048,16,8,2;3;7;7;4096;16;::ffff:10.9.0.1;f00,17,0,18";
        Notice::Ask {
            address: address.parse().expect("an address"),
        }
    }

    /// How the two sides connect.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Method {
        Offers,
        Questions,
        Rdmacm,
    }

    /// The offer of a side by rdmacm; that of side 0 has the smaller key.
    fn listen(side: usize) -> Notice {
        let address = PAIR.parse().expect("an address");
        let at = ListenAddress {
            address: "10.9.0.1:4711".parse().expect("a socket address"),
            key: side as u64,
            device: 1,
        };
        Notice::Listen { address, at }
    }

    /// What is on its way to a side by rdmacm, in any order with notices.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Connection {
        Request,
        Accepted,
        Rejected,
    }

    /// Two sides, and what is on its way to each.
    #[derive(Clone)]
    struct Pair {
        method: Method,
        stages: [Stage; 2],
        sent: [Vec<Notice>; 2],
        connections: [Vec<Connection>; 2],
    }

    impl Pair {
        fn new(method: Method) -> Self {
            Self {
                method,
                stages: [Stage::Idle; 2],
                sent: [vec![], vec![]],
                connections: [vec![], vec![]],
            }
        }

        fn offer(&self, side: usize) -> Notice {
            match self.method {
                Method::Rdmacm => listen(side),
                Method::Offers => offer(false),
                Method::Questions => ask(),
            }
        }

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
            let key = (self.method == Method::Rdmacm).then_some(side as u64);
            let key = key.filter(|_| self.stages[side] == Stage::Offered);
            let next = self.stages[side].after(&notice, key);
            let (stage, answer) = next.expect("no rule is broken");
            match answer {
                Answer::Propose(_) => self.goes_on(side, stage, offer(false), fails),
                Answer::Offer(_) => self.goes_on(side, stage, offer(true), fails),
                Answer::Ready(_) => self.goes_on(side, stage, Notice::Ready, fails),
                Answer::Refuse => self.goes_on(side, stage, Notice::Refuse, false),
                Answer::Connect(..) if fails => self.goes_on(side, stage, Notice::Refuse, true),
                Answer::Connect(..) => {
                    self.stages[side] = stage;
                    self.connections[1 - side].push(Connection::Request);
                }
                Answer::Nothing => self.stages[side] = stage,
            }
        }

        /// Takes an event of rdmacm.
        fn is_asked(&mut self, side: usize, fails: bool) {
            match (self.connections[side].remove(0), self.stages[side]) {
                (Connection::Request, Stage::Offered) if !fails => {
                    self.stages[side] = Stage::Receiving;
                    self.connections[1 - side].push(Connection::Accepted);
                }
                (Connection::Request, stage) => {
                    self.connections[1 - side].push(Connection::Rejected);
                    if stage == Stage::Offered {
                        self.goes_on(side, stage, Notice::Refuse, true);
                    }
                }
                (Connection::Accepted, Stage::Connecting) => {
                    self.goes_on(side, Stage::Ready, Notice::Ready, fails);
                }
                (Connection::Rejected, stage @ Stage::Connecting) => {
                    self.goes_on(side, stage, Notice::Refuse, true);
                }
                // The connection was given up before.
                (Connection::Accepted | Connection::Rejected, _) => {}
            }
        }
    }

    /// In every order of events, whatever fails: both sides become ready, and neither before the other can receive; or
    /// both leave, and neither expects a notice when the other sends messages.
    #[test]
    fn both_sides_become_ready_or_leave_in_every_order() {
        for method in [Method::Offers, Method::Questions, Method::Rdmacm] {
            let first = match method {
                Method::Questions => Stage::Asked,
                Method::Offers | Method::Rdmacm => Stage::Offered,
            };
            let mut open = vec![Pair::new(method)];
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
                            let offer = pair.offer(side);
                            next.goes_on(side, first, offer, fails);
                            open.push(next);
                        }
                        let mut next = pair.clone();
                        if !pair.sent[side].is_empty() {
                            next.receives(side, fails);
                            open.push(next);
                        }
                        let mut next = pair.clone();
                        if !pair.connections[side].is_empty() {
                            next.is_asked(side, fails);
                            open.push(next);
                        }
                    }
                }
                if pair.sent.iter().all(Vec::is_empty) && pair.connections.iter().all(Vec::is_empty)
                {
                    ends.insert(format!("{:?}", pair.stages));
                }
            }
            let ends: Vec<_> = ends.into_iter().collect();
            let expected = ["[Idle, Idle]", "[Leaving, Leaving]", "[Ready, Ready]"];
            assert_eq!(ends, expected);
        }
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
            (Stage::Connecting, listen(1)),
            (Stage::Ready, listen(1)),
            (Stage::Offered, ask()),
            (Stage::Ready, ask()),
        ] {
            assert!(stage.after(&notice, None).is_err(), "{stage:?} {notice:?}");
        }
    }

    #[test]
    fn a_notice_reads_back() {
        for notice in [
            Notice::Ready,
            Notice::Refuse,
            offer(true),
            offer(false),
            ask(),
            listen(7),
        ] {
            assert!(notice.text().len() <= Notice::MOST);
            assert_eq!(Notice::parse(&notice.text()), Some(notice));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_notice_or_none(text in "(ready|offer|ask|listen)? ?.{0,60}") {
            if let Some(notice) = Notice::parse(&text) {
                prop_assert_eq!(Notice::parse(&notice.text()), Some(notice));
            }
        }
    }
}
