//! Which ranks are awake, and on which processor: [`CpuBoard`].
//!
//! One word per rank, side by side: the lower half says whether the rank sleeps (see
//! [`SleepFlag`](super::SleepFlag)), the upper half where it ran last. A rank writes its own word when it
//! waits and has moved. Other ranks read it when they wait, to know whether a rank needs their processor. It
//! is a hint: a stale word costs one wrong choice of waiting.

use core::sync::atomic::Ordering;

use super::SharedWords;
use super::sleep_flag::ASLEEP;

/// The words of all ranks of a node.
#[derive(Clone, Copy, Debug)]
pub struct CpuBoard<W> {
    words: W,
}

impl<W: SharedWords> CpuBoard<W> {
    /// A board of as many ranks as there are words.
    pub const fn new(words: W) -> Self {
        Self { words }
    }

    /// Records that `rank`, the caller, runs on processor `cpu`.
    ///
    /// # Cost
    /// A load; a store if the rank has moved.
    ///
    /// # Panics
    /// If the board has no such rank.
    #[inline]
    pub fn set_cpu(&self, rank: usize, cpu: u32) {
        assert!(rank < self.words.len());
        let word = awake_on(cpu);
        if self.word(rank) != word {
            // SAFETY: in bounds by the assertion.
            unsafe { self.words.store(rank, word, Ordering::Relaxed) };
        }
    }

    /// Whether a rank other than `me` is awake on processor `cpu`.
    ///
    /// # Cost
    /// A load a rank; eight ranks share a line.
    #[inline]
    #[must_use]
    pub fn is_cpu_shared(&self, me: usize, cpu: u32) -> bool {
        let word = awake_on(cpu);
        (0..self.words.len()).any(|rank| rank != me && self.word(rank) == word)
    }

    /// The ranks other than `me` that are awake on processor `cpu`: a bit each, of the first 64.
    #[inline]
    #[must_use]
    pub fn awake_on_cpu(&self, me: usize, cpu: u32) -> u64 {
        let awake = awake_on(cpu);
        self.others(me, |word| word == awake)
    }

    /// The ranks other than `me` that last ran where `me` did, awake or asleep: a bit each, of the first 64.
    #[must_use]
    pub fn co_located(&self, me: usize) -> u64 {
        let place = self.word(me) >> 32;
        self.others(me, |word| word >> 32 == place)
    }

    /// The ranks other than `me` whose words match: a bit each, of the first 64.
    #[inline]
    fn others(&self, me: usize, matches: impl Fn(u64) -> bool) -> u64 {
        let others = (0..self.words.len().min(64)).filter(|&rank| rank != me);
        others
            .filter(|&rank| matches(self.word(rank)))
            .fold(0, |all, rank| all | 1 << rank)
    }

    #[inline(always)]
    fn word(&self, rank: usize) -> u64 {
        debug_assert!(rank < self.words.len());
        // SAFETY: every caller stays below the number of words.
        unsafe { self.words.load(rank, Ordering::Relaxed) }
    }
}

/// The word of a rank that is awake on `cpu`. 0, the first value, is no processor.
const fn awake_on(cpu: u32) -> u64 {
    let word = (cpu as u64 + 1) << 32;
    debug_assert!(word & ASLEEP == 0);
    word
}
