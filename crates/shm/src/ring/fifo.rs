//! A pipe: bytes from one side to the other through a window of shared memory.
//!
//! Two counters, each in a line that one side writes: how many bytes were filled in since the start
//! of the transfer, and how many were drained. Byte `n` of a transfer lies at `n` modulo the window,
//! so short transfers use the same few lines again and again. A counter moves once a piece of some
//! KiB; nothing else travels beside the bytes.

use core::sync::atomic::Ordering;

use super::{Corrupt, SharedWords};

/// Which words a pipe's counters are. They are in lines of their own: one side writes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoCounters {
    /// How many bytes were filled in.
    pub filled: usize,
    /// How many were drained.
    pub drained: usize,
}

/// The filling side of one transfer.
#[derive(Debug)]
pub struct FifoWriter<W> {
    words: W,
    at: FifoCounters,
    len: u64,
    window: u64,
    filled: u64,
    drained: u64,
}

/// The draining side of one transfer.
#[derive(Debug)]
pub struct FifoReader<W> {
    words: W,
    at: FifoCounters,
    len: u64,
    window: u64,
    filled: u64,
    drained: u64,
}

impl<W: SharedWords> FifoWriter<W> {
    /// Starts a transfer of `len` bytes through a window of `window` bytes. Nobody drains an earlier
    /// one any more; who drains this one learns of it by something that it acquires.
    ///
    /// # Panics
    /// If `words` lacks the counters, or `window` is 0.
    #[must_use]
    pub fn new(words: W, at: FifoCounters, len: u64, window: u64) -> Self {
        assert!(at.filled < words.len() && at.drained < words.len() && window > 0);
        for at in [at.filled, at.drained] {
            // SAFETY: in bounds by the assertion.
            unsafe { words.store(at, 0, Ordering::Relaxed) };
        }
        Self {
            words,
            at,
            len,
            window,
            filled: 0,
            drained: 0,
        }
    }

    /// The bytes filled in so far: where the next go, modulo the window, and from where they come.
    #[must_use]
    pub const fn filled(&self) -> u64 {
        self.filled
    }

    /// Whether all bytes are filled in.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.filled == self.len
    }

    /// How many bytes may be filled in side by side now, at most `most`; 0 unless there is room for
    /// `most` or for all that is left or up to the window's end: pieces stay large.
    ///
    /// # Errors
    /// [`Corrupt`] if more was drained than was filled in.
    pub fn room(&mut self, most: u64) -> Result<u64, Corrupt> {
        let most = most
            .min(self.len - self.filled)
            .min(self.window - self.filled % self.window);
        if self.filled + most - self.drained > self.window {
            // The acquire pairs with `FifoReader::free`: the other side has read what it gives back.
            // SAFETY: `new` checked the index.
            self.drained = unsafe { self.words.load(self.at.drained, Ordering::Acquire) };
            if self.drained > self.filled || self.filled - self.drained > self.window {
                return Err(Corrupt("more bytes drained than were filled in"));
            }
        }
        let fits = self.filled + most - self.drained <= self.window;
        Ok(if fits { most } else { 0 })
    }

    /// `n` more bytes are in, for which there was room.
    pub fn publish(&mut self, n: u64) {
        self.filled += n;
        // Who sees the counter sees the bytes.
        // SAFETY: `new` checked the index.
        unsafe {
            self.words
                .store(self.at.filled, self.filled, Ordering::Release);
        }
    }

    /// The words, the index of the one that says when there is room, and its value when last seen.
    pub const fn waits_for(&self) -> (&W, usize, u64) {
        (&self.words, self.at.drained, self.drained)
    }
}

impl<W: SharedWords> FifoReader<W> {
    /// Takes part in a transfer of `len` bytes through a window of `window` bytes that the other
    /// side has started.
    ///
    /// # Panics
    /// If `words` lacks the counters, or `window` is 0.
    #[must_use]
    pub fn new(words: W, at: FifoCounters, len: u64, window: u64) -> Self {
        assert!(at.filled < words.len() && at.drained < words.len() && window > 0);
        Self {
            words,
            at,
            len,
            window,
            filled: 0,
            drained: 0,
        }
    }

    /// The same, told by what it acquired that the first `filled` bytes are in.
    ///
    /// # Errors
    /// [`Corrupt`] if the window or the transfer has fewer.
    pub fn begun(mut self, filled: u64) -> Result<Self, Corrupt> {
        if filled > self.window || filled > self.len {
            return Err(Corrupt("more bytes filled in than there are"));
        }
        self.filled = filled;
        Ok(self)
    }

    /// The bytes drained so far: where the next are, modulo the window, and where they go.
    #[must_use]
    pub const fn drained(&self) -> u64 {
        self.drained
    }

    /// Whether all bytes are drained.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.drained == self.len
    }

    /// How many bytes lie side by side and can be drained now, at most `most`.
    ///
    /// # Errors
    /// [`Corrupt`] if the other side claims what the window cannot hold, or takes bytes back.
    pub fn ready(&mut self, most: u64) -> Result<u64, Corrupt> {
        if self.filled == self.drained {
            // The acquire pairs with `FifoWriter::publish`.
            // SAFETY: `new` checked the index.
            self.filled = unsafe { self.words.load(self.at.filled, Ordering::Acquire) };
            if self.filled < self.drained || self.filled - self.drained > self.window {
                self.filled = self.drained;
                return Err(Corrupt("more bytes filled in than the window has"));
            }
            // The other side may offer more than was asked for.
            self.filled = self.filled.min(self.len);
        }
        let ahead = self.filled - self.drained;
        Ok(ahead
            .min(most)
            .min(self.window - self.drained % self.window))
    }

    /// `n` of the bytes that were ready are read.
    pub fn free(&mut self, n: u64) {
        self.drained += n;
        // Our reads come before the other side's next writes there.
        // SAFETY: `new` checked the index.
        unsafe {
            self.words
                .store(self.at.drained, self.drained, Ordering::Release);
        }
    }

    /// The words, the index of the one that says when there is more, and its value when last seen.
    pub const fn waits_for(&self) -> (&W, usize, u64) {
        (&self.words, self.at.filled, self.filled)
    }
}
