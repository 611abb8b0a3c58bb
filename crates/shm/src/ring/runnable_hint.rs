//! When a rank had its processor, for the ranks that share it: [`RunnableHint`].
//!
//! Three words per rank: since when it runs, or 0 while it yields or sleeps; and begin and end of the last
//! long run before. A rank that blocks in the user's code, or is interrupted by another program, counts as
//! running; one that has not waited yet has said nothing. So the words are a hint, like the
//! [`CpuBoard`](super::CpuBoard).

use core::sync::atomic::Ordering;

use super::SharedWords;

/// Shorter runs are not kept, in nanoseconds: between two yields in vain a rank runs for a microsecond.
const LONG: u64 = 100_000;

const SINCE: usize = 0;
const FROM: usize = 1;
const TO: usize = 2;

/// The words of one rank. Times are nanoseconds of a clock that all ranks share, never 0.
#[derive(Clone, Copy, Debug)]
pub struct RunnableHint<W> {
    words: W,
    at: usize,
}

impl<W: SharedWords> RunnableHint<W> {
    /// Words of a hint.
    pub const LEN: usize = 3;

    /// The hint in `words` from word `at` on.
    ///
    /// # Panics
    /// If there are no such words.
    pub fn new(words: W, at: usize) -> Self {
        assert!(words.holds(at, Self::LEN));
        Self { words, at }
    }

    /// Records that the caller has its processor from `now` on.
    ///
    /// # Cost
    /// A store to a line that others seldom read.
    #[inline]
    pub fn begin(&self, now: u64) {
        self.store(SINCE, now);
    }

    /// Records that the caller gives its processor up at `now`.
    ///
    /// # Cost
    /// As [`RunnableHint::begin`], and two stores after a long run.
    #[inline]
    pub fn end(&self, now: u64) {
        let since = self.load(SINCE);
        if since != 0 && now.saturating_sub(since) >= LONG {
            self.store(FROM, since);
            self.store(TO, now);
        }
        self.store(SINCE, 0);
    }

    /// For how long the rank ran between `from` and `now`: the present run and the last long one, which may
    /// overlap where the words were read between two stores.
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
        // SAFETY: `new` checked the words.
        unsafe { self.words.load(self.at + word, Ordering::Relaxed) }
    }

    #[inline(always)]
    fn store(&self, word: usize, value: u64) {
        // SAFETY: `new` checked the words.
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
    fn the_present_run_and_the_last_long_one_count() {
        tested(|hint| {
            hint.begin(10);
            assert_eq!(hint.within(0, 50), 40);
            assert_eq!(hint.within(30, 50), 20);
            hint.end(60);
            assert_eq!(hint.within(0, 100), 0, "a short one that is over");
            hint.begin(1000);
            hint.end(1000 + LONG);
            let later = 3 * LONG;
            assert_eq!(hint.within(0, later), LONG);
            assert_eq!(hint.within(1000 + LONG / 4, later), LONG - LONG / 4);
            assert_eq!(hint.within(2 * LONG, later), 0);
            hint.begin(later);
            assert_eq!(hint.within(0, later + 7), LONG + 7);
            hint.end(later + 7);
            assert_eq!(hint.within(0, later + 7), LONG);
            hint.begin(2 * later);
            hint.end(2 * later + LONG + 1);
            assert_eq!(hint.within(0, 3 * later), LONG + 1, "the last one only");
        });
    }

    proptest! {
        /// Whatever the words are, the rank ran for no more than both runs may last.
        #[test]
        fn any_words_give_a_bounded_time(words: [u64; 3], from: u64, now: u64) {
            tested(|hint| {
                for (word, value) in words.into_iter().enumerate() {
                    hint.store(word, value);
                }
                let longest = now.saturating_sub(from).saturating_mul(2);
                assert!(hint.within(from, now) <= longest);
            });
        }
    }

    #[test]
    fn a_rank_that_never_waited_gives_no_time() {
        tested(|hint| {
            assert_eq!(hint.within(0, u64::MAX), 0);
            hint.end(u64::MAX);
            assert_eq!(hint.within(0, u64::MAX), 0);
        });
    }
}
