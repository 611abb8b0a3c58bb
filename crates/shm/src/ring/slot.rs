//! The geometry of a ring in words, and one slot of it: [`RingSlot`].

use super::SharedWords;

/// Words from one slot to the next: 16 words, two cache lines.
pub const STRIDE: usize = 16;

/// Body words in the first cache line of a slot: a line less the sequence word.
pub const BODY: usize = 7;

/// Body words in both cache lines of a slot.
pub const WIDE: usize = STRIDE - 1;

/// Words behind the slots for credits, in lines of their own. The first word is the ring's; the others are free for
/// resources that travel with the ring.
pub const CREDITS: usize = STRIDE;

/// Words of a ring of `slots` slots: the slots, the credits and one ping-pong slot.
#[must_use]
pub const fn words_for(slots: u32) -> usize {
    ping_pong_slot_at(slots) + STRIDE
}

/// The first word of the ping-pong slot in a ring of `slots` slots.
#[must_use]
pub const fn ping_pong_slot_at(slots: u32) -> usize {
    slots as usize * STRIDE + CREDITS
}

/// The place of one message: a slot of a ring, or the ping-pong slot beside it.
#[derive(Clone, Copy, Debug)]
pub struct RingSlot<W> {
    /// The slot's words, [`STRIDE`] of them.
    words: W,
    is_ping_pong: bool,
}

impl<W: SharedWords> RingSlot<W> {
    /// Slot `number` of the ring in `words`.
    ///
    /// # Safety
    /// `words` has slot `number`.
    #[inline(always)]
    pub(super) unsafe fn new(words: &W, number: u32) -> Self {
        Self {
            // SAFETY: a slot's words, by the caller's contract.
            words: unsafe { words.part(number as usize * STRIDE, STRIDE) },
            is_ping_pong: false,
        }
    }

    /// The ping-pong slot, whose words these are.
    #[inline(always)]
    pub(super) fn of_ping_pong(words: &W) -> Self {
        Self {
            // SAFETY: the ends of a ring have taken the words of one slot.
            words: unsafe { words.part(0, STRIDE) },
            is_ping_pong: true,
        }
    }

    /// Whether this is the ping-pong slot: its reader may write it next.
    #[inline(always)]
    #[must_use]
    pub const fn is_ping_pong(&self) -> bool {
        self.is_ping_pong
    }

    /// The index among [`RingSlot::words`] of body word `i`.
    ///
    /// # Panics
    /// If `i` is not below [`WIDE`].
    #[inline(always)]
    #[must_use]
    pub const fn body(i: usize) -> usize {
        assert!(i < WIDE);
        1 + i
    }

    /// The slot's words.
    #[inline(always)]
    #[must_use]
    pub const fn words(&self) -> &W {
        &self.words
    }
}
