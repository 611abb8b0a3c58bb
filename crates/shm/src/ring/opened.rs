//! Which senders a receiver must look at.
//!
//! A receiver has a table with one word per sender, and a counter. A sender that opens its ring
//! writes its word and then bumps the counter; the receiver reads the table only when the counter
//! has moved. So rings that nobody uses cost neither time nor memory.

use core::sync::atomic::Ordering;

use super::{Mapped, Words};

/// The table as senders see it.
#[derive(Clone, Copy, Debug)]
pub struct Knock<W> {
    words: W,
    counter: usize,
    table: usize,
}

impl<W: Words> Knock<W> {
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

    /// Sender `who` has opened its ring.
    ///
    /// # Panics
    /// If the table has no place for `who`.
    pub fn knock(&self, who: usize) {
        let at = self.table + who;
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
pub struct Doors<W> {
    knock: Knock<W>,
    seen: u64,
}

impl<W: Words> Doors<W> {
    /// As [`Knock::new`].
    ///
    /// # Panics
    /// If `words` has no such words.
    #[must_use]
    pub fn new(words: W, counter: usize, table: usize) -> Self {
        Self {
            knock: Knock::new(words, counter, table),
            seen: 0,
        }
    }

    /// Whether somebody knocked since the last [`Doors::answer`].
    ///
    /// # Cost
    /// One load and a compare.
    #[inline(always)]
    #[must_use]
    pub fn knocked(&self) -> bool {
        self.count() != self.seen
    }

    /// From now on only later knocks count. Look at the table after this.
    pub fn answer(&mut self) {
        self.seen = self.count();
    }

    /// Whether sender `who` has opened its ring.
    ///
    /// # Panics
    /// If the table has no place for `who`.
    #[must_use]
    pub fn open(&self, who: usize) -> bool {
        let at = self.knock.table + who;
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

impl Doors<Mapped<'_>> {
    /// The same doors without a lifetime.
    ///
    /// # Safety
    /// As [`Mapped::detach`].
    #[must_use]
    pub const unsafe fn detach(self) -> Doors<Mapped<'static>> {
        Doors {
            knock: Knock {
                // SAFETY: by the caller's word.
                words: unsafe { self.knock.words.detach() },
                counter: self.knock.counter,
                table: self.knock.table,
            },
            seen: self.seen,
        }
    }
}
