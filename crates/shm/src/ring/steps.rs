//! The slots of one rank in the collectives of a group: [`StepSlots`].
//!
//! Every rank has a few slots. In a step some ranks write a slot each and publish it, and others read it. All
//! ranks count the steps alike and know which slot is written in each, so the number in a slot says whether a
//! step is there; nothing is cleared. A number carries a mark of the call: ranks whose calls differ find out
//! instead of reading each other's bytes.
//!
//! Where many ranks read, a rank writes its own slots [one after the other](StepSlots::slot), each again
//! `SLOTS` steps later. By then all must have read it: each rank reports, every half of the ring, up to which
//! step it has finished. So no rank reads a line of the writer that changes every step, and a rank may be
//! `SLOTS` steps ahead of the slowest. Two ranks may write all slots of both alternately: the rank that has
//! read one may write it next. If their calls differ they may then write where the other does not look; a
//! rank that waits long [finds out](StepSlots::poll_ping_pong).
//!
//! A rank that waits publishes for which step, so that others on its processor know whether it could go on.

use core::sync::atomic::Ordering;

use super::{Corrupt, STRIDE, SharedWords};

/// The slots of one rank, and the steps it has finished and waits for, as all ranks see them.
#[derive(Clone, Copy, Debug)]
pub struct StepSlots<W, const SLOTS: usize> {
    words: W,
}

/// Why a slot does not hold the step that was polled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepAbsent {
    /// It is not published yet.
    Early,
    /// It is published by a rank in another call.
    Differs,
    /// Its number is one that cannot be there.
    Corrupt(Corrupt),
}

/// Bits of a slot's number that are the mark of the call. The others suffice for years of steps.
const MARK: u32 = u16::BITS;

/// The number of a slot whose step was withdrawn: no step, since they count from 1.
const WITHDRAWN: u64 = u16::MAX as u64;

/// The error for a number that no step can have at this time.
const NO_STEP: Corrupt = Corrupt("the number of a collective's step");

/// The bit of a mark that tells apart two ranks that write alternately.
const WRITER: u16 = 1;

impl<W, const SLOTS: usize> StepSlots<W, SLOTS> {
    /// Words of one rank: its slots, each with a line of eight words whose first is the number; then the line
    /// of what it has finished and waits for.
    pub const WORDS: usize = (SLOTS + 1) * STRIDE;

    /// Payload words of a slot.
    pub const PAYLOAD: usize = STRIDE / 2 - 1;

    /// Steps that a rank finishes between two reports.
    const REPORT_EVERY: u64 = SLOTS as u64 / 2;

    /// The mark of a call as published by rank `writer` (0 or 1) of two that write their slots alternately.
    #[inline(always)]
    #[must_use]
    pub const fn ping_pong_mark(mark: u16, writer: usize) -> u16 {
        mark & !WRITER | writer as u16 & WRITER
    }

    /// The slot of `step` where each rank writes its own slots in order.
    #[inline(always)]
    #[must_use]
    pub const fn slot(step: u64) -> usize {
        step as usize % SLOTS
    }

    /// The word of a slot's number; the payload follows.
    #[inline(always)]
    const fn number(slot: usize) -> usize {
        slot % SLOTS * STRIDE
    }

    const FINISHED: usize = SLOTS * STRIDE;

    /// The word beside it: the step for which the rank last waited.
    const AWAITED: usize = Self::FINISHED + 1;

    /// Whether the slot of `step` may be written when all ranks have finished the steps up to `finished`, as
    /// [`StepSlots::finished`] returns.
    #[inline(always)]
    #[must_use]
    pub const fn is_free(step: u64, finished: u64) -> bool {
        step <= finished + SLOTS as u64
    }
}

impl<W: SharedWords, const SLOTS: usize> StepSlots<W, SLOTS> {
    /// The slots in these words of a rank.
    ///
    /// # Panics
    /// If they are too few.
    #[must_use]
    pub fn new(words: W) -> Self {
        assert!(words.len() >= Self::WORDS);
        Self { words }
    }

    /// The first payload word of `slot`.
    #[inline(always)]
    pub const fn payload(slot: usize) -> usize {
        Self::number(slot) + 1
    }

    /// All words.
    #[inline(always)]
    pub const fn words(&self) -> &W {
        &self.words
    }

    /// Publishes `step`, from 1 on: what this rank wrote in this slot, and elsewhere before.
    #[inline(always)]
    pub fn publish(&self, slot: usize, step: u64, mark: u16) {
        let number = step << MARK | u64::from(mark);
        // SAFETY: a slot's word; `new` checked that there are as many.
        unsafe {
            self.words
                .store(Self::number(slot), number, Ordering::Release)
        };
    }

    /// Polls whether `step` is published in this slot. What was written before is visible then.
    ///
    /// # Errors
    /// [`StepAbsent`] if it is not.
    #[inline(always)]
    pub fn poll(&self, slot: usize, step: u64, mark: u16) -> Result<(), StepAbsent> {
        // SAFETY: as above.
        let number = unsafe { self.words.load(Self::number(slot), Ordering::Acquire) };
        if number == step << MARK | u64::from(mark) {
            Ok(())
        } else {
            Err(Self::miss(number, step))
        }
    }

    /// Polls for `step` as [`StepSlots::poll`] does, in slot `slot` of rank `both[owner]`, where two ranks
    /// write the slots of both alternately: a peer that has published this step or a later one, but not here,
    /// is in another call.
    ///
    /// # Errors
    /// As [`StepSlots::poll`]. `mark` is the peer's [mark](StepSlots::ping_pong_mark).
    ///
    /// # Cost
    /// Reads all slots while the step is early: for a rank that has waited for a while.
    pub fn poll_ping_pong(
        both: [&Self; 2],
        (owner, slot): (usize, usize),
        step: u64,
        mark: u16,
    ) -> Result<(), StepAbsent> {
        let poll = || both[owner].poll(slot, step, mark);
        let found = match poll() {
            Err(StepAbsent::Early) => 0,
            Err(StepAbsent::Corrupt(_)) => both[owner].step_in(slot),
            come => return come,
        };
        let published = both.map(|slots| slots.last_of(mark));
        let published = published.into_iter().fold(found, u64::max);
        if published > step + 2 * SLOTS as u64 {
            // In any call the peer waits until this rank has finished what it writes over.
            return Err(StepAbsent::Corrupt(NO_STEP));
        }
        if published < step {
            return Err(StepAbsent::Early);
        }
        // What the peer published before that is visible now; and it is written again only once it was read.
        match poll() {
            Err(StepAbsent::Early) if both[owner].is_withdrawn(slot) => Err(StepAbsent::Early),
            Err(_) => Err(StepAbsent::Differs),
            Ok(()) => Ok(()),
        }
    }

    /// The step that is published in a slot.
    fn step_in(&self, slot: usize) -> u64 {
        // SAFETY: a slot's word; `new` checked that there are as many.
        let number = unsafe { self.words.load(Self::number(slot), Ordering::Relaxed) };
        number >> MARK
    }

    /// The last step published here by the rank of this mark.
    fn last_of(&self, mark: u16) -> u64 {
        let numbers = (0..SLOTS).map(|slot| {
            // SAFETY: a slot's word; `new` checked that there are as many.
            unsafe { self.words.load(Self::number(slot), Ordering::Acquire) }
        });
        let of_writer = numbers.filter(|&number| (number as u16 ^ mark) & WRITER == 0);
        of_writer.max().unwrap_or(0) >> MARK
    }

    /// Whether the step in this slot was [withdrawn](StepSlots::withdraw).
    fn is_withdrawn(&self, slot: usize) -> bool {
        // SAFETY: as above.
        let number = unsafe { self.words.load(Self::number(slot), Ordering::Relaxed) };
        number == WITHDRAWN
    }

    /// Publishes as [`StepSlots::publish`] does, before this rank writes memory that a peer has shown, if
    /// that is still [kept](StepSlots::is_kept). If it is not, the peer finds this step published after its
    /// withdrawal.
    pub fn enter(&self, slot: usize, step: u64, mark: u16) {
        self.publish(slot, step, mark);
        self.words.fence(Ordering::SeqCst);
    }

    /// Withdraws `step`, before the memory that it shows is written over: peers may be reading it. A peer
    /// that is writing it has [entered](StepSlots::enter). A ping-pong slot that was written since has no
    /// such writer.
    pub fn withdraw(&self, slot: usize, step: u64, mark: u16) {
        let (number, published) = (Self::number(slot), step << MARK | u64::from(mark));
        // SAFETY: as above.
        unsafe {
            self.words
                .exchange(number, published, WITHDRAWN, Ordering::Relaxed)
        };
        self.words.fence(Ordering::SeqCst);
    }

    /// Whether the rank had not [withdrawn](StepSlots::withdraw) `step` by the time its memory was read, just
    /// before.
    pub fn is_kept(&self, slot: usize, step: u64, mark: u16) -> bool {
        self.words.fence(Ordering::Acquire);
        self.poll(slot, step, mark).is_ok()
    }

    #[inline]
    const fn miss(number: u64, step: u64) -> StepAbsent {
        let there = number >> MARK;
        if there < step {
            StepAbsent::Early
        } else if there == step {
            StepAbsent::Differs
        } else {
            StepAbsent::Corrupt(NO_STEP)
        }
    }

    /// Finishes `step` and all before: this rank reads nothing of them any more. True if this was reported:
    /// ranks that wait for it may sleep.
    #[inline(always)]
    pub fn finish(&self, step: u64) -> bool {
        let reports = step.is_multiple_of(Self::REPORT_EVERY);
        if reports {
            // SAFETY: the last line's word; `new` checked that it is there.
            unsafe { self.words.store(Self::FINISHED, step, Ordering::Release) };
        }
        reports
    }

    /// The last step that the rank has reported finished. `own` is the last step that the calling rank has
    /// finished.
    ///
    /// # Errors
    /// If it is too large: no rank may write a slot that the calling rank still reads.
    #[inline]
    pub fn finished(&self, own: u64) -> Result<u64, Corrupt> {
        // SAFETY: as above.
        let finished = unsafe { self.words.load(Self::FINISHED, Ordering::Acquire) };
        if finished > own + SLOTS as u64 {
            return Err(Corrupt("the last step that a rank has finished"));
        }
        Ok(finished)
    }

    /// Records that this rank waits for `step`, or for its slot. It is a hint.
    ///
    /// # Cost
    /// A load; a store if the step is another.
    #[inline]
    pub fn set_awaited(&self, step: u64) {
        if self.awaited() != step {
            // SAFETY: the second word of the last line; `new` checked that it is there.
            unsafe { self.words.store(Self::AWAITED, step, Ordering::Relaxed) };
        }
    }

    /// The step for which the rank last waited; it may have gone on since.
    #[inline]
    #[must_use]
    pub fn awaited(&self) -> u64 {
        // SAFETY: as above.
        unsafe { self.words.load(Self::AWAITED, Ordering::Relaxed) }
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
    fn a_later_step_is_not_withdrawn() {
        let memory = memory();
        let slots = slots(&memory);
        slots.publish(1, 1, MARK);
        slots.publish(1, 2, MARK);
        slots.withdraw(1, 1, MARK);
        assert_eq!(slots.poll(1, 2, MARK), Ok(()));
        slots.withdraw(1, 2, MARK);
        assert_eq!(slots.poll(1, 2, MARK), Err(StepAbsent::Early));
    }

    #[test]
    fn a_peer_that_publishes_elsewhere_is_in_another_call() {
        let memory = [memory(), memory()];
        let [first, second] = [0, 1].map(|rank| slots(&memory[rank]));
        let [own_mark, peer_mark] = [0, 1].map(|writer| Slots::ping_pong_mark(MARK, writer));
        let poll = |step| Slots::poll_ping_pong([&first, &second], (0, 1), step, peer_mark);
        first.publish(0, 3, own_mark);
        second.publish(0, 2, peer_mark);
        assert_eq!(
            poll(3),
            Err(StepAbsent::Early),
            "own steps and earlier ones do not count"
        );
        second.publish(1, 4, peer_mark);
        assert_eq!(poll(3), Err(StepAbsent::Differs), "the peer is further");
        first.publish(1, 3, peer_mark);
        assert_eq!(poll(3), Ok(()));
        first.withdraw(1, 3, peer_mark);
        assert_eq!(
            poll(3),
            Err(StepAbsent::Early),
            "it has failed in this call"
        );
        first.publish(1, 5, peer_mark);
        assert_eq!(poll(3), Err(StepAbsent::Differs), "it has not waited");
        for (slots, slot) in [(&first, 1), (&second, 0)] {
            slots.publish(slot, 1000, peer_mark);
            assert!(
                matches!(poll(3), Err(StepAbsent::Corrupt(_))),
                "no rank is so far"
            );
            slots.publish(slot, 1, peer_mark);
        }
    }
}
