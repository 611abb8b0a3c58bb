//! A FIFO: bytes from one rank to another through a window of shared memory: [`FifoWriter`], [`FifoReader`].
//!
//! It has two counters, each in a line that one side writes: how many bytes were filled in since the start of
//! the transfer, and how many were drained. Byte `n` of a transfer lies at `n` modulo the window, so short
//! transfers use the same few lines again. A counter moves once a piece of some KiB; nothing else travels
//! beside the bytes.

use core::sync::atomic::Ordering;

use super::{Corrupt, SharedWords};

/// The words of a FIFO's two counters. They are in lines of their own: one side writes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoCounters {
    /// Index of the word that counts the bytes filled in.
    pub filled: usize,
    /// Index of the word that counts the bytes drained.
    pub drained: usize,
}

/// The writer of one transfer.
#[derive(Debug)]
pub struct FifoWriter<W> {
    words: W,
    at: FifoCounters,
    len: u64,
    window: u64,
    filled: u64,
    drained: u64,
}

/// The reader of one transfer.
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
    /// Starts a transfer of `len` bytes through a window of `window` bytes. No reader of an earlier transfer
    /// is left; the reader of this one learns of it by something that it acquires.
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

    /// The bytes filled in so far: the next go to this offset modulo the window.
    #[must_use]
    pub const fn filled(&self) -> u64 {
        self.filled
    }

    /// Whether all bytes are filled in.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.filled == self.len
    }

    /// How many bytes may be filled in side by side now, at most `most`; 0 unless there is room for `most`,
    /// for all that is left, or up to the window's end: so pieces stay large.
    ///
    /// # Errors
    /// [`Corrupt`] if more was drained than was filled in.
    pub fn room(&mut self, most: u64) -> Result<u64, Corrupt> {
        let most = most
            .min(self.len - self.filled)
            .min(self.window - self.filled % self.window);
        if self.filled + most - self.drained > self.window {
            // The acquire pairs with `FifoReader::free`: the reader has read what it gives back.
            // SAFETY: `new` checked the index.
            self.drained = unsafe { self.words.load(self.at.drained, Ordering::Acquire) };
            if self.drained > self.filled || self.filled - self.drained > self.window {
                return Err(Corrupt("more bytes drained than were filled in"));
            }
        }
        let fits = self.filled + most - self.drained <= self.window;
        Ok(if fits { most } else { 0 })
    }

    /// Publishes `n` more bytes, for which there was room.
    pub fn publish(&mut self, n: u64) {
        self.filled += n;
        // A reader that sees the counter sees the bytes.
        let at = self.at.filled;
        // SAFETY: `new` checked the index.
        unsafe { self.words.store(at, self.filled, Ordering::Release) };
    }

    /// The index and the last read value of the counter that moves when there is room.
    pub const fn waits_for(&self) -> (usize, u64) {
        (self.at.drained, self.drained)
    }
}

impl<W: SharedWords> FifoReader<W> {
    /// Takes part in a transfer of `len` bytes through a window of `window` bytes that the writer has
    /// started.
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

    /// The same transfer, of which the reader already knows, by something that it acquired, that the first
    /// `filled` bytes are in.
    ///
    /// # Errors
    /// [`Corrupt`] if the window or the transfer is shorter.
    pub fn begun(mut self, filled: u64) -> Result<Self, Corrupt> {
        if filled > self.window || filled > self.len {
            return Err(Corrupt("more bytes filled in than there are"));
        }
        self.filled = filled;
        Ok(self)
    }

    /// The bytes drained so far: the next are at this offset modulo the window.
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
    /// [`Corrupt`] if the writer claims more than the window holds, or takes bytes back.
    pub fn ready(&mut self, most: u64) -> Result<u64, Corrupt> {
        if self.filled == self.drained {
            // The acquire pairs with `FifoWriter::publish`.
            // SAFETY: `new` checked the index.
            self.filled = unsafe { self.words.load(self.at.filled, Ordering::Acquire) };
            if self.filled < self.drained || self.filled - self.drained > self.window {
                self.filled = self.drained;
                return Err(Corrupt("more bytes filled in than the window has"));
            }
            // The writer may publish more than was asked for.
            self.filled = self.filled.min(self.len);
        }
        let ahead = self.filled - self.drained;
        Ok(ahead
            .min(most)
            .min(self.window - self.drained % self.window))
    }

    /// Frees `n` of the bytes that were ready: they are read.
    pub fn free(&mut self, n: u64) {
        self.drained += n;
        // The reads come before the writer's next writes there.
        let at = self.at.drained;
        // SAFETY: `new` checked the index.
        unsafe { self.words.store(at, self.drained, Ordering::Release) };
    }

    /// The index and the last read value of the counter that moves when there is more.
    pub const fn waits_for(&self) -> (usize, u64) {
        (self.at.filled, self.filled)
    }
}
