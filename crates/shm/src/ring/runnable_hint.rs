//! When a rank worked, for those that share its processor.
//!
//! Three words of each rank: since when it has worked, or 0 while it gives its processor away; and the last long
//! runnable_hint before, from when to when. To work is not to give way: who blocks in the user's code, or is interrupted by
//! another program, counts as working, and who has not waited yet tells nothing. So the words are a hint, like the
//! [`CpuBoard`](super::CpuBoard).

use core::sync::atomic::Ordering;

use super::SharedWords;

/// Shorter stints are not kept, in nanoseconds: between two yields that bring nothing there is one of a microsecond.
const LONG: u64 = 100_000;

const SINCE: usize = 0;
const FROM: usize = 1;
const TO: usize = 2;

/// One rank's words. Times are nanoseconds of a clock that all ranks share, never 0.
#[derive(Clone, Copy, Debug)]
pub struct RunnableHint<W> {
    words: W,
    at: usize,
}

impl<W: SharedWords> RunnableHint<W> {
    /// How many words it takes.
    pub const LEN: usize = 3;

    /// The words of `words` from `at` on.
    ///
    /// # Panics
    /// If there are no such words.
    pub fn new(words: W, at: usize) -> Self {
        assert!(words.holds(at, Self::LEN));
        Self { words, at }
    }

    /// The caller has its processor from `now` on.
    ///
    /// # Cost
    /// A store to a line that others read seldom.
    #[inline]
    pub fn begin(&self, now: u64) {
        self.store(SINCE, now);
    }

    /// The caller gives its processor away at `now`.
    ///
    /// # Cost
    /// As [`RunnableHint::begin`], and two stores after a long runnable_hint.
    #[inline]
    pub fn end(&self, now: u64) {
        let since = self.load(SINCE);
        if since != 0 && now.saturating_sub(since) >= LONG {
            self.store(FROM, since);
            self.store(TO, now);
        }
        self.store(SINCE, 0);
    }

    /// For how long the rank worked between two times, of which the second is now: in the present runnable_hint and the last
    /// long one before, which may overlap where the words were read between two stores.
    #[must_use]
    pub fn within(&self, from: u64, now: u64) -> u64 {
        let within = |begin: u64, end: u64| end.min(now).saturating_sub(begin.max(from));
        let present = match self.load(SINCE) {
            0 => 0,
            since => within(since, now),
        };
        present.saturating_add(within(self.load(FROM), self.load(TO)))
    }

    #[inline(always)]
    fn load(&self, word: usize) -> u64 {
        // SAFETY: `new` checked that there are so many words.
        unsafe { self.words.load(self.at + word, Ordering::Relaxed) }
    }

    #[inline(always)]
    fn store(&self, word: usize, value: u64) {
        // SAFETY: `new` checked that there are so many words.
        unsafe { self.words.store(self.at + word, value, Ordering::Relaxed) };
    }
}

#[cfg(test)]
mod tests {
    use core::ptr::NonNull;
    use core::sync::atomic::AtomicU64;

    use proptest::prelude::*;

    use super::*;
    use crate::ring::MappedWords;

    fn tested(test: impl FnOnce(RunnableHint<MappedWords<'_>>)) {
        let memory = [const { AtomicU64::new(0) }; 1 + RunnableHint::<MappedWords<'_>>::LEN];
        // SAFETY: atomics that outlive the words.
        let words = unsafe { MappedWords::new(NonNull::from(&memory).cast(), memory.len()) };
        test(RunnableHint::new(words, 1));
        assert_eq!(memory[0].load(Ordering::Relaxed), 0);
    }

    #[test]
    fn the_present_stint_and_the_last_long_one_are_told() {
        tested(|runnable_hint| {
            runnable_hint.begin(10);
            assert_eq!(runnable_hint.within(0, 50), 40);
            assert_eq!(runnable_hint.within(30, 50), 20);
            runnable_hint.end(60);
            assert_eq!(runnable_hint.within(0, 100), 0, "a short one that is over");
            runnable_hint.begin(1000);
            runnable_hint.end(1000 + LONG);
            let later = 3 * LONG;
            assert_eq!(runnable_hint.within(0, later), LONG);
            assert_eq!(
                runnable_hint.within(1000 + LONG / 4, later),
                LONG - LONG / 4
            );
            assert_eq!(runnable_hint.within(2 * LONG, later), 0);
            runnable_hint.begin(later);
            assert_eq!(runnable_hint.within(0, later + 7), LONG + 7);
            runnable_hint.end(later + 7);
            assert_eq!(runnable_hint.within(0, later + 7), LONG);
            runnable_hint.begin(2 * later);
            runnable_hint.end(2 * later + LONG + 1);
            assert_eq!(
                runnable_hint.within(0, 3 * later),
                LONG + 1,
                "the last one only"
            );
        });
    }

    proptest! {
        /// Whatever a rank has written, it worked for no more than both stints may last.
        #[test]
        fn any_words_tell_some_time(words: [u64; 3], from: u64, now: u64) {
            tested(|runnable_hint| {
                for (word, value) in words.into_iter().enumerate() {
                    runnable_hint.store(word, value);
                }
                let longest = now.saturating_sub(from).saturating_mul(2);
                assert!(runnable_hint.within(from, now) <= longest);
            });
        }
    }

    #[test]
    fn nothing_is_told_of_who_never_rested() {
        tested(|runnable_hint| {
            assert_eq!(runnable_hint.within(0, u64::MAX), 0);
            runnable_hint.end(u64::MAX);
            assert_eq!(runnable_hint.within(0, u64::MAX), 0);
        });
    }
}
