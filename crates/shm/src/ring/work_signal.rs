//! How a helper thread sleeps until there is work for it, without a system call where it is awake: [`WorkSignal`].
//!
//! The word counts what was announced, and says where the helper sleeps. A sleep begins only if nothing was announced since
//! the helper last looked, so none is slept over.

use core::sync::atomic::Ordering;

use super::SharedWords;

/// Where a helper sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SleepPlace {
    /// On the signal's word: there is nothing to do.
    Signal,
    /// Where messages of peers wake it.
    Doorbell,
}

const AT_SIGNAL: u64 = 1;
const AT_DOORBELL: u64 = 2;
const PLACES: u64 = AT_SIGNAL | AT_DOORBELL;
const COUNT: u64 = PLACES + 1;

/// A word by which threads announce work to one helper thread. Its lower half is a futex.
#[derive(Clone, Copy, Debug)]
pub struct WorkSignal<W> {
    word: W,
}

impl<W: SharedWords> WorkSignal<W> {
    /// The signal in the first of `words`, which is 0 at first.
    ///
    /// # Panics
    /// If there is no word.
    #[must_use]
    pub fn new(words: W) -> Self {
        assert!(!words.is_empty());
        Self { word: words }
    }

    /// Announces work, which was published before. Where the helper sleeps, so that the caller wakes it there.
    ///
    /// # Cost
    /// A compare-and-swap.
    #[must_use]
    pub fn announce(&self) -> Option<SleepPlace> {
        loop {
            let word = self.load(Ordering::Relaxed);
            let announced = (word & !PLACES).wrapping_add(COUNT);
            // SAFETY: `new` checked that there is a word.
            if unsafe { (self.word).exchange(0, word, announced, Ordering::Release) } {
                return match word & PLACES {
                    0 => None,
                    AT_SIGNAL => Some(SleepPlace::Signal),
                    _ => Some(SleepPlace::Doorbell),
                };
            }
        }
    }

    /// What has been announced so far, for [`WorkSignal::sleep`]. The helper is awake; it looks for work after this.
    #[must_use]
    pub fn wake(&self) -> u64 {
        loop {
            let word = self.load(Ordering::Acquire);
            let awake = word & !PLACES;
            // SAFETY: as above.
            if word == awake || unsafe { self.word.exchange(0, word, awake, Ordering::Relaxed) } {
                return awake;
            }
        }
    }

    /// Notes that the helper is about to sleep, and gives the value of the word while it does. `None`: something was
    /// announced after `seen`, so it looks again.
    #[must_use]
    pub fn sleep(&self, seen: u64, place: SleepPlace) -> Option<u64> {
        let asleep = seen
            | match place {
                SleepPlace::Signal => AT_SIGNAL,
                SleepPlace::Doorbell => AT_DOORBELL,
            };
        // SAFETY: as above.
        let sleeps = unsafe { (self.word).exchange(0, seen, asleep, Ordering::Relaxed) };
        sleeps.then_some(asleep)
    }

    fn load(&self, order: Ordering) -> u64 {
        // SAFETY: as above.
        unsafe { self.word.load(0, order) }
    }
}
