//! Collectives of a group by numbered steps.
//!
//! Every rank has a few slots. In a step some ranks write a slot each, publish it, and others read it.
//! All count the steps alike, and know which slot is written in each, so a slot's number says whether what one
//! waits for is there; nothing is cleared. A number carries a mark of the call: ranks whose calls differ find
//! out instead of reading each other's bytes.
//!
//! Where many read it, a rank writes its own slots [one after the other](Steps::slot), each again `SLOTS` steps
//! later. Until then all must have read it: each rank tells, every half of the ring, up to which step it has
//! finished. So nobody writes what its writer reads for each step, and a rank may be that many steps ahead of
//! the slowest. Two ranks may write all slots of both in turn: whoever has read one may write it next.
//!
//! A rank that rests tells for which step, so that others on its processor know whether it could go on.

use core::sync::atomic::Ordering;

use super::{Corrupt, STRIDE, Words};

/// One rank's slots, as everybody sees them, and what it has finished.
#[derive(Clone, Copy, Debug)]
pub struct Steps<W, const SLOTS: usize> {
    words: W,
}

/// Why a slot is not the one that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// It is not published yet.
    Early,
    /// It is, by a rank that is in another call.
    Differs,
    /// It cannot be.
    Corrupt(Corrupt),
}

/// Bits of a slot's number that are the mark of the call. The rest suffice for years of steps.
const MARK: u32 = u16::BITS;

impl<W, const SLOTS: usize> Steps<W, SLOTS> {
    /// Words of one rank: its slots, each of which has a line of eight words, the first being its
    /// number; then the line of what it has finished and waits for.
    pub const WORDS: usize = (SLOTS + 1) * STRIDE;

    /// Words of payload in a slot.
    pub const PAYLOAD: usize = STRIDE / 2 - 1;

    /// How many steps a rank finishes before it tells.
    const TOLD: u64 = SLOTS as u64 / 2;

    /// The slot of `step` where a rank's slots are written by itself, one after the other.
    #[inline(always)]
    #[must_use]
    pub const fn slot(step: u64) -> usize {
        step as usize % SLOTS
    }

    /// The word of a slot's number; its payload comes next.
    #[inline(always)]
    const fn number(slot: usize) -> usize {
        slot % SLOTS * STRIDE
    }

    const FINISHED: usize = SLOTS * STRIDE;

    /// The word beside it: the step for which the rank rested last.
    const RESTED: usize = Self::FINISHED + 1;

    /// Whether the slot of `step` may be written, when all have finished the steps up to `finished`,
    /// as [`Steps::finished`] tells.
    #[inline(always)]
    #[must_use]
    pub const fn is_free(step: u64, finished: u64) -> bool {
        step <= finished + SLOTS as u64
    }
}

impl<W: Words, const SLOTS: usize> Steps<W, SLOTS> {
    /// The rank's words.
    ///
    /// # Panics
    /// If they are too few.
    #[must_use]
    pub fn new(words: W) -> Self {
        assert!(words.len() >= Self::WORDS);
        Self { words }
    }

    /// The first word of the payload of `slot`.
    #[inline(always)]
    pub const fn payload(slot: usize) -> usize {
        Self::number(slot) + 1
    }

    /// All words.
    #[inline(always)]
    pub const fn words(&self) -> &W {
        &self.words
    }

    /// What this rank wrote in `step`, from 1 on, is there: in this slot, and wherever else.
    #[inline(always)]
    pub fn publish(&self, slot: usize, step: u64, mark: u16) {
        let number = step << MARK | u64::from(mark);
        // SAFETY: a slot's word; `new` checked that there are as many.
        unsafe {
            self.words
                .store(Self::number(slot), number, Ordering::Release)
        };
    }

    /// Whether `step` is published in this slot. What was written before is seen from then on.
    ///
    /// # Errors
    /// [`Miss`] says how not.
    #[inline(always)]
    pub fn look(&self, slot: usize, step: u64, mark: u16) -> Result<(), Miss> {
        // SAFETY: as above.
        let number = unsafe { self.words.load(Self::number(slot), Ordering::Acquire) };
        if number == step << MARK | u64::from(mark) {
            Ok(())
        } else {
            Err(Self::miss(number, step))
        }
    }

    /// As [`Steps::publish`], before this rank writes what another one told of, if that is still
    /// [kept](Steps::is_kept). If not, that rank finds this step published after it took its own back.
    pub fn enter(&self, slot: usize, step: u64, mark: u16) {
        self.publish(slot, step, mark);
        self.words.fence(Ordering::SeqCst);
    }

    /// Takes `step` back, before what it told of is written over: others may be reading that. Who is writing it
    /// has [entered](Steps::enter). Where a slot is written in turn and has been since, nobody is.
    pub fn withdraw(&self, slot: usize, step: u64, mark: u16) {
        let (number, told) = (Self::number(slot), step << MARK | u64::from(mark));
        // SAFETY: as above.
        unsafe { self.words.exchange(number, told, 0, Ordering::Relaxed) };
        self.words.fence(Ordering::SeqCst);
    }

    /// Whether the rank had not yet [taken `step` back](Steps::withdraw) when what it told of was read, just
    /// before.
    pub fn is_kept(&self, slot: usize, step: u64, mark: u16) -> bool {
        self.words.fence(Ordering::Acquire);
        self.look(slot, step, mark).is_ok()
    }

    #[inline]
    const fn miss(number: u64, step: u64) -> Miss {
        let there = number >> MARK;
        if there < step {
            Miss::Early
        } else if there == step {
            Miss::Differs
        } else {
            Miss::Corrupt(Corrupt("the number of a collective's step"))
        }
    }

    /// This rank, which goes from step to step, reads nothing of `step` any more, nor of those
    /// before. True: that was told, and who waits for it may sleep.
    #[inline(always)]
    pub fn finish(&self, step: u64) -> bool {
        let tells = step.is_multiple_of(Self::TOLD);
        if tells {
            // SAFETY: the last line's word; `new` checked that it is there.
            unsafe { self.words.store(Self::FINISHED, step, Ordering::Release) };
        }
        tells
    }

    /// Up to which step the rank has finished, as far as it told, `own` being the last step that the
    /// one who asks has finished.
    ///
    /// # Errors
    /// When it cannot be so far: nobody writes a slot that the asking rank may still read.
    #[inline]
    pub fn finished(&self, own: u64) -> Result<u64, Corrupt> {
        // SAFETY: as above.
        let finished = unsafe { self.words.load(Self::FINISHED, Ordering::Acquire) };
        if finished > own + SLOTS as u64 {
            return Err(Corrupt("the last step that a rank has finished"));
        }
        Ok(finished)
    }

    /// This rank rests until `step`, or its slot, is there. It is a hint.
    ///
    /// # Cost
    /// A load; a store where it is another step than before.
    #[inline]
    pub fn rest(&self, step: u64) {
        if self.rested() != step {
            // SAFETY: the second word of the last line; `new` checked that it is there.
            unsafe { self.words.store(Self::RESTED, step, Ordering::Relaxed) };
        }
    }

    /// For which step the rank rested last; it may have gone on since.
    #[inline]
    #[must_use]
    pub fn rested(&self) -> u64 {
        // SAFETY: as above.
        unsafe { self.words.load(Self::RESTED, Ordering::Relaxed) }
    }
}

impl<const SLOTS: usize> Steps<super::Mapped<'_>, SLOTS> {
    /// The same slots without a lifetime.
    ///
    /// # Safety
    /// As [`Mapped::detach`](super::Mapped::detach).
    #[must_use]
    pub const unsafe fn detach(self) -> Steps<super::Mapped<'static>, SLOTS> {
        Steps {
            // SAFETY: by the caller's word.
            words: unsafe { self.words.detach() },
        }
    }
}
