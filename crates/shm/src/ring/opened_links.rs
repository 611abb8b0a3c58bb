//! Which senders a receiver must look at.
//!
//! A receiver has a table with one word per sender, and a counter. A sender that opens its ring
//! writes its word and then bumps the counter; the receiver reads the table only when the counter
//! has moved. So rings that nobody uses cost neither time nor memory.

use core::sync::atomic::Ordering;

use super::{MappedWords, SharedWords};

/// The table as senders see it.
#[derive(Clone, Copy, Debug)]
pub struct LinkAnnouncer<W> {
    words: W,
    counter: usize,
    table: usize,
}

impl<W: SharedWords> LinkAnnouncer<W> {
    /// The counter at word `counter`, the table from word `table` to the end.
    ///
    /// # Panics
    /// If `words` has no such words.
    #[must_use]
    pub fn new(words: W, counter: usize, table: usize) -> Self {
        assert!(counter < words.len() && table <= words.len());
        Self {
            words,
            counter,
            table,
        }
    }

    /// Sender `sender` has opened its ring.
    ///
    /// # Panics
    /// If the table has no place for `sender`.
    pub fn announce(&self, sender: usize) {
        let at = self.table + sender;
        assert!(at < self.words.len());
        // SAFETY: in bounds by the assertion.
        unsafe { self.words.store(at, 1, Ordering::Relaxed) };
        // The release makes the table's word visible to who sees the counter move.
        // SAFETY: `new` checked the index.
        unsafe {
            self.words.add(self.counter, 1, Ordering::Release);
        }
    }
}

/// The table as its receiver sees it.
#[derive(Debug)]
pub struct OpenedLinks<W> {
    knock: LinkAnnouncer<W>,
    seen: u64,
}

impl<W: SharedWords> OpenedLinks<W> {
    /// As [`LinkAnnouncer::new`].
    ///
    /// # Panics
    /// If `words` has no such words.
    #[must_use]
    pub fn new(words: W, counter: usize, table: usize) -> Self {
        Self {
            knock: LinkAnnouncer::new(words, counter, table),
            seen: 0,
        }
    }

    /// Whether somebody knocked since the last [`OpenedLinks::answer`].
    ///
    /// # Cost
    /// One load and a compare.
    #[inline(always)]
    #[must_use]
    pub fn has_new(&self) -> bool {
        self.count() != self.seen
    }

    /// From now on only later knocks count. Look at the table after this.
    pub fn acknowledge(&mut self) {
        self.seen = self.count();
    }

    /// Whether sender `who` has opened its ring.
    ///
    /// # Panics
    /// If the table has no place for `sender`.
    #[must_use]
    pub fn is_open(&self, sender: usize) -> bool {
        let at = self.knock.table + sender;
        assert!(at < self.knock.words.len());
        // SAFETY: in bounds by the assertion.
        unsafe { self.knock.words.load(at, Ordering::Relaxed) != 0 }
    }

    #[inline(always)]
    fn count(&self) -> u64 {
        // SAFETY: `new` checked the index.
        unsafe { self.knock.words.load(self.knock.counter, Ordering::Acquire) }
    }
}

impl OpenedLinks<MappedWords<'_>> {
    /// The same doors without a lifetime.
    ///
    /// # Safety
    /// As [`MappedWords::detach`].
    #[must_use]
    pub const unsafe fn detach(self) -> OpenedLinks<MappedWords<'static>> {
        OpenedLinks {
            knock: LinkAnnouncer {
                // SAFETY: by the caller's word.
                words: unsafe { self.knock.words.detach() },
                counter: self.knock.counter,
                table: self.knock.table,
            },
            seen: self.seen,
        }
    }
}
