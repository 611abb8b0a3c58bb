//! Credits: how a receiver gives room back without touching the sender's lines.
//!
//! Each resource (slots, larger buffers) has a word of its own in a line that only the receiver
//! writes: how many it has freed since the start, modulo 2^32. It tells once a quarter has come
//! together, so that at most a quarter is withheld; the sender looks only when it has run out.

use core::sync::atomic::Ordering;

use super::{Corrupt, SharedWords};

/// The sender's side of one resource: what it may still use.
#[derive(Debug)]
pub struct SenderCredits {
    used: u32,
    limit: u32,
    total: u32,
    at: u32,
}

impl SenderCredits {
    /// `total` of a resource, all free, whose credits are told in word `at`.
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

    /// Takes all that is granted away until [`SenderCredits::unfreeze`].
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

    /// How many may be used without looking at the credits.
    #[inline]
    #[must_use]
    pub const fn left(&self) -> u32 {
        self.limit.wrapping_sub(self.used)
    }

    /// The word that the credits were when last looked at, and its index: when it changes, there
    /// is more.
    #[must_use]
    pub const fn seen(&self) -> (u32, u32) {
        (self.at, self.limit.wrapping_sub(self.total))
    }

    /// Uses `n`, which [`SenderCredits::left`] has.
    #[inline]
    pub const fn take(&mut self, n: u32) {
        debug_assert!(n <= self.left());
        self.used = self.used.wrapping_add(n);
    }

    /// Looks at the credits, and returns what is left now.
    ///
    /// # Errors
    /// [`Corrupt`] if the receiver claims to have freed more than was used.
    pub fn look<W: SharedWords>(&mut self, words: &W) -> Result<u32, Corrupt> {
        assert!((self.at as usize) < words.len());
        // The acquire pairs with `ReceiverCredits::tell`: the receiver has read what it gives back.
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

/// The receiver's side of one resource: what it has freed and told.
#[derive(Debug)]
#[repr(C)]
pub struct ReceiverCredits {
    freed: u32,
    at: u32,
    /// How many more, from one on, until the sender is told. Apart from `freed`: counted side by side
    /// they would become vectors.
    left: u32,
    every: u32,
}

impl ReceiverCredits {
    /// Of `total`, none used yet; credits are told in word `at`.
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

    /// Frees `n`. True if the sender was told: it may be waiting for that.
    #[inline]
    pub fn free<W: SharedWords>(&mut self, n: u32, words: &W) -> bool {
        self.freed = self.freed.wrapping_add(n);
        let due = n >= self.left;
        if due {
            self.tell(words);
        } else {
            self.left -= n;
        }
        due
    }

    /// Frees one, as [`ReceiverCredits::free`] does.
    ///
    /// # Cost
    /// An addition and a count, where it is not yet time to tell.
    #[inline(always)]
    pub fn free_one<W: SharedWords>(&mut self, words: &W) -> bool {
        self.freed = self.freed.wrapping_add(1);
        self.left -= 1;
        let due = self.left == 0;
        if due {
            self.tell(words);
        }
        due
    }

    #[inline(never)]
    fn tell<W: SharedWords>(&mut self, words: &W) {
        assert!((self.at as usize) < words.len());
        self.left = self.every;
        // The release keeps our reads of what is freed before the sender's next writes there.
        // SAFETY: in bounds by the assertion.
        unsafe {
            words.store(self.at as usize, u64::from(self.freed), Ordering::Release);
        }
    }
}
