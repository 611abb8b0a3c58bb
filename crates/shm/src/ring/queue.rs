//! The two ends of a ring.

use core::sync::atomic::Ordering;

use super::ping_pong_slot::{PingPongSlot, STEP, Turn};
use super::{Corrupt, ReceiverCredits, SenderCredits, SharedWords};

/// SharedWords from one slot to the next: 128 B.
pub const STRIDE: usize = 16;

/// SharedWords of a message's body in its slot's first line: 64 B less the first word.
pub const BODY: usize = 7;

/// SharedWords of a body that takes the slot's second line too.
pub const WIDE: usize = STRIDE - 1;

/// SharedWords behind the slots that hold credits, in a line of their own. The first is the ring's, the
/// others are free for resources that travel with it.
pub const CREDITS: usize = STRIDE;

/// SharedWords that a ring of `slots` slots takes, with its credits and a slot for a [`PingPongSlot`].
#[must_use]
pub const fn words_for(slots: u32) -> usize {
    ping_pong_slot_at(slots) + STRIDE
}

/// The first word of the slot for a [`PingPongSlot`] among those of a ring of `slots` slots.
#[must_use]
pub const fn ping_pong_slot_at(slots: u32) -> usize {
    slots as usize * STRIDE + CREDITS
}

/// A message as [`Receiver::try_recv`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The user's 32 bits beside the sequence.
    pub head: u32,
    /// The body; words that the sender did not give are arbitrary.
    pub body: [u64; BODY],
}

/// PlanReason a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The ring is full.
    Full,
    /// The receiver broke the protocol.
    Corrupt(Corrupt),
}

/// A slot of a ring, or that of its dialogue: where one message is written, or read. Found once for all
/// of its words.
#[derive(Clone, Copy, Debug)]
pub struct RingSlot<W> {
    /// The slot's words, [`STRIDE`] of them.
    words: W,
    in_turn: bool,
}

impl<W: SharedWords> RingSlot<W> {
    /// # Safety
    /// `words` has slot `number`.
    #[inline(always)]
    unsafe fn new(words: &W, number: u32) -> Self {
        Self {
            // SAFETY: a slot's words, by the caller's word.
            words: unsafe { words.part(number as usize * STRIDE, STRIDE) },
            in_turn: false,
        }
    }

    /// The slot of a dialogue, which has these words.
    #[inline(always)]
    fn of_dialogue(words: &W) -> Self {
        Self {
            // SAFETY: the ends of a ring have taken the words of one slot.
            words: unsafe { words.part(0, STRIDE) },
            in_turn: true,
        }
    }

    /// Whether it is the dialogue's: who has read it may write it next.
    #[inline(always)]
    #[must_use]
    pub const fn is_ping_pong(&self) -> bool {
        self.in_turn
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

/// The sending end. There is one for a ring.
#[derive(Debug)]
pub struct Sender<W> {
    words: W,
    mask: u32,
    /// The number of the next message, in the upper half as in a slot's first word.
    number: u64,
    slots: SenderCredits,
    turn: Turn,
    dialogue: W,
}

/// The receiving end. There is one for a ring.
#[derive(Debug)]
pub struct Receiver<W> {
    words: W,
    mask: u32,
    /// The number of the next message, in the upper half as in a slot's first word.
    number: u64,
    slots: ReceiverCredits,
    dialogue: W,
}

fn check<W: SharedWords>(words: &W, slots: u32) {
    assert!(slots.is_power_of_two(), "a ring has 2^k slots");
    assert!(words.len() >= words_for(slots), "too few words for a ring");
}

impl<W: SharedWords> Sender<W> {
    /// The sending end of a ring of `slots` slots in `words`, which are zero.
    ///
    /// # Panics
    /// If `slots` is no power of two, or `words` has fewer than [`words_for`] tells.
    #[must_use]
    pub fn new(words: W, slots: u32) -> Self {
        check(&words, slots);
        Self {
            mask: slots - 1,
            number: PingPongSlot::<W>::NONE,
            slots: SenderCredits::new(slots, slots * STRIDE as u32),
            turn: Turn::new(false, slots),
            // SAFETY: `check` has counted these words.
            dialogue: unsafe { words.part(ping_pong_slot_at(slots), STRIDE) },
            words,
        }
    }

    /// This end, from which nothing was sent, with `dialogue`. The receiving end gets the same.
    #[must_use]
    pub fn with_ping_pong(self, dialogue: PingPongSlot<W>) -> Self {
        Self {
            number: dialogue.number(),
            turn: Turn::new(dialogue.begins(), self.mask + 1),
            dialogue: dialogue.into_words(),
            ..self
        }
    }

    /// What the other side wrote into the dialogue's slot is read: it is this side's turn.
    #[inline(always)]
    pub const fn gain_ping_pong(&mut self) {
        self.turn.take(self.slots.used());
    }

    /// After a quarter of a ring has come this side tries again whether there is a dialogue. What the other
    /// side wrote last into its slot is read, and goes.
    pub fn retry_ping_pong(&mut self) {
        if self.turn.retry(self.slots.used()) {
            // SAFETY: a dialogue's words are those of a slot.
            let word = unsafe { self.dialogue.load(0, Ordering::Relaxed) };
            if word != 0 {
                // SAFETY: as above.
                unsafe { self.dialogue.store(0, 0, Ordering::Relaxed) };
            }
        }
    }

    /// The words under the ring.
    #[inline]
    pub const fn words(&self) -> &W {
        &self.words
    }

    /// The ring's slots: how many are free, and the like.
    pub const fn slots(&mut self) -> &mut SenderCredits {
        &mut self.slots
    }

    /// Whether a slot is free without looking at the credits.
    #[inline(always)]
    #[must_use]
    pub const fn ready(&self) -> bool {
        self.slots.left() != 0
    }

    /// Whether a slot is free, looking at the credits if need be.
    ///
    /// # Errors
    /// [`Corrupt`] if the credits cannot be.
    pub fn room(&mut self) -> Result<bool, Corrupt> {
        Ok(self.ready() || self.slots.look(&self.words)? != 0)
    }

    /// Whether the next message may go into the dialogue's slot.
    #[inline(always)]
    #[must_use]
    pub const fn may_ping_pong(&self) -> bool {
        self.turn.is_ours()
    }

    /// The dialogue's slot, for a message of [`BODY`] words at most: two lines that go to and fro are slower
    /// than two rings. The caller has seen [`Sender::may_ping_pong`].
    #[inline(always)]
    #[must_use]
    pub fn ping_pong_slot(&self) -> RingSlot<W> {
        debug_assert!(self.may_ping_pong());
        RingSlot::of_dialogue(&self.dialogue)
    }

    /// The ring's slot under construction. The caller has seen [`Sender::ready`].
    #[inline(always)]
    #[must_use]
    pub fn slot(&self) -> RingSlot<W> {
        // SAFETY: `new` checked that there are as many slots as the mask lets through.
        unsafe { RingSlot::new(&self.words, self.slots.used() & self.mask) }
    }

    /// Writes word `i` of the body of the message under construction, whose slot is `place`.
    ///
    /// # Panics
    /// If `i` is not below [`WIDE`].
    #[inline(always)]
    pub fn set(&mut self, place: &RingSlot<W>, i: usize, word: u64) {
        // SAFETY: a place has a slot's words; `i` is checked.
        unsafe { place.words.set(RingSlot::<W>::body(i), word) };
    }

    /// Publishes the message under construction, whose slot is `place`.
    ///
    /// # Cost
    /// One store. No atomic read-modify-write, no fence.
    #[inline(always)]
    pub fn publish(&mut self, place: &RingSlot<W>, head: u32) {
        if place.in_turn {
            self.turn.give(self.slots.used());
        } else {
            self.slots.take(1);
        }
        let word = self.number + u64::from(head);
        self.number = self.number.wrapping_add(STEP);
        // SAFETY: a place has a slot's words.
        unsafe {
            place.words.store(0, word, Ordering::Release);
        }
    }

    /// Sends one message.
    ///
    /// # Errors
    /// [`SendError::Full`] when the receiver has given no slot back yet.
    ///
    /// # Panics
    /// If `body` has more than [`WIDE`] words.
    #[inline]
    pub fn try_send(&mut self, head: u32, body: &[u64]) -> Result<(), SendError> {
        if !self.room().map_err(SendError::Corrupt)? {
            return Err(SendError::Full);
        }
        let place = self.slot();
        for (i, &word) in body.iter().enumerate() {
            self.set(&place, i, word);
        }
        self.publish(&place, head);
        Ok(())
    }
}

impl<W: SharedWords> Receiver<W> {
    /// The receiving end of a ring of `slots` slots in `words`, from which nothing was received.
    ///
    /// # Panics
    /// If `slots` is no power of two, or `words` has fewer than [`words_for`] tells.
    #[must_use]
    pub fn new(words: W, slots: u32) -> Self {
        check(&words, slots);
        Self {
            mask: slots - 1,
            number: PingPongSlot::<W>::NONE,
            slots: ReceiverCredits::new(slots, slots * STRIDE as u32),
            // SAFETY: `check` has counted these words.
            dialogue: unsafe { words.part(ping_pong_slot_at(slots), STRIDE) },
            words,
        }
    }

    /// This end, from which nothing was received, with `dialogue`: that of the sending end.
    #[must_use]
    pub fn with_ping_pong(self, dialogue: PingPongSlot<W>) -> Self {
        Self {
            number: dialogue.number(),
            dialogue: dialogue.into_words(),
            ..self
        }
    }

    /// The words under the ring.
    #[inline]
    pub const fn words(&self) -> &W {
        &self.words
    }

    /// The ring's slot that comes next.
    #[inline(always)]
    #[must_use]
    pub fn slot(&self) -> RingSlot<W> {
        // SAFETY: `new` checked that there are as many slots as the mask lets through.
        unsafe { RingSlot::new(&self.words, self.slots.freed() & self.mask) }
    }

    /// The next message's slot and its 32 bits, if it has come.
    ///
    /// # Cost
    /// Two loads, each with a compare: of the ring's slot, and if it is not there of the dialogue's.
    #[inline(always)]
    #[must_use]
    pub fn next(&self) -> Option<(RingSlot<W>, u32)> {
        let place = self.slot();
        if let Some(head) = self.head_at(&place) {
            return Some((place, head));
        }
        let place = RingSlot::of_dialogue(&self.dialogue);
        let head = self.head_at(&place)?;
        Some((place, head))
    }

    /// The 32 bits of the next message, if it is in slot `place`.
    #[inline(always)]
    fn head_at(&self, place: &RingSlot<W>) -> Option<u32> {
        u32::try_from(self.ahead_at(place)).ok()
    }

    /// The 32 bits of the next message, if it is in slot `place`; something beyond 32 bits otherwise. So
    /// one compare tells sequence and meaning.
    ///
    /// # Cost
    /// One load and a subtraction.
    #[inline(always)]
    #[must_use]
    pub fn ahead_at(&self, place: &RingSlot<W>) -> u64 {
        Self::first_at(place).wrapping_sub(self.number)
    }

    /// The first word of slot `place`: sequence above, the user's bits below.
    #[inline(always)]
    fn first_at(place: &RingSlot<W>) -> u64 {
        // SAFETY: a place has a slot's words.
        unsafe { place.words.load(0, Ordering::Acquire) }
    }

    /// Word `i` of the body of the next message, which is in slot `place`.
    ///
    /// # Panics
    /// If `i` is not below [`WIDE`].
    #[inline(always)]
    #[must_use]
    pub fn get(&self, place: &RingSlot<W>, i: usize) -> u64 {
        // SAFETY: a place has a slot's words; `i` is checked.
        unsafe { place.words.get(RingSlot::<W>::body(i)) }
    }

    /// A hint that the message `ahead` slots from here is looked at soon.
    #[inline(always)]
    pub fn prefetch(&self, ahead: u32) {
        let slot = self.slots.freed().wrapping_add(ahead) & self.mask;
        self.words.prefetch(slot as usize * STRIDE);
    }

    /// Drops the next message, which is in slot `place`. True if the sender was told that slots are free:
    /// it may be waiting for that. Where the slot is the dialogue's, it is this side's turn.
    #[inline(always)]
    pub fn advance(&mut self, place: &RingSlot<W>) -> bool {
        self.number = self.number.wrapping_add(STEP);
        !place.in_turn && self.slots.free_one(&self.words)
    }

    /// Looks whether the ring's next slot holds what it can hold: a message that came before, the next
    /// one, or the one after it, where the next one is in the dialogue's slot.
    ///
    /// # Errors
    /// [`Corrupt`] otherwise.
    pub fn check(&self) -> Result<(), Corrupt> {
        // SAFETY: a place has a slot's words.
        let word = unsafe { self.slot().words.load(0, Ordering::Relaxed) };
        let number = word >> 32 << 32;
        let ago = self.number.wrapping_add(STEP).wrapping_sub(number);
        let untouched = word == 0 && self.slots.freed() <= self.mask;
        if untouched || (ago.is_multiple_of(STEP) && ago <= u64::MAX / 2) {
            Ok(())
        } else {
            Err(Corrupt("a slot's sequence number"))
        }
    }

    /// Receives one message.
    #[inline]
    pub fn try_recv(&mut self) -> Option<Message> {
        let (place, head) = self.next()?;
        let body = core::array::from_fn(|i| self.get(&place, i));
        self.advance(&place);
        Some(Message { head, body })
    }
}
