//! The memory that a rank has attached to a window, as words that all ranks of its node read: [`AttachedMemory`].
//!
//! Each range has two words of its own from the attachment until the detachment, so that whoever looks for one range is never
//! disturbed by what happens to others. An access to memory that is attached or detached meanwhile is the program's error
//! (MPI 5.0, section 12.2.4): it may be found or not.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::SharedWords;

/// How many pairs of words have been used so far.
const USED: usize = 0;
/// The first pair: the address of a range, and its bytes; 0 bytes: the pair is free.
const PAIRS: usize = 1;

/// The ranges of memory that a rank has attached. All words are 0 at first. Its owner alone changes them.
#[derive(Clone, Debug)]
pub struct AttachedMemory<W> {
    words: W,
}

/// Why memory is not attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAttached {
    /// The range that begins at this address and has so many bytes is attached already.
    Overlaps(u64, u64),
    /// As many ranges are attached as there is room for.
    Full(usize),
}

impl<W: SharedWords> AttachedMemory<W> {
    /// Words for so many ranges.
    #[must_use]
    pub const fn words(ranges: usize) -> usize {
        PAIRS + 2 * ranges
    }

    /// The ranges in these words.
    ///
    /// # Panics
    /// If there are too few for one range.
    #[must_use]
    pub fn new(words: W) -> Self {
        assert!(words.len() >= Self::words(1), "room for a range");
        Self { words }
    }

    fn room(&self) -> usize {
        (self.words.len() - PAIRS) / 2
    }

    /// How many pairs to look at: of words that a peer has spoilt no more than there are.
    fn used(&self) -> usize {
        // SAFETY: `new` checked that there are as many words.
        let used = unsafe { self.words.load(USED, Acquire) };
        usize::try_from(used).map_or(self.room(), |used| used.min(self.room()))
    }

    /// The address and the bytes of a pair below the room.
    fn pair(&self, at: usize) -> (u64, u64) {
        assert!(at < self.room(), "pair {at} of the attached memory");
        // SAFETY: as was just checked.
        let len = unsafe { self.words.load(PAIRS + 2 * at + 1, Acquire) };
        // SAFETY: the same.
        let start = unsafe { self.words.load(PAIRS + 2 * at, Relaxed) };
        (start, len)
    }

    fn set_len(&self, at: usize, len: u64) {
        assert!(at < self.room(), "pair {at} of the attached memory");
        // SAFETY: as was just checked.
        unsafe { self.words.store(PAIRS + 2 * at + 1, len, Release) };
    }

    /// Adds the range of `len` bytes at this address; one of no bytes changes nothing.
    ///
    /// # Errors
    /// [`NotAttached`].
    ///
    /// # Cost
    /// Looks at all ranges.
    pub fn attach(&self, start: u64, len: u64) -> Result<(), NotAttached> {
        if len == 0 {
            return Ok(());
        }
        let (used, mut free) = (self.used(), None);
        for at in 0..used {
            match self.pair(at) {
                (_, 0) => free = free.or(Some(at)),
                (other, bytes)
                    if start < other.saturating_add(bytes) && other < start.saturating_add(len) =>
                {
                    return Err(NotAttached::Overlaps(other, bytes));
                }
                _ => {}
            }
        }
        let at = free.unwrap_or(used);
        if at == self.room() {
            return Err(NotAttached::Full(at));
        }
        // SAFETY: below the room.
        unsafe { self.words.store(PAIRS + 2 * at, start, Relaxed) };
        self.set_len(at, len);
        if at == used {
            // SAFETY: `new` checked that there are as many words.
            unsafe { self.words.store(USED, used as u64 + 1, Release) };
        }
        Ok(())
    }

    /// Removes the range that begins at this address. Whether there was one.
    pub fn detach(&self, start: u64) -> bool {
        let begins = |&at: &usize| matches!(self.pair(at), (other, 1..) if other == start);
        let found = (0..self.used()).find(begins);
        if let Some(at) = found {
            self.set_len(at, 0);
        }
        found.is_some()
    }

    /// The number of the range that has the byte at this address, if one has, and how many of its bytes begin there.
    ///
    /// # Cost
    /// Looks at the ranges from number `from` on, and at those before it afterwards, until it finds one.
    #[must_use]
    pub fn find(&self, address: u64, from: usize) -> Option<(usize, u64)> {
        let used = self.used();
        let from = from.min(used);
        (from..used).chain(0..from).find_map(|at| {
            let (first, bytes) = self.pair(at);
            let before = address.checked_sub(first)?;
            (before < bytes).then(|| (at, bytes - before))
        })
    }
}
