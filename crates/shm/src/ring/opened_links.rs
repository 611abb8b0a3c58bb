//! Which senders have opened their ring to a receiver: [`OpenedLinks`], and [`LinkAnnouncer`] for the
//! senders.
//!
//! A receiver has a table with one word per sender, and a counter. A sender that opens its ring writes its
//! word and then adds to the counter; the receiver reads the table only when the counter has moved. So unused
//! rings cost neither time nor memory.

use core::sync::atomic::Ordering;

use super::{MappedWords, SharedWords};

/// The receiver's table as senders write it.
#[derive(Clone, Copy, Debug)]
pub struct LinkAnnouncer<W> {
    words: W,
    counter: usize,
    table: usize,
}

impl<W: SharedWords> LinkAnnouncer<W> {
    /// A counter at word `counter`, a table from word `table` to the end.
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

    /// Announces that `sender` has opened its ring.
    ///
    /// # Panics
    /// If the table has no word for `sender`.
    pub fn announce(&self, sender: usize) {
        let at = self.table + sender;
        assert!(at < self.words.len());
        // SAFETY: in bounds by the assertion.
        unsafe { self.words.store(at, 1, Ordering::Relaxed) };
        // The release makes the table's word visible to a receiver that sees the counter move.
        // SAFETY: the constructor checked the index.
        unsafe { self.words.add(self.counter, 1, Ordering::Release) };
    }
}

/// The table as its receiver reads it.
#[derive(Debug)]
pub struct OpenedLinks<W> {
    announcer: LinkAnnouncer<W>,
    acknowledged: u64,
}

impl<W: SharedWords> OpenedLinks<W> {
    /// As [`LinkAnnouncer::new`].
    ///
    /// # Panics
    /// If `words` has no such words.
    #[must_use]
    pub fn new(words: W, counter: usize, table: usize) -> Self {
        Self {
            announcer: LinkAnnouncer::new(words, counter, table),
            acknowledged: 0,
        }
    }

    /// Whether a sender announced its ring since the last [`OpenedLinks::acknowledge`].
    ///
    /// # Cost
    /// One load and a compare.
    #[inline(always)]
    #[must_use]
    pub fn has_new(&self) -> bool {
        self.count() != self.acknowledged
    }

    /// Takes note of all announcements so far. Read the table after this.
    pub fn acknowledge(&mut self) {
        self.acknowledged = self.count();
    }

    /// Whether `sender` has opened its ring.
    ///
    /// # Panics
    /// If the table has no place for `sender`.
    #[must_use]
    pub fn is_open(&self, sender: usize) -> bool {
        let at = self.announcer.table + sender;
        assert!(at < self.announcer.words.len());
        // SAFETY: in bounds by the assertion.
        unsafe { self.announcer.words.load(at, Ordering::Relaxed) != 0 }
    }

    #[inline(always)]
    fn count(&self) -> u64 {
        let LinkAnnouncer { words, counter, .. } = &self.announcer;
        // SAFETY: `new` checked the index.
        unsafe { words.load(*counter, Ordering::Acquire) }
    }
}

impl OpenedLinks<MappedWords<'_>> {
    /// The same table without a lifetime.
    ///
    /// # Safety
    /// As [`MappedWords::detach`].
    #[must_use]
    pub const unsafe fn detach(self) -> OpenedLinks<MappedWords<'static>> {
        OpenedLinks {
            announcer: LinkAnnouncer {
                // SAFETY: by the caller's word.
                words: unsafe { self.announcer.words.detach() },
                counter: self.announcer.counter,
                table: self.announcer.table,
            },
            acknowledged: self.acknowledged,
        }
    }
}
