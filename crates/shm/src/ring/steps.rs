//! Collectives of a group by numbered steps.
//!
//! Every rank has a few slots. In a step some ranks write a slot each, publish it, and others read it.
//! All count the steps alike, and know which slot is written in each, so a slot's number says whether what one
//! waits for is there; nothing is cleared. A number carries a mark of the call: ranks whose calls differ find
//! out instead of reading each other's bytes.
//!
//! Where many read it, a rank writes its own slots [one after the other](StepSlots::slot), each again `SLOTS` steps
//! later. Until then all must have read it: each rank tells, every half of the ring, up to which step it has
//! finished. So nobody writes what its writer reads for each step, and a rank may be that many steps ahead of
//! the slowest. Two ranks may write all slots of both in turn: whoever has read one may write it next. Ranks whose
//! calls differ may then write where the other does not look; who waits long [finds that](StepSlots::look_ping_pong).
//!
//! A rank that rests tells for which step, so that others on its processor know whether it could go on.

use core::sync::atomic::Ordering;

use super::{Corrupt, STRIDE, SharedWords};

/// One rank's slots, as everybody sees them, and what it has finished.
#[derive(Clone, Copy, Debug)]
pub struct StepSlots<W, const SLOTS: usize> {
    words: W,
}

/// PlanReason a slot is not the one that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepMiss {
    /// It is not published yet.
    Early,
    /// It is, by a rank that is in another call.
    Differs,
    /// It cannot be.
    Corrupt(Corrupt),
}

/// Bits of a slot's number that are the mark of the call. The rest suffice for years of steps.
const MARK: u32 = u16::BITS;

/// The number of a slot whose step was taken back: no step's, since they count from 1.
const WITHDRAWN: u64 = u16::MAX as u64;

/// The number of a slot is no step's that could be there.
const NO_STEP: Corrupt = Corrupt("the number of a collective's step");

/// The bit of a mark that tells two ranks that write in turn apart.
const WRITER: u16 = 1;

impl<W, const SLOTS: usize> StepSlots<W, SLOTS> {
    /// SharedWords of one rank: its slots, each of which has a line of eight words, the first being its
    /// number; then the line of what it has finished and waits for.
    pub const WORDS: usize = (SLOTS + 1) * STRIDE;

    /// SharedWords of payload in a slot.
    pub const PAYLOAD: usize = STRIDE / 2 - 1;

    /// How many steps a rank finishes before it tells.
    const TOLD: u64 = SLOTS as u64 / 2;

    /// The mark of a call as the first or the second of two ranks publishes it, who write their slots in turn.
    #[inline(always)]
    #[must_use]
    pub const fn ping_pong_mark(mark: u16, writer: usize) -> u16 {
        mark & !WRITER | writer as u16 & WRITER
    }

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
    /// as [`StepSlots::finished`] tells.
    #[inline(always)]
    #[must_use]
    pub const fn is_free(step: u64, finished: u64) -> bool {
        step <= finished + SLOTS as u64
    }
}

impl<W: SharedWords, const SLOTS: usize> StepSlots<W, SLOTS> {
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
    /// [`StepMiss`] says how not.
    #[inline(always)]
    pub fn look(&self, slot: usize, step: u64, mark: u16) -> Result<(), StepMiss> {
        // SAFETY: as above.
        let number = unsafe { self.words.load(Self::number(slot), Ordering::Acquire) };
        if number == step << MARK | u64::from(mark) {
            Ok(())
        } else {
            Err(Self::miss(number, step))
        }
    }

    /// As [`StepSlots::look`], in the slot of this number of the rank `both[owner]`, where both write the slots of both
    /// in turn: a rank that has published this step or a later one, but not here, is in another call, too.
    ///
    /// # Errors
    /// As there. `mark` is the [other's](StepSlots::ping_pong_mark).
    ///
    /// # Cost
    /// Looks at all slots while it is early, so it is for who has waited for a while.
    pub fn look_ping_pong(
        both: [&Self; 2],
        (owner, slot): (usize, usize),
        step: u64,
        mark: u16,
    ) -> Result<(), StepMiss> {
        let look = || both[owner].look(slot, step, mark);
        let found = match look() {
            Err(StepMiss::Early) => 0,
            Err(StepMiss::Corrupt(_)) => both[owner].step_in(slot),
            come => return come,
        };
        let published = both.map(|slots| slots.last_of(mark));
        let published = published.into_iter().fold(found, u64::max);
        if published > step + 2 * SLOTS as u64 {
            // Whatever it calls, it waits until this rank has finished what it writes over.
            return Err(StepMiss::Corrupt(NO_STEP));
        }
        if published < step {
            return Err(StepMiss::Early);
        }
        // What the other one published before that is seen now; and it is written again only once it was read.
        match look() {
            Err(StepMiss::Early) if both[owner].is_withdrawn(slot) => Err(StepMiss::Early),
            Err(_) => Err(StepMiss::Differs),
            Ok(()) => Ok(()),
        }
    }

    /// The step that is published in a slot.
    fn step_in(&self, slot: usize) -> u64 {
        // SAFETY: a slot's word; `new` checked that there are as many.
        let number = unsafe { self.words.load(Self::number(slot), Ordering::Relaxed) };
        number >> MARK
    }

    /// The last step that is published here by whom this mark is of.
    fn last_of(&self, mark: u16) -> u64 {
        let numbers = (0..SLOTS).map(|slot| {
            // SAFETY: a slot's word; `new` checked that there are as many.
            unsafe { self.words.load(Self::number(slot), Ordering::Acquire) }
        });
        let of_writer = numbers.filter(|&number| (number as u16 ^ mark) & WRITER == 0);
        of_writer.max().unwrap_or(0) >> MARK
    }

    /// Whether what was published in this slot was [taken back](StepSlots::withdraw).
    fn is_withdrawn(&self, slot: usize) -> bool {
        // SAFETY: as above.
        let number = unsafe { self.words.load(Self::number(slot), Ordering::Relaxed) };
        number == WITHDRAWN
    }

    /// As [`StepSlots::publish`], before this rank writes what another one told of, if that is still
    /// [kept](StepSlots::is_kept). If not, that rank finds this step published after it took its own back.
    pub fn enter(&self, slot: usize, step: u64, mark: u16) {
        self.publish(slot, step, mark);
        self.words.fence(Ordering::SeqCst);
    }

    /// Takes `step` back, before what it told of is written over: others may be reading that. Who is writing it
    /// has [entered](StepSlots::enter). Where a slot is written in turn and has been since, nobody is.
    pub fn withdraw(&self, slot: usize, step: u64, mark: u16) {
        let (number, told) = (Self::number(slot), step << MARK | u64::from(mark));
        // SAFETY: as above.
        unsafe {
            self.words
                .exchange(number, told, WITHDRAWN, Ordering::Relaxed)
        };
        self.words.fence(Ordering::SeqCst);
    }

    /// Whether the rank had not yet [taken `step` back](StepSlots::withdraw) when what it told of was read, just
    /// before.
    pub fn is_kept(&self, slot: usize, step: u64, mark: u16) -> bool {
        self.words.fence(Ordering::Acquire);
        self.look(slot, step, mark).is_ok()
    }

    #[inline]
    const fn miss(number: u64, step: u64) -> StepMiss {
        let there = number >> MARK;
        if there < step {
            StepMiss::Early
        } else if there == step {
            StepMiss::Differs
        } else {
            StepMiss::Corrupt(NO_STEP)
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

impl<const SLOTS: usize> StepSlots<super::MappedWords<'_>, SLOTS> {
    /// The same slots without a lifetime.
    ///
    /// # Safety
    /// As [`MappedWords::detach`](super::MappedWords::detach).
    #[must_use]
    pub const unsafe fn detach(self) -> StepSlots<super::MappedWords<'static>, SLOTS> {
        StepSlots {
            // SAFETY: by the caller's word.
            words: unsafe { self.words.detach() },
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use core::ptr::NonNull;
    use core::sync::atomic::AtomicU64;
    use std::vec::Vec;

    use super::*;
    use crate::ring::MappedWords;

    const SLOTS: usize = 2;

    type Slots<'a> = StepSlots<MappedWords<'a>, SLOTS>;

    /// Memory for one rank's slots.
    fn memory() -> Vec<AtomicU64> {
        (0..Slots::WORDS).map(|_| AtomicU64::new(0)).collect()
    }

    fn slots(memory: &[AtomicU64]) -> Slots<'_> {
        let first = NonNull::from(memory).cast();
        // SAFETY: atomics that live as long as the words do.
        Slots::new(unsafe { MappedWords::new(first, memory.len()) })
    }

    const MARK: u16 = 76;

    #[test]
    fn what_came_in_turn_meanwhile_is_not_taken_back() {
        let memory = memory();
        let slots = slots(&memory);
        slots.publish(1, 1, MARK);
        slots.publish(1, 2, MARK);
        slots.withdraw(1, 1, MARK);
        assert_eq!(slots.look(1, 2, MARK), Ok(()));
        slots.withdraw(1, 2, MARK);
        assert_eq!(slots.look(1, 2, MARK), Err(StepMiss::Early));
    }

    #[test]
    fn who_publishes_elsewhere_is_in_another_call() {
        let memory = [memory(), memory()];
        let [first, second] = [0, 1].map(|rank| slots(&memory[rank]));
        let [mine, other] = [0, 1].map(|writer| Slots::ping_pong_mark(MARK, writer));
        let look = |step| Slots::look_ping_pong([&first, &second], (0, 1), step, other);
        first.publish(0, 3, mine);
        second.publish(0, 2, other);
        assert_eq!(
            look(3),
            Err(StepMiss::Early),
            "what one wrote oneself, and what was before"
        );
        second.publish(1, 4, other);
        assert_eq!(look(3), Err(StepMiss::Differs), "the other one is further");
        first.publish(1, 3, other);
        assert_eq!(look(3), Ok(()));
        first.withdraw(1, 3, other);
        assert_eq!(look(3), Err(StepMiss::Early), "it has failed in this call");
        first.publish(1, 5, other);
        assert_eq!(look(3), Err(StepMiss::Differs), "it has not waited");
        for (slots, slot) in [(&first, 1), (&second, 0)] {
            slots.publish(slot, 1000, other);
            assert!(
                matches!(look(3), Err(StepMiss::Corrupt(_))),
                "nobody is so far"
            );
            slots.publish(slot, 1, other);
        }
    }
}
