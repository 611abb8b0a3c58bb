//! The two ends of a ring: [`Sender`] and [`Receiver`].

use core::sync::atomic::Ordering;

use super::ping_pong_slot::{PingPongSlot, STEP, SlotOwner};
use super::slot::{BODY, RingSlot, STRIDE, ping_pong_slot_at, words_for};
use super::{Corrupt, ReceiverCredits, SenderCredits, SharedWords};

/// A message as [`Receiver::try_recv`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The user's 32 bits beside the sequence number.
    pub head: u32,
    /// The body; words that the sender did not write are arbitrary.
    pub body: [u64; BODY],
}

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The ring is full.
    Full,
    /// The receiver broke the protocol.
    Corrupt(Corrupt),
}

/// The sending end of a ring. A ring has one.
#[derive(Debug)]
pub struct Sender<W> {
    words: W,
    mask: u32,
    /// The number of the next message, in the upper half as in a slot's first word.
    number: u64,
    slots: SenderCredits,
    slot_owner: SlotOwner,
    ping_pong: W,
}

/// The receiving end of a ring. A ring has one.
#[derive(Debug)]
pub struct Receiver<W> {
    words: W,
    mask: u32,
    /// The number of the next message, in the upper half as in a slot's first word.
    number: u64,
    slots: ReceiverCredits,
    ping_pong: W,
}

fn check<W: SharedWords>(words: &W, slots: u32) {
    assert!(slots.is_power_of_two(), "a ring has 2^k slots");
    assert!(words.len() >= words_for(slots), "too few words for a ring");
}

impl<W: SharedWords> Sender<W> {
    /// Makes the sending end of a ring of `slots` slots in `words`, which are zero.
    ///
    /// # Panics
    /// If `slots` is no power of two, or `words` has fewer than [`words_for`] returns.
    #[must_use]
    pub fn new(words: W, slots: u32) -> Self {
        check(&words, slots);
        Self {
            mask: slots - 1,
            number: PingPongSlot::<W>::NONE,
            slots: SenderCredits::new(slots, slots * STRIDE as u32),
            slot_owner: SlotOwner::new(false, slots),
            // SAFETY: `check` has counted these words.
            ping_pong: unsafe { words.part(ping_pong_slot_at(slots), STRIDE) },
            words,
        }
    }

    /// Adds the ping-pong slot of the pair to this end, before the first message. The receiving end gets the
    /// same slot.
    #[must_use]
    pub fn with_ping_pong(self, ping_pong: PingPongSlot<W>) -> Self {
        Self {
            number: ping_pong.number(),
            slot_owner: SlotOwner::new(ping_pong.begins(), self.mask + 1),
            ping_pong: ping_pong.into_words(),
            ..self
        }
    }

    /// This side has read the peer's message in the ping-pong slot, and may write there next.
    #[inline(always)]
    pub const fn gain_ping_pong(&mut self) {
        self.slot_owner.take(self.slots.used());
    }

    /// Tries the ping-pong slot again, after a quarter of a ring was freed. Clears a message of the peer
    /// there that has been read.
    pub fn retry_ping_pong(&mut self) {
        if self.slot_owner.retry(self.slots.used()) {
            // SAFETY: these are the words of a slot.
            let word = unsafe { self.ping_pong.load(0, Ordering::Relaxed) };
            if word != 0 {
                // SAFETY: as above.
                unsafe { self.ping_pong.store(0, 0, Ordering::Relaxed) };
            }
        }
    }

    /// The words under the ring.
    #[inline]
    pub const fn words(&self) -> &W {
        &self.words
    }

    /// The credits for slots: how many are free.
    pub const fn slots(&mut self) -> &mut SenderCredits {
        &mut self.slots
    }

    /// Whether a slot is free by the credits that are known.
    #[inline(always)]
    #[must_use]
    pub const fn ready(&self) -> bool {
        self.slots.left() != 0
    }

    /// Whether a slot is free; reads the credits again if need be.
    ///
    /// # Errors
    /// [`Corrupt`] if the credits cannot be.
    pub fn room(&mut self) -> Result<bool, Corrupt> {
        Ok(self.ready() || self.slots.refresh(&self.words)? != 0)
    }

    /// Whether the next message should go into the ping-pong slot.
    #[inline(always)]
    #[must_use]
    pub const fn may_ping_pong(&self) -> bool {
        self.slot_owner.is_own()
    }

    /// The ping-pong slot, for a message of at most [`BODY`] words: two lines that go back and forth are
    /// slower than two rings. The caller has seen [`Sender::may_ping_pong`].
    #[inline(always)]
    #[must_use]
    pub fn ping_pong_slot(&self) -> RingSlot<W> {
        debug_assert!(self.may_ping_pong());
        RingSlot::of_ping_pong(&self.ping_pong)
    }

    /// The next free slot of the ring. The caller has seen [`Sender::ready`].
    #[inline(always)]
    #[must_use]
    pub fn slot(&self) -> RingSlot<W> {
        // SAFETY: `new` checked that there are as many slots as the mask lets through.
        unsafe { RingSlot::new(&self.words, self.slots.used() & self.mask) }
    }

    /// Writes body word `i` of the message in `slot`, which is not published yet.
    ///
    /// # Panics
    /// If `i` is not below `WIDE`.
    #[inline(always)]
    pub fn set(&mut self, slot: &RingSlot<W>, i: usize, word: u64) {
        // SAFETY: a place has a slot's words; `i` is checked.
        unsafe { slot.words().set(RingSlot::<W>::body(i), word) };
    }

    /// Publishes the message in `slot`.
    ///
    /// # Cost
    /// One store. No atomic read-modify-write, no fence.
    #[inline(always)]
    pub fn publish(&mut self, slot: &RingSlot<W>, head: u32) {
        if slot.is_ping_pong() {
            self.slot_owner.give(self.slots.used());
        } else {
            self.slots.take(1);
        }
        let word = self.number + u64::from(head);
        self.number = self.number.wrapping_add(STEP);
        // SAFETY: a place has a slot's words.
        unsafe {
            slot.words().store(0, word, Ordering::Release);
        }
    }

    /// Sends one message.
    ///
    /// # Errors
    /// [`SendError::Full`] when the receiver has given no slot back yet.
    ///
    /// # Panics
    /// If `body` has more than `WIDE` words.
    #[inline]
    pub fn try_send(&mut self, head: u32, body: &[u64]) -> Result<(), SendError> {
        if !self.room().map_err(SendError::Corrupt)? {
            return Err(SendError::Full);
        }
        let slot = self.slot();
        for (i, &word) in body.iter().enumerate() {
            self.set(&slot, i, word);
        }
        self.publish(&slot, head);
        Ok(())
    }
}

impl<W: SharedWords> Receiver<W> {
    /// Makes the receiving end of a ring of `slots` slots in `words`, before the first message.
    ///
    /// # Panics
    /// If `slots` is no power of two, or `words` has fewer than [`words_for`] returns.
    #[must_use]
    pub fn new(words: W, slots: u32) -> Self {
        check(&words, slots);
        Self {
            mask: slots - 1,
            number: PingPongSlot::<W>::NONE,
            slots: ReceiverCredits::new(slots, slots * STRIDE as u32),
            // SAFETY: `check` has counted these words.
            ping_pong: unsafe { words.part(ping_pong_slot_at(slots), STRIDE) },
            words,
        }
    }

    /// Adds the ping-pong slot of the pair, the same as the sending end's, before the first message.
    #[must_use]
    pub fn with_ping_pong(self, ping_pong: PingPongSlot<W>) -> Self {
        Self {
            number: ping_pong.number(),
            ping_pong: ping_pong.into_words(),
            ..self
        }
    }

    /// The words under the ring.
    #[inline]
    pub const fn words(&self) -> &W {
        &self.words
    }

    /// The slot of the ring in which the next message would be.
    #[inline(always)]
    #[must_use]
    pub fn slot(&self) -> RingSlot<W> {
        // SAFETY: `new` checked that there are as many slots as the mask lets through.
        unsafe { RingSlot::new(&self.words, self.slots.freed() & self.mask) }
    }

    /// The slot and the 32 bits of the next message, if it has arrived.
    ///
    /// # Cost
    /// Two loads, each with a compare: the ring's slot, then the ping-pong slot.
    #[inline(always)]
    #[must_use]
    pub fn next(&self) -> Option<(RingSlot<W>, u32)> {
        let slot = self.slot();
        if let Some(head) = self.head_at(&slot) {
            return Some((slot, head));
        }
        let slot = RingSlot::of_ping_pong(&self.ping_pong);
        let head = self.head_at(&slot)?;
        Some((slot, head))
    }

    /// The 32 bits of the next message, if it is in `slot`.
    #[inline(always)]
    fn head_at(&self, slot: &RingSlot<W>) -> Option<u32> {
        u32::try_from(self.ahead_at(slot)).ok()
    }

    /// The 32 bits of the next message, if it is in `slot`; a value above 32 bits otherwise. So one compare
    /// checks the sequence number and the value.
    ///
    /// # Cost
    /// One load and a subtraction.
    #[inline(always)]
    #[must_use]
    pub fn ahead_at(&self, slot: &RingSlot<W>) -> u64 {
        Self::first_at(slot).wrapping_sub(self.number)
    }

    /// The first word of `slot`: the sequence number above, the user's bits below.
    #[inline(always)]
    fn first_at(slot: &RingSlot<W>) -> u64 {
        // SAFETY: a place has a slot's words.
        unsafe { slot.words().load(0, Ordering::Acquire) }
    }

    /// Body word `i` of the next message, which is in `slot`.
    ///
    /// # Panics
    /// If `i` is not below `WIDE`.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, slot: &RingSlot<W>, i: usize) -> u64 {
        // SAFETY: a place has a slot's words; `i` is checked.
        unsafe { slot.words().get(RingSlot::<W>::body(i)) }
    }

    /// Prefetches the slot `ahead` slots after the next message.
    #[inline(always)]
    pub fn prefetch(&self, ahead: u32) {
        let slot = self.slots.freed().wrapping_add(ahead) & self.mask;
        self.words.prefetch(slot as usize * STRIDE);
    }

    /// Drops the next message, which is in `slot`. True if this reported freed slots: the sender may be
    /// waiting for them. After the ping-pong slot this side may write there.
    #[inline(always)]
    pub fn advance(&mut self, slot: &RingSlot<W>) -> bool {
        self.number = self.number.wrapping_add(STEP);
        !slot.is_ping_pong() && self.slots.free_one(&self.words)
    }

    /// Whether [`Receiver::advance`] beyond the ring's next slot reports freed slots.
    #[inline(always)]
    #[must_use]
    pub const fn reports_next(&self) -> bool {
        self.slots.reports_next()
    }

    /// Checks the sequence number in the ring's next slot: it can be that of an earlier message, of the next
    /// one, or of the one after it while the next one is in the ping-pong slot.
    ///
    /// # Errors
    /// [`Corrupt`] otherwise.
    pub fn check(&self) -> Result<(), Corrupt> {
        // SAFETY: a place has a slot's words.
        let word = unsafe { self.slot().words().load(0, Ordering::Relaxed) };
        let number = word >> 32 << 32;
        let ago = self.number.wrapping_add(STEP).wrapping_sub(number);
        let untouched = word == 0 && self.slots.freed() <= self.mask;
        if untouched || (ago.is_multiple_of(STEP) && ago <= u64::MAX / 2) {
            Ok(())
        } else {
            Err(Corrupt("a slot's sequence number"))
        }
    }

    /// Receives the next message, if it has arrived.
    #[inline]
    pub fn try_recv(&mut self) -> Option<Message> {
        let (slot, head) = self.next()?;
        let body = core::array::from_fn(|i| self.get(&slot, i));
        self.advance(&slot);
        Some(Message { head, body })
    }
}
