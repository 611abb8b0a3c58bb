//! The grammar of receive queues, as openib has it: `P,128,256,192,128:S,2048,256,128,32`.
//!
//! Source: the Open MPI FAQ, "How do I specify the type of receive queues that I want Open MPI to use?".

use std::fmt;
use std::str::FromStr;

/// A receive queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveQueue {
    /// `P`: each peer has buffers of its own.
    PerPeer(PerPeerQueue),
    /// `S`: all peers share the buffers.
    Shared(SharedQueue),
    /// `X`: as `S`, and the processes of a host share connections (XRC).
    Extended(SharedQueue),
}

/// A receive queue of one peer, `P,size,buffers,low_mark,window,reserve`.
///
/// The peer may send while it has credits: one for each buffer. This rank returns them with its own frames, or by a
/// message of their own as soon as it has `window` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PerPeerQueue {
    /// Bytes of a body.
    pub size: u32,
    /// Buffers for frames.
    pub buffers: u32,
    /// When no more than so many buffers are posted, all are.
    pub low_mark: u32,
    /// Credits for which a message of their own is sent.
    pub window: u32,
    /// Buffers for messages that only return credits, beside those for frames.
    pub reserve: u32,
}

/// A receive queue of all peers, `S,size,buffers,low_mark,sends`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedQueue {
    /// Bytes of a body.
    pub size: u32,
    /// Buffers.
    pub buffers: u32,
    /// When no more than so many buffers are posted, all are.
    pub low_mark: u32,
    /// Frames to one peer that it has not taken yet, at most; fewer where many ranks share the buffers.
    pub sends: u32,
}

/// What is wrong with the receive queue `queue`.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "receive queue {queue:?}: {what}; write P,size[,buffers[,low mark[,window[,reserve]]]], or S or X,size[,buffers[,low mark[,sends]]], and `:` between queues"
)]
pub struct ReceiveQueueError {
    queue: String,
    what: String,
}

impl fmt::Debug for ReceiveQueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The most queues: their numbers are in requests.
const MOST_QUEUES: usize = 255;

/// The most of any number but a size: credits travel in 16 bits.
const MOST: u32 = u16::MAX as u32;

/// The most credit messages in flight to a peer whose queue is shared.
const CREDIT_MESSAGES: u32 = 3;

/// Frames of a peer in a shared queue, at least.
const LEAST_SHARE: u32 = 2;

/// Bytes of the body that the largest buffers hold at least: those of the longest frame of a transport.
const LARGEST: u32 = 128;

/// Why queues of different kinds are refused.
const ALL_EXTENDED: &str = "with one X queue all must be X";

impl ReceiveQueue {
    /// The receive queues of openib, as a setting.
    ///
    /// Source: the Open MPI FAQ, as above.
    pub const DEFAULT: &str =
        "P,128,256,192,128:S,2048,256,128,32:S,12288,256,128,32:S,65536,256,128,32";

    /// Bytes of a body that a buffer holds.
    #[must_use]
    pub const fn size(&self) -> u32 {
        match self {
            Self::PerPeer(queue) => queue.size,
            Self::Shared(queue) | Self::Extended(queue) => queue.size,
        }
    }

    /// Messages that a rank has in flight to one peer at most.
    pub(super) const fn sends(&self) -> u32 {
        match self {
            Self::PerPeer(queue) => queue.buffers + queue.reserve,
            Self::Shared(queue) | Self::Extended(queue) => queue.sends + CREDIT_MESSAGES,
        }
    }

    /// Messages that a rank has in flight to one of `peers` peers at most: those of an `X` queue share their queue pair with
    /// messages to others.
    pub(super) fn most_in_flight(&self, peers: u32) -> u32 {
        match self {
            Self::Extended(queue) => {
                let each = queue.of_each(peers);
                each.buffers + each.reserve
            }
            Self::PerPeer(_) | Self::Shared(_) => self.sends(),
        }
    }

    /// Flow control of each of `peers` peers.
    pub(super) fn of_each(&self, peers: u32) -> PerPeerQueue {
        match self {
            Self::PerPeer(queue) => *queue,
            Self::Shared(queue) | Self::Extended(queue) => queue.of_each(peers),
        }
    }

    /// Buffers of a peer, or of all peers if the queue is shared.
    pub(super) const fn buffers(&self) -> u32 {
        match self {
            Self::PerPeer(queue) => queue.buffers + queue.reserve,
            Self::Shared(queue) | Self::Extended(queue) => queue.buffers,
        }
    }

    /// Whether all peers share the buffers.
    pub(super) const fn is_shared(&self) -> bool {
        !matches!(self, Self::PerPeer(_))
    }

    /// Checks that `queues` are what a rank can have, whatever its device.
    ///
    /// # Errors
    /// There are none or more than 255, or all have buffers of less than 128 B.
    pub fn check_all(queues: &[Self]) -> Result<(), ReceiveQueueError> {
        let largest = queues.iter().map(Self::size).max().unwrap_or(0);
        if largest < LARGEST {
            let what = format!("no buffers of {LARGEST} B or more");
            return Err(wrong(&Self::join_all(queues), what));
        }
        let is_extended = |queue: &Self| matches!(queue, Self::Extended(_));
        if queues.iter().any(is_extended) && !queues.iter().all(is_extended) {
            return Err(wrong(&Self::join_all(queues), ALL_EXTENDED));
        }
        if queues.len() > MOST_QUEUES {
            let what = format!("{} queues, expected {MOST_QUEUES} at most", queues.len());
            return Err(wrong(&Self::join_all(queues), what));
        }
        Ok(())
    }

    /// Checks that ranks with `queues` can be connected by rdmacm, which sends the first message on the first queue.
    ///
    /// # Errors
    /// The first queue is not of kind `P`.
    pub fn check_rdmacm(queues: &[Self]) -> Result<(), ReceiveQueueError> {
        match queues {
            [Self::PerPeer(_), ..] => Ok(()),
            _ => {
                let what = "connections by rdmacm need a first queue of kind P";
                Err(wrong(&Self::join_all(queues), what))
            }
        }
    }

    /// The receive queues of a setting, one at least.
    ///
    /// # Errors
    /// The first queue that is wrong, and why.
    pub fn parse_all(setting: &str) -> Result<Vec<Self>, ReceiveQueueError> {
        let queues: Vec<Self> = setting
            .split(':')
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        let is_extended = |queue: &Self| matches!(queue, Self::Extended(_));
        if queues.iter().any(is_extended) && !queues.iter().all(is_extended) {
            return Err(wrong(setting, ALL_EXTENDED));
        }
        Ok(queues)
    }
}

impl ReceiveQueue {
    /// The setting that [`parse_all`](Self::parse_all) reads as `queues`, with all numbers.
    #[must_use]
    pub fn join_all(queues: &[Self]) -> String {
        let all: Vec<_> = queues.iter().map(Self::to_string).collect();
        all.join(":")
    }
}

impl FromStr for ReceiveQueue {
    type Err = ReceiveQueueError;

    fn from_str(text: &str) -> Result<Self, ReceiveQueueError> {
        let mut fields = text.split(',').map(str::trim);
        let kind = fields.next().unwrap_or_default();
        let mut numbers = Vec::new();
        for field in fields {
            let number = field.parse::<u32>().ok().filter(|number| *number > 0);
            let number =
                number.ok_or_else(|| wrong(text, format!("{field:?} is no number from 1 on")))?;
            if !numbers.is_empty() && number > MOST {
                return Err(wrong(text, format!("{number} is more than {MOST}")));
            }
            numbers.push(number);
        }
        let most = if kind == "P" { 5 } else { 4 };
        if numbers.is_empty() || numbers.len() > most {
            let count = numbers.len();
            return Err(wrong(
                text,
                format!("{count} numbers, expected 1 to {most}"),
            ));
        }
        let number = |at: usize, default: u32| numbers.get(at).copied().unwrap_or(default).max(1);
        let size = numbers[0];
        let buffers = number(1, if kind == "P" { 8 } else { 16 });
        let low_mark = number(2, buffers / 2);
        if low_mark > buffers {
            return Err(wrong(
                text,
                format!("a low mark of {low_mark} for {buffers} buffers"),
            ));
        }
        let shared = SharedQueue {
            size,
            buffers,
            low_mark,
            sends: number(3, low_mark / 4),
        };
        match kind {
            "P" => {
                let window = number(3, low_mark / 2);
                let queue = PerPeerQueue {
                    size,
                    buffers,
                    low_mark,
                    window,
                    reserve: number(4, (2 * buffers - 1) / window),
                };
                queue.check().map_err(|what| wrong(text, what))
            }
            "S" => Ok(Self::Shared(shared)),
            "X" => Ok(Self::Extended(shared)),
            _ => Err(wrong(text, format!("kind {kind:?}, expected P, S or X"))),
        }
    }
}

impl SharedQueue {
    /// Whether all free buffers are posted when so many are.
    pub(super) const fn refills(&self, posted: u32) -> bool {
        posted <= self.low_mark
    }

    /// Whether the share of each of `peers` peers is as large as it must be: a message then always finds a buffer.
    pub(super) const fn has_shares_for(&self, peers: u32) -> bool {
        self.low_mark as u64 >= peers as u64 * (LEAST_SHARE + CREDIT_MESSAGES) as u64
    }

    /// Flow control of each of `peers` peers: its share of the buffers that are always posted, those at the low mark, and
    /// no more than `sends`. Then a message finds a buffer, however long the receiver does not poll.
    ///
    /// A peer has two frames at least. Where the shares are too small for that and all peers send at once to a rank that
    /// does not poll, their devices send again what found no buffer, every
    /// [`SHARED_RNR_TIMER`](super::endpoint::SHARED_RNR_TIMER).
    fn of_each(&self, peers: u32) -> PerPeerQueue {
        let share = self.low_mark / peers.max(1);
        let buffers = share.saturating_sub(CREDIT_MESSAGES);
        let buffers = buffers.max(LEAST_SHARE).min(self.sends);
        let window = buffers.div_ceil(2);
        PerPeerQueue {
            size: self.size,
            buffers,
            // A frame that was taken is owed at once: the buffers are not the peer's own.
            low_mark: buffers,
            window,
            reserve: (2 * buffers - 1) / window,
        }
    }
}

impl PerPeerQueue {
    /// Refuses a queue by which two ranks could wait for each other's credits for ever.
    fn check(self) -> Result<ReceiveQueue, String> {
        let Self {
            buffers,
            low_mark,
            window,
            reserve,
            ..
        } = self;
        // Fewer than the window may then never be returned: see `Credits`.
        if window > buffers.min(low_mark + 1) {
            return Err(format!(
                "a window of {window} is never reached with {buffers} buffers and a low mark of {low_mark}"
            ));
        }
        if buffers + reserve > MOST {
            return Err(format!(
                "{buffers} buffers and a reserve of {reserve} are more than {MOST}"
            ));
        }
        Ok(ReceiveQueue::PerPeer(self))
    }
}

fn wrong(queue: &str, what: impl Into<String>) -> ReceiveQueueError {
    ReceiveQueueError {
        queue: queue.to_owned(),
        what: what.into(),
    }
}

impl fmt::Display for ReceiveQueue {
    /// All numbers, as [`FromStr`] reads them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, shared) = match self {
            Self::PerPeer(queue) => {
                let PerPeerQueue {
                    size,
                    buffers,
                    low_mark,
                    window,
                    reserve,
                } = queue;
                return write!(f, "P,{size},{buffers},{low_mark},{window},{reserve}");
            }
            Self::Shared(queue) => ("S", queue),
            Self::Extended(queue) => ("X", queue),
        };
        let SharedQueue {
            size,
            buffers,
            low_mark,
            sends,
        } = shared;
        write!(f, "{kind},{size},{buffers},{low_mark},{sends}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        text.parse::<ReceiveQueue>()
            .map_or_else(|why| why.to_string(), |queue| queue.to_string())
    }

    #[test]
    fn omitted_numbers_are_those_of_openib() {
        for (text, whole) in [
            ("P,128", "P,128,8,4,2,7"),
            ("P,128,256,128,16", "P,128,256,128,16,31"),
            ("P,128,256,192,128", "P,128,256,192,128,3"),
            ("P,128,2", "P,128,2,1,1,3"),
            ("P,65536,1", "P,65536,1,1,1,1"),
            ("S,1024", "S,1024,16,8,2"),
            ("S,2048,256,128,32", "S,2048,256,128,32"),
            ("X, 2048, 256", "X,2048,256,128,32"),
        ] {
            assert_eq!(shown(text), whole);
        }
    }

    #[test]
    fn a_wrong_queue_is_named_with_the_reason() {
        for (text, why) in [
            ("", "kind \"\""),
            ("P", "0 numbers, expected 1 to 5"),
            ("Q,1", "kind \"Q\", expected P, S or X"),
            ("P,0", "\"0\" is no number from 1 on"),
            ("P,1,x", "\"x\" is no number"),
            ("P,128,8,9", "a low mark of 9 for 8 buffers"),
            (
                "P,128,8,1,4",
                "a window of 4 is never reached with 8 buffers and a low mark of 1",
            ),
            ("P,128,65535,1,1,1", "more than 65535"),
            ("S,1,2,1,1,1", "5 numbers, expected 1 to 4"),
            ("S,1,65536", "65536 is more than 65535"),
        ] {
            let error = ReceiveQueue::parse_all(text).unwrap_err().to_string();
            assert!(error.contains(why) || text.is_empty(), "{error}");
            assert!(
                error.starts_with(&format!("receive queue {text:?}: ")),
                "{error}"
            );
        }
    }

    #[test]
    fn queues_that_no_rank_can_have_are_refused() {
        let check = |text| ReceiveQueue::check_all(&ReceiveQueue::parse_all(text).unwrap());
        assert_eq!(check("P,64:S,128"), Ok(()));
        let error = check("P,64:S,127").unwrap_err().to_string();
        assert!(
            error.contains("\"P,64,8,4,2,7:S,127,16,8,2\": no buffers of 128 B"),
            "{error}"
        );
        assert!(ReceiveQueue::check_all(&[]).is_err());
        let error = check(&["P,128"; 256].join(":")).unwrap_err().to_string();
        assert!(
            error.contains("256 queues, expected 255 at most"),
            "{error}"
        );
    }

    #[test]
    fn rdmacm_needs_a_queue_of_each_peer_first() {
        let check = |text| ReceiveQueue::check_rdmacm(&ReceiveQueue::parse_all(text).unwrap());
        assert_eq!(check(ReceiveQueue::DEFAULT), Ok(()));
        for text in ["S,1024,16,8,2:P,128,8,4,2,7", "X,1024,16,8,2"] {
            let error = check(text).unwrap_err().to_string();
            assert!(
                error.contains(text) && error.contains("first queue of kind P"),
                "{error}"
            );
        }
    }

    #[test]
    fn extended_queues_are_all_or_none() {
        assert_eq!(
            ReceiveQueue::parse_all("X,1024:X,4096,8").map(|all| all.len()),
            Ok(2)
        );
        assert_eq!(
            ReceiveQueue::parse_all("P,128:S,1024").map(|all| all.len()),
            Ok(2)
        );
        let error = ReceiveQueue::parse_all("P,128:X,1024").unwrap_err();
        assert!(error.to_string().contains("all must be X"), "{error}");
    }

    proptest! {
        /// All peers together have no more messages in flight than buffers are always posted, or two frames each.
        #[test]
        fn peers_share_what_is_posted(low_mark in 1..400u32, sends in 1..99u32, peers in 0..200u32) {
            let queue = SharedQueue { size: 128, buffers: 400, low_mark, sends };
            let each = queue.of_each(peers);
            prop_assert!(each.check().is_ok());
            prop_assert!(each.buffers <= sends && each.reserve <= CREDIT_MESSAGES);
            let in_flight = (each.buffers + each.reserve) * peers;
            prop_assert!(in_flight <= low_mark || each.buffers <= 2, "{each:?}");
        }

        /// What is accepted reads back from its text, and its window is reached.
        #[test]
        fn a_queue_reads_back(kind in "[PSX]", numbers in prop::collection::vec(1..400u32, 1..5)) {
            let numbers: Vec<_> = numbers.iter().map(u32::to_string).collect();
            let text = format!("{kind},{}", numbers.join(","));
            if let Ok(queue) = text.parse::<ReceiveQueue>() {
                prop_assert_eq!(queue.to_string().parse(), Ok(queue));
                if let ReceiveQueue::PerPeer(queue) = queue {
                    prop_assert!(queue.window <= queue.low_mark + 1 && queue.window <= queue.buffers);
                    prop_assert!(queue.reserve >= 1);
                }
            }
        }

        #[test]
        fn any_text_gives_queues_or_an_error(text in ".{0,40}") {
            let _ = ReceiveQueue::parse_all(&text);
        }
    }
}
