//! Broadcast in pieces straight from the root to the other ranks in turn, and of each piece from the
//! rank that got it to all the others.
//!
//! The root sends each piece once; each other rank sends a share of them to everyone. With one piece for
//! each rank this is a linear scatter and a linear allgather, one after the other; with more, a rank
//! hands on what it has while more comes: for few ranks and large vectors. A few pieces that are left
//! when all have equally many the root sends to everyone itself. Messages that wait for nothing but
//! room are under way together, as many as the executor allows.

use crate::call::{Call, Parameters};
use crate::eager::EagerLimit;
use crate::exec::IN_FLIGHT;
use crate::partition::{Partition, longest};
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};

/// The largest group: every rank sends to every other one.
pub const MAX_SIZE: u32 = 128;

/// Exchanges that have asked before they send, and of long pieces those under way at a time. Of short
/// ones, which are sent at once, there are twice as many.
const AHEAD: u32 = 4;
const WINDOW: u32 = 8;

/// What a rank asks for before it sends depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceivesAhead {
    /// Ranks to which a piece is handed on.
    pub(crate) peers: u32,
    /// Pieces of each rank but the root.
    pub(crate) turns: u32,
    /// Whether pieces are sent at once.
    pub(crate) is_short: bool,
    /// Whether all ranks are on one node: from elsewhere what is asked for comes later.
    pub(crate) on_one_node: bool,
}

impl ReceivesAhead {
    /// Exchanges that ask before the first one sends. In a single turn of short pieces there are more, so that all
    /// that comes early is asked for; but none where a turn is far more than there is room for: then as many pieces
    /// travel as possible, and what comes was sent when it was asked for.
    pub(crate) const fn ahead(self) -> u32 {
        if !self.is_short {
            return AHEAD;
        }
        match self.turns {
            1 if self.peers >= 3 * IN_FLIGHT as u32 / 2 => 0,
            1 if self.peers > 1 => 2 * AHEAD,
            _ if self.peers > 1 && !self.on_one_node => 2 * AHEAD,
            _ => AHEAD,
        }
    }

    /// Pieces that a rank asks the root for before it hands one on: so far ahead of those of the others that a step
    /// which needs one of them needs no more of theirs than a window allows, if there is room.
    pub(crate) const fn of_root(self) -> u32 {
        let window = WINDOW << self.is_short as u32;
        let peers = if self.peers > 0 { self.peers } else { 1 };
        let before = (self.ahead() + window).div_ceil(peers);
        let room = match self.on_one_node {
            true => IN_FLIGHT as u32 - AHEAD,
            false => WINDOW,
        };
        let most = if self.turns < room { self.turns } else { room };
        if before < most { before } else { most }
    }
}

/// What comes to a rank at a time: between what it asks for ahead and the window.
pub(crate) const fn under_way(short: bool) -> u32 {
    ((AHEAD + WINDOW) / 2) << short as u32
}

/// The tags of what the root sends, and of what the others do.
const FROM_ROOT: u32 = 0;
const ONWARD: u32 = 1;

/// One rank's part in a broadcast straight to all. The root has a step for each piece.
///
/// Another rank first asks for its first pieces from the root and for some of those of the others. Then
/// it has a turn for each of its own: a step to ask the root for one more, and one for each other rank,
/// which sends it the piece of the turn and asks for one of later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinearLinear {
    root: u32,
    size: u32,
    from_root: u32,
    turns: PieceCounts,
    on_one_node: bool,
    cut: Partition,
    short: EagerLimit,
}

/// How a vector is dealt out in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PieceCounts {
    /// Pieces of each rank but the root.
    pub(crate) each: u32,
    /// Pieces that are left: not more than each has.
    pub(crate) left: u32,
}

impl PieceCounts {
    /// So many blocks; more of them where what is left would be many pieces, or long ones, or would go to other nodes,
    /// and fewer where these would be empty.
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

    pub(crate) const fn pieces(self, size: u32) -> u32 {
        self.each * (size - 1) + self.left
    }
}

const fn is_on_one_node(call: &Call, parameters: &Parameters) -> bool {
    parameters.per_node >= call.size
}

impl LinearLinear {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let turns = PieceCounts::of(call, parameters);
        LinearLinear {
            root: call.root,
            size: call.size,
            from_root: call.from_root(),
            turns,
            on_one_node: is_on_one_node(call, parameters),
            cut: Partition::new(call.count, turns.pieces(call.size)),
            short: EagerLimit::of(call),
        }
    }

    /// The rounds at most.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let turns = PieceCounts::of(call, parameters).each;
        4 * u64::from(turns) * u64::from(call.size - 1)
    }

    const fn others(&self) -> u32 {
        self.size - 1
    }

    /// Ranks to which a piece is handed on.
    const fn peers(&self) -> u32 {
        self.size - 2
    }

    const fn is_short(&self) -> bool {
        self.cut.longest() <= self.short.elements()
    }

    const fn asking(&self) -> ReceivesAhead {
        ReceivesAhead {
            peers: self.peers(),
            turns: self.turns.each,
            is_short: self.is_short(),
            on_one_node: self.on_one_node,
        }
    }

    /// Exchanges that ask before the first one sends.
    const fn ahead(&self) -> u32 {
        self.asking().ahead()
    }

    const fn window(&self) -> u32 {
        WINDOW << self.is_short() as u32
    }

    /// Pieces of the root that are asked for before the first turn.
    const fn early(&self) -> u32 {
        self.asking().of_root()
    }

    /// Exchanges of this rank, of which the first ask for what comes before the first turn.
    const fn exchanges(&self) -> u32 {
        self.turns.each * self.peers()
    }

    fn asked(&self) -> u32 {
        self.exchanges().min(self.ahead())
    }

    /// The first step of a turn.
    fn turn(&self, turn: u32) -> u32 {
        self.early() + self.asked() + turn * (self.peers() + 1)
    }

    /// The step in which a piece of the root is asked for.
    fn step_of_own(&self, turn: u32) -> u32 {
        match turn.checked_sub(self.early()) {
            None => turn,
            Some(during) => self.turn(during),
        }
    }

    /// The step that sends in an exchange.
    fn step_of(&self, exchange: u32) -> u32 {
        let (turn, number) = (exchange / self.peers(), exchange % self.peers());
        self.turn(turn) + 1 + number
    }

    /// The step in which what comes in an exchange is asked for.
    fn step_of_other(&self, exchange: u32) -> u32 {
        match exchange.checked_sub(self.ahead()) {
            None => self.early() + exchange,
            Some(during) => self.step_of(during),
        }
    }

    /// The rank so far above the root.
    fn rank(&self, from_root: u32) -> u32 {
        let to_end = self.size - self.root;
        if from_root < to_end {
            self.root + from_root
        } else {
            from_root - to_end
        }
    }

    /// The rank so far above this one, or so far below if the distance is turned around, the root left
    /// out: counted from the root.
    const fn other(&self, distance: u32) -> u32 {
        1 + (self.from_root - 1 + distance) % self.others()
    }

    fn piece(&self, buf: Buf, number: u32) -> Part {
        let (first, count) = self.cut.piece(number);
        Part::new(buf, first, count)
    }

    /// A piece of the rank that is so far above the root.
    fn piece_of(&self, buf: Buf, from_root: u32, turn: u32) -> Part {
        self.piece(buf, turn * self.others() + from_root - 1)
    }

    /// A piece that is left after all turns.
    fn piece_left(&self, buf: Buf, number: u32) -> Part {
        self.piece(buf, self.turns.each * self.others() + number)
    }

    fn get_own(&self, turn: u32, acts: &mut Acts) {
        if turn < self.turns.each {
            let own = self.piece_of(Buf::Out, self.from_root, turn);
            let nothing = (self.root, Part::EMPTY);
            self.short
                .exchange(acts, FROM_ROOT, (self.root, own), nothing);
        }
    }

    /// Sends this rank's piece of an exchange, and asks for what comes in a later one.
    fn exchange(&self, sent: Option<u32>, asked: u32, acts: &mut Acts) {
        let nothing = (self.root, Part::EMPTY);
        let come = match asked < self.exchanges() {
            true => {
                let (turn, distance) = (asked / self.peers(), 1 + asked % self.peers());
                let from = self.other(self.others() - distance);
                (self.rank(from), self.piece_of(Buf::Out, from, turn))
            }
            false => nothing,
        };
        let sent = sent.map_or(nothing, |sent| {
            let (turn, distance) = (sent / self.peers(), 1 + sent % self.peers());
            let own = self.piece_of(Buf::Out, self.from_root, turn);
            (self.rank(self.other(distance)), own)
        });
        self.short.exchange(acts, ONWARD, come, sent);
    }

    fn step_of_root(&self, i: u32, acts: &mut Acts) {
        let (turn, to) = (i / self.others(), 1 + i % self.others());
        let piece = match turn.checked_sub(self.turns.each) {
            None => self.piece_of(Buf::In, to, turn),
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
            0 => (self.turns.each + self.turns.left) * self.others(),
            _ => self.turn(self.turns.each) + self.turns.left,
        }
    }

    fn scratch(&self, _: &PlanInputs<'_>) -> u64 {
        0
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        if self.from_root == 0 {
            self.step_of_root(i, acts);
            return Some(0);
        }
        if let Some(left) = i.checked_sub(self.turn(self.turns.each)) {
            acts.recv(self.root, FROM_ROOT, self.piece_left(Buf::Out, left));
            return Some(0);
        }
        let Some(after) = i.checked_sub(self.turn(0)) else {
            match i.checked_sub(self.early()) {
                None => self.get_own(i, acts),
                Some(asked) => self.exchange(None, asked, acts),
            }
            return Some(0);
        };
        let (turn, number) = (after / (self.peers() + 1), after % (self.peers() + 1));
        if number == 0 {
            self.get_own(turn + self.early(), acts);
            return Some(0);
        }
        let sent = turn * self.peers() + number - 1;
        self.exchange(Some(sent), sent + self.ahead(), acts);
        let before = sent
            .checked_sub(self.window())
            .map_or(0, |before| self.step_of_other(before));
        Some(self.step_of_own(turn).max(before) + 1)
    }
}
