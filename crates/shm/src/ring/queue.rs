//! The two ends of a ring.

use core::sync::atomic::Ordering;

use super::{Corrupt, Freed, Granted, Words};

/// Words from one slot to the next: 128 B.
pub const STRIDE: usize = 16;

/// Words of a message's body in its slot's first line: 64 B less the first word.
pub const BODY: usize = 7;

/// Words of a body that takes the slot's second line too.
pub const WIDE: usize = STRIDE - 1;

/// Words behind the slots that hold credits, in a line of their own. The first is the ring's, the
/// others are free for resources that travel with it.
pub const CREDITS: usize = STRIDE;

/// Words that a ring of `slots` slots takes.
#[must_use]
pub const fn words_for(slots: u32) -> usize {
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

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The ring is full.
    Full,
    /// The receiver broke the protocol.
    Corrupt(Corrupt),
}

/// A slot of a ring: where one message is written, or read. Found once for all of its words.
#[derive(Clone, Copy, Debug)]
pub struct Place<W> {
    /// The slot's words, [`STRIDE`] of them.
    words: W,
}

impl<W: Words> Place<W> {
    /// # Safety
    /// `words` has slot `number`.
    #[inline(always)]
    unsafe fn new(words: &W, number: u32) -> Self {
        Self {
            // SAFETY: a slot's words, by the caller's word.
            words: unsafe { words.part(number as usize * STRIDE, STRIDE) },
        }
    }

    /// The index among [`Place::words`] of body word `i`.
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
    slots: Granted,
}

/// The receiving end. There is one for a ring.
#[derive(Debug)]
pub struct Receiver<W> {
    words: W,
    mask: u32,
    slots: Freed,
}

fn check<W: Words>(words: &W, slots: u32) {
    assert!(slots.is_power_of_two(), "a ring has 2^k slots");
    assert!(words.len() >= words_for(slots), "too few words for a ring");
}

impl<W: Words> Sender<W> {
    /// The sending end of a ring of `slots` slots in `words`, which are zero.
    ///
    /// # Panics
    /// If `slots` is no power of two, or `words` has fewer than [`words_for`] tells.
    #[must_use]
    pub fn new(words: W, slots: u32) -> Self {
        check(&words, slots);
        Self {
            words,
            mask: slots - 1,
            slots: Granted::new(slots, slots * STRIDE as u32),
        }
    }

    /// The words under the ring.
    #[inline]
    pub const fn words(&self) -> &W {
        &self.words
    }

    /// The ring's slots: how many are free, and the like.
    pub const fn slots(&mut self) -> &mut Granted {
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

    /// The slot under construction. The caller has seen [`Sender::ready`].
    #[inline(always)]
    #[must_use]
    pub fn place(&self) -> Place<W> {
        // SAFETY: `new` checked that there are as many slots as the mask lets through.
        unsafe { Place::new(&self.words, self.slots.used() & self.mask) }
    }

    /// Writes word `i` of the body of the message under construction, whose slot is `place`.
    ///
    /// # Panics
    /// If `i` is not below [`WIDE`].
    #[inline(always)]
    pub fn set(&mut self, place: &Place<W>, i: usize, word: u64) {
        // SAFETY: a place has a slot's words; `i` is checked.
        unsafe { place.words.set(Place::<W>::body(i), word) };
    }

    /// Publishes the message under construction, whose slot is `place`.
    ///
    /// # Cost
    /// One store. No atomic read-modify-write, no fence.
    #[inline(always)]
    pub fn publish(&mut self, place: &Place<W>, head: u32) {
        self.slots.take(1);
        let word = u64::from(self.slots.used()) << 32 | u64::from(head);
        // SAFETY: a place has a slot's words.
        unsafe {
            place.words.store(0, word, Ordering::Release);
        }
    }

    /// Sends one message.
    ///
    /// # Errors
    /// [`Refused::Full`] when the receiver has given no slot back yet.
    ///
    /// # Panics
    /// If `body` has more than [`WIDE`] words.
    #[inline]
    pub fn try_send(&mut self, head: u32, body: &[u64]) -> Result<(), Refused> {
        if !self.room().map_err(Refused::Corrupt)? {
            return Err(Refused::Full);
        }
        let place = self.place();
        for (i, &word) in body.iter().enumerate() {
            self.set(&place, i, word);
        }
        self.publish(&place, head);
        Ok(())
    }
}

impl<W: Words> Receiver<W> {
    /// The receiving end of a ring of `slots` slots in `words`, from which nothing was received.
    ///
    /// # Panics
    /// If `slots` is no power of two, or `words` has fewer than [`words_for`] tells.
    #[must_use]
    pub fn new(words: W, slots: u32) -> Self {
        check(&words, slots);
        Self {
            words,
            mask: slots - 1,
            slots: Freed::new(slots, slots * STRIDE as u32),
        }
    }

    /// The words under the ring.
    #[inline]
    pub const fn words(&self) -> &W {
        &self.words
    }

    /// The slot that comes next.
    #[inline(always)]
    #[must_use]
    pub fn place(&self) -> Place<W> {
        // SAFETY: `new` checked that there are as many slots as the mask lets through.
        unsafe { Place::new(&self.words, self.slots.freed() & self.mask) }
    }

    /// The 32 bits of the next message, if it has come.
    #[inline(always)]
    #[must_use]
    pub fn head(&self) -> Option<u32> {
        self.head_at(&self.place())
    }

    /// As [`Receiver::head`], where `place` is the slot that comes next.
    ///
    /// # Cost
    /// One load and a compare.
    #[inline(always)]
    #[must_use]
    pub fn head_at(&self, place: &Place<W>) -> Option<u32> {
        let word = Self::first_at(place);
        let next = self.slots.freed().wrapping_add(1);
        ((word >> 32) as u32 == next).then_some(word as u32)
    }

    /// By how much the 32 bits of the next message, whose slot is `place`, exceed `least`, if it has
    /// come and they do. Where `least` and the result together are beyond 32 bits, one of this is not
    /// so: whoever takes small results only tells sequence and meaning by one compare.
    ///
    /// # Cost
    /// One load and a subtraction.
    #[inline(always)]
    #[must_use]
    pub fn excess_at(&self, place: &Place<W>, least: u32) -> u64 {
        let next = self.slots.freed().wrapping_add(1);
        let first = u64::from(next) << 32 | u64::from(least);
        Self::first_at(place).wrapping_sub(first)
    }

    /// The first word of slot `place`: sequence above, the user's bits below.
    #[inline(always)]
    fn first_at(place: &Place<W>) -> u64 {
        // SAFETY: a place has a slot's words.
        unsafe { place.words.load(0, Ordering::Acquire) }
    }

    /// Word `i` of the body of the message that [`Receiver::head`] has shown.
    ///
    /// # Panics
    /// If `i` is not below [`WIDE`].
    #[inline(always)]
    #[must_use]
    pub fn get(&self, i: usize) -> u64 {
        self.get_at(&self.place(), i)
    }

    /// As [`Receiver::get`], where `place` is the message's slot.
    ///
    /// # Panics
    /// As there.
    #[inline(always)]
    #[must_use]
    pub fn get_at(&self, place: &Place<W>, i: usize) -> u64 {
        // SAFETY: a place has a slot's words; `i` is checked.
        unsafe { place.words.get(Place::<W>::body(i)) }
    }

    /// A hint that the message `ahead` slots from here is looked at soon.
    #[inline(always)]
    pub fn prefetch(&self, ahead: u32) {
        let slot = self.slots.freed().wrapping_add(ahead) & self.mask;
        self.words.prefetch(slot as usize * STRIDE);
    }

    /// Drops the message that [`Receiver::head`] has shown. True if the sender was told that slots
    /// are free: it may be waiting for that.
    #[inline(always)]
    pub fn advance(&mut self) -> bool {
        self.slots.free_one(&self.words)
    }

    /// Looks whether the next slot holds what it can hold: the next message, or the one of the
    /// round before.
    ///
    /// # Errors
    /// [`Corrupt`] otherwise.
    pub fn check(&self) -> Result<(), Corrupt> {
        // SAFETY: a place has a slot's words.
        let word = unsafe { self.place().words.load(0, Ordering::Relaxed) };
        let next = self.slots.freed().wrapping_add(1);
        let before = next.wrapping_sub(self.mask + 1);
        let first_round = self.slots.freed() <= self.mask;
        match (word >> 32) as u32 {
            now if now == next || now == before => Ok(()),
            0 if first_round => Ok(()),
            _ => Err(Corrupt("a slot's sequence number")),
        }
    }

    /// Receives one message.
    #[inline]
    pub fn try_recv(&mut self) -> Option<Message> {
        let head = self.head()?;
        let body = core::array::from_fn(|i| self.get(i));
        self.advance();
        Some(Message { head, body })
    }
}
