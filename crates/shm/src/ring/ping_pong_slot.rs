//! A slot that two sides write in turn.
//!
//! Where two ranks answer each other through two rings, the sender takes a line back that the other
//! has read, and the other fetches it again. With one line for both directions the side that has just
//! read it writes it, and it moves once a message: far apart, 160 ns in place of 250.
//!
//! Beside the two rings of a pair stands one such slot. Who has read the other's message there last
//! may put its next one there; all others go into its ring. Whose turn it is each side knows by a word
//! of its own: nothing is shared but the slot.
//!
//! ```text
//!        ours ------- message written there -------> theirs
//!         ^  ^                                       |    |
//!         |  +--------- message read there ----------+    |
//!      a quarter of                                       |
//!      a ring has come       message read there, and since ours a few went into the ring
//!         |                                               |
//!        kept <-------------------------------------------+
//! ```
//!
//! So a dialogue stays in one line, and a stream leaves it with its second message. Two sides that write at
//! the same time find that they use the ring beside it, and leave it but for a try now and then.
//!
//! The messages of one direction are numbered through, wherever they are, and a receiver looks at both
//! places for the number that comes next: so none overtakes another. The two directions have numbers
//! of their own, so that nobody takes his own message for the other's, and none is zero, which is what
//! an untouched slot says. Numbers come again after 2^30 messages. What an old one could then be taken for
//! is gone by that time: who keeps the turn while messages come through the ring empties the slot, and
//! a long dialogue sends a message through the ring now and then.

use super::SharedWords;

/// From the number of one message to the next one's, in the upper half of a slot's first word. The two bits
/// of a number below say which direction it is, and are never both zero.
pub(super) const STEP: u64 = 4 << 32;

/// Messages that go into the slot one after the other at most. Then one goes into the ring: so each of its
/// slots, of which there are up to 2^16, is written once in 2^28 messages, long before numbers come again,
/// 2^30 messages later.
const RUN: u32 = 1 << 12;

/// One direction's share of a slot that two sides write in turn: which numbers its messages have, and who
/// begins.
#[derive(Debug)]
pub struct PingPongSlot<W> {
    words: W,
    first: bool,
}

impl<W: SharedWords> PingPongSlot<W> {
    /// The first message's number where there is no dialogue.
    pub(super) const NONE: u64 = (1 << 32) + STEP;

    /// The slot `words` for the direction from the side that begins, if `first`, or for the other one.
    ///
    /// # Panics
    /// If `words` are not those of one slot.
    #[must_use]
    pub fn new(words: W, first: bool) -> Self {
        assert_eq!(words.len(), super::STRIDE, "a dialogue has one slot");
        Self { words, first }
    }

    /// The number of the direction's first message.
    pub(super) const fn number(&self) -> u64 {
        STEP + if self.first { 1 << 32 } else { 3 << 32 }
    }

    /// Whether the direction's sender has the first turn.
    pub(super) const fn begins(&self) -> bool {
        self.first
    }

    pub(super) fn into_words(self) -> W {
        self.words
    }
}

/// Whose turn it is at a slot, as a sender knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    whose: Whose,
    /// Slots of the ring used when it was this side's turn last.
    used: u32,
    /// So many used since are no longer a few.
    few: u32,
    /// Messages written there one after the other.
    run: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Theirs,
    /// This side's, which does not use it.
    Kept,
    Ours,
}

impl Turn {
    /// Before the first message, beside a ring of `slots` slots.
    pub(super) const fn new(ours: bool, slots: u32) -> Self {
        Self {
            whose: if ours { Whose::Ours } else { Whose::Theirs },
            used: 0,
            few: slots / 4,
            run: 0,
        }
    }

    /// Whether this side may write there, and should.
    #[inline(always)]
    pub(super) const fn is_ours(self) -> bool {
        matches!(self.whose, Whose::Ours)
    }

    /// This side has written there, and so far `used` slots of its ring.
    #[inline(always)]
    pub(super) const fn give(&mut self, used: u32) {
        self.whose = Whose::Theirs;
        self.used = used;
        self.run += 1;
    }

    /// The other side's message there is read; so far `used` slots of this side's ring are used.
    #[inline(always)]
    pub(super) const fn take(&mut self, used: u32) {
        let since = used.wrapping_sub(self.used);
        if since != 0 {
            self.run = 0;
        }
        // Many are a stream, or from when the other side kept its turn.
        self.whose = if (since == 0 && self.run < RUN) || since >= self.few {
            Whose::Ours
        } else {
            Whose::Kept
        };
    }

    /// A turn that was kept is used for once, if some of this side's messages went into the ring: so far
    /// it has used `used` slots. False if it is not this side's turn.
    pub(super) fn retry(&mut self, used: u32) -> bool {
        if self.whose == Whose::Kept && self.used != used {
            self.whose = Whose::Ours;
            self.used = used;
            self.run = 0;
        }
        self.whose != Whose::Theirs
    }
}
