//! Credits: how a receiver gives slots and buffers back without touching the sender's lines.
//!
//! Each resource (slots, larger buffers) has a word in a line that only the receiver writes: how many it has
//! freed since the start, modulo 2^32. The receiver reports once a quarter is freed, so at most a quarter is
//! withheld; the sender reads the word only when it has run out.

use core::sync::atomic::Ordering;

use super::{Corrupt, SharedWords};

/// The sender's credits for one resource: what it may still use.
#[derive(Debug)]
pub struct SenderCredits {
    used: u32,
    limit: u32,
    total: u32,
    at: u32,
}

impl SenderCredits {
    /// `total` of a resource, all free, whose credits are reported in word `at`.
    ///
    /// # Panics
    /// If `total` is 0 or above 2^31: counts are compared modulo 2^32.
    #[must_use]
    pub const fn new(total: u32, at: u32) -> Self {
        assert!(0 < total && total <= 1 << 31);
        Self {
            used: 0,
            limit: total,
            total,
            at,
        }
    }

    /// Sets the credits to 0 until [`SenderCredits::unfreeze`].
    pub const fn freeze(&mut self) {
        self.limit = self.used;
    }

    /// Undoes [`SenderCredits::freeze`] before the first use.
    pub const fn unfreeze(&mut self) {
        self.limit = self.used.wrapping_add(self.total);
    }

    /// How many were used since the start, modulo 2^32.
    #[inline]
    #[must_use]
    pub const fn used(&self) -> u32 {
        self.used
    }

    /// How many may be used without reading the credits again.
    #[inline]
    #[must_use]
    pub const fn left(&self) -> u32 {
        self.limit.wrapping_sub(self.used)
    }

    /// The index of the credit word and its value when last read: when it changes, there is more.
    #[must_use]
    pub const fn last_read(&self) -> (u32, u32) {
        (self.at, self.limit.wrapping_sub(self.total))
    }

    /// Uses `n`; the caller has found them in [`SenderCredits::left`].
    #[inline]
    pub const fn take(&mut self, n: u32) {
        debug_assert!(n <= self.left());
        self.used = self.used.wrapping_add(n);
    }

    /// Reads the credits again, and returns what is left now.
    ///
    /// # Errors
    /// [`Corrupt`] if the receiver claims to have freed more than was used.
    pub fn refresh<W: SharedWords>(&mut self, words: &W) -> Result<u32, Corrupt> {
        assert!((self.at as usize) < words.len());
        // The acquire pairs with `ReceiverCredits::report`: the receiver has read what it gives back.
        // SAFETY: in bounds by the assertion.
        let freed = unsafe { words.load(self.at as usize, Ordering::Acquire) } as u32;
        let limit = freed.wrapping_add(self.total);
        if limit.wrapping_sub(self.used) > self.total {
            return Err(Corrupt("more credits than there were messages"));
        }
        self.limit = limit;
        Ok(self.left())
    }
}

/// The receiver's credits for one resource: what it has freed and reported.
#[derive(Debug)]
#[repr(C)]
pub struct ReceiverCredits {
    freed: u32,
    at: u32,
    /// How many more to free until the next report. Not derived from `freed`: two counters side by side would
    /// become vector code.
    left: u32,
    every: u32,
}

impl ReceiverCredits {
    /// Credits for `total` of a resource, none used yet, reported in word `at`.
    #[must_use]
    pub const fn new(total: u32, at: u32) -> Self {
        let quarter = total / 4;
        let every = if quarter == 0 { 1 } else { quarter };
        Self {
            freed: 0,
            left: every,
            every,
            at,
        }
    }

    /// How many were freed since the start, modulo 2^32.
    #[inline]
    #[must_use]
    pub const fn freed(&self) -> u32 {
        self.freed
    }

    /// Frees `n`. True if this reported to the sender, which may be waiting.
    #[inline]
    pub fn free<W: SharedWords>(&mut self, n: u32, words: &W) -> bool {
        self.freed = self.freed.wrapping_add(n);
        let due = n >= self.left;
        if due {
            self.report(words);
        } else {
            self.left -= n;
        }
        due
    }

    /// Frees one, as [`ReceiverCredits::free`] does.
    ///
    /// # Cost
    /// An addition and a count, where no report is due.
    #[inline(always)]
    pub fn free_one<W: SharedWords>(&mut self, words: &W) -> bool {
        self.freed = self.freed.wrapping_add(1);
        self.left -= 1;
        let due = self.left == 0;
        if due {
            self.report(words);
        }
        due
    }

    /// Whether [`ReceiverCredits::free_one`] would report.
    #[inline(always)]
    #[must_use]
    pub const fn reports_next(&self) -> bool {
        self.left == 1
    }

    #[inline(never)]
    fn report<W: SharedWords>(&mut self, words: &W) {
        assert!((self.at as usize) < words.len());
        self.left = self.every;
        // The release keeps the reads of what is freed before the sender's next writes there.
        // SAFETY: in bounds by the assertion.
        unsafe {
            words.store(self.at as usize, u64::from(self.freed), Ordering::Release);
        }
    }
}
