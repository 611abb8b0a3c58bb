//! Broadcast linear-linear: the root sends pieces round-robin to the other ranks, and each rank forwards its
//! pieces to all others.
//!
//! The root sends each piece once; each other rank sends its share of the pieces to every rank. With one
//! piece per rank this is a linear scatter followed by a linear allgather; with more, a rank forwards pieces
//! while more arrive: for few ranks and large vectors. The root sends a remainder of pieces to every rank
//! itself. Messages that depend on nothing are under way together, as many as the executor allows.

use crate::call::{Call, Parameters};
use crate::eager::EagerLimit;
use crate::exec::IN_FLIGHT;
use crate::partition::{Partition, longest};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};

/// The largest group: every rank sends to every other one.
pub(crate) const MAX_SIZE: u32 = 128;

/// Exchanges that post their receive before they send, and long pieces under way at a time. There are twice
/// as many of short (eager) pieces.
const AHEAD: u32 = 4;
const WINDOW: u32 = 8;

/// What determines how many receives a rank posts ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceivesAhead {
    /// Ranks to which a piece is forwarded.
    pub(crate) peers: u32,
    /// Pieces of each rank other than the root.
    pub(crate) pieces: u32,
    /// Whether pieces are eager.
    pub(crate) is_short: bool,
    /// Whether all ranks are on one node; messages from other nodes take longer.
    pub(crate) on_one_node: bool,
}

impl ReceivesAhead {
    /// Exchanges that post receives before the first one sends. In a single round of short pieces there are
    /// more, to cover all that arrives early; but none where a round far exceeds the room of the executor:
    /// then as many pieces travel as possible, and they were sent before their receives are posted.
    pub(crate) const fn ahead(self) -> u32 {
        if !self.is_short {
            return AHEAD;
        }
        match self.pieces {
            1 if self.peers >= 3 * IN_FLIGHT as u32 / 2 => 0,
            1 if self.peers > 1 => 2 * AHEAD,
            _ if self.peers > 1 && !self.on_one_node => 2 * AHEAD,
            _ => AHEAD,
        }
    }

    /// Pieces that a rank requests from the root before it forwards one: so far ahead of the other ranks'
    /// pieces that a step which needs one of them needs at most a window of the others', if there is room.
    pub(crate) const fn of_root(self) -> u32 {
        let window = WINDOW << self.is_short as u32;
        let peers = if self.peers > 0 { self.peers } else { 1 };
        let before = (self.ahead() + window).div_ceil(peers);
        let room = match self.on_one_node {
            true => IN_FLIGHT as u32 - AHEAD,
            false => WINDOW,
        };
        let most = if self.pieces < room {
            self.pieces
        } else {
            room
        };
        if before < most { before } else { most }
    }
}

/// Messages under way to a rank at a time: between the receives ahead and the window.
pub(crate) const fn in_flight(short: bool) -> u32 {
    ((AHEAD + WINDOW) / 2) << short as u32
}

/// The tags of the root's messages and of the other ranks'.
const FROM_ROOT: u32 = 0;
const ONWARD: u32 = 1;

/// One rank's plan for a broadcast linear-linear. The root has a step for each piece.
///
/// Another rank first posts receives for its first pieces from the root and for some of the other ranks'
/// pieces. Then it has a round for each of its own pieces: a step that posts the receive of one more piece
/// from the root, and one for each other rank, which sends it the piece of the round and posts the receive of
/// a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinearLinear {
    root: u32,
    size: u32,
    from_root: u32,
    pieces: PieceCounts,
    on_one_node: bool,
    cut: Partition,
    short: EagerLimit,
}

/// How a vector is divided into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PieceCounts {
    /// Pieces of each rank other than the root.
    pub(crate) each: u32,
    /// The remainder of pieces: at most as many as each rank has.
    pub(crate) left: u32,
}

impl PieceCounts {
    /// As many pieces as the parameters say; more where the remainder would be many pieces, or long ones, or
    /// would go to other nodes, and fewer where pieces would be empty.
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let blocks = parameters.blocks;
        let others = call.size.max(2) - 1;
        let most = call.count.min(u64::from(others) << 16) as u32;
        let is_short = longest(call.count, blocks.max(1)) <= EagerLimit::of(call).elements();
        let (each, left) = (blocks / others, blocks % others);
        let on_one_node = is_on_one_node(call, parameters);
        if on_one_node && is_short && (1..=most).contains(&blocks) && left <= each {
            return PieceCounts { each, left };
        }
        PieceCounts {
            each: blocks.div_ceil(others).min(most / others).max(1),
            left: 0,
        }
    }

    pub(crate) const fn total(self, size: u32) -> u32 {
        self.each * (size - 1) + self.left
    }
}

const fn is_on_one_node(call: &Call, parameters: &Parameters) -> bool {
    parameters.per_node >= call.size
}

impl LinearLinear {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let pieces = PieceCounts::of(call, parameters);
        LinearLinear {
            root: call.root,
            size: call.size,
            from_root: call.from_root(),
            pieces,
            on_one_node: is_on_one_node(call, parameters),
            cut: Partition::new(call.count, pieces.total(call.size)),
            short: EagerLimit::of(call),
        }
    }

    /// At most the rounds.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let each = PieceCounts::of(call, parameters).each;
        4 * u64::from(each) * u64::from(call.size - 1)
    }

    const fn others(&self) -> u32 {
        self.size - 1
    }

    /// Ranks to which a piece is forwarded.
    const fn peers(&self) -> u32 {
        self.size - 2
    }

    const fn is_short(&self) -> bool {
        self.cut.longest() <= self.short.elements()
    }

    const fn asking(&self) -> ReceivesAhead {
        ReceivesAhead {
            peers: self.peers(),
            pieces: self.pieces.each,
            is_short: self.is_short(),
            on_one_node: self.on_one_node,
        }
    }

    /// Exchanges that post receives before the first one sends.
    const fn ahead(&self) -> u32 {
        self.asking().ahead()
    }

    const fn window(&self) -> u32 {
        WINDOW << self.is_short() as u32
    }

    /// Receives of pieces from the root that are posted before the first round.
    const fn early(&self) -> u32 {
        self.asking().of_root()
    }

    /// Exchanges of this rank, of which the first post their receives before the first round.
    const fn exchanges(&self) -> u32 {
        self.pieces.each * self.peers()
    }

    fn asked(&self) -> u32 {
        self.exchanges().min(self.ahead())
    }

    /// The first step of a round.
    fn first_step(&self, round: u32) -> u32 {
        self.early() + self.asked() + round * (self.peers() + 1)
    }

    /// The step that posts the receive of a piece from the root.
    fn step_of_own(&self, round: u32) -> u32 {
        match round.checked_sub(self.early()) {
            None => round,
            Some(during) => self.first_step(during),
        }
    }

    /// The step that sends in an exchange.
    fn step_of(&self, exchange: u32) -> u32 {
        let (round, number) = (exchange / self.peers(), exchange % self.peers());
        self.first_step(round) + 1 + number
    }

    /// The step that posts the receive of an exchange.
    fn step_of_other(&self, exchange: u32) -> u32 {
        match exchange.checked_sub(self.ahead()) {
            None => self.early() + exchange,
            Some(during) => self.step_of(during),
        }
    }

    /// The rank `from_root` above the root.
    fn rank(&self, from_root: u32) -> u32 {
        let to_end = self.size - self.root;
        if from_root < to_end {
            self.root + from_root
        } else {
            from_root - to_end
        }
    }

    /// The rank `distance` above this one, without the root, counted from the root; the rank as far below for
    /// the negated distance.
    const fn other(&self, distance: u32) -> u32 {
        1 + (self.from_root - 1 + distance) % self.others()
    }

    fn piece(&self, buf: Buf, number: u32) -> Part {
        let (first, count) = self.cut.piece(number);
        Part::new(buf, first, count)
    }

    /// A piece of the rank `from_root` above the root.
    fn piece_of(&self, buf: Buf, from_root: u32, round: u32) -> Part {
        self.piece(buf, round * self.others() + from_root - 1)
    }

    /// A piece of the remainder.
    fn piece_left(&self, buf: Buf, number: u32) -> Part {
        self.piece(buf, self.pieces.each * self.others() + number)
    }

    fn recv_own(&self, round: u32, acts: &mut Acts) {
        if round < self.pieces.each {
            let own = self.piece_of(Buf::Out, self.from_root, round);
            let nothing = (self.root, Part::EMPTY);
            self.short
                .exchange(acts, FROM_ROOT, (self.root, own), nothing);
        }
    }

    /// Sends this rank's piece of one exchange, and posts the receive of a later one.
    fn exchange(&self, sent: Option<u32>, asked: u32, acts: &mut Acts) {
        let nothing = (self.root, Part::EMPTY);
        let incoming = match asked < self.exchanges() {
            true => {
                let (round, distance) = (asked / self.peers(), 1 + asked % self.peers());
                let from = self.other(self.others() - distance);
                (self.rank(from), self.piece_of(Buf::Out, from, round))
            }
            false => nothing,
        };
        let sent = sent.map_or(nothing, |sent| {
            let (round, distance) = (sent / self.peers(), 1 + sent % self.peers());
            let own = self.piece_of(Buf::Out, self.from_root, round);
            (self.rank(self.other(distance)), own)
        });
        self.short.exchange(acts, ONWARD, incoming, sent);
    }

    fn step_of_root(&self, i: u32, acts: &mut Acts) {
        let (round, to) = (i / self.others(), 1 + i % self.others());
        let piece = match round.checked_sub(self.pieces.each) {
            None => self.piece_of(Buf::In, to, round),
            Some(left) => self.piece_left(Buf::In, left),
        };
        if !piece.is_empty() {
            acts.send(self.rank(to), FROM_ROOT, piece);
        }
    }
}

impl Plan for LinearLinear {
    fn steps(&self) -> u32 {
        match self.from_root {
            _ if self.size == 1 || self.cut.longest() == 0 => 0,
            0 => (self.pieces.each + self.pieces.left) * self.others(),
            _ => self.first_step(self.pieces.each) + self.pieces.left,
        }
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        if self.from_root == 0 {
            self.step_of_root(i, acts);
            return Some(0);
        }
        if let Some(left) = i.checked_sub(self.first_step(self.pieces.each)) {
            acts.recv(self.root, FROM_ROOT, self.piece_left(Buf::Out, left));
            return Some(0);
        }
        let Some(after) = i.checked_sub(self.first_step(0)) else {
            match i.checked_sub(self.early()) {
                None => self.recv_own(i, acts),
                Some(asked) => self.exchange(None, asked, acts),
            }
            return Some(0);
        };
        let (round, number) = (after / (self.peers() + 1), after % (self.peers() + 1));
        if number == 0 {
            self.recv_own(round + self.early(), acts);
            return Some(0);
        }
        let sent = round * self.peers() + number - 1;
        self.exchange(Some(sent), sent + self.ahead(), acts);
        let before = sent
            .checked_sub(self.window())
            .map_or(0, |before| self.step_of_other(before));
        Some(self.step_of_own(round).max(before) + 1)
    }
}
